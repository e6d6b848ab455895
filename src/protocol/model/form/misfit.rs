//! Why a value is none for a field.

use std::fmt;

use super::Format;

/// How many choices a message lists.
const LISTED: usize = 12;

/// Why a value is none for a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// There is none.
    Missing,
    /// The answers as a whole are no object.
    NoObject,
    /// It is no text.
    NoText,
    /// It has fewer characters than these.
    TooShort(u64),
    /// It has more characters than these.
    TooLong(u64),
    /// It is written in another way.
    Format(Format),
    /// It is no number.
    NoNumber,
    /// It is no whole number.
    NoInteger,
    /// It is less than this.
    TooSmall(String),
    /// It is more than this.
    TooGreat(String),
    /// It is neither yes nor no.
    NoBoolean,
    /// It is none of these.
    NoChoice(Vec<String>),
    /// It is no list.
    NoList,
    /// It has fewer elements than these.
    TooFew(u64),
    /// It has more elements than these.
    TooMany(u64),
    /// It is no JSON.
    NoJson,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Missing => f.write_str("it is needed"),
            Misfit::NoObject => f.write_str("the answers must be a JSON object"),
            Misfit::NoText => f.write_str("it must be a text"),
            Misfit::TooShort(limit) => {
                write!(f, "it must have at least {}", counted(*limit, "character"))
            }
            Misfit::TooLong(limit) => {
                write!(f, "it must have at most {}", counted(*limit, "character"))
            }
            Misfit::Format(format) => write!(f, "it must be {}", format.wanted()),
            Misfit::NoNumber => f.write_str("it must be a number"),
            Misfit::NoInteger => f.write_str("it must be a whole number"),
            Misfit::TooSmall(limit) => write!(f, "it must be at least {limit}"),
            Misfit::TooGreat(limit) => write!(f, "it must be at most {limit}"),
            Misfit::NoBoolean => f.write_str("it must be yes or no"),
            Misfit::NoChoice(labels) => {
                let listed: Vec<&str> = labels.iter().take(LISTED).map(String::as_str).collect();
                let more = if labels.len() > LISTED { ", …" } else { "" };
                write!(f, "it must be one of {}{more}", listed.join(", "))
            }
            Misfit::NoList => f.write_str("it must be a list"),
            Misfit::TooFew(limit) => write!(f, "there must be at least {limit}"),
            Misfit::TooMany(limit) => write!(f, "there must be at most {limit}"),
            Misfit::NoJson => f.write_str("it must be JSON"),
        }
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
