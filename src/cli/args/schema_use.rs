//! The options about what the schemas of a tool are used for, which several commands have.

use super::usage::UsageError;

/// What is wanted of the schemas of a tool.
#[derive(Debug, Default)]
pub(super) struct SchemaUse {
    /// `--no-schema`
    pub(super) no_schema: bool,
    /// `--no-check`
    pub(super) no_check: bool,
    /// `--check-arguments`
    pub(super) check_arguments: bool,
    /// `--check-output`
    pub(super) check_output: bool,
}

impl SchemaUse {
    /// Whether that goes together: nothing can be held against a schema that is not asked for, or does
    /// not count.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let clashes = [
            (self.no_schema && self.check_output, "--no-schema", "--check-output"),
            (self.no_schema && self.check_arguments, "--no-schema", "--check-arguments"),
            (self.no_check && self.check_arguments, "--no-check", "--check-arguments"),
        ];
        match clashes.into_iter().find(|(clash, ..)| *clash) {
            Some((_, one, other)) => Err(UsageError::Contradiction(one, other)),
            None => Ok(()),
        }
    }
}
