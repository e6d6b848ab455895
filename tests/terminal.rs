//! What people see at a terminal: colours of ours, and nothing of a server's that steers it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;
#[allow(clippy::print_stdout, dead_code, reason = "other tests use more of it")]
#[path = "support/terminal.rs"]
mod terminal;

use std::process::Command;

use support::{Scratch, demo};
use terminal::Terminal;

/// What a run of the binary shows at a terminal.
#[track_caller]
fn show(scratch: &Scratch, words: &[&str]) -> String {
    show_command(scratch.mcpmini(words))
}

/// What a command shows at a terminal.
#[track_caller]
fn show_command(mut command: Command) -> String {
    let terminal = Terminal::open().unwrap();
    let mut child = terminal.attach_wholly(&mut command).spawn().unwrap();
    // It would hold the terminal open.
    drop(command);
    child.wait().unwrap();
    terminal.close().replace("\r\n", "\n")
}

/// A server that writes escape codes, does something, and ends.
fn steering(scratch: &Scratch, then: &str) -> String {
    let script = format!("printf '\\033]0;title\\007\\033[31mred\\n' >&2; {then}");
    format!("exec:sh {}", scratch.write("server.sh", script))
}

const RED: &str = "\u{1b}[1;31mmcpmini:\u{1b}[0m";

#[test]
fn errors_are_coloured_as_it_is_asked() {
    let scratch = Scratch::new();
    let server = demo("");
    let check = |words: &[&str], colored: bool| {
        let shown = show(&scratch, &[&["call", &server], words].concat());
        assert_eq!(shown.starts_with(RED), colored, "{shown:?}");
        assert_eq!(shown.starts_with("mcpmini:"), !colored, "{shown:?}");
    };
    for mistake in [&["nope", "{}"][..], &["echo", "--nope"]] {
        check(mistake, true);
        check(&[mistake, &["--color", "never"]].concat(), false);
    }
    // Some terminals have no colours, and say so.
    for words in [&["call", &server, "nope", "{}"][..], &["--nope"]] {
        let mut command = scratch.mcpmini(words);
        command.env("TERM", "dumb");
        let shown = show_command(command);
        assert!(shown.starts_with("mcpmini:"), "{shown:?}");
    }
    let help = show(&scratch, &["--help"]);
    assert!(help.contains("\u{1b}[1mUsage:\u{1b}[0m"), "{help:?}");
}

#[test]
fn a_server_cannot_steer_the_terminal() {
    let scratch = Scratch::new();
    let server = steering(&scratch, "exit 3");
    for words in [&[][..], &["-vv"], &["--stderr", "inherit"], &["--json-errors"]] {
        let shown = show(&scratch, &[&["call", &server, "tool", "{}"], words].concat());
        let foreign = shown.replace(RED, "");
        assert!(foreign.contains("]0;title"), "{shown:?}");
        let steers = foreign.contains(|c: char| c.is_control() && c != '\n');
        assert!(!steers, "{words:?} {shown:?}");
    }
}

#[test]
fn what_a_server_lists_is_seen_at_a_terminal() {
    let scratch = Scratch::new();
    let hidden = "a\u{200b}b\u{2028}c\u{feff}d\u{e0041}e\u{202e}f";
    // A table has room for so much of it.
    let shown = "a\\u{200b}b\\u{2028}c\\u{feff}d";
    let patch = serde_json::json!({
        "info": { "title": hidden },
        "instructions": hidden,
        "tools": { "t": { "description": hidden, "title": hidden } },
    });
    let server = demo(&format!("--patch {}", scratch.write("patch", patch.to_string())));
    for words in [&["tools"][..], &["tools", "t"], &["info"], &["tools", "-j"]] {
        let (command, more) = words.split_first().unwrap();
        let words = [&[*command, &*server], more].concat();
        let out = show(&scratch, &words);
        let is_hidden = |letter| {
            !"\n\t\r\u{1b}".contains(letter) && mcpmini::protocol::visible::is_hidden(letter)
        };
        assert!(!out.contains(is_hidden), "{words:?}: {out:?}");
        assert!(out.contains(shown), "{words:?}: {out:?}");
    }
    let out = show(&scratch, &["call", &server, "echo", "text=👩‍💻 ❤️ שלום\u{200f}, a\u{a0}b"]);
    assert_eq!(out, "👩‍💻 ❤️ שלום\u{200f}, a\u{a0}b\n");
}

#[test]
fn doctor_shows_people_what_matters() {
    let scratch = Scratch::new();
    let server = demo("--fault noise");
    let only = ["--only", "stdio-stdout", "--only", "stdio-ping", "--only", "stdio-secrets"];
    let shown = show(&scratch, &[&["doctor", &server], &only[..]].concat());
    let expected = [
        "\u{1b}[1;31mFAIL   \u{1b}[0m  stdio-stdout          1 other lines, the first: Loading the models ...",
        "                               should be: standard output carries messages and nothing else",
        "PASS     stdio-ping            a text and a large number came back as ids",
        "SKIP     stdio-secrets         the server was given no secrets by variables",
        "1 pass, 1 skip, 1 fail",
    ];
    for line in expected {
        assert!(shown.contains(line), "{line:?} is not in {shown}");
    }
}

/// What is only shown is told from what is done.
#[test]
fn what_an_import_would_add_is_not_taken_for_added() {
    let scratch = Scratch::new();
    let file = scratch.write("mcp.json", r#"{"mcpServers": {"web": {"url": "https://h/mcp"}}}"#);
    let shown = show(&scratch, &["import", "cursor", "--from", &file]);
    assert_eq!(
        shown,
        "web\thttps://h/mcp\nmcpmini: nothing was added to your configuration yet: see --copy\n"
    );
}
