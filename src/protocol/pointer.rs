//! JSON Pointer: naming a value inside of another (RFC 6901).
//!
//! One thing is added: where the value is an array, `-` stands for each of its elements. The RFC
//! has it stand for the element after the last, which never exists in a document that is only read.

use std::fmt;
use std::str::FromStr;

use super::decimal::Decimal;
use super::jsonrpc::scan;
use super::tree::Tree;

/// The longest pointer, in steps. Nobody writes longer ones by hand.
const STEPS: usize = 256;

/// A pointer, such as `/structuredContent/items/-/id`. The empty one is the whole value.
///
/// ```
/// use mcpmini_protocol::pointer::Pointer;
/// let pointer: Pointer = "/items/-/id".parse().unwrap();
/// let text = r#"{"items":[{"id":1.50},{"id":"b"},{}]}"#;
/// assert_eq!(pointer.select(text).unwrap(), ["1.50", "\"b\""]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    text: String,
    steps: Vec<String>,
}

/// A text that is no pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidPointer {
    /// It is not empty and does not begin with a slash.
    NoSlash,
    /// A `~` is followed by neither 0 nor 1.
    Escape,
    /// It has too many steps.
    TooLong,
}

/// There is no value where a pointer points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing;

impl Pointer {
    /// The values that the pointer names in the JSON value `text`, each as its text.
    ///
    /// Without a `-` there is exactly one. With it, elements that lack what follows are passed over,
    /// and an empty array has none; it is an error only when there are elements and all lack it.
    pub fn select<'a>(&self, text: &'a str) -> Result<Vec<&'a str>, Missing> {
        let mut found = vec![text.trim_matches(super::tree::BLANKS)];
        let mut missed = false;
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found {
                match inside(value, step) {
                    Inside::One(value) => next.push(value),
                    Inside::Each(values) => next.extend(values),
                    Inside::Nothing => missed = true,
                }
            }
            found = next;
        }
        if found.is_empty() && missed { Err(Missing) } else { Ok(found) }
    }

    /// How far into `text` the pointer leads: the part of it that leads somewhere, and the value
    /// there. Of several elements it goes to the first.
    ///
    /// ```
    /// use mcpmini_protocol::pointer::Pointer;
    /// let pointer: Pointer = "/items/0/name".parse().unwrap();
    /// let text = r#"{"items":[{"id":1}]}"#;
    /// assert_eq!(pointer.reach(text), ("/items/0", r#"{"id":1}"#));
    /// ```
    pub fn reach<'a>(&self, text: &'a str) -> (&str, &'a str) {
        let mut here = text.trim_matches(super::tree::BLANKS);
        let mut end = 0;
        for (step, written) in self.steps.iter().zip(self.text.split('/').skip(1)) {
            let next = match inside(here, step) {
                Inside::One(value) => Some(value),
                Inside::Each(mut values) => values.next(),
                Inside::Nothing => None,
            };
            let Some(next) = next else { break };
            here = next;
            end += 1 + written.len();
        }
        (&self.text[..end], here)
    }
}

enum Inside<'a> {
    One(&'a str),
    Each(scan::Elements<'a>),
    Nothing,
}

/// What a step leads to.
fn inside<'a>(value: &'a str, step: &str) -> Inside<'a> {
    if !value.starts_with('[') {
        return scan::member(value, step).map_or(Inside::Nothing, Inside::One);
    }
    if step == "-" {
        return Inside::Each(scan::elements(value));
    }
    index(step)
        .and_then(|index| scan::elements(value).nth(index))
        .map_or(Inside::Nothing, Inside::One)
}

/// An index (RFC 6901, section 4): digits without a leading zero.
fn index(step: &str) -> Option<usize> {
    let plain = step == "0" || !step.starts_with('0') && step.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| step.parse().ok())?
}

impl FromStr for Pointer {
    type Err = InvalidPointer;

    fn from_str(text: &str) -> Result<Pointer, InvalidPointer> {
        let mut steps = Vec::new();
        if !text.is_empty() {
            let rest = text.strip_prefix('/').ok_or(InvalidPointer::NoSlash)?;
            for step in rest.split('/') {
                steps.push(unescape(step)?);
            }
        }
        if steps.len() > STEPS {
            return Err(InvalidPointer::TooLong);
        }
        Ok(Pointer { text: text.to_owned(), steps })
    }
}

fn unescape(step: &str) -> Result<String, InvalidPointer> {
    let mut parts = step.split('~');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (sign, rest) = match part.as_bytes().first() {
            Some(b'0') => ('~', &part[1..]),
            Some(b'1') => ('/', &part[1..]),
            _ => return Err(InvalidPointer::Escape),
        };
        plain.push(sign);
        plain.push_str(rest);
    }
    Ok(plain)
}

impl fmt::Display for Pointer {
    /// As it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for InvalidPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidPointer::NoSlash => {
                "a JSON Pointer begins with a slash, such as /content/0/text"
            }
            InvalidPointer::Escape => "in a JSON Pointer ~ is written ~0, and / inside a name ~1",
            InvalidPointer::TooLong => "the JSON Pointer has too many steps",
        })
    }
}

/// Whether a JSON value is what somebody has written for it: a string its text without quotes,
/// anything else JSON. Numbers are equal by value, and blanks between the parts do not count.
///
/// ```
/// use mcpmini_protocol::pointer::is_written;
/// assert!(is_written(r#""a\u0062""#, "ab"));
/// assert!(is_written("1.50", "1.5"));
/// assert!(!is_written("\"1\"", "1.0"));
/// ```
pub fn is_written(json: &str, written: &str) -> bool {
    if let Some(text) = scan::unescape(json) {
        return text == written;
    }
    match (Decimal::parse(json), Decimal::parse(written)) {
        (Some(json), Some(written)) => json == written,
        _ => match (Tree::parse(json), Tree::parse(written)) {
            (Ok(json), Ok(written)) => json.to_string() == written.to_string(),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"m~n":8,"-":[[1],[2,3],[]],
        "items":[{"id":1.50},{"id":"b","x":null},{"no":[]}],"none":[],"n":12345678901234567890123}"#;

    #[track_caller]
    fn check(pointer: &str, expected: Result<&[&str], Missing>) {
        let pointer: Pointer = pointer.parse().unwrap();
        assert_eq!(pointer.select(DOCUMENT).as_deref(), expected.as_ref().copied(), "{pointer}");
    }

    #[test]
    fn a_pointer_names_a_value_as_the_rfc_has_it() {
        check("", Ok(&[DOCUMENT]));
        check("/foo", Ok(&[r#"["bar","baz"]"#]));
        check("/foo/0", Ok(&["\"bar\""]));
        check("/foo/1", Ok(&["\"baz\""]));
        check("/", Ok(&["0"]));
        check("/a~1b", Ok(&["1"]));
        check("/c%d", Ok(&["2"]));
        check("/m~0n", Ok(&["8"]));
        check("/n", Ok(&["12345678901234567890123"]));
        for missing in
            ["/foo/2", "/foo/00", "/foo/01", "/foo/+1", "/foo/bar", "/foo/", "/x", "/n/x"]
        {
            check(missing, Err(Missing));
        }
    }

    #[test]
    fn a_dash_stands_for_every_element_of_an_array() {
        check("/items/-/id", Ok(&["1.50", "\"b\""]));
        check("/items/-/x", Ok(&["null"]));
        check("/items/-/y", Err(Missing));
        check("/none/-/y", Ok(&[]));
        check("/-/-/-", Ok(&["1", "2", "3"]));
        check("/-/0/-", Ok(&["1"]));
        check("/-/2/-", Ok(&[]));
        check("/n/-", Err(Missing));
    }

    #[test]
    fn a_pointer_that_misses_leads_some_way() {
        let check = |pointer: &str, way: &str, there: &str| {
            let pointer: Pointer = pointer.parse().unwrap();
            assert_eq!(pointer.reach(DOCUMENT), (way, there), "{pointer}");
        };
        check("/x/y", "", DOCUMENT);
        check("/items/-/z/y", "/items/-", r#"{"id":1.50}"#);
        check("/none/-/y", "/none", "[]");
        check("/a~1b/c", "/a~1b", "1");
        check("/foo/1", "/foo/1", "\"baz\"");
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        let pointer: Pointer = "/a".parse().unwrap();
        assert_eq!(pointer.select(r#"{"a":1,"a":[2]}"#), Ok(vec!["[2]"]));
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        let check = |text: &str, expected| assert_eq!(text.parse::<Pointer>(), Err(expected));
        check("a", InvalidPointer::NoSlash);
        check("#/a", InvalidPointer::NoSlash);
        check("/~", InvalidPointer::Escape);
        check("/a~2", InvalidPointer::Escape);
        check(&"/a".repeat(STEPS + 1), InvalidPointer::TooLong);
    }

    #[test]
    fn a_written_value_is_compared_by_what_it_means() {
        let check = |json: &str, written: &str, expected| {
            assert_eq!(is_written(json, written), expected, "{json} {written}");
        };
        check("\"\"", "", true);
        check(r#""a\n""#, "a\n", true);
        check("\"1\"", "1", true);
        check("\"a\"", "\"a\"", false);
        check("1e2", "100", true);
        check("12345678901234567890123", "12345678901234567890124", false);
        check("true", "true", true);
        check("true", "True", false);
        check("null", "null", true);
        check("null", "", false);
        check(r#"{"a": [1, 2]}"#, r#"{"a":[1,2]}"#, true);
        check("[1]", "[2]", false);
    }
}
