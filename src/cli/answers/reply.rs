//! Answers as the protocol wants them, made from what a program prints.

use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::form::Form;
use crate::protocol::params::Members;

/// The answer that accepts a form with this content.
pub(super) fn accepted(content: &str) -> String {
    format!("{{\"action\":\"accept\",\"content\":{content}}}")
}

/// The result of `elicitation/create` that a program prints.
///
/// # Errors
/// Says what is wrong with it.
pub(super) fn elicited(printed: &str, params: &str) -> Result<String, String> {
    let answer = printed.trim();
    if json::validate(answer).is_err() || !answer.starts_with('{') {
        return Err("it printed no JSON object, such as {\"action\":\"decline\"}".to_owned());
    }
    let action = scan::member(answer, "action").and_then(scan::unescape);
    match action.as_deref() {
        Some("decline" | "cancel") => Ok(answer.to_owned()),
        Some("accept") => {
            let schema = scan::member(params, "requestedSchema");
            let content = scan::member(answer, "content").unwrap_or("{}");
            match schema.map(|schema| Form::read(schema).check(content)) {
                Some(Err((field, misfit))) if field.is_empty() => Err(misfit.to_string()),
                Some(Err((field, misfit))) => {
                    Err(format!("its answer to \"{field}\" does not fit: {misfit}"))
                }
                Some(Ok(())) | None => Ok(answer.to_owned()),
            }
        }
        _ => Err("\"action\" is none of accept, decline, cancel".to_owned()),
    }
}

/// The result of `sampling/createMessage` that a program prints: as it is, or as the text of the
/// assistant when it is anything else than such a result.
///
/// # Errors
/// When nothing was printed.
pub(super) fn sampled(printed: &str) -> Result<String, String> {
    let text = printed.trim();
    if text.is_empty() {
        return Err("it printed nothing".to_owned());
    }
    let is_result = json::validate(text).is_ok()
        && ["role", "content"].iter().all(|name| scan::member(text, name).is_some());
    let mut result = Members::new();
    if is_result {
        if scan::member(text, "model").is_some() {
            return Ok(text.to_owned());
        }
        scan::members(text).for_each(|(name, value)| result.push(&name, value));
    } else {
        result.push("role", "\"assistant\"");
        let text = printed.trim_end_matches(['\r', '\n']);
        result.push("content", &format!("{{\"type\":\"text\",\"text\":{}}}", json::string(text)));
        result.push("stopReason", "\"endTurn\"");
    }
    result.push("model", "\"command\"");
    Ok(result.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says_to_a_form_is_checked() {
        #[track_caller]
        fn check(printed: &str, expected: Result<&str, &str>) {
            let params = r#"{"requestedSchema":{"properties":{"n":{"type":"integer"}}}}"#;
            let answer = elicited(printed, params);
            assert_eq!(answer.as_deref().map_err(String::as_str), expected);
        }
        let accept = r#"{"action":"accept","content":{"n":1}}"#;
        check(&format!(" {accept}\n"), Ok(accept));
        check(r#"{"action":"decline"}"#, Ok(r#"{"action":"decline"}"#));
        check(r#"{"action":"cancel"}"#, Ok(r#"{"action":"cancel"}"#));
        check(
            r#"{"action":"accept","content":{"n":1.5}}"#,
            Err("its answer to \"n\" does not fit: it must be a whole number"),
        );
        check(r#"{"action":"accept","content":7}"#, Err("the answers must be a JSON object"));
        check(r#"{"action":"yes"}"#, Err("\"action\" is none of accept, decline, cancel"));
        for nothing in ["", "yes", "[]", "{\"action\":"] {
            check(nothing, Err("it printed no JSON object, such as {\"action\":\"decline\"}"));
        }
        // A URL asks for consent and nothing else.
        assert!(elicited(r#"{"action":"accept"}"#, r#"{"mode":"url","url":"https://x"}"#).is_ok());
    }

    #[test]
    fn what_a_program_says_to_a_model_is_passed_on_or_wrapped() {
        #[track_caller]
        fn check(printed: &str, expected: &str) {
            assert_eq!(sampled(printed).as_deref(), Ok(expected), "{printed}");
        }
        let whole = r#"{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}"#;
        check(&format!("{whole}\n"), whole);
        check(
            r#"{"role":"assistant","content":[ ]}"#,
            r#"{"role":"assistant","content":[ ],"model":"command"}"#,
        );
        let text = |text: &str| {
            format!(
                r#"{{"role":"assistant","content":{{"type":"text","text":{text}}},"stopReason":"endTurn","model":"command"}}"#
            )
        };
        check("Oslo.\n", &text(r#""Oslo.""#));
        check("  two\nlines\r\n", &text(r#""  two\nlines""#));
        check(r#"{"city":"Oslo"}"#, &text(r#""{\"city\":\"Oslo\"}""#));
        check(
            r#"{"role":"assistant","content":"#,
            &text(r#""{\"role\":\"assistant\",\"content\":""#),
        );
        assert_eq!(sampled(" \n"), Err("it printed nothing".to_owned()));
    }
}
