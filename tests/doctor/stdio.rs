//! The checks of a process.

use serde_json::Value;

use crate::support::{Scratch, demo_path, processes_with, run};

/// The demo server with a fault. `DEMO` stands for its program, and for where it keeps its log.
fn demo(fault: &str) -> String {
    if fault.is_empty() { "DEMO".to_owned() } else { format!("DEMO --fault {fault}") }
}

/// A script, in which `"$@"` starts the demo server.
fn in_shell(script: &str) -> String {
    format!("sh -c '{script}' sh DEMO")
}

/// Examines a server; the verdict and the evidence of one check, and those of all that complain.
fn examine(server: &str, id: &str) -> ((String, String), Vec<String>) {
    let scratch = Scratch::new();
    let log = scratch.path("log");
    let program = format!("'{}' --log '{}'", demo_path(), log.display());
    let server = format!("exec:{}", server.replace("DEMO", &program));
    let words = ["doctor", "--json", "-t", "3s", "--env", "API_TOKEN=hunter2-hunter2", &server];
    let outcome = run(&mut scratch.mcpmini(words));
    let lines: Vec<Value> =
        outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let line = lines.iter().find(|line| line["check"] == id);
    let line = line.unwrap_or_else(|| panic!("{id}: {} {}", outcome.out, outcome.err));
    let complaints = lines.iter().filter(|it| it["verdict"] != "pass" && it["verdict"] != "skip");
    let complaints = complaints.map(|it| format!("{} {}", text(it, "check"), text(it, "verdict")));
    let left = processes_with(&log.display().to_string());
    assert!(left.is_empty(), "{server}: {left:?} are left");
    ((text(line, "verdict"), text(line, "evidence")), complaints.collect())
}

#[test]
fn a_server_that_is_right_has_no_faults() {
    for flags in ["", "--era legacy", "--era modern"] {
        let (_, complaints) = examine(&format!("DEMO {flags}"), "stdio-era");
        assert!(complaints.is_empty(), "{flags}: {complaints:?}");
    }
}

/// Whether exactly these checks complain of a server.
#[track_caller]
fn check(server: &str, expected: &[&str]) {
    let (_, complaints) = examine(server, "stdio-era");
    assert_eq!(complaints, expected, "{server}");
}

#[test]
fn faults_of_the_conversation_are_found() {
    check(&demo("noise"), &["stdio-stdout fail"]);
    check(&demo("half"), &["stdio-json warn"]);
    check(&demo("text-ids"), &["stdio-ping fail"]);
    check(&demo("any-method"), &["stdio-unknown-method fail"]);
    check(&demo("own-code"), &["stdio-unknown-method warn"]);
    check(&demo("talkative"), &["stdio-notification fail"]);
    check(&demo("any-version"), &["stdio-version fail"]);
    let ended = ["stdio-parse warn", "stdio-eof unknown", "stdio-exit unknown"];
    check(&demo("fragile"), &ended);
    check(&demo("port"), &["stdio-listen warn"]);
    check(&demo("blab"), &["stdio-secrets fail"]);
    check(&demo("curious"), &["stdio-requests fail"]);
    check(&demo("chatty"), &["stdio-stderr warn"]);
    let mute = ["stdio-era fail", "stdio-version unknown"];
    check(&format!("{} --era legacy", demo("no-session")), &mute);
}

#[test]
fn faults_of_the_end_are_found() {
    let stays = ["stdio-eof warn", "stdio-exit unknown", "stdio-orphans unknown"];
    check(&demo("stay"), &stays);
    check(&demo("orphan"), &["stdio-orphans warn"]);
    check(&in_shell("\"$@\"; exit 3"), &["stdio-exit warn", "stdio-command warn"]);
    check(
        &in_shell("trap \"\" TERM; exec \"$@\" --fault stay"),
        &[&stays[..], &["stdio-sigterm warn", "stdio-command warn"]].concat(),
    );
    check(&in_shell("true; exec \"$@\""), &["stdio-command warn"]);
    // It leaves the group and the session of the server.
    let strays = ["stdio-orphans warn", "stdio-sigterm warn", "stdio-command warn"];
    check(&in_shell("setsid sleep 60 >&- 2>&- & exec \"$@\""), &strays);
    // It leaves its parent and its environment as well. The third word is the log, by which it is seen
    // whether something stays.
    let daemon = "(setsid env -i sh -c \"sleep 60; :\" \"$3\" >&- 2>&- &); exec \"$@\"";
    check(&in_shell(daemon), &strays);
}
