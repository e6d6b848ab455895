//! Whether structured content fits the output schema of its tool.
//!
//! The whole of JSON Schema is a library of its own, and a large one, so it is built in by the
//! cargo feature `schema` only. Without the dialect being named it is 2020-12 (2025-11-25, JSON
//! Schema Usage). References are followed inside of the schema, and never to files or the network.

/// Whether this build can tell.
pub const AVAILABLE: bool = cfg!(feature = "schema");

/// How many faults of a value are told.
#[cfg(feature = "schema")]
const FAULTS: usize = 5;

/// Why a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// The schema cannot be used: it is none, or refers to something outside of it.
    Schema(String),
    /// The value has these faults, each with its place.
    Value(Vec<String>),
}

/// Checks a JSON value by a JSON Schema, both as text.
///
/// # Errors
/// When the value does not fit. A build that cannot tell says so, too; see [`AVAILABLE`].
#[cfg(feature = "schema")]
pub fn check(schema: &str, value: &str) -> Result<(), Unfit> {
    use serde_json::Value;

    let parse = |text: &str, what: &str| -> Result<Value, String> {
        serde_json::from_str(text).map_err(|error| format!("{what} cannot be read: {error}"))
    };
    let schema = parse(schema, "the schema").map_err(Unfit::Schema)?;
    let value = parse(value, "the value").map_err(|fault| Unfit::Value(vec![fault]))?;
    let validator =
        jsonschema::options().build(&schema).map_err(|error| Unfit::Schema(error.to_string()))?;
    let fault = |error: jsonschema::ValidationError<'_>| {
        let place = error.instance_path().to_string();
        if place.is_empty() { error.to_string() } else { format!("{place}: {error}") }
    };
    let faults: Vec<String> = validator.iter_errors(&value).take(FAULTS).map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(Unfit::Value(faults)) }
}

/// Checks nothing: this build cannot tell.
#[cfg(not(feature = "schema"))]
pub fn check(_schema: &str, _value: &str) -> Result<(), Unfit> {
    Err(Unfit::Schema("this build has no JSON Schema".to_owned()))
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::*;

    #[track_caller]
    fn fits(schema: &str, value: &str, expected: bool) {
        assert_eq!(check(schema, value).is_ok(), expected, "{schema} {value}");
    }

    #[test]
    fn the_dialect_is_2020_12_unless_another_is_named() {
        let tuple = r#"{"prefixItems":[{"type":"string"}],"items":false}"#;
        fits(tuple, r#"["a"]"#, true);
        fits(tuple, r#"["a",1]"#, false);
        let old = r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}"#;
        fits(old, r#"["a",1]"#, false);
        fits(r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"a":1}"#, false);
        fits(
            r#"{"type":"object","unevaluatedProperties":false,"allOf":[{"properties":{"a":{}}}]}"#,
            r#"{"a":1}"#,
            true,
        );
        fits("true", "null", true);
        fits("false", "null", false);
    }

    #[test]
    fn references_are_followed_inside_of_the_schema_only() {
        let inside = r##"{"$ref":"#/$defs/N","$defs":{"N":{"type":"integer"}}}"##;
        fits(inside, "1", true);
        fits(inside, "\"1\"", false);
        for outside in
            ["http://127.0.0.1:9/schema.json", "file:///etc/hostname", "https://example.com/x"]
        {
            let schema = format!(r#"{{"$ref":"{outside}"}}"#);
            assert!(matches!(check(&schema, "1"), Err(Unfit::Schema(_))), "{outside}");
        }
    }

    #[test]
    fn faults_tell_their_place() {
        let schema = r#"{"properties":{"a":{"items":{"type":"integer"}}},"required":["b"]}"#;
        let Err(Unfit::Value(faults)) = check(schema, r#"{"a":[1,"x"]}"#) else { panic!() };
        assert!(faults.iter().any(|fault| fault.starts_with("/a/1: ")), "{faults:?}");
        assert_eq!(faults.len(), 2);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        for schema in ["", "[]", r#"{"type":"no-such-type"}"#, r#"{"pattern":"("}"#] {
            assert!(matches!(check(schema, "1"), Err(Unfit::Schema(_))), "{schema}");
        }
        assert!(matches!(check("{}", "{"), Err(Unfit::Value(_))));
        fits(r#"{"type":"integer"}"#, "12345678901234567890123", true);
        fits(r#"{"type":"integer"}"#, "1.0", true);
    }
}
