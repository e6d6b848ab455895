//! Sizes and counts.

use std::fmt;

/// The units by their spelling in lower case: powers of 1024 as in GNU tools, and those of 1000
/// for who writes them out. Longer spellings stand first, because the first that fits counts.
const UNITS: &[(&str, u64)] = &[
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("b", 1),
];

/// Text that is no number of the kind that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalid {
    /// No size, or none above zero, or more than memory can hold.
    Size(String),
    /// No whole number above zero.
    Count(String),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Size(text) => {
                write!(f, "{text:?} is no size; write it like 4096, 64KiB, 64MiB or 1GiB")
            }
            Invalid::Count(text) => write!(f, "{text:?} is no whole number above 0"),
        }
    }
}

/// Reads a size in bytes above zero: `4096`, `64KiB`, `1M`, `10MB`.
pub fn size(text: &str) -> Result<usize, Invalid> {
    let lower = text.to_ascii_lowercase();
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| Some((lower.strip_suffix(name)?, *unit)))
        .unwrap_or((&lower, 1));
    let bytes = whole(number).and_then(|number| number.checked_mul(unit));
    // No allocation is longer than that.
    let longest = isize::MAX.unsigned_abs();
    match bytes.and_then(|bytes| usize::try_from(bytes).ok()) {
        Some(bytes) if (1..=longest).contains(&bytes) => Ok(bytes),
        _ => Err(Invalid::Size(text.to_owned())),
    }
}

/// Reads a whole number above zero.
pub fn count(text: &str) -> Result<usize, Invalid> {
    let count = whole(text).and_then(|count| usize::try_from(count).ok());
    count.filter(|count| *count > 0).ok_or_else(|| Invalid::Count(text.to_owned()))
}

/// Digits only: `parse` alone would take `+5` too.
fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_a_unit() {
        let check = |text: &str, bytes| assert_eq!(size(text), Ok(bytes), "{text}");
        check("1", 1);
        check("4096", 4096);
        check("4096B", 4096);
        check("64KiB", 64 << 10);
        check("64k", 64 << 10);
        check("64mib", 64 << 20);
        check("1M", 1 << 20);
        check("1GiB", 1 << 30);
        check("10MB", 10_000_000);
        check("10kB", 10_000);
    }

    #[test]
    fn what_is_no_size_is_refused() {
        let max = u64::MAX.to_string();
        for text in ["", "0", "-1", "+1", "1.5M", "M", "1 M", "1T", "64MiBs", &max, "99999999999G"]
        {
            let message = format!("{text:?} is no size; write it like 4096, 64KiB, 64MiB or 1GiB");
            assert_eq!(size(text).map_err(|invalid| invalid.to_string()), Err(message));
        }
    }

    #[test]
    fn counts_are_whole_numbers_above_zero() {
        assert_eq!(count("512"), Ok(512));
        for text in ["", "0", "-1", "+1", "1.0", "1k", "99999999999999999999999"] {
            assert_eq!(count(text), Err(Invalid::Count(text.into())));
        }
    }
}
