//! Which definition a word finds, and what is said about those that cannot be used.

use std::time::Duration;

use super::*;
use crate::config::Binding;
use crate::protocol::Revision;
use crate::store::scratch::Scratch;

/// A world in which `p` is the project, `h` the home directory, and `e` the administrator's.
fn world(scratch: &Scratch) -> Env {
    let home = scratch.path("h");
    Env {
        cwd: Some(scratch.path("p")),
        variables: [("HOME", home.to_str().unwrap())].into(),
        user: rustix::process::geteuid().as_raw(),
        system_dir: Some(scratch.path("e")),
        ..Env::default()
    }
}

const PROJECT: &str = "p/.mcp.json";
const USER: &str = "h/.config/mcpmini/config.json";
const SYSTEM: &str = "e/config.json";

/// The error for the server `s`, with the scratch directory cut out of it.
fn error(scratch: &Scratch, word: &str) -> String {
    let error = resolve(word, &world(scratch), &Overrides::default()).unwrap_err();
    assert!(!error.is_usage(), "{error}");
    error.to_string().replace(&format!("{}/", scratch.path("").display()), "")
}

#[test]
fn the_first_file_that_defines_a_name_wins() {
    let scratch = Scratch::new();
    let define = |file, names: &[&str]| {
        let entries = names.iter().map(|name| format!("{name:?}: {{\"command\": \"x\"}}"));
        let entries = entries.collect::<Vec<_>>().join(", ");
        scratch.write(file, &format!("{{\"mcpServers\": {{{entries}}}}}"));
    };
    define(PROJECT, &["all", "p", "pu"]);
    define(USER, &["all", "u", "pu"]);
    define(SYSTEM, &["all", "e"]);
    let named = scratch.write("named.json", r#"{"servers": {"all": {"url": "http://h"}}}"#);
    #[track_caller]
    fn check(env: &Env, named: Option<&Path>, word: &str, from: Option<Layer>) {
        let overrides = Overrides { config: named.map(Path::to_owned), ..Overrides::default() };
        let found = resolve(word, env, &overrides).ok();
        assert_eq!(found.and_then(|found| found.origin.layer()), from, "{word}");
    }
    let mut env = world(&scratch);
    check(&env, None, "all", Some(Layer::Project));
    check(&env, None, "p", Some(Layer::Project));
    check(&env, None, "u", Some(Layer::User));
    check(&env, None, "e", Some(Layer::System));
    check(&env, None, "none", None);
    check(&env, None, "user:all", Some(Layer::User));
    check(&env, None, "system:all", Some(Layer::System));
    check(&env, None, "project:all", Some(Layer::Project));
    check(&env, None, "project:u", None);
    check(&env, Some(&named), "all", Some(Layer::Named));
    check(&env, Some(&named), "u", None);
    check(&env, Some(&named), "user:all", None);

    let hidden = |word| {
        let found = resolve(word, &env, &Overrides::default()).unwrap();
        hidden_by(&found, &env, &Overrides::default())
    };
    assert_eq!(hidden("all"), Some(Layer::User));
    assert_eq!(hidden("p"), None);
    assert_eq!(hidden("user:all"), Some(Layer::System));

    let (listed, faults) = list(&env, &Overrides::default());
    let listed: Vec<_> = listed.iter().map(|it| (it.name.as_str(), it.hidden)).collect();
    assert_eq!(
        listed,
        [
            ("all", false),
            ("p", false),
            ("pu", false),
            ("all", true),
            ("u", false),
            ("pu", true),
            ("all", true),
            ("e", false),
        ]
    );
    assert!(faults.is_empty());

    env.variables =
        [("HOME", scratch.path("h").to_str().unwrap()), ("MCPMINI_NO_PROJECT", "1")].into();
    check(&env, None, "all", Some(Layer::User));
    env.variables = [("MCPMINI_CONFIG", named.to_str().unwrap())].into();
    check(&env, None, "all", Some(Layer::Named));
    env.variables = [].into();
    check(&env, None, "u", None);
    check(&env, None, "e", Some(Layer::System));
}

#[test]
fn words_that_name_nothing_need_no_file() {
    let scratch = Scratch::new();
    scratch.write(PROJECT, "broken");
    for word in ["http://h/mcp", "unix:/s", "exec:x", "./x y"] {
        let found = resolve(word, &world(&scratch), &Overrides::default()).unwrap();
        assert_eq!((found.name.as_str(), found.origin), (word, Origin::CommandLine));
    }
    let error = resolve("a:b", &world(&scratch), &Overrides::default()).unwrap_err();
    assert!(error.is_usage());
}

#[test]
fn an_unknown_name_is_told_with_what_there_is() {
    let scratch = Scratch::new();
    let check = |word: &str, expected: &str| assert_eq!(error(&scratch, word), expected);
    let places = "(looked at p/.mcpmini.json, p/.mcp.json, h/.config/mcpmini/config.json, \
                  e/config.json)";
    check("s", &format!("unknown server \"s\"; no server is configured {places}"));
    check(
        "user:s",
        "unknown server \"user:s\"; no server is configured \
         (looked at h/.config/mcpmini/config.json)",
    );
    scratch.write(USER, r#"{"mcpServers": {"github": {}, "db": {}}}"#);
    scratch.write(SYSTEM, r#"{"mcpServers": {"github": {}, "a\u001bb": {}}}"#);
    check(
        "githbu",
        &format!(
            "unknown server \"githbu\": did you mean \"github\"?; \
             there are a\\u{{1b}}b, db, github {places}"
        ),
    );
    let nowhere = Env::default();
    let told = resolve("s", &nowhere, &Overrides::default()).unwrap_err().to_string();
    assert_eq!(
        told,
        "unknown server \"s\"; no server is configured \
         (there is no place to look for it: HOME is not set to a directory)"
    );
    let overrides = Overrides { config: Some("/no/file".into()), ..Overrides::default() };
    let told = resolve("s", &nowhere, &overrides).unwrap_err().to_string();
    assert_eq!(told, "cannot read /no/file: there is no such file");
}

#[test]
fn files_of_other_programs_are_read() {
    let scratch = Scratch::new();
    let check = |text: &str| {
        scratch.write(USER, text);
        let found = resolve("s", &world(&scratch), &Overrides::default());
        found.map(|found| found.definition.target).map_err(|error| error.to_string())
    };
    let stdio = |command: &str, args: &[&str]| {
        Ok(Target::Stdio(StdioTarget {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..StdioTarget::default()
        }))
    };
    assert_eq!(
        check("\u{feff}{ // a comment\n\"mcpServers\": {\"s\": {\"command\": \"x\",}, /**/ },}"),
        stdio("x", &[])
    );
    assert_eq!(
        check(r#"{"inputs": [], "servers": {"s": {"type": "stdio", "command": "x"}}}"#),
        stdio("x", &[])
    );
    assert_eq!(
        check(r#"{"mcpServers": {"s": {"command": ["x", "a"], "args": ["b"], "alwaysLoad": 1}}}"#),
        stdio("x", &["a", "b"])
    );
    assert_eq!(
        check(r#"{"mcpServers": {"s": {"command": "x", "env": null, "args": null}}}"#),
        stdio("x", &[])
    );
    for (fields, binding) in [
        (r#""url": "http://h""#, Binding::Auto),
        (r#""httpUrl": "http://h""#, Binding::Auto),
        (r#""serverUrl": "http://h/sse""#, Binding::Auto),
        (r#""type": "http", "url": "http://h""#, Binding::Http),
        (r#""type": "streamable-http", "url": "http://h""#, Binding::Http),
        (r#""type": "sse", "url": "http://h""#, Binding::Sse),
    ] {
        let found = check(&format!("{{\"mcpServers\": {{\"s\": {{{fields}}}}}}}"));
        let Ok(Target::Http(target)) = found else { panic!("{fields}: {found:?}") };
        assert_eq!(target.binding, binding, "{fields}");
    }
}

#[test]
fn all_other_fields_are_read() {
    let scratch = Scratch::new();
    scratch.write(
        USER,
        r#"{"mcpServers": {"s": {"url": "http://h", "timeout": 1500, "startupTimeout": 0,
            "protocol": "2025-06-18", "enabled": true, "disabled": false}}}"#,
    );
    let found = resolve("s", &world(&scratch), &Overrides::default()).unwrap().definition;
    assert_eq!(found.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(found.start_timeout, Some(Duration::ZERO));
    assert_eq!(found.protocol, Revision::named("2025-06-18"));
}

/// Definitions of the server `s`, and what is said about them.
const BAD_DEFINITIONS: &[(&str, &str)] = &[
    ("{}", "1:21: Server \"s\": stdio server requires \"command\" field"),
    (r#"{"type": "stdio"}"#, "1:21: Server \"s\": stdio server requires \"command\" field"),
    (
        r#"{"type": "stdio", "url": "http://h"}"#,
        "1:21: Server \"s\": stdio server requires \"command\" field",
    ),
    (r#"{"command": ""}"#, "1:21: Server \"s\": stdio server requires \"command\" field"),
    (r#"{"command": []}"#, "1:21: Server \"s\": stdio server requires \"command\" field"),
    (r#"{"command": null}"#, "1:21: Server \"s\": stdio server requires \"command\" field"),
    (r#"{"type": "http"}"#, "1:21: Server \"s\": http server requires \"url\" field"),
    (
        r#"{"type": "streamable-http", "command": "x"}"#,
        "1:21: Server \"s\": http server requires \"url\" field",
    ),
    (r#"{"type": "sse"}"#, "1:21: Server \"s\": sse server requires \"url\" field"),
    (
        r#"{"command": "x", "url": "http://h"}"#,
        "1:21: Server \"s\": both \"command\" and \"url\" are set - server should be either \
         stdio (command) OR http/sse (url), not both",
    ),
    (r#"{"type": "ws"}"#, "1:21: Server \"s\": unknown server type \"ws\""),
    (
        r#"{"type": "ws", "command": "x", "url": "http://h"}"#,
        "1:21: Server \"s\": both \"command\" and \"url\" are set - server should be either \
         stdio (command) OR http/sse (url), not both; Server \"s\": unknown server type \"ws\"",
    ),
    (
        r#"{"type": 1}"#,
        "1:30: Server \"s\": \"type\" must be a string, and is a number; \
         Server \"s\": stdio server requires \"command\" field",
    ),
    (
        r#"{"command": 1}"#,
        "1:33: Server \"s\": \"command\" must be a string or an array of \
         strings, and is a number",
    ),
    (
        r#"{"command": ["x", 1]}"#,
        "1:39: Server \"s\": \"command[1]\" must be a string, and is \
         a number",
    ),
    (
        r#"{"command": "x", "args": "y"}"#,
        "1:46: Server \"s\": \"args\" must be an array of \
         strings, and is a string",
    ),
    (
        r#"{"command": "x", "args": ["a", 8080]}"#,
        "1:52: Server \"s\": \"args[1]\" must be a \
         string, and is a number",
    ),
    (
        r#"{"command": "x", "args": [null]}"#,
        "1:47: Server \"s\": \"args[0]\" must be a \
         string, and is null",
    ),
    (
        r#"{"command": "x", "env": []}"#,
        "1:45: Server \"s\": \"env\" must be an object of \
         strings, and is an array",
    ),
    (
        r#"{"command": "x", "env": {"PORT": 80}}"#,
        "1:54: Server \"s\": \"env.PORT\" must be a \
         string, and is a number",
    ),
    (
        r#"{"command": "x", "env": {"D": true}}"#,
        "1:51: Server \"s\": \"env.D\" must be a \
         string, and is true or false",
    ),
    (
        r#"{"command": "x", "env": {"A=B": ""}}"#,
        "1:53: Server \"s\": \"env.A=B\" does not \
         name an environment variable",
    ),
    (
        r#"{"command": "x", "env": {"": ""}}"#,
        "1:50: Server \"s\": \"env.\" does not name an \
         environment variable",
    ),
    (
        r#"{"command": "x", "env": {"A": "1", "A": "2"}}"#,
        "1:56: Server \"s\": \"env.A\" is \
         there twice",
    ),
    (
        r#"{"command": "x", "cwd": {}}"#,
        "1:45: Server \"s\": \"cwd\" must be a string, and is \
         an object",
    ),
    (
        r#"{"command": "x", "envFile": true}"#,
        "1:49: Server \"s\": \"envFile\" must be a \
         string, and is true or false",
    ),
    (
        r#"{"command": "x", "inheritEnv": "yes"}"#,
        "1:52: Server \"s\": \"inheritEnv\" must be \
         true or false, and is a string",
    ),
    (r#"{"command": "x", "command": "y"}"#, "1:38: Server \"s\": \"command\" is there twice"),
    (
        r#"{"url": ["http://h"]}"#,
        "1:29: Server \"s\": \"url\" must be a string, and is an \
         array",
    ),
    (
        r#"{"url": "http://h", "headers": "A: b"}"#,
        "1:52: Server \"s\": \"headers\" must be an \
         object of strings, and is a string",
    ),
    (
        r#"{"url": "http://h", "headers": {"A": 1}}"#,
        "1:58: Server \"s\": \"headers.A\" must \
         be a string, and is a number",
    ),
    (
        r#"{"url": "http://h", "headers": {"A B": ""}}"#,
        "1:60: Server \"s\": \"headers.A B\" \
         does not name an HTTP header",
    ),
    (
        r#"{"url": "http://h", "headers": {"A": "", "a": ""}}"#,
        "1:62: Server \"s\": \
         \"headers.a\" is there twice",
    ),
    (
        r#"{"url": "http://h", "envHeaders": {"A": {}}}"#,
        "1:61: Server \"s\": \
         \"envHeaders.A\" must be a string, and is an object",
    ),
    (
        r#"{"url": "http://h", "bearerTokenEnv": 1}"#,
        "1:59: Server \"s\": \"bearerTokenEnv\" \
         must be a string, and is a number",
    ),
    (
        r#"{"url": "http://h", "bearerTokenEnv": "T", "headers": {"authorization": "x"}}"#,
        "1:21: Server \"s\": both \"bearerTokenEnv\" and \"headers.Authorization\" are set",
    ),
    (
        r#"{"url": "http://h", "bearerTokenEnv": "T", "envHeaders": {"Authorization": "X"}}"#,
        "1:21: Server \"s\": both \"bearerTokenEnv\" and \"envHeaders.Authorization\" are set",
    ),
    (
        r#"{"command": "x", "timeout": "5s"}"#,
        "1:49: Server \"s\": \"timeout\" must be a whole \
         number of milliseconds, and is a string",
    ),
    (
        r#"{"command": "x", "timeout": -1}"#,
        "1:49: Server \"s\": \"timeout\" must be a whole \
         number of milliseconds, and is a number",
    ),
    (
        r#"{"command": "x", "startupTimeout": 1.5}"#,
        "1:56: Server \"s\": \"startupTimeout\" \
         must be a whole number of milliseconds, and is a number",
    ),
    (
        r#"{"command": "x", "protocol": 2025}"#,
        "1:50: Server \"s\": \"protocol\" must be a \
         string, and is a number",
    ),
    (
        r#"{"command": "x", "protocol": "1999-01-01"}"#,
        "1:21: Server \"s\": unknown protocol \
         \"1999-01-01\" (there are auto, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, \
         2026-07-28)",
    ),
    (
        r#"{"command": "x", "trust": "none"}"#,
        "1:21: Server \"s\": unknown trust \"none\" (there are off, tofu, strict)",
    ),
    (
        r#"{"command": "x", "trust": 1}"#,
        "1:47: Server \"s\": \"trust\" must be a string, and is a number",
    ),
    (
        r#"{"command": "x", "disabled": 1}"#,
        "1:50: Server \"s\": \"disabled\" must be true or \
         false, and is a number",
    ),
    (r#"[]"#, "1:21: \"s\" must be an object, and is an array"),
    (r#""npx x""#, "1:21: \"s\" must be an object, and is a string"),
];

/// Whole files, and what is said about them.
const BAD_FILES: &[(&str, &str)] = &[
    ("", "1:1: there is nothing in the file; an empty one is {}"),
    ("// nothing", "1:1: there is nothing in the file; an empty one is {}"),
    ("[]", "1:1: a configuration must be an object, and is an array"),
    ("{\"mcpServers\": []}", "1:16: \"mcpServers\" must be an object, and is an array"),
    ("{\"servers\": 1}", "1:13: \"servers\" must be an object, and is a number"),
    ("{\"servers\": {},\n \"mcpServers\": {}}", "1:2: both \"mcpServers\" and \"servers\" are set"),
    ("{\"mcpServers\": {},\n \"mcpServers\": {}}", "2:2: \"mcpServers\" is there twice"),
    ("{\"mcpServers\": {\"s\": {},\n \"s\": {}}}", "2:2: \"s\" is there twice"),
    ("{\n  \"s\": {\"command\": \"x\"}\n}", "2:3: \"s\" stands outside of \"mcpServers\""),
    (
        "{\"mcpServers\": {\"s\": {\"command\": \"x\"\n \"args\": []}}}",
        "1:37: not JSON: expected comma",
    ),
    ("{\"mcpServers\": {\"s\": }}", "1:22: not JSON: unexpected close brace"),
    ("{\"mcpServers\": {", "1:16: not JSON: unterminated object"),
    ("{\"ä\": \"x}", "1:7: not JSON: unterminated string literal"),
    ("{'mcpServers': {}}", "1:2: not JSON: single-quoted strings are not allowed"),
    ("{mcpServers: {}}", "1:2: not JSON: expected string for object property"),
    ("{} {}", "1:4: not JSON: text cannot contain more than one json value"),
    ("{\n/* open", "2:1: not JSON: unterminated comment block"),
    ("{,}", "1:2: not JSON: unexpected token in object"),
    ("# no comment\n{}", "1:1: not JSON: unexpected token"),
];

#[test]
fn wrong_definitions_are_told_by_place_server_and_field() {
    assert!(BAD_DEFINITIONS.len() + BAD_FILES.len() >= 60);
    let scratch = Scratch::new();
    let wrap = |definition: &str| format!("{{\"mcpServers\": {{\"s\":{definition}}}}}");
    let definitions = BAD_DEFINITIONS.iter().map(|(text, expected)| (wrap(text), *expected));
    let files = BAD_FILES.iter().map(|(text, expected)| ((*text).to_owned(), *expected));
    let mut found = Vec::new();
    for (text, expected) in definitions.chain(files) {
        scratch.write(USER, &text);
        let told = error(&scratch, "s");
        if told != format!("{USER}:{expected}") {
            found.push(format!("{text}\n  found    {told}\n  expected {USER}:{expected}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_wrong_definition_does_not_harm_its_neighbours() {
    let scratch = Scratch::new();
    let text = r#"{"mcpServers": {"bad": 1, "worse": {"command": 1}, "s": {"command": "x"},
        "off": {"command": "x", "disabled": true}, "out": {"command": "x", "enabled": false}}}"#;
    scratch.write(USER, text);
    assert!(resolve("s", &world(&scratch), &Overrides::default()).is_ok());
    let (listed, _) = list(&world(&scratch), &Overrides::default());
    let usable = listed.iter().map(|server| server.resolved.is_ok());
    assert_eq!(usable.collect::<Vec<_>>(), [false, false, true, false, false]);
    assert_eq!(error(&scratch, "off"), format!("server \"off\" is disabled in {USER}"));
    assert_eq!(error(&scratch, "out"), format!("server \"out\" is disabled in {USER}"));
}

#[test]
fn a_broken_file_before_the_right_one_is_an_error() {
    let scratch = Scratch::new();
    scratch.write(USER, r#"{"mcpServers": {"s": {"command": "x"}}}"#);
    scratch.write(PROJECT, "{");
    assert_eq!(error(&scratch, "s"), format!("{PROJECT}:1:1: not JSON: unterminated object"));
    assert!(resolve("user:s", &world(&scratch), &Overrides::default()).is_ok());
    let instead =
        format!("`--config {PROJECT}` takes it as it is, MCPMINI_NO_PROJECT=1 leaves it out");
    scratch.write(PROJECT, "{}");
    scratch.chmod(PROJECT, 0o666);
    assert_eq!(
        error(&scratch, "s"),
        format!(
            "cannot read {PROJECT}: others may change it (to forbid that: chmod o-w {PROJECT}); {instead}"
        )
    );
    scratch.write(PROJECT, "{}");
    std::fs::write(scratch.path(PROJECT), b"\xff{}").unwrap();
    assert_eq!(error(&scratch, "s"), format!("cannot read {PROJECT}: not UTF-8; {instead}"));
}

#[test]
fn identities_differ_where_definitions_do() {
    let scratch = Scratch::new();
    let identity = |text: &str| {
        scratch.write(USER, &format!("{{\"mcpServers\": {{\"s\": {text}}}}}"));
        resolve("s", &world(&scratch), &Overrides::default()).unwrap().identity()
    };
    let plain = identity(r#"{"command": "x", "args": ["a"]}"#);
    assert_eq!(identity(r#"{ "args": ["a"], /* moved */ "command": "x" }"#), plain);
    assert_ne!(identity(r#"{"command": "x", "args": ["b"]}"#), plain);
    assert_ne!(identity(r#"{"command": "x", "args": ["a"], "later": 1}"#), plain);
    let of_word = |word| resolve(word, &world(&scratch), &Overrides::default()).unwrap().identity();
    assert_eq!(of_word("exec:'x y' z"), of_word("exec:'x y' z"));
    assert_ne!(of_word("exec:'x y' z"), of_word("exec:x y z"));
    assert_ne!(of_word("http://h/a"), of_word("http://h/b"));
}
