//! Questions of a server that nobody answers, as errors: what it wants, and how to give it.

use super::errors::{Error, Phase};
use super::exit::Exit;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::model::form::{Form, Kind};
use crate::protocol::session::Question;

/// The server asked, and got no answer. As JSON the error carries the parameters of the question,
/// and so the schema of a form.
pub(super) fn asked(question: &Question, why: Option<&str>) -> Error {
    let params = question.params.as_ref().map(Json::as_str);
    let text_of = |name: &str| scan::unescape(scan::member(params?, name)?);
    let message = text_of("message").map(|message| format!(": {message}")).unwrap_or_default();
    let url = text_of("url").map(|url| format!(" ({url})")).unwrap_or_default();
    let reason = why.map(|why| format!("; {why}")).unwrap_or_default();
    let text = format!("the server asks back ({}){message}{url}{reason}", question.method);
    let error = Error::new(Exit::InputRequired, text).phase(Phase::Request).sent(Sent::Yes);
    let error = match params {
        Some(params) => error.data(params),
        None => error,
    };
    match why {
        // The program that was named is at fault, and that is said.
        Some(_) if &*question.method == method::SAMPLE => error,
        // To be asked for a page would not help: this one cannot be opened.
        Some(_) if is_url(question) => error,
        _ => error.hint(hint(question)),
    }
}

/// Whether the question is about a page to open.
fn is_url(question: &Question) -> bool {
    let params = question.params.as_ref().map_or("{}", Json::as_str);
    &*question.method == method::ELICIT && scan::member(params, "url").is_some()
}

/// How the question could be answered.
fn hint(question: &Question) -> String {
    let params = question.params.as_ref().map_or("{}", Json::as_str);
    match &*question.method {
        method::LIST_ROOTS => "name the directories with --root DIR".to_owned(),
        method::SAMPLE => "name a program that answers with --sample cmd:PROG".to_owned(),
        method::ELICIT if is_url(question) => {
            "see --elicit ask, which opens the page after a yes".to_owned()
        }
        _ => {
            let form = Form::read(scan::member(params, "requestedSchema").unwrap_or("{}"));
            let required = form.fields.iter().filter(|field| field.required);
            let words: Vec<String> =
                required.map(|field| answer_word(&field.name, &field.kind)).collect();
            let words = match words.is_empty() {
                true => "--answer KEY=VALUE".to_owned(),
                false => words.join(" "),
            };
            // Defaults suffice only if every field that is needed has one.
            let suffice =
                form.fields.iter().all(|field| !field.required || field.default.is_some());
            let defaults = if suffice { ", --accept-defaults" } else { "" };
            format!(
                "answer with {words}, --answers FILE{defaults} or --elicit ask, or refuse with \
                 --decline"
            )
        }
    }
}

/// `--answer age=NUMBER`
fn answer_word(name: &str, kind: &Kind) -> String {
    let value = match kind {
        Kind::Text { .. } => "TEXT",
        Kind::Number { .. } => "NUMBER",
        Kind::Boolean => "true|false",
        Kind::One(_) | Kind::Some { .. } => "CHOICE",
        Kind::Other => "JSON",
    };
    let sign = if *kind == Kind::Other { ":=" } else { "=" };
    format!("--answer {name}{sign}{value}")
}

/// The server refuses a request because it would have to ask, and cannot (2026-07-28,
/// MissingRequiredClientCapability).
pub(super) fn not_declared(error: &ErrorObject, explained: Error) -> Error {
    let data = error.data.as_ref().map_or("{}", Json::as_str);
    let required = scan::member(data, "requiredCapabilities").unwrap_or("{}");
    let hints = [
        ("elicitation", "--answer KEY=VALUE, --elicit ask or --decline"),
        ("sampling", "--sample cmd:PROG"),
        ("roots", "--root DIR"),
    ];
    let named = |(name, _): &&(&str, &str)| scan::member(required, name).is_some();
    match hints.iter().find(named) {
        Some((name, hint)) => Error { exit: Exit::InputRequired, ..explained }
            .hint(format!("the server would ask back ({name}); see {hint}")),
        None => explained.hint("the server asks back during this call; see --elicit and --root"),
    }
}

/// The server refuses a request until the user has opened some pages (2025-11-25, URL Elicitation
/// Required Error).
pub(super) fn urls_required(error: &ErrorObject, explained: Error) -> Error {
    let pages = pages(error);
    let mut message = explained.message.clone();
    for (url, why) in &pages {
        message.push_str(&format!("\nopen {url}"));
        if !why.is_empty() {
            message.push_str(&format!(" ({why})"));
        }
    }
    Error { exit: Exit::InputRequired, message, ..explained }
        .hint("open the page, do what it asks for, and run the same command again")
}

/// The pages that must be opened, and why.
fn pages(error: &ErrorObject) -> Vec<(String, String)> {
    let data = error.data.as_ref().map_or("{}", Json::as_str);
    let elicitations = scan::member(data, "elicitations").unwrap_or("[]");
    let text = |elicitation, name| scan::member(elicitation, name).and_then(scan::unescape);
    let page = |elicitation| {
        let url = text(elicitation, "url")?.into_owned();
        Some((url, text(elicitation, "message").unwrap_or_default().into_owned()))
    };
    scan::elements(elicitations).filter_map(page).collect()
}
