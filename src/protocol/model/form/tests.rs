//! Fields of every kind: what is read from a schema, and which values fit.

use super::*;

fn field(schema: &str) -> Field {
    let schema = format!(r#"{{"properties":{{"f":{schema}}}}}"#);
    Form::read(&schema).fields.remove(0)
}

/// What a typed text becomes, or why it does not.
#[track_caller]
fn typed(schema: &str, text: &str, expected: Result<&str, &str>) {
    let value = field(schema).value_of(text).map_err(|misfit| misfit.to_string());
    let value = value.as_deref().map_err(String::as_str);
    assert_eq!(value, expected, "{schema} {text:?}");
}

/// Whether a value fits.
#[track_caller]
fn given(schema: &str, value: &str, expected: Result<(), &str>) {
    let fits = field(schema).check(value).map_err(|misfit| misfit.to_string());
    assert_eq!(fits.as_ref().copied().map_err(String::as_str), expected, "{value}");
}

#[test]
fn a_form_has_the_fields_of_its_schema_in_their_order() {
    let form = Form::read(
        r#"{"type":"object","properties":{
            "b":{"type":"string","title":"B \u00e9","description":"what"},
            "a":{"type":"number","title":" "}},"required":["a"]}"#,
    );
    let names: Vec<_> = form.fields.iter().map(|field| (&*field.name, field.required)).collect();
    assert_eq!(names, [("b", false), ("a", true)]);
    assert_eq!(form.fields[0].label(), "B é");
    assert_eq!(form.fields[0].description.as_deref(), Some("what"));
    assert_eq!(form.field("a").map(Field::label), Some("a"));
    for nonsense in ["", "null", "[]", "{}", r#"{"properties":7}"#, "{broken"] {
        assert_eq!(Form::read(nonsense).fields, [], "{nonsense}");
    }
}

#[test]
fn texts_have_lengths_and_formats() {
    let schema = r#"{"type":"string","minLength":2,"maxLength":3}"#;
    typed(schema, "äß", Ok(r#""äß""#));
    typed(schema, "a", Err("it must have at least 2 characters"));
    typed(schema, "abcd", Err("it must have at most 3 characters"));
    typed(r#"{"type":"string"}"#, " a\"b\u{1b}", Ok(r#"" a\"b\u001b""#));
    typed(r#"{"type":"string","minLength":1}"#, "", Err("it must have at least 1 character"));
    let email = r#"{"type":"string","format":"email"}"#;
    typed(email, "a@b", Ok(r#""a@b""#));
    typed(email, "ab", Err("it must be an e-mail address"));
    typed(r#"{"type":"string","format":"hostname"}"#, "?", Ok(r#""?""#));
    given(schema, "7", Err("it must be a text"));
    given(schema, r#""\u0061b""#, Ok(()));
}

#[test]
fn numbers_keep_their_digits_and_have_bounds() {
    let number = r#"{"type":"number","minimum":-1.50,"maximum":1e3}"#;
    typed(number, " 1.50 ", Ok("1.50"));
    typed(number, "1000.0", Ok("1000.0"));
    typed(number, "-1.5", Ok("-1.5"));
    typed(number, "1000.00000000000000000001", Err("it must be at most 1e3"));
    typed(number, "-1.51", Err("it must be at least -1.50"));
    for text in ["", "x", "1,5", "0x1", "NaN", "+1", "\"1\""] {
        typed(number, text, Err("it must be a number"));
    }
    let integer = r#"{"type":"integer"}"#;
    typed(integer, "9007199254740993", Ok("9007199254740993"));
    typed(integer, "2.0", Ok("2.0"));
    typed(integer, "2.5", Err("it must be a whole number"));
}

#[test]
fn yes_and_no_have_several_names() {
    let boolean = r#"{"type":"boolean"}"#;
    for (text, value) in [("y", "true"), ("YES", "true"), ("true", "true"), (" No ", "false")] {
        typed(boolean, text, Ok(value));
    }
    for text in ["", "1", "maybe"] {
        typed(boolean, text, Err("it must be yes or no"));
    }
    given(boolean, "\"true\"", Err("it must be yes or no"));
}

#[test]
fn one_is_chosen_by_value_or_by_name() {
    for schema in [
        r#"{"type":"string","oneOf":[{"const":"a","title":"Red"},{"const":"b","title":"a"}]}"#,
        r#"{"type":"string","anyOf":[{"const":"a","title":"Red"},{"const":"b","title":"a"}]}"#,
        r#"{"type":"string","enum":["a","b"],"enumNames":["Red","a"]}"#,
    ] {
        typed(schema, "a", Ok(r#""a""#));
        typed(schema, "b", Ok(r#""b""#));
        typed(schema, " red ", Ok(r#""a""#));
        typed(schema, "c", Err("it must be one of Red, a"));
        given(schema, r#""\u0061""#, Ok(()));
        given(schema, r#""Red""#, Err("it must be one of Red, a"));
    }
    typed(r#"{"enum":[1.0,"2"]}"#, "1.0", Ok("1.0"));
    typed(r#"{"enum":[1.0,"2"]}"#, "2", Ok(r#""2""#));
    typed(r#"{"type":"string","enum":[]}"#, "x", Err("it must be one of "));
}

#[test]
fn some_are_chosen_with_commas() {
    let schema = r#"{"type":"array","minItems":1,"maxItems":2,
        "items":{"anyOf":[{"const":"a","title":"Red"},{"const":"b","title":"Green, or blue"}]}}"#;
    typed(schema, "a", Ok(r#"["a"]"#));
    typed(schema, "b , red", Ok(r#"["b","a"]"#));
    typed(schema, "green, or blue", Ok(r#"["b"]"#));
    typed(schema, "a,b,a", Err("there must be at most 2"));
    typed(schema, " , ", Err("there must be at least 1"));
    typed(schema, "a,c", Err("it must be one of Red, Green, or blue"));
    given(schema, r#"["b","a"]"#, Ok(()));
    given(schema, r#""a""#, Err("it must be a list"));
    given(schema, r#"["c"]"#, Err("it must be one of Red, Green, or blue"));
    typed(r#"{"type":"array","items":{"type":"string","enum":["x"]}}"#, "x", Ok(r#"["x"]"#));
}

#[test]
fn what_forms_do_not_ask_for_is_taken_as_json() {
    for schema in [r#"{"type":"object"}"#, r#"{"type":"array","items":{"type":"string"}}"#, "{}"] {
        typed(schema, r#" {"a":1.0} "#, Ok(r#"{"a":1.0}"#));
        typed(schema, "a", Err("it must be JSON"));
    }
}

#[test]
fn a_default_that_does_not_fit_is_none() {
    let check = |schema: &str, expected: Option<&str>| {
        assert_eq!(field(schema).default.as_deref(), expected, "{schema}");
    };
    check(r#"{"type":"string","default":"x"}"#, Some(r#""x""#));
    check(r#"{"type":"integer","default":1.50}"#, None);
    check(r#"{"type":"number","default":1.50}"#, Some("1.50"));
    check(r#"{"type":"string","default":null}"#, None);
    check(r#"{"type":"string","enum":["a"],"default":"b"}"#, None);
    check(r#"{"type":"array","items":{"enum":["a"]},"default":[ "a" ]}"#, Some(r#"["a"]"#));
}

#[test]
fn answers_are_checked_as_a_whole() {
    let form = Form::read(
        r#"{"properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["n"]}"#,
    );
    let check = |content: &str, expected: Option<(&str, Misfit)>| {
        let fault = form.check(content).err();
        assert_eq!(fault, expected.map(|(name, misfit)| (name.to_owned(), misfit)), "{content}");
    };
    check(r#"{"n":1,"s":"x","more":[]}"#, None);
    check(r#"{"n":1}"#, None);
    check(r#"{"s":"x"}"#, Some(("n", Misfit::Missing)));
    check(r#"{"n":1,"s":2}"#, Some(("s", Misfit::NoText)));
    check("[1]", Some(("", Misfit::NoObject)));
    check("{\"n\":", Some(("", Misfit::NoObject)));
}
