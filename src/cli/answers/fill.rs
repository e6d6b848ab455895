//! A form filled from `--answer`, `--answers` and the defaults of its fields.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::cli::args::choices::Elicit;
use crate::cli::args::values::{Assigned, Assignment};
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::run::Run;
use crate::cli::sources;
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::form::{Field, Form, Kind, Misfit};
use crate::protocol::params::Members;

/// Fills forms.
#[derive(Debug)]
pub(super) struct Filler {
    /// Answers by the names of fields, the file's first. Field names are flat: a dot in one is part
    /// of the name.
    answers: Vec<Assignment>,
    /// Whether fields without an answer take their default values.
    defaults: bool,
    /// The names of the fields of all forms that were filled.
    asked: RefCell<BTreeSet<String>>,
}

impl Filler {
    /// Takes the answers from the options and reads their file.
    pub(super) fn read(run: &Run<'_>) -> Result<Filler, Error> {
        let elicitation = &run.settings.elicitation;
        let mut answers = Vec::new();
        if let Some(path) = &elicitation.file {
            let text = sources::text_file(run, path, "--answers")?;
            let object = text.trim_start_matches('\u{feff}').trim();
            if json::validate(object).is_err() || !object.starts_with('{') {
                let text = format!("--answers {}: it must be a JSON object", path.display());
                return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
            }
            answers.extend(scan::members(object).map(|(key, value)| Assignment {
                key: key.into_owned(),
                value: Assigned::Json(value.to_owned()),
            }));
        }
        answers.extend(elicitation.answers.iter().cloned());
        let defaults = elicitation.otherwise == Some(Elicit::Defaults);
        Ok(Filler { answers, defaults, asked: RefCell::default() })
    }

    /// The answers of these options that no field of the forms that were filled is called by; none
    /// when there was no form.
    pub(super) fn unused<'a>(&self, given: &'a [Assignment]) -> Vec<&'a str> {
        let asked = self.asked.borrow();
        let unused = given.iter().map(|answer| answer.key.as_str());
        unused.filter(|key| !asked.is_empty() && !asked.contains(*key)).collect()
    }

    /// Whether it has nothing to fill a form with.
    pub(super) fn is_empty(&self) -> bool {
        self.answers.is_empty() && !self.defaults
    }

    /// The content of the form that `schema` describes.
    ///
    /// # Errors
    /// Says which field has no answer, or one that does not fit.
    pub(super) fn fill(&self, schema: &str) -> Result<String, String> {
        let mut content = Members::new();
        for field in self.form(schema).fields {
            let value = match self.answer_to(&field) {
                Some(value) => Some(value),
                None if self.defaults => field.default.clone().map(Ok),
                None => None,
            };
            match value {
                Some(Ok(value)) => content.push(&field.name, &value),
                Some(Err(misfit)) => return Err(fault(&field.name, &misfit)),
                None if field.required => return Err(fault(&field.name, &Misfit::Missing)),
                None => (),
            }
        }
        Ok(content.finish())
    }

    /// The form, and the answers to it that fit, by the names of fields: where a person begins.
    pub(super) fn begin(&self, schema: &str) -> (Form, Vec<(String, String)>) {
        let form = self.form(schema);
        let answer = |field: &Field| Some((field.name.clone(), self.answer_to(field)?.ok()?));
        let given = form.fields.iter().filter_map(answer).collect();
        (form, given)
    }

    fn form(&self, schema: &str) -> Form {
        let form = Form::read(schema);
        self.asked.borrow_mut().extend(form.fields.iter().map(|field| field.name.clone()));
        form
    }

    /// The value that the options give to a field: the last one.
    fn answer_to(&self, field: &Field) -> Option<Result<String, Misfit>> {
        let mut answers = self.answers.iter().filter(|answer| answer.key == field.name).peekable();
        answers.peek()?;
        if matches!(field.kind, Kind::Some { .. }) {
            return Some(list(field, answers));
        }
        answers.next_back().map(|answer| match &answer.value {
            Assigned::Text(text) => field.value_of(text),
            Assigned::Json(json) => field.check(json).map(|()| json.clone()),
        })
    }
}

/// The list that several answers make together: JSON is all of it, a text is one more.
fn list<'a>(
    field: &Field,
    answers: impl Iterator<Item = &'a Assignment>,
) -> Result<String, Misfit> {
    let mut values: Vec<String> = Vec::new();
    for answer in answers {
        match &answer.value {
            Assigned::Text(text) => values.extend(field.elements_of(text)?),
            Assigned::Json(json) if json.starts_with('[') => {
                values = scan::elements(json).map(str::to_owned).collect();
            }
            Assigned::Json(_) => return Err(Misfit::NoList),
        }
    }
    let list = format!("[{}]", values.join(","));
    field.check(&list).map(|()| list)
}

fn fault(name: &str, misfit: &Misfit) -> String {
    match misfit {
        Misfit::Missing => format!("no answer to \"{name}\", which is needed"),
        misfit => format!("the answer to \"{name}\" does not fit: {misfit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answers: &[&str], defaults: bool, expected: Result<&str, &str>) {
        let schema = r#"{"properties":{
            "name":{"type":"string","default":"friend"},
            "age":{"type":"integer","minimum":18},
            "a.b":{"type":"string"},
            "tags":{"type":"array","minItems":2,"items":{"enum":["x","y","z"]}}},
            "required":["name"]}"#;
        let answers = answers.iter().map(|answer| answer.parse().unwrap()).collect();
        let filled = Filler { answers, defaults, asked: RefCell::default() }.fill(schema);
        assert_eq!(filled.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn forms_are_filled_by_words() {
        check(&["name=Ada"], false, Ok(r#"{"name":"Ada"}"#));
        check(&["age=18", "name=Ada"], false, Ok(r#"{"name":"Ada","age":18}"#));
        check(&["name=Ada", "name:=\"Bo\""], false, Ok(r#"{"name":"Bo"}"#));
        check(&["name=@x", "a.b=y=z"], false, Ok(r#"{"name":"@x","a.b":"y=z"}"#));
        check(&["name=", "other=x"], false, Ok(r#"{"name":""}"#));
    }

    #[test]
    fn lists_are_filled_by_several_words() {
        check(&["tags=x", "tags=z"], true, Ok(r#"{"name":"friend","tags":["x","z"]}"#));
        check(&["tags=x, y"], true, Ok(r#"{"name":"friend","tags":["x","y"]}"#));
        check(
            &["tags=z", "tags:=[\"x\"]", "tags=y"],
            true,
            Ok(r#"{"name":"friend","tags":["x","y"]}"#),
        );
        let few = "the answer to \"tags\" does not fit: there must be at least 2";
        check(&["tags=x"], true, Err(few));
        let no_list = "the answer to \"tags\" does not fit: it must be a list";
        check(&["tags:=\"x\""], true, Err(no_list));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        check(&[], true, Ok(r#"{"name":"friend"}"#));
        check(&[], false, Err("no answer to \"name\", which is needed"));
        check(&["age=20"], false, Err("no answer to \"name\", which is needed"));
        let young = "the answer to \"age\" does not fit: it must be at least 18";
        check(&["age=17", "name=x"], false, Err(young));
        check(&["age=17"], true, Err(young));
    }
}
