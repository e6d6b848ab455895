//! What a build without the feature `policy` makes of the file of a policy: nothing, and so it uses
//! no server where there is one.

use super::source::{Document, Mistake};

/// Always errors.
pub(super) fn parse(_: &str) -> Result<Document, Mistake> {
    Err((None, "this build cannot read policies (feature policy)".to_owned()))
}
