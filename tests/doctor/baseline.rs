//! What is known of a server does not fail, and what is new does.

use std::fs;

use serde_json::Value;

use crate::server::{Kind, Site};
use crate::support::{Outcome, Scratch, demo, run};

fn doctor(scratch: &Scratch, words: &[&str]) -> Outcome {
    run(&mut scratch.mcpmini(["doctor"].iter().chain(words)))
}

#[test]
fn known_findings_do_not_fail_and_new_ones_do() {
    let scratch = Scratch::new();
    let file = scratch.path("known").display().to_string();
    let bad = Site::start(Kind::Legacy, "takes every origin");
    let outcome = doctor(&scratch, &["--write-baseline", &file, &bad.url]);
    assert_eq!((outcome.code, &*outcome.err), (0, ""), "{}", outcome.out);
    assert!(outcome.out.contains("FAIL\torigin-bad\t"), "{}", outcome.out);
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with(&format!("# mcpmini doctor: what is known of {}\n", bad.url)),
        "{text}"
    );
    assert!(text.contains("\norigin-bad fail Origin: https://evil.example → taken"), "{text}");

    // The same again, on another port.
    let same = Site::start(Kind::Legacy, "takes every origin");
    for level in ["fail", "warn", "unknown"] {
        let words = ["--baseline", &file, "--fail-on", level, &same.url];
        let outcome = doctor(&scratch, &words);
        assert_eq!((outcome.code, &*outcome.err), (0, ""), "{level}: {}", outcome.out);
    }

    // Another fault beside those.
    fs::write(&file, text.replace("origin-bad fail", "origin-bad warn")).unwrap();
    let outcome = doctor(&scratch, &["-j", "--baseline", &file, &same.url]);
    assert_eq!(outcome.code, 1, "{}", outcome.out);
    let lines = outcome.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let new = lines.filter(|line| line["known"] == false && line["verdict"] == "fail");
    let new: Vec<String> = new.map(|line| line["check"].as_str().unwrap().to_owned()).collect();
    assert_eq!(new, ["origin-bad"]);
    let outcome = doctor(&scratch, &["--baseline", &file, "--only", "*-bad", &same.url]);
    let last = |id: &str| {
        let line = outcome.out.lines().find(|line| line.contains(&format!("\t{id}\t")));
        line.unwrap().split('\t').next_back().unwrap().to_owned()
    };
    assert_eq!((&*last("origin-bad"), &*last("host-bad")), ("", "known"), "{}", outcome.out);
}

/// What a run prints, without how long each check took.
fn lines(server: &str) -> Vec<Value> {
    let outcome = doctor(&Scratch::new(), &["-j", server]);
    let mut lines: Vec<Value> =
        outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        assert!(line.as_object_mut().unwrap().remove("ms").is_some());
    }
    lines
}

#[test]
fn two_runs_on_a_server_say_the_same() {
    for kind in [Kind::Legacy, Kind::Modern] {
        let site = Site::start(kind, "");
        assert_eq!(lines(&site.url), lines(&site.url), "{kind:?}");
    }
    for flags in ["", "--era legacy", "--fault orphan"] {
        assert_eq!(lines(&demo(flags)), lines(&demo(flags)), "{flags}");
    }
}

#[test]
fn what_is_mended_is_told() {
    let scratch = Scratch::new();
    let file = scratch.path("known").display().to_string();
    fs::write(&file, "# ours\nauth-none warn\norigin-bad fail\nhost-bad fail\nstdio-eof warn\n")
        .unwrap();
    let site = Site::start(Kind::Legacy, "");
    let outcome = doctor(&scratch, &["--baseline", &file, "--only", "*-bad", &site.url]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let expected = "no longer found, take it out of the file: origin-bad, host-bad\n";
    assert!(outcome.err.ends_with(expected), "{}", outcome.err);
}

#[test]
fn mistakes_with_the_file_are_told() {
    let check = |words: &[&str], code, expected: &str| {
        let scratch = Scratch::new();
        fs::write(scratch.path("bad"), "origin-bad\n").unwrap();
        let server = demo("");
        let words: Vec<&str> = words.iter().copied().chain([&*server]).collect();
        let outcome = doctor(&scratch, &words);
        assert_eq!((outcome.code, &*outcome.out), (code, ""), "{words:?}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{words:?}: {}", outcome.err);
    };
    check(&["--baseline", "none"], 9, "there is no file none");
    check(&["--baseline", "none"], 9, "--write-baseline none");
    check(&["--baseline", "bad"], 9, "bad, line 1: \"\" is none of unknown, warn, fail");
    check(&["--baseline", "a", "--write-baseline", "b"], 2, "--write-baseline");
    check(&["--fail-on", "warn", "--write-baseline", "b"], 2, "--fail-on");
}

#[test]
fn what_was_not_checked_is_not_written_down() {
    let scratch = Scratch::new();
    let file = scratch.path("known");
    let site = Site::start(Kind::Legacy, "silent to who takes JSON alone");
    let shown = file.display().to_string();
    let words = ["--max-time", "2s", "-t", "30s", "--write-baseline", &shown, &site.url];
    assert_eq!(doctor(&scratch, &words).code, 124);
    assert!(!file.exists());
    // Nor is anything where it cannot be put.
    let outcome = doctor(&scratch, &["--write-baseline", "/no/such/place", &demo("")]);
    assert_ne!(outcome.code, 0);
    assert!(outcome.err.contains("/no/such/place"), "{}", outcome.err);
}
