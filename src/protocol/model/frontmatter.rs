//! The frontmatter of a Markdown file: YAML between two lines of three dashes.
//!
//! It is read for one purpose: to see whether it says what a server has said it does. So what could
//! be understood in more than one way (anchors, tags, keys that come twice) is refused.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::decimal::Decimal;
use crate::tree::Tree;

/// The longest frontmatter that is read, in bytes.
const LONGEST: usize = 64 << 10;

/// How deep lists and mappings may lie in each other.
const DEPTH: usize = 64;

/// Why frontmatter is not what it was said to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discrepancy {
    /// There is none.
    Missing,
    /// It is longer than 64 KiB.
    TooLong,
    /// It is no YAML, or more than plain YAML; why.
    Unreadable(String),
    /// A field has another value, or is on one side only; its name.
    Field(String),
}

/// A YAML value, by the core schema (YAML 1.2.2, section 10.3).
#[derive(Debug, PartialEq, Eq)]
enum Value<'y> {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(Cow<'y, str>),
    List(Vec<Value<'y>>),
    Map(Vec<(Cow<'y, str>, Value<'y>)>),
}

/// Compares the frontmatter of a file with what it is said to be, field by field. Numbers are equal
/// by their values.
pub(crate) fn compare(markdown: &str, said: &Tree<'_>) -> Result<(), Discrepancy> {
    let yaml = block(markdown).ok_or(Discrepancy::Missing)?;
    if LONGEST < yaml.len() {
        return Err(Discrepancy::TooLong);
    }
    let Value::Map(fields) = read(yaml)? else {
        return Err(Discrepancy::Unreadable("it is no mapping".to_owned()));
    };
    let differs = |name: &str, value: &Value<'_>| {
        let mut same = said.members().iter().filter(|(key, _)| key == name);
        !same.next().is_some_and(|(_, said)| is_equal(value, said)) || same.next().is_some()
    };
    if let Some((name, _)) = fields.iter().find(|(name, value)| differs(name, value)) {
        return Err(Discrepancy::Field(name.clone().into_owned()));
    }
    match said.members().iter().find(|(key, _)| fields.iter().all(|(name, _)| name != key)) {
        Some((key, _)) => Err(Discrepancy::Field(key.clone().into_owned())),
        None => Ok(()),
    }
}

/// What is between the dashes.
fn block(markdown: &str) -> Option<&str> {
    let text = markdown.strip_prefix('\u{feff}').unwrap_or(markdown);
    let text = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        if line.strip_prefix("---").is_some_and(|rest| rest.trim().is_empty()) {
            return Some(&text[..length]);
        }
        length += line.len();
    }
    None
}

fn is_equal(value: &Value<'_>, said: &Tree<'_>) -> bool {
    match (value, said) {
        (Value::Null, said) => said.is_literal("null"),
        (Value::Bool(value), said) => said.is_literal(if *value { "true" } else { "false" }),
        (Value::Number(number), Tree::Leaf(said)) => Decimal::parse(said).as_ref() == Some(number),
        (Value::Text(text), said) => said.as_text().as_ref() == Some(text),
        (Value::List(values), Tree::Array(said)) => {
            values.len() == said.len()
                && values.iter().zip(said).all(|(value, said)| is_equal(value, said))
        }
        (Value::Map(values), Tree::Object(said)) => {
            // The keys of the first are all different.
            let is_same = |(key, value): &(Cow<'_, str>, Value<'_>)| {
                let mut same = said.iter().filter(|(name, _)| name == key);
                same.next().is_some_and(|(_, said)| is_equal(value, said))
            };
            values.len() == said.len() && values.iter().all(is_same)
        }
        _ => false,
    }
}

/// Reads the only document of a YAML text.
fn read(yaml: &str) -> Result<Value<'_>, Discrepancy> {
    let mut reader = Reader(Parser::new_from_str(yaml));
    let mut value = Value::Null;
    loop {
        match reader.next()? {
            Event::StreamStart | Event::Nothing | Event::DocumentStart(_) => (),
            Event::DocumentEnd => break,
            // An empty stream has no document.
            Event::StreamEnd => return Ok(value),
            event => value = reader.value(event, DEPTH)?,
        }
    }
    match reader.next()? {
        Event::StreamEnd => Ok(value),
        _ => Err(unreadable("it has more than one document")),
    }
}

struct Reader<'y>(Parser<'y, saphyr_parser::StrInput<'y>>);

impl<'y> Reader<'y> {
    fn next(&mut self) -> Result<Event<'y>, Discrepancy> {
        match self.0.next() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(unreadable(error.info())),
            None => Ok(Event::StreamEnd),
        }
    }

    /// The value that begins with an event.
    fn value(&mut self, event: Event<'y>, depth: usize) -> Result<Value<'y>, Discrepancy> {
        let Some(depth) = depth.checked_sub(1) else { return Err(unreadable("it is too deep")) };
        match event {
            Event::Scalar(text, style, 0, None) => scalar(text, style),
            Event::SequenceStart(0, None) => {
                let mut values = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => return Ok(Value::List(values)),
                        event => values.push(self.value(event, depth)?),
                    }
                }
            }
            Event::MappingStart(0, None) => self.mapping(depth),
            Event::Alias(_) => Err(unreadable("it has an alias")),
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                Err(unreadable("it has an anchor or a tag"))
            }
            _ => Err(unreadable("it ends too early")),
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value<'y>, Discrepancy> {
        let mut values: Vec<(Cow<'y, str>, Value<'y>)> = Vec::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(Value::Map(values)),
                Event::Scalar(key, _, 0, None) => key,
                _ => return Err(unreadable("it has a key that is no plain text")),
            };
            if values.iter().any(|(name, _)| *name == key) {
                return Err(unreadable("a key comes twice"));
            }
            let event = self.next()?;
            values.push((key, self.value(event, depth)?));
        }
    }
}

fn unreadable(why: &str) -> Discrepancy {
    Discrepancy::Unreadable(why.to_owned())
}

/// What a scalar means: text in quotes is text, and so are blocks.
fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Result<Value<'_>, Discrepancy> {
    if style != ScalarStyle::Plain {
        return Ok(Value::Text(text));
    }
    Ok(match &*text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        plain => match number(plain) {
            Some(number) => Value::Number(number),
            None if is_special(plain) => return Err(unreadable("it has a number that JSON lacks")),
            None => Value::Text(text),
        },
    })
}

/// The infinities and what is no number.
fn is_special(plain: &str) -> bool {
    let unsigned = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    let infinite = [".inf", ".Inf", ".INF"].contains(&unsigned);
    infinite || [".nan", ".NaN", ".NAN"].contains(&plain)
}

/// The number that a plain scalar is, in one of the notations of the core schema.
fn number(plain: &str) -> Option<Decimal> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = plain.strip_prefix(prefix) {
            let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
            return Decimal::parse(&u128::from_str_radix(digits, radix).ok()?.to_string());
        }
    }
    // JSON wants no plus, no leading zeros, and digits on both sides of the point.
    let (sign, rest) = match plain.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", plain.strip_prefix('+').unwrap_or(plain)),
    };
    let (mantissa, exponent) = rest.split_at(rest.find(['e', 'E']).unwrap_or(rest.len()));
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if integer.is_empty() && fraction.is_empty() {
        return None;
    }
    let integer = match integer.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    Decimal::parse(&format!("{sign}{integer}.{fraction}{exponent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str) -> Result<(), Discrepancy> {
        Err(Discrepancy::Field(name.to_owned()))
    }

    #[track_caller]
    fn check(markdown: &str, said: &str, expected: Result<(), Discrepancy>) {
        assert_eq!(compare(markdown, &Tree::parse(said).unwrap()), expected, "{markdown}");
    }

    /// Checks one value against what it is said to be.
    #[track_caller]
    fn check_value(yaml: &str, said: &str, expected: bool) {
        let expected = if expected { Ok(()) } else { field("a") };
        check(&format!("---\na: {yaml}\n---\n"), &format!("{{\"a\":{said}}}"), expected);
    }

    #[test]
    fn frontmatter_is_between_dashes_at_the_very_beginning() {
        let said = r#"{"a":"b"}"#;
        check("---\na: b\n---\nbody", said, Ok(()));
        check("\u{feff}---\r\na: b\r\n--- \t\r\nbody", said, Ok(()));
        check("---\na: b\n---", said, Ok(()));
        check("---\na: b\n", said, Err(Discrepancy::Missing));
        check("\n---\na: b\n---\n", said, Err(Discrepancy::Missing));
        check("--- \na: b\n---\n", said, Err(Discrepancy::Missing));
        check("---\na: b\n----\n", said, Err(Discrepancy::Missing));
        check("", said, Err(Discrepancy::Missing));
        check(&format!("---\na: {}\n---\n", "b".repeat(LONGEST)), said, Err(Discrepancy::TooLong));
    }

    #[test]
    fn every_field_is_compared() {
        check("---\na: b\nc: d\n---\n", r#"{"c":"d","a":"b"}"#, Ok(()));
        check("---\na: b\nc: d\n---\n", r#"{"a":"b"}"#, field("c"));
        check("---\na: b\n---\n", r#"{"a":"b","c":null}"#, field("c"));
        check("---\na: b\n---\n", r#"{"a":"x"}"#, field("a"));
        check("---\na: b\n---\n", r#"{"a":"b","a":"b"}"#, field("a"));
        check("---\n'a': b\n---\n", r#"{"\u0061":"b"}"#, Ok(()));
    }

    #[test]
    fn values_mean_what_the_core_schema_says() {
        for (yaml, said) in [
            ("text with: colon".replace(": ", ":").as_str(), "\"text with:colon\""),
            ("'it''s'", "\"it's\""),
            ("\"a\\u00e9\\n\"", "\"aé\\n\""),
            ("|\n  two\n  lines", "\"two\\nlines\\n\""),
            (">-\n  two\n  lines", "\"two lines\""),
            ("first\n  second", "\"first second\""),
            ("x # comment", "\"x\""),
            ("2024-01-01", "\"2024-01-01\""),
            ("yes", "\"yes\""),
            ("1.2.3", "\"1.2.3\""),
            ("~", "null"),
            ("", "null"),
            ("Null", "null"),
            ("True", "true"),
            ("\"true\"", "\"true\""),
            ("'1'", "\"1\""),
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("-007", "-7"),
            ("+.5e1", "5"),
            ("12e03", "12000"),
            ("0o17", "15"),
            ("0xfF", "255"),
            ("9007199254740993", "9007199254740993"),
            ("[a, 1, [], {b: c}]", "[\"a\", 1, [], {\"b\": \"c\"}]"),
            ("\n  - a\n  - b: c\n    d: ~", "[\"a\", {\"d\": null, \"b\": \"c\"}]"),
            ("\n  b: 1\n  c: {}", "{\"c\":{},\"b\":1}"),
        ] {
            check_value(yaml, said, true);
        }
    }

    #[test]
    fn another_value_or_type_is_a_discrepancy() {
        for (yaml, said) in [
            ("b", "\"B\""),
            ("b", "\"b \""),
            ("1", "\"1\""),
            ("'1'", "1"),
            ("true", "\"true\""),
            ("yes", "true"),
            ("1.0", "1.01"),
            ("9007199254740993", "9007199254740992"),
            ("~", "\"\""),
            ("\"\"", "null"),
            ("[a]", "\"a\""),
            ("[a]", "[\"a\",\"b\"]"),
            ("[a, b]", "[\"b\",\"a\"]"),
            ("{b: c}", "{\"b\":\"c\",\"d\":1}"),
            ("{b: c}", "{\"b\":\"c\",\"b\":\"c\"}"),
            ("{b: c, d: 1}", "{\"b\":\"c\",\"b\":\"c\"}"),
            ("{}", "[]"),
            ("0x-1", "1"),
            ("+", "0"),
        ] {
            check_value(yaml, said, false);
        }
    }

    #[test]
    fn yaml_that_is_more_than_plain_is_refused() {
        let check = |yaml: &str, why: &str| {
            let Err(Discrepancy::Unreadable(said)) = read(yaml) else { panic!("{yaml}") };
            assert!(said.contains(why), "{yaml}: {said}");
        };
        check("a: &x b", "anchor");
        check("a: &x b\nc: *x", "anchor");
        check("a: !!str b", "tag");
        check("a: !mine b", "tag");
        check("a: b\na: c", "twice");
        check("a: {b: 1, 'b': 2}", "twice");
        check("? [a]\n: b", "key");
        check("a: .inf", "JSON");
        check("a: -.INF", "JSON");
        check("a: .nan", "JSON");
        check("a: b\n...\nc: d", "document");
        check(&format!("a: {}{}", "[".repeat(100), "]".repeat(100)), "deep");
        check("a: [b", "");
        check("a: 'b", "");
        check("a: b: c", "");
        assert!(matches!(
            compare("---\n- a\n---\n", &Tree::parse("{}").unwrap()),
            Err(Discrepancy::Unreadable(_))
        ));
    }

    #[test]
    fn no_nesting_exhausts_the_stack_or_the_patience() {
        for open in ["[", "{", "- ", "? ", "{a: ", "&a ", "!a "] {
            let yaml = format!("a: {}", open.repeat(LONGEST / open.len()));
            assert!(read(&yaml).is_err(), "{open}");
            let yaml = format!("\n{}", open.repeat(LONGEST / open.len()));
            let begun = std::time::Instant::now();
            let _ = read(&yaml);
            assert!(begun.elapsed().as_secs() < 2, "{open}");
        }
    }
}
