//! The parts that several forms have: inputs, headers, and what drafts said beside them.

use serde_json::Value;

use super::super::claim::{Format, Hints, Input};
use super::super::document::{Object, text, texts};

/// What drafts said about a server and a card does not.
pub(super) fn hints(document: &Object) -> Hints {
    let mut versions = texts(document, &["supportedProtocolVersions", "protocolVersions"]);
    versions.extend(texts(document, &["protocolVersion", "protocol_version", "mcp_version"]));
    let capabilities = match document.get("capabilities") {
        Some(Value::Object(known)) => {
            let offered = known.iter().filter(|(_, value)| !matches!(value, Value::Bool(false)));
            offered.filter(|(_, value)| !value.is_null()).map(|(name, _)| name.clone()).collect()
        }
        Some(Value::Array(_)) => texts(document, &["capabilities"]),
        _ => Vec::new(),
    };
    let auth = document.get("authentication").or(document.get("auth"));
    let (needs_login, schemes) = match auth {
        Some(Value::Object(auth)) => {
            let schemes = texts(auth, &["schemes", "type", "methods", "scheme"]);
            let says_none = schemes.iter().all(|scheme| scheme == "none");
            let required = auth.get("required").and_then(Value::as_bool);
            (required.or((!schemes.is_empty()).then_some(!says_none)), schemes)
        }
        Some(Value::String(scheme)) => (Some(scheme != "none"), vec![scheme.clone()]),
        Some(Value::Bool(needed)) => (Some(*needed), Vec::new()),
        _ => (None, Vec::new()),
    };
    let tools = document.get("tools").and_then(Value::as_array).map(Vec::len);
    let packages = Vec::new();
    Hints { capabilities, packages, tools, versions, needs_login, schemes }
}

/// The headers of a remote.
pub(super) fn headers(remote: &Object) -> Vec<(String, Input)> {
    let header = |value: &Value| {
        let header = value.as_object()?;
        Some((text(header, &["name"])?, input(header)))
    };
    match remote.get("headers") {
        Some(Value::Array(headers)) => headers.iter().filter_map(header).collect(),
        _ => Vec::new(),
    }
}

/// Inputs by their name.
pub(in super::super) fn inputs(value: Option<&Value>) -> Vec<(String, Input)> {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    let named = members.filter_map(|(name, value)| Some((name.clone(), input(value.as_object()?))));
    named.collect()
}

/// An input, in the spelling of today or that of the first registry.
pub(in super::super) fn input(object: &Object) -> Input {
    let flag = |names: [&str; 2]| {
        names.iter().any(|name| object.get(*name).and_then(Value::as_bool) == Some(true))
    };
    let as_is = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    Input {
        description: text(object, &["description"]),
        is_required: flag(["isRequired", "is_required"]),
        is_secret: flag(["isSecret", "is_secret"]),
        format: match text(object, &["format"]).as_deref() {
            Some("number") => Format::Number,
            Some("boolean") => Format::Boolean,
            Some("filepath" | "file_path") => Format::FilePath,
            _ => Format::Text,
        },
        default: as_is("default"),
        placeholder: as_is("placeholder"),
        value: as_is("value"),
        choices: texts(object, &["choices"]),
        variables: inputs(object.get("variables")),
    }
}
