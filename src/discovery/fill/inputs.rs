//! The values of inputs: what is fixed, what the user says, what is the default, what is missing.

use std::fmt;

use super::text::Text;
use super::{Answer, Answers, Unfilled};
use crate::discovery::claim::{Format, Input};

/// A value that must be there and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it may be.
    pub choices: Vec<String>,
    /// Whether it is a secret.
    pub is_secret: bool,
}

/// A value, piece by piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::discovery) struct Value(Vec<Answer>);

impl Value {
    pub(in crate::discovery) fn plain(text: impl Into<String>) -> Value {
        Value(vec![Answer::Plain(text.into())])
    }

    /// The value when no reference is in it.
    pub(in crate::discovery) fn as_plain(&self) -> Option<String> {
        let text = |piece: &Answer| match piece {
            Answer::Plain(text) => Some(text.clone()),
            Answer::Reference(_) | Answer::Variable { .. } => None,
        };
        self.0.iter().map(text).collect()
    }

    pub(super) fn write(&self, text: &mut Text) {
        for piece in &self.0 {
            match piece {
                Answer::Plain(words) => text.say(words),
                Answer::Reference(reference) => text.refer(reference),
                Answer::Variable { name, .. } => text.refer(&format!("${{{name}}}")),
            }
        }
    }

    pub(super) fn begins_with_reference(&self) -> bool {
        let said =
            self.0.iter().find(|piece| !matches!(piece, Answer::Plain(text) if text.is_empty()));
        matches!(said, Some(Answer::Reference(_)))
    }

    fn push(&mut self, other: Value) {
        self.0.extend(other.0);
    }
}

/// Fills in inputs, and notes what is missing.
pub(in crate::discovery) struct Filler<'a> {
    answers: &'a Answers<'a>,
    missing: Vec<Missing>,
}

impl<'a> Filler<'a> {
    pub(in crate::discovery) fn new(answers: &'a Answers<'a>) -> Filler<'a> {
        Filler { answers, missing: Vec::new() }
    }

    /// Errors when something was missing: all of it at once.
    pub(in crate::discovery) fn finish(self) -> Result<(), Unfilled> {
        match self.missing.is_empty() {
            true => Ok(()),
            false => Err(Unfilled::Missing(self.missing)),
        }
    }

    /// The value of an input; `None` when it is left out, or missing. The last one that was given
    /// counts.
    pub(in crate::discovery) fn input(
        &mut self,
        name: &str,
        input: &Input,
    ) -> Result<Option<Value>, Unfilled> {
        Ok(self.inputs(name, input)?.pop())
    }

    /// All values of an input that may be repeated.
    pub(in crate::discovery) fn inputs(
        &mut self,
        name: &str,
        input: &Input,
    ) -> Result<Vec<Value>, Unfilled> {
        if let Some(template) = &input.value {
            return Ok(self.template(template, &input.variables)?.into_iter().collect());
        }
        let said = (self.answers.said)(name);
        if said.is_empty() {
            return match &input.default {
                Some(default) => Ok(vec![self.checked(name, input, default.clone())?]),
                None => {
                    if input.is_required {
                        self.miss(name, input);
                    }
                    Ok(Vec::new())
                }
            };
        }
        said.into_iter().map(|said| self.answer(name, input, said)).collect()
    }

    fn answer(&self, name: &str, input: &Input, said: Answer) -> Result<Value, Unfilled> {
        match said {
            Answer::Variable { name, .. } if input.is_secret => {
                Ok(Value(vec![Answer::Reference(format!("${{{name}}}"))]))
            }
            Answer::Plain(text) if input.is_secret && !text.is_empty() => {
                Err(Unfilled::Plain { name: name.to_owned() })
            }
            Answer::Plain(text) | Answer::Variable { value: text, .. } => {
                self.checked(name, input, text)
            }
            reference @ Answer::Reference(_) => Ok(Value(vec![reference])),
        }
    }

    pub(in crate::discovery) fn miss(&mut self, name: &str, input: &Input) {
        if !self.missing.iter().any(|known| known.name == name) {
            self.missing.push(Missing {
                name: name.to_owned(),
                description: input.description.clone(),
                choices: input.choices.clone(),
                is_secret: input.is_secret,
            });
        }
    }

    /// A fixed text with the values of its own variables. What has no variable stays as it is.
    pub(in crate::discovery) fn template(
        &mut self,
        template: &str,
        variables: &[(String, Input)],
    ) -> Result<Option<Value>, Unfilled> {
        self.filled(template, variables, str::to_owned)
    }

    /// The same when the user calls the variables by other names.
    pub(in crate::discovery) fn filled(
        &mut self,
        template: &str,
        variables: &[(String, Input)],
        called: fn(&str) -> String,
    ) -> Result<Option<Value>, Unfilled> {
        let mut value = Value::default();
        let mut is_whole = true;
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            value.push(Value::plain(before));
            let inside = after.split_once('}');
            let known = inside.and_then(|(name, after)| {
                let (_, input) = variables.iter().find(|(known, _)| known == name)?;
                Some((name, input, after))
            });
            match known {
                Some((name, input, after)) => {
                    let required = Input { is_required: true, ..input.clone() };
                    match self.input(&called(name), &required)? {
                        Some(filled) => value.push(filled),
                        None => is_whole = false,
                    }
                    rest = after;
                }
                None => {
                    value.push(Value::plain("{"));
                    rest = after;
                }
            }
        }
        value.push(Value::plain(rest));
        Ok(is_whole.then_some(value))
    }

    /// A plain value, if it fits its input.
    fn checked(&self, name: &str, input: &Input, text: String) -> Result<Value, Unfilled> {
        let unfit = |must: String| Err(Unfilled::Unfit { name: name.to_owned(), must });
        if !input.choices.is_empty() && !input.choices.contains(&text) {
            return unfit(format!("be one of {}", input.choices.join(", ")));
        }
        match input.format {
            Format::Number if text.trim().parse::<f64>().is_err() => {
                unfit("be a number".to_owned())
            }
            Format::Boolean if text != "true" && text != "false" => {
                unfit("be true or false".to_owned())
            }
            Format::FilePath => match (self.answers.file)(&text) {
                Some(path) => Ok(Value::plain(path)),
                None => unfit("be the path of a file that is there".to_owned()),
            },
            _ => Ok(Value::plain(text)),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.is_secret {
            f.write_str(" (secret)")?;
        }
        if let Some(description) = &self.description {
            write!(f, ": {description}")?;
        }
        if !self.choices.is_empty() {
            write!(f, " [{}]", self.choices.join(", "))?;
        }
        Ok(())
    }
}
