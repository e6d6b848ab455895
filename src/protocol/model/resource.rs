//! Resources and their templates, as a server lists them (2026-07-28, Resources: Data Types).

use std::borrow::Cow;

use crate::jsonrpc::scan;

/// A resource or a template, as far as a list shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// `uri`, or `uriTemplate`; empty when the server gave none.
    pub uri: String,
    /// The name for people if there is one, else the one for programs.
    pub name: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// What it is.
    pub description: Option<String>,
}

impl Listed {
    /// Reads an element of `resources` or of `resourceTemplates`. Members that are missing or of
    /// another type count as absent.
    pub fn read(text: &str) -> Listed {
        let mut listed = Listed::default();
        let mut title = None;
        for (key, value) in scan::members(text) {
            let value = scan::unescape(value).map(Cow::into_owned);
            match &*key {
                "uri" | "uriTemplate" => listed.uri = value.unwrap_or_default(),
                "name" => listed.name = value.unwrap_or_default(),
                "title" => title = value,
                "mimeType" => listed.mime_type = value,
                "description" => listed.description = value,
                _ => (),
            }
        }
        if let Some(title) = title.filter(|title| !title.is_empty()) {
            listed.name = title;
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_read() {
        let check = |text: &str, expected: (&str, &str, Option<&str>, Option<&str>)| {
            let Listed { uri, name, mime_type, description } = Listed::read(text);
            let read = (&*uri, &*name, mime_type.as_deref(), description.as_deref());
            assert_eq!(read, expected, "{text}");
        };
        check(
            r#"{"uri":"a:b","name":"n","title":"T\u00e9","mimeType":"t/t","description":"d","size":7}"#,
            ("a:b", "Té", Some("t/t"), Some("d")),
        );
        check(r#"{"uriTemplate":"a:{b}","name":"n","title":""}"#, ("a:{b}", "n", None, None));
        check(r#"{"uri":7,"name":null,"mimeType":[]}"#, ("", "", None, None));
        check("[]", ("", "", None, None));
    }
}
