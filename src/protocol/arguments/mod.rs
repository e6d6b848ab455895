//! Tool arguments from the words of a command line.
//!
//! Two pure steps: [`parse`] looks at the form of the words and says what must be read and whether
//! the tool's schema is needed; [`build`] makes the JSON. A value that comes as JSON leaves as the
//! same bytes, and a number keeps its digits.
//!
//! ```
//! use mcpmini_protocol::arguments::{Options, build, parse};
//! use mcpmini_protocol::model::schema::InputSchema;
//! let schema = InputSchema::read(r#"{"properties":{"zip":{"type":"string"},"n":{"type":"number"}}}"#);
//! let words = parse(&["zip=00123".into(), "n=1.50".into(), "raw:=1e400".into()], &[])?;
//! let arguments = build(&words, &[], Some(&schema), Options::default())?;
//! assert_eq!(arguments, r#"{"zip":"00123","n":1.50,"raw":1e400}"#);
//! # Ok::<(), mcpmini_protocol::arguments::ArgError>(())
//! ```

mod check;
mod convert;
mod draft;
mod error;
mod example;
mod keys;
mod options;
mod path;
mod shown;
mod words;

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

pub use error::{ArgError, NumberFault, ValueFault, WordFault};
pub use example::example;
pub use keys::{Key, keys};
pub use path::KeyFault;
pub use words::{Input, InputKind, Source, Words, parse};

use convert::{Converted, convert, convert_unchecked};
use draft::{Clash, Draft};
use options::{Pair, Value};
use path::{KeyPath, Step};
use words::{Content, Form, WHOLE};

use super::json;
use super::jsonrpc::scan;
use super::model::schema::{InputSchema, Property, Shape, Types};
use super::tree::BLANKS;

/// How arguments are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether arguments that the tool's schema does not allow are an error (off by `--no-check`).
    pub check: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { check: true }
    }
}

/// Makes the JSON text of `arguments`, an object.
///
/// `contents` are the bytes of [`Words::inputs`], in that order. Without a schema, `k=v` is always
/// a string and nothing is checked. When the words are one whole object, the result is that text,
/// without the blanks around it; line breaks inside are kept.
///
/// # Panics
/// When there are not as many contents as inputs.
pub fn build(
    words: &Words,
    contents: &[Vec<u8>],
    schema: Option<&InputSchema<'_>>,
    options: Options,
) -> Result<String, ArgError> {
    assert_eq!(contents.len(), words.inputs().len(), "every input is read");
    let base = base(words, contents)?;
    let check = options.check && schema.is_some();
    let shape = schema.map(InputSchema::shape);
    let mut builder = Builder { draft: Draft::new(base), check, shape, set: Vec::new() };
    builder.apply(words, contents)?;
    let arguments = builder.finish();
    if let Some(schema) = schema.filter(|_| check) {
        self::check(schema, &arguments)?;
    }
    Ok(arguments)
}

/// Whether arguments that are JSON already, the text of an object, fit a tool's schema.
///
/// # Errors
/// With all that the schema does not allow, as far as a client should judge.
pub fn check(schema: &InputSchema<'_>, arguments: &str) -> Result<(), ArgError> {
    ArgError::unless_empty(check::faults(schema, arguments))
}

/// The JSON of the whole object that the other words change.
fn base<'w>(words: &'w Words, contents: &'w [Vec<u8>]) -> Result<&'w str, ArgError> {
    let Some(content) = &words.base else { return Ok("{}") };
    let place = place(WHOLE, content, words);
    let text = json_text(content, contents, &place)?;
    if text.starts_with('{') {
        return Ok(text);
    }
    Err(ArgError::value(&place, ValueFault::NoObject(Types::of_text(text))))
}

struct Builder<'s> {
    draft: Draft,
    check: bool,
    shape: Option<Shape<'s>>,
    /// What words have set so far. A repeated word adds to an array that a word has set, but not to
    /// one of the whole object.
    set: Vec<KeyPath>,
}

impl Builder<'_> {
    /// Applies all words in order. Errors with all that are wrong.
    fn apply(&mut self, words: &Words, contents: &[Vec<u8>]) -> Result<(), ArgError> {
        let mut errors = Vec::new();
        for setting in &words.settings {
            let key = setting.path.to_string();
            let place = place(&key, &setting.content, words);
            let applied = match setting.form {
                Form::Json => json_text(&setting.content, contents, &place)
                    .and_then(|json| self.put(&setting.path, json)),
                Form::Typed => text(&setting.content, contents, &place)
                    .and_then(|text| self.put_typed(&setting.path, text)),
                Form::Base64 => {
                    let encoded = STANDARD.encode(bytes(&setting.content, contents));
                    self.put(&setting.path, &json::string(&encoded))
                }
            };
            errors.extend(applied.err());
        }
        for Pair { path, value } in options::read(&words.tail, self.shape.as_ref(), self.check)? {
            let applied = match value {
                Value::Text(text) => self.put_typed(&path, &text),
                Value::Flag(true) => self.put(&path, "true"),
                Value::Flag(false) => self.put(&path, "false"),
            };
            errors.extend(applied.err());
        }
        ArgError::unless_empty(errors)
    }

    /// Sets a value that is written as the schema wants it.
    fn put_typed(&mut self, path: &KeyPath, text: &str) -> Result<(), ArgError> {
        let shape = self.shape_at(path)?;
        let key = path.to_string();
        let converted = if self.check {
            convert(text, &shape, &key)?
        } else {
            convert_unchecked(text, &shape, &key)
        };
        let again = self.set.iter().any(|set| set.0.starts_with(&path.0));
        match converted {
            Converted::Value(json) => self.put(path, &json),
            Converted::Element(json) if again => self.add(path, &[&json]),
            Converted::Element(json) => self.put(path, &format!("[{json}]")),
            Converted::Array(json) if again => {
                self.add(path, &scan::elements(&json).collect::<Vec<_>>())
            }
            Converted::Array(json) => self.put(path, &json),
        }
    }

    fn put(&mut self, path: &KeyPath, json: &str) -> Result<(), ArgError> {
        self.set.push(path.clone());
        self.draft.set(&path.0, json).map_err(|clash| inside(path, &clash))
    }

    fn add(&mut self, path: &KeyPath, elements: &[&str]) -> Result<(), ArgError> {
        self.draft.extend(&path.0, elements).map_err(|clash| inside(path, &clash))
    }

    /// What the schema says of the value at a path; nothing without a schema. Errors when it is not
    /// there and most likely a mistake.
    fn shape_at(&self, path: &KeyPath) -> Result<Shape<'_>, ArgError> {
        let Some(mut shape) = self.shape.clone() else { return Ok(Shape::default()) };
        for (done, step) in path.0.iter().enumerate() {
            shape = match step {
                Step::Index(index) => shape.element(Some(*index)),
                Step::Append => shape.element(None),
                Step::Key(name) => match shape.property(name) {
                    Property::Known(inner) | Property::Open(inner) => inner,
                    Property::Unknown if !self.check => Shape::default(),
                    Property::Unknown => {
                        let (parents, rest) = path.0.split_at(done);
                        let at = path::written(parents);
                        return Err(check::unknown_key(&at, name, &path::dotted(rest), &shape));
                    }
                },
            };
        }
        Ok(shape)
    }

    fn finish(self) -> String {
        match self.draft {
            Draft::Text(text) => text,
            opened => {
                let mut out = String::new();
                opened.write(&mut out);
                out
            }
        }
    }
}

fn inside(path: &KeyPath, clash: &Clash) -> ArgError {
    ArgError::value(&path::written(&path.0[..clash.steps]), ValueFault::Scalar(clash.found))
}

/// The content of a word as JSON without blanks around it.
fn json_text<'w>(
    content: &'w Content,
    contents: &'w [Vec<u8>],
    place: &str,
) -> Result<&'w str, ArgError> {
    let text = text(content, contents, place)?;
    // RFC 8259, section 8.1: a reader may ignore a byte order mark. Some editors leave one.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_matches(BLANKS);
    json::validate(text)
        .map_err(|invalid| ArgError::value(place, ValueFault::Json(invalid.reason)))?;
    Ok(text)
}

fn text<'w>(
    content: &'w Content,
    contents: &'w [Vec<u8>],
    place: &str,
) -> Result<&'w str, ArgError> {
    let text = std::str::from_utf8(bytes(content, contents));
    text.map_err(|_| ArgError::value(place, ValueFault::NotUtf8))
}

fn bytes<'w>(content: &'w Content, contents: &'w [Vec<u8>]) -> &'w [u8] {
    match content {
        Content::Inline(text) => text.as_bytes(),
        Content::Input(number) => &contents[*number],
    }
}

/// How an error calls a value: by its key, and by the file it came from.
fn place<'k>(key: &'k str, content: &Content, words: &Words) -> Cow<'k, str> {
    match content {
        Content::Inline(_) => Cow::Borrowed(key),
        Content::Input(number) => {
            Cow::Owned(format!("{key} (from {})", words.inputs()[*number].source))
        }
    }
}

#[cfg(test)]
mod tests;
