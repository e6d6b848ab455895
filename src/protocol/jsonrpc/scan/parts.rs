//! Going through the members of an object and the elements of an array.
//!
//! For reading one or two things out of a payload. What is no object has no members and what is no
//! array has no elements; where the text breaks the grammar, the walk ends. Nesting is not limited.

use std::borrow::Cow;
use std::iter::FusedIterator;

use super::Span;
use super::cursor::{Cursor, Syntax};

/// The members of an object; see [`members`].
#[derive(Debug, Clone)]
pub struct Members<'a>(Parts<'a>);

/// The elements of an array; see [`elements`].
#[derive(Debug, Clone)]
pub struct Elements<'a>(Parts<'a>);

/// The members of the object that `text` is, in order: the key, unescaped, and the text of the
/// value. Equal keys all appear.
///
/// ```
/// use mcpmini_protocol::jsonrpc::scan;
/// let members: Vec<_> = scan::members(r#"{"a": 1.50, "b": [2]}"#).collect();
/// assert_eq!(members, [("a".into(), "1.50"), ("b".into(), "[2]")]);
/// ```
pub fn members(text: &str) -> Members<'_> {
    members_past(text, &(0..0))
}

/// The same, of an object in which the array or object at `passed`, if that is not empty, was
/// stepped over before.
pub(crate) fn members_past<'a>(text: &'a str, passed: &Span) -> Members<'a> {
    Members(Parts::new(text, b'{', passed))
}

/// The elements of the array that `text` is, in order, each as its text.
///
/// ```
/// use mcpmini_protocol::jsonrpc::scan;
/// assert_eq!(scan::elements(r#"[1, {"a": 2}]"#).collect::<Vec<_>>(), ["1", r#"{"a": 2}"#]);
/// ```
pub fn elements(text: &str) -> Elements<'_> {
    Elements(Parts::new(text, b'[', &(0..0)))
}

/// The text of the member `name` of the object that `text` is; of several, the last.
///
/// ```
/// use mcpmini_protocol::jsonrpc::scan;
/// assert_eq!(scan::member(r#"{"a": 1, "a": 2}"#, "a"), Some("2"));
/// ```
pub fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let [found] = members_named(text, [name]);
    found
}

/// The members of the object that `text` is with these names; of several with one name, the last.
/// One walk for all of them: the object may be long.
///
/// ```
/// use mcpmini_protocol::jsonrpc::scan;
/// let text = r#"{"a": 1, "b": 2, "c": 3}"#;
/// assert_eq!(scan::members_named(text, ["c", "d", "a"]), [Some("3"), None, Some("1")]);
/// ```
pub fn members_named<'a, const N: usize>(text: &'a str, names: [&str; N]) -> [Option<&'a str>; N] {
    members_named_past(text, &(0..0), names)
}

/// The same, of an object in which the array or object at `passed`, if that is not empty, was
/// stepped over before.
pub(crate) fn members_named_past<'a, const N: usize>(
    text: &'a str,
    passed: &Span,
    names: [&str; N],
) -> [Option<&'a str>; N] {
    let mut found = [None; N];
    if let Some(mut cursor) = Parts::new(text, b'{', passed).cursor {
        // What was found before the text broke is found.
        let _ = find(text, &mut cursor, &names, &mut found);
    }
    found
}

/// Steps to the end of an object, and keeps the values of the members with these names.
fn find<'a>(
    text: &'a str,
    cursor: &mut Cursor<'a>,
    names: &[&str],
    found: &mut [Option<&'a str>],
) -> Result<(), Syntax> {
    while let Some(key) = cursor.key()? {
        let value = cursor.value()?;
        if let Some(at) = names.iter().position(|name| *name == key) {
            found[at] = Some(&text[value]);
        }
    }
    Ok(())
}

/// Goes through the elements of the array that `text` is, and on the way through the members of
/// those that are objects: for arrays that are too long to be gone through twice. `take` gets each
/// element as its text, with the values of the members that have these names. The string at
/// `passed`, if that is not empty, was stepped over before.
///
/// ```
/// use mcpmini_protocol::jsonrpc::scan;
/// let mut seen = Vec::new();
/// let text = r#"[{"a": 1, "c": 2}, 3]"#;
/// scan::objects(text, &(0..0), ["a", "b"], |text, found| seen.push((text, found)));
/// assert_eq!(seen, [(r#"{"a": 1, "c": 2}"#, [Some("1"), None]), ("3", [None; 2])]);
/// ```
pub fn objects<'a, const N: usize>(
    text: &'a str,
    passed: &Span,
    names: [&str; N],
    mut take: impl FnMut(&'a str, [Option<&'a str>; N]),
) {
    let Some(mut cursor) = Parts::new(text, b'[', passed).cursor else { return };
    while let Ok(true) = cursor.element() {
        let start = cursor.at;
        let mut found = [None; N];
        let stepped = match cursor.peek() {
            Some(b'{') => {
                cursor.enter();
                find(text, &mut cursor, &names, &mut found)
            }
            _ => cursor.value().map(drop),
        };
        if stepped.is_err() {
            return;
        }
        take(&text[start..cursor.at], found);
    }
}

/// A cursor inside the object or array, until its end.
#[derive(Debug, Clone)]
struct Parts<'a> {
    text: &'a str,
    cursor: Option<Cursor<'a>>,
}

impl<'a> Parts<'a> {
    fn new(text: &'a str, bracket: u8, passed: &Span) -> Parts<'a> {
        let mut cursor = Cursor::passing(text, passed);
        let fits = cursor.peek() == Some(bracket);
        if fits {
            cursor.enter();
        }
        Parts { text, cursor: fits.then_some(cursor) }
    }

    /// Ends the walk.
    fn end<T>(&mut self) -> Option<T> {
        self.cursor = None;
        None
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.0.cursor.as_mut()?;
        let Ok(Some(key)) = cursor.key() else { return self.0.end() };
        let Ok(value) = cursor.value() else { return self.0.end() };
        Some((key, &self.0.text[value]))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.0.cursor.as_mut()?;
        let Ok(true) = cursor.element() else { return self.0.end() };
        let Ok(value) = cursor.value() else { return self.0.end() };
        Some(&self.0.text[value])
    }
}

impl FusedIterator for Members<'_> {}
impl FusedIterator for Elements<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_seen_with_their_members() {
        let check = |text: &str, expected: &[(&str, [Option<&str>; 2])]| {
            let mut seen = Vec::new();
            objects(text, &(0..0), ["a", "b"], |element, found| seen.push((element, found)));
            assert_eq!(seen, expected, "{text}");
            // Whatever string was stepped over before, they are the same.
            for value in seen.iter().flat_map(|(_, found)| found).flatten() {
                let start = value.as_ptr().addr() - text.as_ptr().addr();
                let passed = start..start + if value.starts_with('"') { value.len() } else { 0 };
                let mut again = Vec::new();
                objects(text, &passed, ["a", "b"], |text, found| again.push((text, found)));
                assert_eq!(again, expected, "{text}");
            }
        };
        check("[]", &[]);
        check("{}", &[]);
        check(
            r#"[ {"a": "]}", "c":[2], "b":{"c":[1]}} , {}, [{"a":1}],7,{"a":1,"\u0061":2}]"#,
            &[
                (r#"{"a": "]}", "c":[2], "b":{"c":[1]}}"#, [Some("\"]}\""), Some(r#"{"c":[1]}"#)]),
                ("{}", [None; 2]),
                (r#"[{"a":1}]"#, [None; 2]),
                ("7", [None; 2]),
                (r#"{"a":1,"\u0061":2}"#, [Some("2"), None]),
            ],
        );
        check(r#"[{"a":1},{"a":}]"#, &[(r#"{"a":1}"#, [Some("1"), None])]);
        check(r#"[{"a":1} {"a":2}]"#, &[(r#"{"a":1}"#, [Some("1"), None])]);
    }

    #[test]
    fn several_members_are_found_as_one_by_one() {
        for text in [
            r#"{"a":1,"b":{"a":2},"a":3}"#,
            r#"{"a":1,"b":}"#,
            r#"{"b":1 "a":2}"#,
            r#"{"\u0061":1}"#,
            "[1]",
            "{}",
            "",
        ] {
            let last = |name| members(text).filter(|(key, _)| key == name).last();
            let one_by_one = ["a", "b", "c"].map(|name| last(name).map(|(_, value)| value));
            assert_eq!(members_named(text, ["a", "b", "c"]), one_by_one, "{text}");
        }
    }

    #[test]
    fn members_come_in_order_until_the_text_breaks() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found: Vec<_> = members(text).collect();
            let expected: Vec<_> =
                expected.iter().map(|(key, value)| (Cow::Borrowed(*key), *value)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("{}", &[]);
        check(" { } ", &[]);
        check(
            r#"{"a":1,"b":{"c":[]},"a":"}"}"#,
            &[("a", "1"), ("b", r#"{"c":[]}"#), ("a", "\"}\"")],
        );
        check("{\r\n\t\"a\" : -0.50 , \"\\u0062\\n\" : null }", &[("a", "-0.50"), ("b\n", "null")]);
        check(r#"{"a":1,"b"}"#, &[("a", "1")]);
        check(r#"{"a":1 "b":2}"#, &[("a", "1")]);
        check(r#"{"a":1,}"#, &[("a", "1")]);
        check(r#"{"a":1,"b":[}"#, &[("a", "1")]);
        check("{,}", &[]);
        check("{\"a\n\":1}", &[]);
        check(r#"{"\x":1}"#, &[]);
        check("[]", &[]);
        check("7", &[]);
        check("", &[]);
    }

    #[test]
    fn elements_come_in_order_until_the_text_breaks() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(elements(text).collect::<Vec<_>>(), expected, "{text}");
        };
        check("[]", &[]);
        check("[ 1 , \"a,b\",[[]] ]", &["1", "\"a,b\"", "[[]]"]);
        check("[1,]", &["1"]);
        check("[,1]", &[]);
        check("[1 2]", &["1"]);
        check("[1}", &["1"]);
        check("{}", &[]);
        check("null", &[]);
    }

    #[test]
    fn the_last_of_equal_members_counts() {
        assert_eq!(member(r#"{"a":1,"b":2,"\u0061":3}"#, "a"), Some("3"));
        assert_eq!(member(r#"{"a":1}"#, "c"), None);
    }
}
