//! Where answers cannot be written: every command that prints says so and fails, and only a reader
//! that has gone is no error.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use support::{Outcome, Scratch, run};

/// One command line for each way in which something is printed; `$demo` is the server.
const COMMANDS: &[&str] = &[
    "call \"$demo\" echo text=hi",
    "call \"$demo\" echo text=hi -j",
    "call \"$demo\" echo text=hi -o events",
    "call \"$demo\" echo text=hi -o raw",
    "call \"$demo\" numbers --select /structuredContent",
    "call \"$demo\" echo text=hi --dry-run --no-schema",
    "tools \"$demo\"",
    "tools -j \"$demo\"",
    "tools \"$demo\" echo",
    "tools --all",
    "schema \"$demo\" add",
    "schema \"$demo\" add --example",
    "find echo --refresh",
    "resources \"$demo\"",
    "templates \"$demo\"",
    "prompts -j \"$demo\"",
    "skills \"$demo --skills none\"",
    "info \"$demo\"",
    "info -j \"$demo\"",
    "ping \"$demo\"",
    "rpc \"$demo\" tools/list",
    "batch \"$demo\" lines",
    "batch --ordered \"$demo\" lines",
    "bench -n 2 \"$demo\" echo text=hi",
    "watch \"$demo --tick 20\" -T 5s",
    "session -- \"$mcpmini\" call \"$demo\" echo text=hi",
    "servers",
    "servers --check",
    "cache ls",
    "config list",
    "config show files",
    "trust list",
    "policy check files",
    "doctor --only stdio-parse \"$demo\"",
    "completions bash",
    "completions nushell",
    "--version",
    "--help",
    "call --help",
    "help exit-codes",
    "help --man",
];

/// Runs a command with its standard output put elsewhere.
fn redirected(command: &str, redirection: &str) -> Outcome {
    let scratch = Scratch::new();
    let config =
        format!(r#"{{"mcpServers":{{"files":{{"command":"{}"}}}}}}"#, support::demo_path());
    std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    scratch.write(".config/mcpmini/config.json", config);
    scratch.write("lines", "{\"tool\":\"echo\",\"arguments\":{\"text\":\"a\"}}\n".repeat(3));
    let prelude = "\"$mcpmini\" tools files >/dev/null; ";
    run(&mut scratch.shell(&format!("{prelude}\"$mcpmini\" {command} {redirection}")))
}

/// Checks that all commands fail, and say why.
fn check(redirection: &str, why: &str) {
    let mut wrong = Vec::new();
    for command in COMMANDS {
        let outcome = redirected(command, redirection);
        let said = outcome.err.contains(&format!("cannot write the answer: {why}"));
        if outcome.code != 9 || !said {
            wrong.push(format!("{command}: {} {}", outcome.code, outcome.err));
        }
    }
    assert!(wrong.is_empty(), "{redirection}:\n{}", wrong.join("\n"));
}

#[test]
fn a_closed_output_loses_no_answer_unsaid() {
    check(">&-", "standard output is closed");
}

#[test]
fn a_full_disk_loses_no_answer_unsaid() {
    check(">/dev/full", "No space left on device");
}

/// Nothing that is opened takes the place of what was closed.
#[test]
fn closed_streams_get_nothing_that_is_meant_for_others() {
    for redirection in ["<&- >&- 2>&-", ">&- 2>&-", "<&- >&-"] {
        assert_eq!(redirected("call files echo text=hi", redirection).code, 9, "{redirection}");
    }
    let outcome = redirected("call files echo text=hi", "<&- 2>&-");
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "hi\n"));
}

/// A closed input is no empty one: nothing is sent, or taken for done.
#[test]
fn a_closed_input_is_told() {
    for command in ["call files echo text=@-", "call files echo -", "batch files -"] {
        let outcome = redirected(command, "<&-");
        let told = outcome.err.contains("cannot read standard input: it is closed");
        assert!(outcome.code == 2 && told, "{command}: {} {}", outcome.code, outcome.err);
        let outcome = redirected(command, "</dev/null");
        assert!(!outcome.err.contains("closed"), "{command}: {}", outcome.err);
    }
    assert_eq!(redirected("call files echo text=hi", "<&-").code, 0);
}

/// Who throws the answer away has not lost it.
#[test]
fn an_answer_may_be_thrown_away() {
    for redirection in [">/dev/null", "1<>/dev/null"] {
        let outcome = redirected("call files echo text=hi", redirection);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{redirection}");
    }
}
