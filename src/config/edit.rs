//! Changing a configuration file as text: comments, blank lines and order stay as they are.

use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::document::{Document, LISTS, Mistake, OPTIONS};

/// A definition as it stands in a file.
pub type Entry = Map<String, Value>;

/// Why a file was not changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditError {
    /// It cannot be read as it is.
    Mistake(Mistake),
    /// There is a server of that name.
    Exists,
    /// What came out cannot be read.
    Spoiled,
}

impl From<Mistake> for EditError {
    fn from(mistake: Mistake) -> EditError {
        EditError::Mistake(mistake)
    }
}

/// The text with a server more, which stands last; in place of one of the same name if `replace`.
/// A text of nothing but blanks becomes a whole file.
pub(super) fn insert(
    text: &str,
    name: &str,
    entry: &Entry,
    replace: bool,
) -> Result<String, EditError> {
    let is_new = text.trim().is_empty();
    let text = if is_new { "{}\n" } else { text };
    Document::parse(text)?;
    let root = tree(text)?;
    let whole = root.object_value().ok_or(EditError::Spoiled)?;
    whole.ensure_multiline();
    let servers = servers(&whole).unwrap_or_else(|| whole.object_value_or_set(LISTS[0]));
    let value = input(&Value::Object(entry.clone()));
    match servers.get(name) {
        Some(_) if !replace => return Err(EditError::Exists),
        Some(old) => old.set_value(value),
        None => drop(servers.append(name, value)),
    }
    checked(root.to_string(), name, true)
}

/// The text without a server; `None` when it is not there.
pub(super) fn remove(text: &str, name: &str) -> Result<Option<String>, EditError> {
    Document::parse(text)?;
    let root = tree(text)?;
    let whole = root.object_value().ok_or(EditError::Spoiled)?;
    let Some(old) = servers(&whole).and_then(|servers| servers.get(name)) else { return Ok(None) };
    old.remove();
    checked(root.to_string(), name, false).map(Some)
}

fn tree(text: &str) -> Result<CstRootNode, EditError> {
    // The document was parsed before by the same rules.
    CstRootNode::parse(text, &OPTIONS).map_err(|_| EditError::Spoiled)
}

/// The list of servers that is there.
fn servers(whole: &CstObject) -> Option<CstObject> {
    LISTS.into_iter().find_map(|list| whole.object_value(list))
}

/// The text that is to be written, if it can be read again and the server is in it as it should be.
fn checked(text: String, name: &str, is_there: bool) -> Result<String, EditError> {
    let has = |document: Document<'_>| document.servers().any(|(known, _)| known == name);
    let right = Document::parse(&text).is_ok_and(|document| has(document) == is_there);
    if right { Ok(text) } else { Err(EditError::Spoiled) }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(elements) => CstInputValue::Array(elements.iter().map(input).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(members.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(json: &str) -> Entry {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_server_is_added_and_all_else_stays() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let added = insert(text, "new", &entry(r#"{"command":"a","args":["b","c"]}"#), false);
            assert_eq!(added.unwrap(), expected);
        }
        let whole = r#"{
  "mcpServers": {
    "new": {
      "command": "a",
      "args": ["b", "c"]
    }
  }
}
"#;
        check("", whole);
        check(" \n", whole);
        check("{}\n", whole);
        check("{\"mcpServers\": {}}\n", whole);
        check(
            "// mine\n{\n\t\"imports\": [], // none\n\t\"servers\": {\n\t\t/* first */ \"b\": {\"command\": \"x\",},\n\t\t// last\n\t},\n}\n",
            "// mine\n{\n\t\"imports\": [], // none\n\t\"servers\": {\n\t\t/* first */ \"b\": {\"command\": \"x\",},\n\t\t\"new\": {\n\t\t\t\"command\": \"a\",\n\t\t\t\"args\": [\"b\", \"c\"],\n\t\t},\n\t\t// last\n\t},\n}\n",
        );
        check(
            "{\r\n    \"mcpServers\": {\r\n        \"b\": {}\r\n    }\r\n}",
            "{\r\n    \"mcpServers\": {\r\n        \"b\": {},\r\n        \"new\": {\r\n            \"command\": \"a\",\r\n            \"args\": [\"b\", \"c\"]\r\n        }\r\n    }\r\n}",
        );
    }

    #[test]
    fn a_server_is_replaced_only_on_demand() {
        let text = "{\n  \"mcpServers\": {\n    // one\n    \"a\": {\"command\": \"x\"}, // end\n    \"b\": {}\n  }\n}\n";
        let new = entry(r#"{"url":"http://h"}"#);
        assert_eq!(insert(text, "a", &new, false), Err(EditError::Exists));
        let expected =
            text.replace("{\"command\": \"x\"}", "{\n      \"url\": \"http://h\"\n    }");
        assert_eq!(insert(text, "a", &new, true), Ok(expected));
    }

    #[test]
    fn a_server_is_removed_and_all_else_stays() {
        #[track_caller]
        fn check(text: &str, expected: Option<&str>) {
            assert_eq!(remove(text, "a").unwrap().as_deref(), expected, "{text}");
        }
        check("{}", None);
        check("{\"mcpServers\": {\"b\": {}}}", None);
        check("{\"mcpServers\": {\"a\": {}}}", Some("{\"mcpServers\": {}}"));
        check(
            "{\n  // top\n  \"mcpServers\": {\n    \"a\": {\"x\": 1},\n    // of b\n    \"b\": {}\n  }\n}\n",
            Some("{\n  // top\n  \"mcpServers\": {\n    // of b\n    \"b\": {}\n  }\n}\n"),
        );
        check(
            "{\"servers\": {\n    \"b\": {},\n    \"a\": {}, // of a\n}}",
            Some("{\"servers\": {\n    \"b\": {},\n}}"),
        );
    }

    #[test]
    fn odd_names_and_values_come_back() {
        let odd = entry(r#"{"n":1.5,"t":null,"b":true,"s":"\" \\ \n \u0001 ä","e":{},"l":[]}"#);
        let text = insert("{}", "a\"\\\n", &odd, false).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["mcpServers"]["a\"\\\n"], Value::Object(odd));
    }

    #[test]
    fn what_cannot_be_read_is_not_changed() {
        for text in ["[", "[]", "{\"mcpServers\": 1}", "{\"a\": {\"command\": \"x\"}}", "{]"] {
            let added = insert(text, "a", &Entry::new(), true);
            assert!(matches!(added, Err(EditError::Mistake(_))), "{text}: {added:?}");
            assert!(matches!(remove(text, "a"), Err(EditError::Mistake(_))), "{text}");
        }
    }

    #[test]
    fn spoilt_files_are_refused_and_good_ones_stay_good() {
        let whole = "// a\n{\r\n \"x\": [1, {}], /* b */ \"mcpServers\": { // c\n  \"a\": {\"command\": \"\\u00e4\",},\n\n  // d\n  \"b\": {} // e\n },\n}\n";
        let new = entry(r#"{"command":"x","args":[]}"#);
        let check = |text: &str| {
            if let Ok(added) = insert(text, "new", &new, true) {
                let removed = remove(&added, "new").unwrap().unwrap();
                assert!(Document::parse(&removed).is_ok(), "{text:?} {removed:?}");
                assert_eq!(insert(&added, "new", &new, false), Err(EditError::Exists));
            }
            // It may be there or not.
            let _ = remove(text, "a");
        };
        // Every cut, and every byte left out, doubled or exchanged.
        for (at, _) in whole.char_indices() {
            check(&whole[..at]);
            check(&whole[at..]);
            let rest = &whole[at + whole[at..].chars().next().unwrap().len_utf8()..];
            for other in ["", "{", "}", "[", "]", ",", ":", "\"", "/", "\n", "\\", "\u{85}", "0"] {
                check(&format!("{}{other}{rest}", &whole[..at]));
                check(&format!("{}{other}{}", &whole[..at], &whole[at..]));
            }
        }
    }
}
