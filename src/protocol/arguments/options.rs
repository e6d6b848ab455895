//! The words after `--`: `--key value`, `--key=value`, `--flag`, `--no-flag`.
//!
//! A parameter can be written in any of the usual spellings: `--page-size` sets `pageSize` and
//! `page_size` too. Whether an option takes the next word is for the schema to say.

use super::check::unknown_key;
use super::error::{ArgError, WordFault};
use super::path::{KeyPath, Step, member, written};
use crate::model::schema::{Property, Shape, Types};
use crate::similar::folded;

/// A parameter, and what an option sets it to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) path: KeyPath,
    pub(super) value: Value,
}

/// What an option says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// `--key value`
    Text(String),
    /// `--flag`, `--no-flag`
    Flag(bool),
}

/// Pairs the words up. Without a schema, every option takes a value, and so does one that the
/// schema does not know when that is not to be an error (`strict` is false).
pub(super) fn read(
    tail: &[String],
    schema: Option<&Shape<'_>>,
    strict: bool,
) -> Result<Vec<Pair>, ArgError> {
    let mut pairs = Vec::new();
    let mut words = tail.iter().peekable();
    while let Some(word) = words.next() {
        let option = word.strip_prefix("--").unwrap_or_default();
        let (name, given) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        if name.is_empty() {
            return Err(ArgError::word(word, WordFault::NoOption));
        }
        let target = match schema.map(|shape| Target::find(name, word, shape)) {
            Some(Err(error)) if error.is_unknown_key() && !strict => Target::unknown(name, word)?,
            Some(found) => found?,
            None => Target::unknown(name, word)?,
        };
        let value = match (given, target.negated) {
            (Some(_), true) => return Err(target.no_flag(word)),
            (Some(value), false) => Value::Text(value.to_owned()),
            (None, true) => Value::Flag(false),
            (None, false) => match words.next_if(|next| target.takes(next)) {
                Some(next) => Value::Text(next.clone()),
                None if target.types.has(Types::BOOLEAN) => Value::Flag(true),
                None => return Err(ArgError::word(word, WordFault::NoValue(target.types))),
            },
        };
        pairs.push(Pair { path: target.path, value });
    }
    Ok(pairs)
}

/// The parameter that an option sets.
struct Target {
    path: KeyPath,
    types: Types,
    /// Whether the schema names it, and does not merely allow it.
    known: bool,
    negated: bool,
}

impl Target {
    /// A parameter that there is no schema for.
    fn unknown(name: &str, word: &str) -> Result<Target, ArgError> {
        let path = path(name, word)?;
        Ok(Target { path, types: Types::NONE, known: false, negated: false })
    }

    /// The parameter that the schema has by that name, or by that name after `no-`.
    fn find(name: &str, word: &str, shape: &Shape<'_>) -> Result<Target, ArgError> {
        let found = Target::named(name, word, shape);
        let positive = name.strip_prefix("no-").or(name.strip_prefix("no_"));
        let Some(positive) = positive.filter(|_| !found.as_ref().is_ok_and(|found| found.known))
        else {
            return found;
        };
        match Target::named(positive, word, shape) {
            Ok(target) if target.known && target.types.has(Types::BOOLEAN) => {
                Ok(Target { negated: true, ..target })
            }
            Ok(target) if target.known && found.is_err() => Err(target.no_flag(word)),
            _ => found,
        }
    }

    /// The parameter of that name: as a whole, or else as a path to something inside another.
    fn named(name: &str, word: &str, shape: &Shape<'_>) -> Result<Target, ArgError> {
        let whole = Target::along(KeyPath::key(name), word, shape);
        if whole.as_ref().is_ok_and(|whole| whole.known) || !name.contains(['.', '[']) {
            return whole;
        }
        Target::along(path(name, word)?, word, shape)
    }

    /// The parameter that a path leads to, whose names may be spelled differently.
    fn along(path: KeyPath, word: &str, shape: &Shape<'_>) -> Result<Target, ArgError> {
        let (mut shape, mut known) = (shape.clone(), true);
        let mut steps = Vec::new();
        for step in path.0 {
            let (step, inner) = match step {
                Step::Key(name) => {
                    let (name, inner) = spelled(&name, &written(&steps), word, &shape)?;
                    known &= matches!(inner, Property::Known(_));
                    (Step::Key(name), inner.shape())
                }
                Step::Index(index) => (Step::Index(index), shape.element(Some(index))),
                Step::Append => (Step::Append, shape.element(None)),
            };
            steps.push(step);
            shape = inner;
        }
        Ok(Target { path: KeyPath(steps), types: shape.types(), known, negated: false })
    }

    /// Whether the option takes the next word as its value.
    fn takes(&self, next: &str) -> bool {
        let only_flag = self.types.without(Types::BOOLEAN.or(Types::NULL)).is_empty();
        match (self.types.has(Types::BOOLEAN), only_flag) {
            (true, true) => {
                matches!(next, "true" | "false") || (next == "null" && self.types.has(Types::NULL))
            }
            (true, false) => !next.starts_with("--"),
            _ => true,
        }
    }

    fn no_flag(&self, word: &str) -> ArgError {
        ArgError::word(word, WordFault::NoFlag(self.path.to_string()))
    }
}

fn path(name: &str, word: &str) -> Result<KeyPath, ArgError> {
    KeyPath::parse(name).map_err(|fault| ArgError::word(word, WordFault::Key(fault)))
}

/// The parameter with that name, or else the only one whose name is the same but for case and
/// separators, or else one that the schema merely allows.
fn spelled<'s>(
    name: &str,
    at: &str,
    word: &str,
    shape: &Shape<'s>,
) -> Result<(String, Property<'s>), ArgError> {
    let exact = shape.property(name);
    if matches!(exact, Property::Known(_)) {
        return Ok((name.to_owned(), exact));
    }
    let wanted = folded(name);
    let alike: Vec<_> = shape.names().into_iter().filter(|name| folded(name) == wanted).collect();
    match (alike.as_slice(), exact) {
        ([only], _) => Ok(((*only).to_owned(), shape.property(only))),
        ([], Property::Unknown) => Err(unknown_key(at, name, name, shape)),
        ([], open) => Ok((name.to_owned(), open)),
        _ => {
            let keys = alike.iter().map(|name| member(at, name)).collect();
            Err(ArgError::word(word, WordFault::Ambiguous(keys)))
        }
    }
}
