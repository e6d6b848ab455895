//! A form on the terminal (`--elicit ask`): field by field, then everything once more before it is
//! sent.

use super::reply::accepted;
use super::screen::{Gone, Screen, Talk, clean, indented};
use super::{CANCEL, DECLINE};
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::model::form::{Bound, Choice, Field, Form, Kind, Misfit};
use crate::protocol::params::Members;

/// How many choices are listed.
const LISTED: usize = 200;

const HELP: &str = "Enter takes what is in [brackets]. Other words: /skip leaves the field out,\n\
                    /decline says no, /cancel or Ctrl-D ends without an answer.";

/// How a conversation about a form ends, other than with answers.
enum End {
    Declined,
    Cancelled,
}

impl From<Gone> for End {
    fn from(_: Gone) -> End {
        End::Cancelled
    }
}

/// What a line means.
enum Said {
    Skip,
    Decline,
    Cancel,
    Nothing,
    Text,
}

/// Fills a form together with the person at the terminal. `given` are values, by the names of
/// fields, to begin with.
pub(super) async fn ask(
    screen: &Screen,
    message: &str,
    form: &Form,
    given: Vec<(String, String)>,
) -> Result<String, ErrorObject> {
    Ok(match converse(screen, message, form, given).await {
        Ok(content) => accepted(&content),
        Err(End::Declined) => DECLINE.to_owned(),
        Err(End::Cancelled) => CANCEL.to_owned(),
    })
}

async fn converse(
    screen: &Screen,
    message: &str,
    form: &Form,
    mut values: Vec<(String, String)>,
) -> Result<String, End> {
    let mut talk = screen.begin("asks for input.", message).await?;
    if !form.fields.is_empty() {
        talk.say(HELP);
    }
    loop {
        let mut answers = Vec::new();
        for field in &form.fields {
            let before = values.iter().find(|(name, _)| *name == field.name);
            let offered = before.map(|(_, value)| value).or(field.default.as_ref());
            if let Some(value) = ask_field(&mut talk, field, offered.map(String::as_str)).await? {
                answers.push((field.name.clone(), value));
            }
        }
        if review(&mut talk, form, &answers).await? {
            let mut content = Members::new();
            answers.iter().for_each(|(name, value)| content.push(name, value));
            return Ok(content.finish());
        }
        values = answers;
    }
}

/// Asks until there is a value that fits; `None` when the field is left out.
async fn ask_field(
    talk: &mut Talk<'_>,
    field: &Field,
    offered: Option<&str>,
) -> Result<Option<String>, End> {
    let wanted = if field.required { "" } else { ", may be left out" };
    let label = talk.screen.bold(&clean(field.label()));
    talk.say(&format!("\n{label} ({}{wanted})", kind_text(&field.kind)));
    if let Some(description) = &field.description {
        talk.say(&indented(&clean(description)));
    }
    for (number, choice) in field.choices().iter().enumerate().take(LISTED) {
        talk.say(&format!("  {}) {}", number + 1, clean(&choice.label)));
    }
    let prompt = match offered {
        Some(offered) => format!("[{}] > ", shown(field, offered)),
        None => "> ".to_owned(),
    };
    loop {
        let line = talk.ask(&prompt).await?;
        let misfit = match (said(&line), offered) {
            (Said::Decline, _) => return Err(End::Declined),
            (Said::Cancel, _) => return Err(End::Cancelled),
            (Said::Nothing, Some(offered)) => return Ok(Some(offered.to_owned())),
            (Said::Skip | Said::Nothing, _) if !field.required => return Ok(None),
            (Said::Skip | Said::Nothing, _) => Misfit::Missing,
            (Said::Text, _) => match read(field, &line) {
                Ok(value) => return Ok(Some(value)),
                Err(misfit) => misfit,
            },
        };
        talk.say(&talk.screen.warning(&clean(&misfit.to_string())));
    }
}

/// Shows all answers; false when they are to be changed.
async fn review(
    talk: &mut Talk<'_>,
    form: &Form,
    answers: &[(String, String)],
) -> Result<bool, End> {
    if !form.fields.is_empty() {
        talk.say(&format!("\n{}", talk.screen.bold("Your answers:")));
    }
    for field in &form.fields {
        let answer = answers.iter().find(|(name, _)| *name == field.name);
        let shown = answer.map_or("(left out)".to_owned(), |(_, value)| shown(field, value));
        talk.say(&format!("  {}: {shown}", clean(field.label())));
    }
    let may_edit = !form.fields.is_empty();
    let edit = if may_edit { ", (e)dit" } else { "" };
    loop {
        let line = talk.ask(&format!("Send this? (y)es{edit}, (n)o > ")).await?;
        match (said(&line), line.trim().to_lowercase().as_str()) {
            (Said::Cancel, _) => return Err(End::Cancelled),
            (Said::Decline, _) | (_, "n" | "no") => return Err(End::Declined),
            (_, "y" | "yes") => return Ok(true),
            (_, "e" | "edit") if may_edit => return Ok(false),
            _ => (),
        }
    }
}

fn said(line: &str) -> Said {
    match line.trim() {
        "" => Said::Nothing,
        "/skip" => Said::Skip,
        "/decline" => Said::Decline,
        "/cancel" => Said::Cancel,
        _ => Said::Text,
    }
}

/// The value that a line means. Where there is a list, its numbers count too, but after its words.
fn read(field: &Field, line: &str) -> Result<String, Misfit> {
    let misfit = match field.value_of(line) {
        Ok(value) => return Ok(value),
        Err(misfit) => misfit,
    };
    let choices = field.choices();
    let numbered = |word: &str| {
        let choice = choices.get(word.trim().parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(choice.value.clone())
    };
    let value = match &field.kind {
        Kind::One(_) => numbered(line),
        Kind::Some { .. } => {
            let chosen = |word: &str| {
                let by_word = field.elements_of(word).ok().filter(|values| values.len() == 1);
                by_word.and_then(|mut values| values.pop()).or_else(|| numbered(word))
            };
            let chosen: Option<Vec<String>> = line.split(',').map(chosen).collect();
            chosen.map(|values| format!("[{}]", values.join(",")))
        }
        _ => None,
    };
    let value = value.ok_or(misfit)?;
    field.check(&value).map(|()| value)
}

/// What a field takes, in a few words.
fn kind_text(kind: &Kind) -> String {
    let between = |low: Option<String>, high: Option<String>| match (low, high) {
        (Some(low), Some(high)) if low == high => low,
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => String::new(),
    };
    let count = |count: &Option<u64>| count.map(|count| count.to_string());
    let bound = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.text.clone());
    match kind {
        Kind::Text { format: Some(format), .. } => format.wanted().to_owned(),
        Kind::Text { min_length, max_length, .. } => {
            match between(count(min_length), count(max_length)) {
                length if length.is_empty() => "text".to_owned(),
                length => format!("text, {length} characters"),
            }
        }
        Kind::Number { integer, minimum, maximum } => {
            let number = if *integer { "whole number" } else { "number" };
            match between(bound(minimum), bound(maximum)) {
                bounds if bounds.is_empty() => number.to_owned(),
                bounds => format!("{number}, {bounds}"),
            }
        }
        Kind::Boolean => "yes or no".to_owned(),
        Kind::One(_) => "one of these".to_owned(),
        Kind::Some { min_items, max_items, .. } => {
            match between(count(min_items), count(max_items)) {
                bounds if bounds.is_empty() => "any of these, with commas".to_owned(),
                bounds => format!("{bounds} of these, with commas"),
            }
        }
        Kind::Other => "JSON".to_owned(),
    }
}

/// A value as people read it.
fn shown(field: &Field, value: &str) -> String {
    let label = |value: &str| {
        let text = scan::unescape(value).map_or(value.to_owned(), |text| text.into_owned());
        let same = |choice: &&Choice| scan::unescape(&choice.value).is_some_and(|of| of == text);
        field.choices().iter().find(same).map_or(text, |choice| choice.label.clone())
    };
    clean(&match (&field.kind, value) {
        (Kind::Boolean, "true") => "yes".to_owned(),
        (Kind::Boolean, _) => "no".to_owned(),
        (Kind::Some { .. }, list) => scan::elements(list).map(label).collect::<Vec<_>>().join(", "),
        (_, value) => label(value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(schema: &str) -> Field {
        Form::read(&format!(r#"{{"properties":{{"f":{schema}}}}}"#)).fields.remove(0)
    }

    const COLOURS: &str = r#"[{"const":"r","title":"Red"},{"const":"2","title":"Green"}]"#;

    #[test]
    fn choices_have_numbers() {
        let check = |schema: &str, line: &str, expected: Option<&str>| {
            assert_eq!(read(&field(schema), line).ok().as_deref(), expected, "{schema} {line}");
        };
        let one = format!(r#"{{"oneOf":{COLOURS}}}"#);
        check(&one, "1", Some("\"r\""));
        check(&one, "2", Some("\"2\""));
        check(&one, " red", Some("\"r\""));
        for line in ["0", "3", "1,2", "-1", "blue"] {
            check(&one, line, None);
        }
        let some = format!(r#"{{"type":"array","maxItems":2,"items":{{"anyOf":{COLOURS}}}}}"#);
        check(&some, "2,1", Some(r#"["2","r"]"#));
        check(&some, "red, 2", Some(r#"["r","2"]"#));
        check(&some, "green, 1", Some(r#"["2","r"]"#));
        check(&some, "green, 3", None);
        check(&some, "green,", Some(r#"["2"]"#));
        check(&some, "1,1,1", None);
        check(r#"{"type":"integer"}"#, "1", Some("1"));
        check(r#"{"type":"string"}"#, "1", Some("\"1\""));
    }

    #[test]
    fn a_field_says_what_it_takes() {
        let check = |schema: &str, expected: &str| {
            assert_eq!(kind_text(&field(schema).kind), expected, "{schema}");
        };
        check(r#"{"type":"string"}"#, "text");
        check(r#"{"type":"string","minLength":2}"#, "text, at least 2 characters");
        check(r#"{"type":"string","minLength":2,"maxLength":2}"#, "text, 2 characters");
        check(r#"{"type":"string","format":"date"}"#, "a date, YYYY-MM-DD");
        check(r#"{"type":"integer","minimum":1,"maximum":9}"#, "whole number, 1 to 9");
        check(r#"{"type":"number","maximum":0.50}"#, "number, at most 0.50");
        check(r#"{"type":"boolean"}"#, "yes or no");
        check(
            r#"{"type":"array","minItems":1,"items":{"enum":["a"]}}"#,
            "at least 1 of these, with commas",
        );
        check("{}", "JSON");
    }

    #[test]
    fn values_are_shown_as_people_know_them() {
        let check = |schema: &str, value: &str, expected: &str| {
            assert_eq!(shown(&field(schema), value), expected, "{schema} {value}");
        };
        check(r#"{"type":"string"}"#, r#""a\u001b[31mb""#, "a[31mb");
        check(r#"{"type":"boolean"}"#, "false", "no");
        check(r#"{"type":"number"}"#, "1.50", "1.50");
        check(&format!(r#"{{"oneOf":{COLOURS}}}"#), "\"r\"", "Red");
        let some = format!(r#"{{"type":"array","items":{{"anyOf":{COLOURS}}}}}"#);
        check(&some, r#"["2","r"]"#, "Green, Red");
    }
}
