//! Giving up a call: what goes over the wire, and what is left in the table of processes.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::every_way;
use super::support::{Outcome, Scratch, finish, processes_with, wait_until};

/// Why a call is given up.
#[derive(Debug, Clone, Copy)]
enum Cause {
    Signal(Signal),
    Flag(&'static str),
}

/// Calls a tool that takes a minute, over each way, and gives the call up.
fn give_up(cause: Cause, code: i32) {
    let scratch = Scratch::new();
    let log = scratch.write("log", "");
    for way in every_way(&["--log", &log]) {
        scratch.write("log", "");
        let words = ["call", &way.server, "slow", "{\"steps\":1,\"pause_ms\":60000}"];
        let mut command = scratch.mcpmini(words);
        if let Cause::Flag(flag) = cause {
            command.args([flag, "2s"]);
        }
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let is_called = || scratch.lines("log").iter().any(|line| line.contains("tools/call"));
        wait_until("the call", is_called);
        let begin = Instant::now();
        if let Cause::Signal(signal) = cause {
            kill_process(Pid::from_child(&child), signal).unwrap();
        }
        let pid = child.id();
        let outcome = finish(child, begin);
        assert_eq!(outcome.code, code, "{}, {cause:?}: {}", way.name, outcome.err);
        assert!(outcome.took < Duration::from_secs(8), "{}: {:?}", way.name, outcome.took);
        check_wire(&scratch, way.name);
        check_processes(&outcome, pid, &log, way.name);
    }
}

/// A server over HTTP in the modern era sees a hang-up and nothing else; all others get a notice.
#[track_caller]
fn check_wire(scratch: &Scratch, way: &str) {
    let ends = |word: &str| scratch.lines("log").iter().any(|line| line.contains(word));
    if way == "HTTP, modern" {
        wait_until("the hang-up", || ends("HANGUP"));
        assert!(!ends("notifications/cancelled"), "{way}");
        return;
    }
    wait_until("the notice", || ends("notifications/cancelled"));
    if way.starts_with("stdio") {
        wait_until("the end of input", || ends("EOF"));
    }
    let lines = scratch.lines("log");
    let parsed = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let messages: Vec<Value> = parsed.collect();
    let call = messages.iter().find(|message| message["method"] == "tools/call").unwrap();
    let last = messages.last().unwrap();
    assert_eq!(last["method"], "notifications/cancelled", "{way}");
    assert_eq!(last["params"]["requestId"], call["id"], "{way}");
    assert!(last.get("id").is_none() && last["params"]["reason"].is_string(), "{way}");
}

/// Neither the client nor a server that it started is left.
#[track_caller]
fn check_processes(outcome: &Outcome, pid: u32, log: &str, way: &str) {
    assert_eq!(outcome.out, "", "{way}");
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{way}");
    if way.starts_with("stdio") {
        // The servers over HTTP are ours, not the client's.
        let is_stdio = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            !line.contains("--http") && !line.contains("--sse")
        };
        wait_until("the end of the server", || !processes_with(log).iter().any(is_stdio));
    }
}

#[test]
fn sigint_gives_up_the_call() {
    give_up(Cause::Signal(Signal::INT), 130);
}

#[test]
fn sigterm_gives_up_the_call() {
    give_up(Cause::Signal(Signal::TERM), 143);
}

#[test]
fn sighup_gives_up_the_call() {
    give_up(Cause::Signal(Signal::HUP), 129);
}

#[test]
fn silence_gives_up_the_call() {
    give_up(Cause::Flag("--timeout"), 124);
}

#[test]
fn the_limit_for_everything_gives_up_the_call() {
    give_up(Cause::Flag("--max-time"), 124);
}
