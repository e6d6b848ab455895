//! Parts of an answer (`--select`), and what it must have (`--expect`).

use std::borrow::Cow;

use crate::cli::args::values::Expectation;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::message::Sent;
use crate::protocol::pointer::{Missing, Pointer, is_written};

/// Makes sure that a result has what it must have.
pub(in crate::cli) fn check(result: &str, expectations: &[Expectation]) -> Result<(), Error> {
    for Expectation { pointer, value } in expectations {
        let found = pointer.select(result).unwrap_or_default();
        if found.iter().any(|found| is_written(found, value)) {
            continue;
        }
        let found: Vec<Cow<'_, str>> = found.into_iter().map(output::one_line).collect();
        let text = match found.as_slice() {
            [] => format!("expected {value} at {pointer}, but there is nothing"),
            found => format!(
                "expected {value} at {pointer}, but there is {}",
                excerpt(&found.join(", "))
            ),
        };
        return Err(mismatch(text));
    }
    Ok(())
}

/// The selected values, a line each: as JSON, or with texts as what they say.
pub(in crate::cli) fn select(
    result: &str,
    pointers: &[Pointer],
    as_json: bool,
) -> Result<String, Error> {
    let mut lines = String::new();
    for pointer in pointers {
        let values = pointer.select(result).map_err(|Missing| {
            let error = mismatch(format!("the answer has nothing at {pointer}"));
            error.hint(outline(result, pointer))
        })?;
        for value in values {
            match scan::unescape(value).filter(|_| !as_json) {
                Some(text) => lines.push_str(&text),
                None => lines.push_str(&output::one_line(value)),
            }
            lines.push('\n');
        }
    }
    Ok(lines)
}

/// What there is where a pointer leads nowhere any more.
fn outline(result: &str, pointer: &Pointer) -> String {
    /// How many names are shown.
    const NAMES: usize = 16;
    let (way, value) = pointer.reach(result);
    let place = if way.is_empty() { "the answer" } else { way };
    let names: Vec<String> = scan::members(value).map(|(name, _)| json::string(&name)).collect();
    if !names.is_empty() {
        let more = if NAMES < names.len() { ", ..." } else { "" };
        let shown: Vec<&str> = names.iter().take(NAMES).map(String::as_str).collect();
        return format!("{place} has {}{more}", shown.join(", "));
    }
    match value.starts_with('[') {
        true => format!("{place} is a list of {}", scan::elements(value).count()),
        false => format!("{place} is {}", excerpt(&output::one_line(value))),
    }
}

/// The beginning of a text, enough of it to see what is wrong.
pub(in crate::cli) fn excerpt(text: &str) -> Cow<'_, str> {
    const LENGTH: usize = 200;
    match text.char_indices().nth(LENGTH) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// An answer that is not what it was required to be.
pub(in crate::cli) fn mismatch(text: impl Into<String>) -> Error {
    Error::new(Exit::Mismatch, text).phase(Phase::Output).sent(Sent::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"{"content":[{"type":"text","text":"a\nb"},{"type":"image"}],
        "structuredContent":{"n":1.50,"big":12345678901234567890123,"o":{"k": [1,
        2]},"t":"x\u00e9","none":null,"empty":[]}}"#;

    fn pointers(texts: &[&str]) -> Vec<Pointer> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn values_are_printed_a_line_each() {
        let check = |texts: &[&str], plain: &str, json: &str| {
            assert_eq!(select(RESULT, &pointers(texts), false).as_deref(), Ok(plain));
            assert_eq!(select(RESULT, &pointers(texts), true).as_deref(), Ok(json));
        };
        check(&["/structuredContent/t"], "xé\n", "\"x\\u00e9\"\n");
        check(&["/structuredContent/n"], "1.50\n", "1.50\n");
        check(
            &["/structuredContent/big", "/structuredContent/none"],
            "12345678901234567890123\nnull\n",
            "12345678901234567890123\nnull\n",
        );
        let nested = "{\"k\": [1,         2]}\n";
        check(&["/structuredContent/o"], nested, nested);
        check(&["/content/-/type"], "text\nimage\n", "\"text\"\n\"image\"\n");
        check(&["/content/-/text"], "a\nb\n", "\"a\\nb\"\n");
        check(&["/structuredContent/empty/-/id"], "", "");
        check(&[], "", "");
    }

    #[test]
    fn what_is_not_there_is_a_mismatch() {
        let selected = select(RESULT, &pointers(&["/content/0/type", "/content/7"]), false);
        let error = selected.unwrap_err();
        assert_eq!(error.exit, Exit::Mismatch);
        assert_eq!(error.message, "the answer has nothing at /content/7");
        let hint = |pointer: &str| {
            let selected = select(RESULT, &pointers(&[pointer]), false);
            selected.unwrap_err().hint.unwrap()
        };
        assert_eq!(hint("/content/7"), "/content is a list of 2");
        assert_eq!(hint("/x"), r#"the answer has "content", "structuredContent""#);
        assert_eq!(hint("/structuredContent/o/x"), r#"/structuredContent/o has "k""#);
        assert_eq!(hint("/structuredContent/n/x"), "/structuredContent/n is 1.50");
    }

    #[test]
    fn expectations_are_met_or_not() {
        let check = |expectation: &str, expected: Option<&str>| {
            let met = super::check(RESULT, &[expectation.parse().unwrap()]);
            assert_eq!(met.err().map(|error| error.message).as_deref(), expected, "{expectation}");
        };
        check("/structuredContent/n=1.5", None);
        check("/structuredContent/t=xé", None);
        check("/content/-/type=image", None);
        check(
            "/content/1/type=text",
            Some("expected text at /content/1/type, but there is \"image\""),
        );
        check(
            "/structuredContent/x=1",
            Some("expected 1 at /structuredContent/x, but there is nothing"),
        );
    }
}
