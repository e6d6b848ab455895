//! Answers to what a server asks in the middle of a call.
//!
//! Only what the command line has an answer to is declared to the server. A form is filled from
//! `--answer` and `--answers`, and with the defaults of its fields where those were asked for.

use std::path::PathBuf;

use super::args::choices::Elicit;
use super::args::values::{Assigned, Assignment};
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use super::sources;
use crate::protocol::arguments;
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::method;
use crate::protocol::model::schema::InputSchema;
use crate::protocol::params::Members;
use crate::protocol::session::{Abilities, Question};

/// The answers that the command line gives.
#[derive(Debug)]
pub(super) struct Answers {
    /// Words as of a tool call: `key=value`, `key:=json`.
    words: Vec<String>,
    /// What to do with a form that these do not fill; `None` when nothing was said about it.
    otherwise: Option<Elicit>,
    roots: Vec<PathBuf>,
}

impl Answers {
    /// Takes the answers from the options and reads their file.
    pub(super) fn read(run: &Run<'_>) -> Result<Answers, Error> {
        let elicitation = &run.settings.elicitation;
        let mut words = Vec::new();
        if let Some(path) = &elicitation.file {
            let text = sources::text_file(run, path, "--answers")?;
            let object = text.trim_start_matches('\u{feff}').trim();
            if json::validate(object).is_err() || !object.starts_with('{') {
                let text = format!("--answers {}: it must be a JSON object", path.display());
                return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
            }
            words.extend(scan::members(object).map(|(key, value)| word(&key, ":=", value)));
        }
        words.extend(elicitation.answers.iter().map(assignment));
        Ok(Answers {
            words,
            otherwise: elicitation.otherwise.clone(),
            roots: run.globals.root.iter().map(|root| run.env.absolute(root)).collect(),
        })
    }

    /// What the server may ask for: what there is an answer to, be it a refusal that was asked for.
    pub(super) fn abilities(&self) -> Abilities {
        let elicitation = match self.otherwise {
            Some(Elicit::Decline | Elicit::Cancel | Elicit::Defaults) => true,
            Some(Elicit::Fail | Elicit::Answers(_)) | None => !self.words.is_empty(),
        };
        Abilities { elicitation, sampling: false, roots: !self.roots.is_empty() }
    }

    /// Whether a question without an answer ends the call. It does when answers were given: whoever
    /// wrote them wants to know that they were not enough.
    pub(super) fn must_suffice(&self) -> bool {
        let must = matches!(self.otherwise, Some(Elicit::Fail | Elicit::Defaults));
        must || !self.words.is_empty()
    }

    /// The answer to a question, JSON text; `None` when there is none.
    pub(super) fn to(&self, question: &Question) -> Option<String> {
        match &*question.method {
            method::ELICIT => self.to_form(question),
            method::LIST_ROOTS if !self.roots.is_empty() => Some(self.list_roots()),
            _ => None,
        }
    }

    fn to_form(&self, question: &Question) -> Option<String> {
        let params = question.params.as_ref().map_or("{}", json::Json::as_str);
        let mode = scan::member(params, "mode").and_then(scan::unescape);
        let schema = scan::member(params, "requestedSchema").unwrap_or("{}");
        let defaults = self.otherwise == Some(Elicit::Defaults);
        let fills = mode.is_none_or(|mode| mode == "form") && (defaults || !self.words.is_empty());
        if let Some(content) = fills.then(|| self.fill(schema)).flatten() {
            return Some(format!("{{\"action\":\"accept\",\"content\":{content}}}"));
        }
        match self.otherwise {
            Some(Elicit::Decline) => Some("{\"action\":\"decline\"}".to_owned()),
            Some(Elicit::Cancel) => Some("{\"action\":\"cancel\"}".to_owned()),
            _ => None,
        }
    }

    /// Fills a form; `None` when a field that must be there has no answer, or one that does not
    /// fit.
    fn fill(&self, schema: &str) -> Option<String> {
        let properties = scan::member(schema, "properties").unwrap_or("{}");
        let fields: Vec<_> = scan::members(properties).collect();
        let wanted = |word: &&String| fields.iter().any(|(name, _)| is_for(word, name));
        let mut words: Vec<String> = self.words.iter().filter(wanted).cloned().collect();
        if self.otherwise == Some(Elicit::Defaults) {
            for (name, field) in &fields {
                let default = scan::member(field, "default").filter(|default| *default != "null");
                let given = words.iter().any(|word| is_for(word, name));
                if let Some(default) = default.filter(|_| !given) {
                    words.push(word(name, ":=", default));
                }
            }
        }
        let words = arguments::parse(&words, &[]).ok()?;
        let schema = InputSchema::read(schema);
        arguments::build(&words, &[], Some(&schema), arguments::Options::default()).ok()
    }

    fn list_roots(&self) -> String {
        let roots: Vec<String> = self
            .roots
            .iter()
            .map(|root| {
                let mut members = Members::new();
                members.push("uri", &json::string(&file_url(root)));
                if let Some(name) = root.file_name() {
                    members.push("name", &json::string(&name.to_string_lossy()));
                }
                members.finish()
            })
            .collect();
        format!("{{\"roots\":[{}]}}", roots.join(","))
    }
}

fn assignment(Assignment { key, value }: &Assignment) -> String {
    match value {
        // A text that begins with @ names no file here.
        Assigned::Text(text) if text.starts_with('@') => word(key, "=", &format!("@{text}")),
        Assigned::Text(text) => word(key, "=", text),
        Assigned::Json(json) => word(key, ":=", json),
    }
}

/// A word that sets a field. Field names of forms are flat: a dot in one is part of the name.
fn word(key: &str, sign: &str, value: &str) -> String {
    let mut escaped = String::new();
    for (at, character) in key.char_indices() {
        let first = at == 0 && matches!(character, '@' | '{' | '"' | '-');
        if first || matches!(character, '.' | '[' | '\\' | '=' | ':') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    format!("{escaped}{sign}{value}")
}

fn is_for(word_of_field: &str, name: &str) -> bool {
    ["=", ":="].iter().any(|sign| word_of_field.starts_with(&word(name, sign, "")))
}

/// The `file:` URL of an absolute path (RFC 8089).
fn file_url(path: &std::path::Path) -> String {
    let url = url::Url::from_file_path(path);
    url.map_or_else(|()| format!("file://{}", path.display()), String::from)
}
