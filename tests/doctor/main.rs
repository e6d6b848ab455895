//! `mcpmini doctor`, through the program: every check finds the fault that it is there for, and
//! finds none on a server that is right.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/domain.rs"]
mod domain;
#[path = "../support/tls.rs"]
mod encrypted;
#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "it can do more than is wanted here")]
#[path = "../http/server.rs"]
mod scripted;

mod baseline;
mod command;
mod hostile;
mod http;
mod server;
mod stdio;
mod tls;
mod unusable;

/// A check that no test makes complain may be one that cannot.
#[test]
fn every_check_has_a_fault_that_it_finds() {
    let tests = [
        include_str!("command.rs"),
        include_str!("http.rs"),
        include_str!("stdio.rs"),
        include_str!("tls.rs"),
    ];
    let tests = tests.concat().to_lowercase();
    let missing: Vec<&str> = mcpmini::doctor::all_checks()
        .into_iter()
        .map(|(id, _)| id)
        .filter(|id| {
            let said = |verdict: &str| {
                let forms = [
                    format!("\"{id}\", \"{verdict}\""),
                    format!("\"{id} {verdict}\""),
                    format!("[\"{verdict}\", \"{id}\"]"),
                    format!("\"{verdict} {id}"),
                ];
                forms.iter().any(|form| tests.contains(form))
            };
            !said("fail") && !said("warn")
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
