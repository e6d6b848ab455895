//! The words of a command line, by their form alone: no schema and no file is looked at.

use std::fmt;

use super::error::{ArgError, ValueFault, WordFault};
use super::path::{self, KeyPath};
use crate::model::schema::Types;
use crate::tree::BLANKS;

/// How errors call the arguments as a whole.
pub(super) const WHOLE: &str = "arguments";

/// Arguments as they were typed.
#[derive(Debug, Default)]
pub struct Words {
    /// The whole object that the other words change.
    pub(super) base: Option<Content>,
    /// The words that set one value each, in order.
    pub(super) settings: Vec<Setting>,
    /// The words after `--`. How they pair up depends on the schema.
    pub(super) tail: Vec<String>,
    inputs: Vec<Input>,
}

/// A word that sets one value.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) path: KeyPath,
    pub(super) form: Form,
    pub(super) content: Content,
}

/// How the content of a word becomes JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `k=v`: by the type that the schema says.
    Typed,
    /// `k:=v`: it is JSON.
    Json,
    /// `k=@b64:file`: as a string that holds the bytes in Base64.
    Base64,
}

/// What a word holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// This text.
    Inline(String),
    /// The input of that number.
    Input(usize),
}

/// Something that must be read before the arguments can be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Where it comes from.
    pub source: Source,
    /// What it holds.
    pub kind: InputKind,
}

/// Where an input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input; at most one input of a command line comes from there.
    Stdin,
    /// The file at that path.
    File(String),
}

/// What an input holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// UTF-8 text.
    Text,
    /// JSON.
    Json,
    /// Bytes, to be sent in Base64.
    Bytes,
}

impl Words {
    /// What must be read, in the order in which [`build`](super::build) wants the contents.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.base.is_none() && self.settings.is_empty() && self.tail.is_empty()
    }

    /// Whether the arguments depend on the input schema of the tool. When they do not, asking the
    /// server for it can be saved.
    pub fn needs_schema(&self) -> bool {
        let by_schema = |setting: &Setting| setting.form != Form::Json;
        !self.tail.is_empty() || self.settings.iter().any(by_schema)
    }
}

/// Reads the words of a command line: `words` before `--`, `tail` after it.
///
/// | word | meaning |
/// |---|---|
/// | `k=v` | a value by the tool's input schema |
/// | `k:=json` | a value as JSON, kept byte for byte |
/// | `k=@file`, `k:=@file` | the same from a file; `@-` is standard input |
/// | `k=@b64:file` | the bytes of a file in Base64 |
/// | `k=@@x` | the text `@x` |
/// | `a.b=v`, `a[]=v`, `a[2]:=1` | a value inside others; `\.` is a dot in a name |
/// | `'{…}'`, `@file`, `-` | the object that the other words change, wherever it stands |
///
/// Only the first `=` splits a word.
pub fn parse(words: &[String], tail: &[String]) -> Result<Words, ArgError> {
    let mut read = Words::default();
    for word in words {
        match Word::read(word)? {
            Word::Object(_) | Word::ObjectFrom(_) if read.base.is_some() => {
                return Err(ArgError::word(word, WordFault::SecondObject));
            }
            Word::Object(text) => read.base = Some(Content::Inline(text.to_owned())),
            Word::ObjectFrom(path) => {
                read.base = Some(read.input(word, path, InputKind::Json)?);
            }
            Word::Setting { path, json, value } => {
                let (form, content) = read.content(word, json, value)?;
                read.settings.push(Setting { path, form, content });
            }
        }
    }
    if let Some(first) = tail.first().filter(|word| !word.starts_with("--")) {
        return Err(ArgError::word(first, WordFault::NoOption));
    }
    read.tail = tail.to_vec();
    Ok(read)
}

/// One word, taken apart.
enum Word<'w> {
    Object(&'w str),
    ObjectFrom(&'w str),
    Setting { path: KeyPath, json: bool, value: &'w str },
}

impl Word<'_> {
    fn read(word: &str) -> Result<Word<'_>, ArgError> {
        let trimmed = word.trim_matches(BLANKS);
        match trimmed.as_bytes() {
            b"-" => return Ok(Word::ObjectFrom("-")),
            [b'@', ..] => return Ok(Word::ObjectFrom(&trimmed[1..])),
            [b'{', ..] => return Ok(Word::Object(trimmed)),
            [b'[' | b'"', ..] => {
                let fault = ValueFault::NoObject(Types::of_text(trimmed));
                return Err(ArgError::value(WHOLE, fault));
            }
            [b'-', b'-', ..] => return Err(ArgError::word(word, WordFault::EarlyOption)),
            _ => {}
        }
        let Some(equals) = path::first_equals(word) else {
            return Err(ArgError::word(word, WordFault::NoArgument));
        };
        let (key, value) = (&word[..equals], &word[equals + 1..]);
        // A backslash makes the colon a part of the name.
        let json = key.ends_with(':') && !key.ends_with("\\:");
        let key = if json { &key[..key.len() - 1] } else { key };
        let path =
            KeyPath::parse(key).map_err(|fault| ArgError::word(word, WordFault::Key(fault)))?;
        Ok(Word::Setting { path, json, value })
    }
}

impl Words {
    /// What a word holds that sets a value.
    fn content(
        &mut self,
        word: &str,
        json: bool,
        value: &str,
    ) -> Result<(Form, Content), ArgError> {
        let form = if json { Form::Json } else { Form::Typed };
        let Some(path) = value.strip_prefix('@') else {
            return Ok((form, Content::Inline(value.to_owned())));
        };
        if json {
            return Ok((form, self.input(word, path, InputKind::Json)?));
        }
        if path.starts_with('@') {
            return Ok((form, Content::Inline(path.to_owned())));
        }
        if let Some(path) = path.strip_prefix("b64:") {
            return Ok((Form::Base64, self.input(word, path, InputKind::Bytes)?));
        }
        Ok((form, self.input(word, path, InputKind::Text)?))
    }

    fn input(&mut self, word: &str, path: &str, kind: InputKind) -> Result<Content, ArgError> {
        let source = match path {
            "" => return Err(ArgError::word(word, WordFault::NoPath)),
            "-" => Source::Stdin,
            _ => Source::File(path.to_owned()),
        };
        let taken = |input: &Input| input.source == Source::Stdin;
        if source == Source::Stdin && self.inputs.iter().any(taken) {
            return Err(ArgError::word(word, WordFault::SecondStdin));
        }
        self.inputs.push(Input { source, kind });
        Ok(Content::Input(self.inputs.len() - 1))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::File(path) => f.write_str(path),
        }
    }
}
