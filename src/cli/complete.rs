//! `mcpmini complete`: what an argument can be.

use smol::LocalExecutor;

use super::args::Format;
use super::args::primitives::Complete;
use super::args::values::Assigned;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output;
use super::run::Run;
use crate::client::NoResult;
use crate::protocol::json;
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::params::{Members, Params};

/// Prints the values that a server suggests for an argument.
pub(super) async fn run(
    run: &Run<'_>,
    complete: &Complete,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let params = params(complete)?;
    let mut contact = Contact::find(run, &complete.server, executor)?;
    let suggested = suggest(run, params, &mut contact).await;
    contact.finish(suggested).await
}

fn params(complete: &Complete) -> Result<Params, Error> {
    let mut argument = Members::new();
    argument.push("name", &json::string(&complete.argument));
    argument.push("value", &json::string(complete.prefix.as_deref().unwrap_or_default()));
    let params = Params::new()
        .with("ref", reference(&complete.reference))
        .with("argument", argument.finish());
    if complete.context.is_empty() {
        return Ok(params);
    }
    let mut known = Members::new();
    for assignment in &complete.context {
        match &assignment.value {
            Assigned::Text(text) => known.push(&assignment.key, &json::string(text)),
            Assigned::Json(json) if json.starts_with('"') => known.push(&assignment.key, json),
            Assigned::Json(_) => {
                let text = format!("--context: {} must be a text", assignment.key);
                return Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No));
            }
        }
    }
    Ok(params.with("context", format!("{{\"arguments\":{}}}", known.finish())))
}

/// What is completed: a prompt by its name, or a template by its URI (2026-07-28, Completion:
/// Reference Types).
fn reference(word: &str) -> String {
    let named = |kind: &str, key: &str, value: &str| {
        format!("{{\"type\":\"{kind}\",\"{key}\":{}}}", json::string(value))
    };
    if let Some(name) = word.strip_prefix("ref/prompt:") {
        return named("ref/prompt", "name", name);
    }
    match word.strip_prefix("ref/resource:") {
        Some(uri) => named("ref/resource", "uri", uri),
        None if word.contains("://") || word.contains('{') => named("ref/resource", "uri", word),
        None => named("ref/prompt", "name", word),
    }
}

async fn suggest(run: &Run<'_>, params: Params, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    let result = match contact.try_request(method::COMPLETE, params, Vec::new()).await? {
        Ok(result) => result,
        Err(NoResult::Error(error)) if error.code == ErrorObject::METHOD_NOT_FOUND => {
            let text = "the server completes nothing: it does not know completion/complete";
            let error = Error { message: text.to_owned(), ..Error::from(&error) };
            return Err(error.phase(Phase::Request).server(contact.server.name.clone()));
        }
        Err(no_result) => return Err(contact.explain(no_result)),
    };
    if run.settings.output == Format::Json {
        output::write_line(run, result.as_str())?;
        return Ok(Exit::Ok);
    }
    let completion = scan::member(result.as_str(), "completion").unwrap_or("{}");
    let values = scan::member(completion, "values").unwrap_or("[]");
    let values = scan::elements(values).filter_map(scan::unescape);
    let lines: String = values.map(|value| value.replace(['\n', '\r'], " ") + "\n").collect();
    output::write(run, lines.as_bytes())?;
    if scan::member(completion, "hasMore") == Some("true") {
        run.remark("the server has more values than it sent");
    }
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_prompt_or_a_template() {
        let check = |word: &str, expected: &str| assert_eq!(reference(word), expected);
        check("review", r#"{"type":"ref/prompt","name":"review"}"#);
        check("a:b", r#"{"type":"ref/prompt","name":"a:b"}"#);
        check("file:///{path}", r#"{"type":"ref/resource","uri":"file:///{path}"}"#);
        check("x:{y}", r#"{"type":"ref/resource","uri":"x:{y}"}"#);
        check("ref/prompt:http://x", r#"{"type":"ref/prompt","name":"http://x"}"#);
        check("ref/resource:x:y", r#"{"type":"ref/resource","uri":"x:y"}"#);
    }
}
