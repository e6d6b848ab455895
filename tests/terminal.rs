//! What people see at a terminal: colours of ours, and nothing of a server's that steers it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Command;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use support::{Scratch, demo};

/// What a run of the binary shows at a terminal.
#[track_caller]
fn show(scratch: &Scratch, words: &[&str]) -> String {
    show_command(scratch.mcpmini(words))
}

/// What a command shows at a terminal.
#[track_caller]
fn show_command(mut command: Command) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // It holds the other end open as well.
    drop(command);
    let shown = read(ours);
    child.wait().unwrap();
    shown
}

/// What is written to a terminal until the last writer has closed it.
fn read(terminal: OwnedFd) -> String {
    let mut terminal = File::from(terminal);
    let (mut shown, mut block) = (Vec::new(), [0; 4096]);
    // Linux reports the end as an error.
    while let Ok(length @ 1..) = terminal.read(&mut block) {
        shown.extend_from_slice(&block[..length]);
    }
    String::from_utf8_lossy(&shown).replace("\r\n", "\n")
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
