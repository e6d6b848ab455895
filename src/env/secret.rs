//! Texts that must not be shown.

use std::fmt;

/// A text that is never printed by accident: a token, a header value, a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: String) -> Secret {
        Secret(text)
    }

    /// The text, for where it is used.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_show() {
        assert_eq!(format!("{:?}", Secret::from("hunter2")), "Secret(…)");
        assert_eq!(Secret::from("hunter2").expose(), "hunter2");
    }
}
