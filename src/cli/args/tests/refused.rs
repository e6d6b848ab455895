//! Command lines that mean nothing, and what is said about them.

use super::*;

#[test]
fn commands_that_make_no_sense_are_refused() {
    check("", "error: no command");
    check("-j", "error: no command");
    check("-- call s t", "error: no command");
    check("cll s t", "error: no such command: \"cll\"; did you mean call?");
    check("tool s", "error: no such command: \"tool\"; did you mean tools?");
    check("https://x.example/mcp", "error: no such command: \"https://x.example/mcp\"");
    check("''", "error: no such command: \"\"");
    check("'\u{1b}[2J'", "error: no such command: \"\\u{1b}[2J\"");
    check("call", "error: call needs SERVER");
    check("call s", "error: call needs TOOL");
    check("schema s", "error: schema needs TOOL");
    check("rpc s", "error: rpc needs METHOD");
    check("ping", "error: ping needs SERVER");
    check("ping a b", "error: ping does not take so many words: \"b\"");
    check("tools a b c", "error: tools does not take so many words: \"c\"");
    check("tools", "error: tools needs SERVER");
    check("tools --all", "tools --all None");
    check("tools --all a b", "error: tools does not take so many words: \"b\"");
    check("cache", "error: cache needs ls|clear");
    check("batch s", "error: batch needs FILE|-");
    check("bench s", "error: bench needs TOOL");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    check("call s t --tiemout 5", "error: no such option: --tiemout; did you mean --timeout?");
    check("call s t --time 5", "error: no such option: --time; did you mean --timeout?");
    check("call s t --city Oslo", "error: no such option: --city (of call)");
    check("--bogus=hunter2 call s t", "error: no such option: --bogus (of call)");
    check("ping s --envelop", "error: no such option: --envelop (of ping)");
    check("ping s -x", "error: no such option: -x (of ping)");
    check("ping s -vx", "error: no such option: -x (of ping)");
    check("ping s --", "ping s");
    check("ping s ---json", "error: no such option: ---json; did you mean --json?");
    check("ping s -é", "error: no such option: -é (of ping)");
    check("ping s --'\u{1b}[2J'", "error: no such option: --\\u{1b}[2J (of ping)");
    check("ping s --envelope", "error: --envelope is an option of rpc, not of ping");
    check("--envelope tools s", "error: --envelope is an option of rpc, not of tools");
    check("ping s --timeout", "error: --timeout needs a value: DUR");
    check("ping s -t", "error: --timeout needs a value: DUR");
    check("call s t --timeout -- x", "error: --timeout needs a value: DUR");
    check("ping s --timeout --json", "error: --timeout needs a value, but --json follows");
    check("ping s --out --cacert=x", "error: --out needs a value, but --cacert follows");
    check("ping s --json=true", "error: --json takes no value");
    check("ping s -j=1", "error: --json takes no value");
}

#[test]
fn ways_to_answer_and_to_show_that_make_no_sense_are_refused() {
    check(
        "ping s --log-level warn",
        "error: --log-level: \"warn\" is none of debug, info, notice, warning, error, critical, \
         alert, emergency; did you mean warning?",
    );
    check("ping s --progress bar", "error: --progress: \"bar\" is none of auto, none, json");
    check("ping s --sample llm", "error: --sample: \"llm\" is none of fail, cmd:PROG");
    check(
        "ping s --sample cmd:",
        "error: --sample: \"cmd:\" is none of fail, cmd:PROG; did you mean cmd:PROG?",
    );
    check("ping s --sampling-command ''", "error: --sampling-command: the command is empty");
    check(
        "ping s --elicit answers:",
        "error: --elicit: \"answers:\" is none of decline, cancel, fail, defaults, ask, answers:FILE, cmd:PROG; \
         did you mean answers:FILE?",
    );
}

#[test]
fn values_that_make_no_sense_are_refused_and_not_repeated_if_they_may_be_secret() {
    let duration = "is no duration; write it like 300ms, 30s, 2m or 1h";
    check("ping s -t abc", &format!("error: --timeout: \"abc\" {duration}"));
    check("ping s -t -j", &format!("error: --timeout: \"-j\" {duration}"));
    check("ping s -t ''", &format!("error: --timeout: \"\" {duration}"));
    check("ping s -t -5", &format!("error: --timeout: \"-5\" {duration}"));
    check("ping s -T 1ns", &format!("error: --max-time: \"1ns\" {duration}"));
    check("ping s --shutdown-timeout x", &format!("error: --shutdown-timeout: \"x\" {duration}"));
    check(
        "ping s -o jsn",
        "error: --output: \"jsn\" is none of text, json, content, structured, raw, events; \
         did you mean json?",
    );
    check(
        "ping s --transport nope",
        "error: --transport: \"nope\" is none of auto, http, sse, stdio",
    );
    check("ping s --http 3", "error: --http: \"3\" is none of auto, 1.1, 2");
    check(
        "ping s --protocol 2025-11-26",
        "error: --protocol: \"2025-11-26\" is none of auto, 2024-11-05, 2025-03-26, 2025-06-18, \
         2025-11-25, 2026-07-28; did you mean 2025-11-25?",
    );
    check(
        "ping s --stderr inhreit",
        "error: --stderr: \"inhreit\" is none of quiet, inherit, tail, a FILE (./NAME); \
         did you mean inherit?",
    );
    check("ping s --out ''", "error: --out: the file name is empty");
    check(
        "ping s --bearer-file fd:x",
        "error: --bearer-file: fd: needs the number of a descriptor open for reading, like fd:3",
    );
    check(
        "ping s --bearer-file fd:1",
        "error: --bearer-file: fd: needs the number of a descriptor open for reading, like fd:3",
    );
    check("ping s --max-depth 0", "error: --max-depth: \"0\" is no whole number above 0");
    check("ping s -H hunter2", "error: --header: a header must be written 'Name: value'");
    check(
        "ping s -H 'Mcp-Session-Id: X'",
        "error: --header: the header \"Mcp-Session-Id\" is set by the protocol and cannot be chosen",
    );
    check("ping s --env hunter2", "error: --env: a variable is written NAME=value");
    check("ping s --answer hunter2", "error: --answer: write key=text or key:=json");
    check("ping s --resolve x", "error: --resolve: write host:port:address, the address in digits");
    check("ping s --proxy ''", "error: --proxy: the value is empty");
    check("ping s --callback-port 0", "error: --callback-port: a port is a number from 1 to 65535");
    check(
        "ping s --grant client",
        "error: --grant: \"client\" is none of authorization-code, client-credentials, jwt-bearer, \
         id-jag; did you mean client-credentials?",
    );
    check("call s t --device", "error: --device is an option of login, not of call");
    assert!(meaning("ping s --meta a:=hunter2").starts_with("error: --meta: what follows a:="));
    assert!(!meaning("ping s --meta a:=hunter2").contains("hunter2"));
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    check(
        "ping s --bearer-file a --bearer-command b",
        "error: --bearer-file and --bearer-command exclude each other",
    );
    check(
        "ping s --bearer-file a -H 'authorization: b'",
        "error: --bearer-file and --header Authorization exclude each other",
    );
    check(
        "ping s --bearer-file a --grant jwt-bearer",
        "error: --bearer-file and --grant exclude each other",
    );
    check(
        "ping s --assertion-file a --assertion-command b",
        "error: --assertion-file and --assertion-command exclude each other",
    );
    for (line, one, other) in [
        ("call s t --no-schema --check-output", "--no-schema", "--check-output"),
        ("call s t --no-schema --check-arguments", "--no-schema", "--check-arguments"),
        ("call s t --no-check --check-arguments", "--no-check", "--check-arguments"),
        ("batch s f --no-schema --check-arguments", "--no-schema", "--check-arguments"),
    ] {
        check(line, &format!("error: {one} and {other} exclude each other"));
    }
    check("ping s --client-key-alg ES256", "error: --client-key-alg needs --client-key");
    check("ping s --client-key-id k1", "error: --client-key-id needs --client-key");
    check("tools --all --bearer-file t", "error: --bearer-file and --all exclude each other");
    check(
        "tools --all --client-secret-file s",
        "error: --client-secret-file and --all exclude each other",
    );
    check(
        "servers --check -H Authorization:x",
        "error: --header Authorization and several servers exclude each other",
    );
    check("ping s --key k", "error: --key needs --cert");
    check("ping s --key k --cert c", r#"ping s | cert: Some("c"), key: Some("k")"#);
    check("tools s -o raw", "error: tools has no output form raw, but text and json");
    check("tools s -o raw -o json", "tools s None | output: Some(Json)");
}

#[cfg(unix)]
#[test]
fn a_word_that_is_not_utf_8_is_refused_by_its_number() {
    use std::os::unix::ffi::OsStringExt;
    let odd = || OsString::from_vec(b"a=\xff".to_vec());
    let check = |words: Vec<OsString>, position| {
        let stop = parse(words).unwrap_err();
        let shown = "a=\u{fffd}".to_owned();
        assert_eq!(stop.why, Why::Usage(UsageError::NotUtf8 { position, shown }));
    };
    check(vec!["call".into(), "s".into(), "t".into(), odd()], 4);
    check(vec![odd(), "s".into(), odd()], 1);
    check(vec!["call".into(), "s".into(), "t".into(), "--".into(), odd()], 5);
    let help = parse(vec!["call".into(), odd(), "--help".into()]).unwrap_err();
    assert_eq!(help.why, Why::Help(Page::Command("call")));
}

#[test]
fn hints_say_what_to_write() {
    let check = |line: &str, expected: Option<&str>| match parse(words(line)).unwrap_err().why {
        Why::Usage(mistake) => assert_eq!(mistake.hint().as_deref(), expected, "{line}"),
        why => panic!("{line}: {why:?}"),
    };
    check("call s", Some("mcpmini call SERVER TOOL [ARG...]"));
    check("trust", Some("which there are: mcpmini trust --help"));
    check("ping a b", Some("mcpmini ping SERVER"));
    check("help a b", Some("mcpmini help [COMMAND]"));
    check("", Some("mcpmini --help"));
    check("cll", Some("mcpmini --help"));
    check("list s", Some("it is `mcpmini tools` here"));
    check("https://x.example", Some("a command comes before the server: mcpmini tools SERVER"));
    check("help x", Some("mcpmini help"));
    check("--bogus", Some("mcpmini help options"));
    check("ping s --bogus", Some("mcpmini ping --help"));
    check("tools s -o raw", Some("mcpmini tools --help"));
    check(
        "call s t --city Oslo",
        Some(
            "options for the tool come last, after --: mcpmini call SERVER TOOL -- --KEY VALUE; a \
             SERVER that is a command line is one word, in quotes",
        ),
    );
    check("ping s -t --json", Some("if that is meant to be the value, write --timeout=--json"));
    check("ping s -t x", None);
}

#[test]
fn a_stop_is_reported_as_the_words_ask() {
    let check = |line: &str, variables: &[(&str, &str)], stream: Stream, begins: &str| {
        let env = |name: &str| {
            let variable = variables.iter().find(|(other, _)| *other == name);
            variable.map(|(_, value)| (*value).to_owned())
        };
        let farewell = parse(words(line)).unwrap_err().farewell(&env, |_| true);
        assert_eq!(farewell.stream, stream, "{line}");
        assert!(farewell.text.starts_with(begins), "{line}: {}", farewell.text);
        let exit = if stream == Stream::Stdout { Exit::Ok } else { Exit::Usage };
        assert_eq!(farewell.exit, exit);
    };
    let json = "{\"error\":{\"class\":\"usage\",\"exit\":2,\"message\":";
    let plain = [("NO_COLOR", "1")];
    check("cll", &plain, Stream::Stderr, "mcpmini: no such command");
    check("cll", &[], Stream::Stderr, "\u{1b}[1;31mmcpmini:\u{1b}[0m no such command");
    check("cll --color never", &[], Stream::Stderr, "mcpmini: no such command");
    check("cll -j", &[], Stream::Stderr, json);
    check("cll --json-errors", &[], Stream::Stderr, json);
    check("--bogus cll -o json", &[], Stream::Stderr, json);
    check("cll", &[("MCPMINI_ERRORS", "json")], Stream::Stderr, json);
    check("cll", &[("MCPMINI_OUTPUT", "json")], Stream::Stderr, json);
    check("cll -o text", &[("MCPMINI_OUTPUT", "json"), plain[0]], Stream::Stderr, "mcpmini: no");
    check("cll", &[("MCPMINI_ERRORS", "yaml"), plain[0]], Stream::Stderr, "mcpmini: no");
    check("cll -- -j", &plain, Stream::Stderr, "mcpmini: no such command");
    check("--version", &[], Stream::Stdout, "mcpmini 0.");
    check("--version --json", &[], Stream::Stdout, "{\"version\":\"0.");
    check("--help", &plain, Stream::Stdout, "mcpmini - ");
}
