//! The scanner against serde_json, on random documents, whole and broken.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::random::Random;
use super::{
    Broken, Envelope, Span, elements, envelope, member, members, skip, unescape, value_end,
};
use crate::json::validate;

/// Documents per test.
const ROUNDS: u64 = 100_000;

/// The members of an object as serde_json finds them, of equal keys the last.
type Raw<'a> = HashMap<String, &'a RawValue>;

/// What the scanner should find, by serde_json; `None` when `text` is no object, or no JSON.
fn expected(text: &str) -> Option<Envelope> {
    let object: Raw<'_> = serde_json::from_str(text).ok()?;
    let span = |raw: Option<&&RawValue>| raw.map(|raw| span_of(raw.get(), text));
    let inner = object.get("result").and_then(|result| Raw::deserialize(*result).ok());
    Some(Envelope {
        jsonrpc: span(object.get("jsonrpc")),
        id: span(object.get("id")),
        method: span(object.get("method")),
        params: span(object.get("params")),
        result: span(object.get("result")),
        result_type: span(inner.as_ref().and_then(|inner| inner.get("resultType"))),
        longest: object.get("result").map_or(0..0, |result| longest(result.get(), text)),
        error: span(object.get("error")),
        end: text.trim_end().len(),
    })
}

/// Where in `text` the longest array or object stands that is a member of `result`.
fn longest(result: &str, text: &str) -> Span {
    let nests =
        members(result).map(|(_, value)| value).filter(|value| value.starts_with(['[', '{']));
    let longer =
        |found: Span, nest| if found.len() < str::len(nest) { span_of(nest, text) } else { found };
    nests.fold(0..0, longer)
}

fn span_of(part: &str, text: &str) -> Span {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

#[test]
fn envelopes_of_random_messages_are_found_where_serde_json_finds_them() {
    let mut random = Random::new(1);
    for round in 0..ROUNDS {
        let text = random.message();
        let expected = expected(&text).expect("the generator writes objects");
        assert_eq!(envelope(&text, 64), Ok(expected), "round {round}: {text}");
    }
}

#[test]
fn what_serde_json_takes_of_broken_messages_is_taken() {
    let mut random = Random::new(2);
    let (mut whole, mut broken) = (0, 0);
    for round in 0..ROUNDS {
        let text = random.message();
        let text = random.damage(&text);
        let found = envelope(&text, 64);
        match expected(&text) {
            Some(expected) => {
                whole += 1;
                assert_eq!(found, Ok(expected), "round {round}: {text}");
            }
            None => {
                broken += 1;
                assert_sound(&text, found.ok());
            }
        }
    }
    // The damage must neither always show nor never.
    assert!(whole > ROUNDS / 10 && broken > ROUNDS / 10, "{whole} whole, {broken} broken");
}

/// Checks that a text whose envelope was found is JSON but for what the scanner steps over.
#[track_caller]
fn assert_sound(text: &str, envelope: Option<Envelope>) {
    let Some(envelope) = envelope else { return };
    let object = text[..envelope.end].trim_start();
    let mut skeleton = object.to_owned();
    let values: Vec<_> = members(object).map(|(_, value)| span_of(value, object)).collect();
    for value in values.into_iter().rev() {
        skeleton.replace_range(value, "null");
    }
    assert_eq!(validate(&skeleton), Ok(()), "{text}");
}

#[test]
fn parts_of_random_values_are_found_where_serde_json_finds_them() {
    let mut random = Random::new(3);
    for _ in 0..ROUNDS {
        let mut text = String::new();
        random.value(&mut text, 4);
        let trimmed = text.trim_end();
        assert_eq!(value_end(&text), Some(trimmed.len()), "{text}");
        let array: Vec<&RawValue> = serde_json::from_str(&text).unwrap_or_default();
        assert!(elements(&text).eq(array.iter().map(|raw| raw.get())), "{text}");
        let object: Raw<'_> = serde_json::from_str(&text).unwrap_or_default();
        for (key, raw) in &object {
            assert_eq!(member(&text, key), Some(raw.get()), "{text}");
        }
        let keys: HashMap<Cow<'_, str>, _> = members(&text).collect();
        assert_eq!(keys.len(), object.len(), "{text}");
    }
}

#[test]
fn random_strings_are_unescaped_as_serde_json_does() {
    skip::ask_at_once();
    let mut random = Random::new(4);
    for _ in 0..ROUNDS {
        let mut text = String::new();
        random.string(&mut text);
        // Some are long enough for the fast loop, and some have what is no whole character.
        for _ in 0..random.below(8) {
            let odd = random.one_of(&["", "", "", "\\ud83d", "\\udc00", "\\ud8", "\n"]);
            text.insert_str(text.len() - 1, odd);
            let mut more = String::new();
            random.string(&mut more);
            text.insert_str(text.len() - 1, &more[1..more.len() - 1]);
        }
        if random.below(2) == 0 {
            text = random.damage(&text);
        }
        let text = text.trim_matches([' ', '\n']);
        let expected: Option<String> = serde_json::from_str(text).ok();
        let found = unescape(text);
        match expected {
            Some(expected) => assert_eq!(found.as_deref(), Some(&*expected), "{text}"),
            // serde_json refuses surrogates without their partner.
            None => assert!(found.is_none_or(|found| found.contains('\u{fffd}')), "{text}"),
        }
    }
}

#[test]
fn both_loops_step_over_the_same() {
    skip::ask_at_once();
    let mut random = Random::new(5);
    for round in 0..ROUNDS {
        let mut text = String::from("[");
        random.value(&mut text, 6);
        text.push_str("] and more");
        if round % 2 == 0 {
            text = random.damage(&text);
        }
        let at = random.below(3).min(text.len());
        let room = random.below(8);
        let portable = skip::portable_nest(text.as_bytes(), at, room);
        assert_eq!(skip::nest(text.as_bytes(), at, room), portable, "from {at}: {text}");
        let portable = skip::portable_string(text.as_bytes(), at);
        assert_eq!(skip::string(text.as_bytes(), at), portable, "from {at}: {text}");
    }
}

#[test]
fn runs_of_backslashes_are_followed_across_blocks() {
    skip::ask_at_once();
    for before in 0..130 {
        for run in 0..130 {
            let (before, run) = ("x".repeat(before), "\\".repeat(run));
            let text = format!("\"{before}{run}\"]\"]");
            let portable = skip::portable_nest(text.as_bytes(), 0, 0);
            assert_eq!(skip::nest(text.as_bytes(), 0, 0), portable, "{text}");
        }
    }
}

#[test]
fn depth_is_counted_alike_wherever_it_is_reached() {
    skip::ask_at_once();
    for before in 0..130 {
        for depth in 1..70 {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            let text = format!("{}[],{open}1{close}", " ".repeat(before));
            let text = format!("[{text}]");
            for room in [0, depth.saturating_sub(2), depth - 1, depth, usize::MAX] {
                let portable = skip::portable_nest(text.as_bytes(), 1, room).unwrap();
                assert_eq!(portable.too_deep, depth > room, "{text}");
                assert_eq!(skip::nest(text.as_bytes(), 1, room), Some(portable), "{text}");
            }
        }
    }
}

#[test]
fn envelopes_are_told_from_what_is_none() {
    let check = |text: &str, expected: Result<usize, Broken>| {
        assert_eq!(envelope(text, 3).map(|envelope| envelope.end), expected, "{text}");
    };
    check("{}", Ok(2));
    check(" {\"id\":1} {", Ok(9));
    check("{\"a\":[[]]}", Ok(10));
    check("{\"a\":[[[]]]}", Err(Broken::TooDeep { id: None }));
    check("{\"a\":[[[]]],\"id\":1}", Err(Broken::TooDeep { id: Some(17..18) }));
    check("{\"result\":{\"a\":[[]]}}", Err(Broken::TooDeep { id: None }));
    check("[{}]", Err(Broken::NoObject));
    check("7", Err(Broken::NoObject));
    check("{\"a\":[}}", Err(Broken::Syntax));
    check("{\"a\":1,}", Err(Broken::Syntax));
    check("{\"a\" 1}", Err(Broken::Syntax));
    check("{\"a\":01}", Err(Broken::Syntax));
    check("{a:1}", Err(Broken::Syntax));
    check("{\"a\":\"\\\"}", Err(Broken::Syntax));
    check("{", Err(Broken::Syntax));
    check("", Err(Broken::Syntax));
    check("log", Err(Broken::Syntax));
}
