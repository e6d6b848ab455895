//! The man page renders.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod support;

use support::{Scratch, run};

/// Renders the page with a program, which must have nothing to say about it.
fn check(program: &str, words: &[&str], rendered: &str) {
    let scratch = Scratch::new();
    let page = run(&mut scratch.mcpmini(["help", "--man"]));
    assert_eq!((page.code, page.err.as_str()), (0, ""));
    scratch.write("mcpmini.1", &page.out);
    let found = run(scratch.command("sh").args(["-c", "command -v \"$0\"", program])).code == 0;
    if !found {
        eprintln!("skipped: {program} is not installed");
        return;
    }
    let mut command = scratch.command(program);
    let outcome = run(command.args(words).arg("./mcpmini.1").env("MANWIDTH", "80"));
    // The page has no date: it would differ from build to build.
    let said: Vec<_> = outcome.err.lines().filter(|line| !line.contains("missing date")).collect();
    assert!(said.is_empty(), "{said:#?}");
    assert!(outcome.out.contains(rendered), "{}", outcome.out);
}

#[test]
fn man_renders_it_without_warnings() {
    check("man", &["--warnings", "-l"], "SYNOPSIS");
}

#[test]
fn mandoc_has_nothing_to_say() {
    check("mandoc", &["-T", "lint", "-W", "warning"], "");
}
