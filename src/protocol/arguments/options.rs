//! The words after `--`: `--key value`, `--key=value`, `--flag`, `--no-flag`.
//!
//! A parameter can be written in any of the usual spellings: `--page-size` sets `pageSize` and
//! `page_size` too. Whether an option takes the next word is for the schema to say.

use super::check::unknown_key;
use super::error::{ArgError, WordFault};
use super::path::{KeyPath, Step, member};
use crate::protocol::model::schema::{Property, Shape, Types};
use crate::protocol::similar::folded;

/// A parameter, and the text that an option sets it to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) path: KeyPath,
    pub(super) text: String,
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
            Some(Err(error)) if error.is_unknown_key() && !strict => Target::unknown(name),
            Some(found) => found?,
            None => Target::unknown(name),
        };
        let text = match (given, target.negated) {
            (Some(_), true) => return Err(target.no_flag(word)),
            (Some(value), false) => value.to_owned(),
            (None, true) => "false".to_owned(),
            (None, false) => {
                let next = words.next_if(|next| target.takes(next));
                let flag = target.types.has(Types::BOOLEAN).then(|| "true".to_owned());
                let missing = || ArgError::word(word, WordFault::NoValue(target.types));
                next.cloned().or(flag).ok_or_else(missing)?
            }
        };
        pairs.push(Pair { path: target.path, text });
    }
    Ok(pairs)
}

/// What an option sets.
struct Target {
    path: KeyPath,
    types: Types,
    negated: bool,
}

impl Target {
    fn unknown(name: &str) -> Target {
        Target { path: KeyPath::key(name), types: Types::NONE, negated: false }
    }

    fn find(name: &str, word: &str, shape: &Shape<'_>) -> Result<Target, ArgError> {
        match Target::named(name, word, shape) {
            Err(unknown) if unknown.is_unknown_key() => {
                let Some(positive) = name.strip_prefix("no-").or(name.strip_prefix("no_")) else {
                    return Err(unknown);
                };
                let Ok(target) = Target::named(positive, word, shape) else { return Err(unknown) };
                let target = Target { negated: true, ..target };
                let boolean = target.types.has(Types::BOOLEAN);
                if boolean { Ok(target) } else { Err(target.no_flag(word)) }
            }
            found => found,
        }
    }

    /// The parameter of that name: as a whole, or as a path to something inside another.
    fn named(name: &str, word: &str, shape: &Shape<'_>) -> Result<Target, ArgError> {
        let whole = spelled(name, "", word, shape);
        let steps = match whole {
            Err(error) if error.is_unknown_key() && name.contains(['.', '[']) => {
                let fault = |fault| ArgError::word(word, WordFault::Key(fault));
                KeyPath::parse(name).map_err(fault)?.0
            }
            _ => vec![Step::Key(name.to_owned())],
        };
        let mut path = Vec::new();
        let mut shape = shape.clone();
        for step in steps {
            let at = super::path::written(&path);
            let (step, inner) = match step {
                Step::Key(name) => {
                    let (name, inner) = spelled(&name, &at, word, &shape)?;
                    (Step::Key(name), inner)
                }
                Step::Index(index) => (Step::Index(index), shape.element(Some(index))),
                Step::Append => (Step::Append, shape.element(None)),
            };
            path.push(step);
            shape = inner;
        }
        Ok(Target { path: KeyPath(path), types: shape.types(), negated: false })
    }

    /// Whether the option takes the next word as its value.
    fn takes(&self, next: &str) -> bool {
        let only_flag = self.types.without(Types::BOOLEAN.or(Types::NULL)).is_empty();
        match (self.types.has(Types::BOOLEAN), only_flag) {
            (true, true) => matches!(next, "true" | "false"),
            (true, false) => !next.starts_with("--"),
            _ => true,
        }
    }

    fn no_flag(&self, word: &str) -> ArgError {
        ArgError::word(word, WordFault::NoFlag(self.path.to_string()))
    }
}

/// The parameter with that name, or else the only one whose name is the same but for case and
/// separators.
fn spelled<'s>(
    name: &str,
    at: &str,
    word: &str,
    shape: &Shape<'s>,
) -> Result<(String, Shape<'s>), ArgError> {
    let open = match shape.property(name) {
        Property::Known(inner) => return Ok((name.to_owned(), inner)),
        Property::Open(inner) => Some(inner),
        Property::Unknown => None,
    };
    let wanted = folded(name);
    let alike: Vec<_> = shape.names().into_iter().filter(|name| folded(name) == wanted).collect();
    match (alike.as_slice(), shape.property(alike.first().unwrap_or(&name)), open) {
        ([only], Property::Known(inner), _) => Ok(((*only).to_owned(), inner)),
        ([], _, Some(inner)) => Ok((name.to_owned(), inner)),
        ([], _, None) => Err(unknown_key(at, name, name, shape)),
        _ => {
            let keys = alike.iter().map(|name| member(at, name)).collect();
            Err(ArgError::word(word, WordFault::Ambiguous(keys)))
        }
    }
}
