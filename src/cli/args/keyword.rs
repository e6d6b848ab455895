//! Options whose value is one word out of a few.

use std::fmt;

use crate::protocol::similar::closest;

/// A word that is none of those that are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOneOf {
    /// The word.
    pub given: String,
    /// The words that are allowed.
    pub allowed: Vec<&'static str>,
}

impl fmt::Display for NotOneOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is none of {}", self.given, self.allowed.join(", "))?;
        match closest(&self.given, self.allowed.iter().copied()) {
            Some(word) => write!(f, "; did you mean {word}?"),
            None => Ok(()),
        }
    }
}

/// Declares an enum whose values are written as words.
macro_rules! keywords {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident { $( $(#[$doc:meta])* $value:ident = $word:literal, )+ }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $( $(#[$doc])* $value, )+ }

        impl $name {
            /// Every value.
            pub const ALL: &'static [$name] = &[$( $name::$value, )+];

            /// The word for it.
            pub const fn word(self) -> &'static str {
                match self { $( $name::$value => $word, )+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::cli::args::keyword::NotOneOf;

            fn from_str(given: &str) -> Result<$name, Self::Err> {
                let found = $name::ALL.iter().find(|value| value.word() == given);
                found.copied().ok_or_else(|| $crate::cli::args::keyword::NotOneOf {
                    given: given.to_owned(),
                    allowed: $name::ALL.iter().map(|value| value.word()).collect(),
                })
            }
        }
    };
}

pub(crate) use keywords;
