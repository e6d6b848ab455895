//! What flags, variables and defaults come to.

use super::*;

#[test]
fn settings_take_the_flag_then_the_environment() {
    let check = |line: &str, variables: &[(&str, &str)], expected: &str| {
        let env = |name: &str| {
            let variable = variables.iter().find(|(other, _)| *other == name);
            variable.map(|(_, value)| (*value).to_owned())
        };
        let usual = parse(words("ping s")).unwrap().settings(&|_| None).unwrap();
        let settings = match parse(words(line)).unwrap().settings(&env) {
            Ok(settings) => differences(&settings, &usual).join(", "),
            Err(mistake) => format!("error: {mistake}"),
        };
        assert_eq!(settings, expected, "{line} {variables:?}");
    };
    check("ping s", &[], "");
    check("ping s -t 5", &[("MCPMINI_TIMEOUT", "7")], "timeout: Some(5s)");
    check("ping s", &[("MCPMINI_TIMEOUT", "7")], "timeout: Some(7s)");
    check("ping s", &[("MCPMINI_TIMEOUT", "")], "");
    check("ping s -t 5", &[("MCPMINI_TIMEOUT", "abc")], "timeout: Some(5s)");
    check("ping s", &[("MCPMINI_MAX_TIME", "1m")], "max_time: Some(60s)");
    check("ping s", &[("MCPMINI_START_TIMEOUT", "0")], "start_timeout: Some(no limit)");
    check("ping s", &[("MCPMINI_PROTOCOL", "auto")], "protocol: Some(Auto)");
    check("ping s", &[("MCPMINI_CONFIG", "c.json")], r#"config: Some("c.json")"#);
    check("ping s --config d", &[("MCPMINI_CONFIG", "c")], r#"config: Some("d")"#);
    check("ping s", &[("MCPMINI_CACHE", "off")], "cache: Off");
    check("ping s --refresh", &[("MCPMINI_CACHE", "off")], "cache: Refresh");
    check("ping s --refresh --no-cache", &[], "cache: Off");
    check("ping s", &[("MCPMINI_ERRORS", "json")], "json_errors: true");
    check("ping s", &[("MCPMINI_OUTPUT", "json")], "output: Json, json_errors: true");
    check("ping s -j", &[("MCPMINI_ERRORS", "text")], "output: Json, json_errors: true");
    check("ping s", &[("MCPMINI_OUTPUT", "raw")], "");
    check("call s t", &[("MCPMINI_OUTPUT", "raw")], "output: Raw");
    check("ping s", &[("NO_COLOR", "1")], "color: Never");
    check("ping s", &[("NO_COLOR", "")], "");
    check("ping s", &[("CLICOLOR_FORCE", "1")], "color: Always");
    check("ping s", &[("CLICOLOR_FORCE", "0")], "");
    check("ping s", &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], "color: Never");
    check("ping s --color always", &[("NO_COLOR", "1")], "color: Always");
    check(
        "ping s",
        &[("MCPMINI_TIMEOUT", "abc")],
        "error: MCPMINI_TIMEOUT: \"abc\" is no duration; write it like 300ms, 30s, 2m or 1h",
    );
    check(
        "ping s",
        &[("MCPMINI_ERRORS", "x")],
        "error: MCPMINI_ERRORS: \"x\" is none of text, json",
    );
    check("ping s", &[("MCPMINI_CACHE", "x")], "error: MCPMINI_CACHE: \"x\" is none of on, off");
    let elicitation =
        |line: &str| parse(words(line)).unwrap().settings(&|_| None).unwrap().elicitation;
    let asked = elicitation("ping s --elicit answers:a --answer k=v");
    assert_eq!((asked.file, asked.otherwise), (Some("a".into()), None));
    assert_eq!(asked.answers.len(), 1);
    let asked = elicitation("ping s --answers a --elicit fail");
    assert_eq!((asked.file, asked.otherwise), (Some("a".into()), Some(choices::Elicit::Fail)));
    assert!(
        ColorRule::OnTerminals
            == parse(words("ping s")).unwrap().settings(&|_| None).unwrap().color
    );
}

#[test]
fn every_documented_variable_is_read_and_no_other() {
    let asked = std::cell::RefCell::new(std::collections::BTreeSet::new());
    let env = |name: &str| {
        asked.borrow_mut().insert(name.to_owned());
        None
    };
    parse(words("ping s")).unwrap().settings(&env).unwrap();
    let documented = settings::VARIABLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(*asked.borrow(), documented);
}
