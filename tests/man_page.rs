//! The man page renders.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod support;

use support::{Outcome, Scratch, run};

/// Renders the page with a program; none, with a printed reason, where that is not installed.
fn render(program: &str, words: &[&str]) -> Option<Outcome> {
    let scratch = Scratch::new();
    let page = run(&mut scratch.mcpmini(["help", "--man"]));
    assert_eq!((page.code, page.err.as_str()), (0, ""));
    scratch.write("mcpmini.1", &page.out);
    if run(scratch.command("sh").args(["-c", "command -v \"$0\"", program])).code != 0 {
        eprintln!("skipped: {program} is not installed");
        return None;
    }
    let mut command = scratch.command(program);
    Some(run(command.args(words).arg("./mcpmini.1").env("MANWIDTH", "80")))
}

/// Checks that a program has nothing to say about the page.
#[track_caller]
fn check(said: &str) {
    // The page has no date: it would differ from build to build.
    let said: Vec<_> = said.lines().filter(|line| !line.contains("missing date")).collect();
    assert!(said.is_empty(), "{said:#?}");
}

#[test]
fn man_renders_it_without_warnings() {
    let Some(outcome) = render("man", &["--warnings", "-l"]) else { return };
    check(&outcome.err);
    assert!(outcome.out.contains("SYNOPSIS"), "{}", outcome.out);
}

#[test]
fn mandoc_has_nothing_to_say() {
    let Some(outcome) = render("mandoc", &["-T", "lint", "-W", "warning"]) else { return };
    // What it has to say of the page is its output then.
    check(&outcome.out);
    check(&outcome.err);
}
