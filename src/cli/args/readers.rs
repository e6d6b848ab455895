//! Readers of values that several options share. argh wants errors as text.

use std::path::PathBuf;
use std::time::Duration;

use super::numbers;
use crate::cli::duration;
use crate::config::{Digest, NotADigest};

/// A path. It takes anything but nothing: `--out "$UNSET"` must not write somewhere.
pub(super) fn path(given: &str) -> Result<PathBuf, String> {
    if given.is_empty() { Err("the file name is empty".to_owned()) } else { Ok(given.into()) }
}

/// A hash.
pub(super) fn digest(given: &str) -> Result<Digest, String> {
    given
        .parse()
        .map_err(|NotADigest| format!("{given:?} is not sha256: and 64 hexadecimal digits"))
}

/// A whole number above zero.
pub(super) fn count(given: &str) -> Result<usize, String> {
    numbers::count(given).map_err(|invalid| invalid.to_string())
}

/// A size in bytes above zero.
pub(super) fn size(given: &str) -> Result<usize, String> {
    numbers::size(given).map_err(|invalid| invalid.to_string())
}

/// A length of time.
pub(super) fn duration(given: &str) -> Result<Duration, String> {
    duration::parse(given).map_err(|invalid| invalid.to_string())
}
