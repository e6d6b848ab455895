//! Skills, against the demo server: over stdio and HTTP, in both eras.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{HttpDemo, Outcome, Scratch, demo, demo_path, run};

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];
const URI: &str = "skill://pdf-processing/SKILL.md";

/// Runs a check against skills that have a defect, over each binding and in each era. The check
/// gets what runs `mcpmini COMMAND SERVER WORD...` and tells which files the server was asked for.
fn everywhere(defect: &str, check: impl Fn(&dyn Fn(&[&str]) -> (Outcome, Vec<String>))) {
    let scratch = Scratch::new();
    let log = scratch.path("log");
    let flags = ["--log", log.to_str().unwrap(), "--skills", defect];
    let http = HttpDemo::start(&flags);
    for server in [demo(&flags.join(" ")), http.url.clone()] {
        for era in ERAS {
            let scratch = Scratch::new();
            check(&|words: &[&str]| {
                let (command, rest) = words.split_first().unwrap();
                let words =
                    [*command, &server, "--protocol", era].into_iter().chain(rest.iter().copied());
                fs::write(&log, "").unwrap();
                let outcome = run(&mut scratch.mcpmini(words));
                (outcome, files_asked_for(&log))
            });
        }
    }
}

/// The URIs that were read.
fn files_asked_for(log: &Path) -> Vec<String> {
    let lines = fs::read_to_string(log).unwrap();
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let reads = messages.filter(|message| message["method"] == "resources/read");
    reads.map(|message| message["params"]["uri"].as_str().unwrap().to_owned()).collect()
}

/// What the demo server's file has in it.
fn manifest() -> String {
    let source = include_str!("support/demo_server/skills.rs");
    let text = source.split_once("MANIFEST: &str = \"\\\n").unwrap().1;
    text.split_once("\";").unwrap().0.to_owned()
}

#[track_caller]
fn check(outcome: &Outcome, code: i32, out: &str) {
    assert_eq!((outcome.code, outcome.out.as_str()), (code, out), "stderr: {}", outcome.err);
}

#[test]
fn a_list_reads_no_file() {
    everywhere("none", |mcpmini| {
        let (outcome, read) = mcpmini(&["skills"]);
        check(&outcome, 0, &format!("{URI}\tpdf-processing\tFills in forms\n"));
        assert_eq!((outcome.err.as_str(), read), ("", vec![]));
        let (outcome, read) = mcpmini(&["skills", "-j"]);
        let line: Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!(line["resources"][1]["uri"], URI);
        assert_eq!(read, Vec::<String>::new());
    });
}

#[test]
fn a_skill_is_printed_and_a_file_of_it() {
    let forms = "skill://pdf-processing/references/FORMS.md";
    everywhere("none", |mcpmini| {
        let (outcome, read) = mcpmini(&["skill", "pdf-processing"]);
        check(&outcome, 0, &manifest());
        assert_eq!((outcome.err.as_str(), read), ("", vec![URI.to_owned()]));
        let (outcome, read) = mcpmini(&["skill", URI, "--with-files"]);
        check(&outcome, 0, &manifest());
        assert_eq!(read, [URI, forms]);
        let (outcome, read) = mcpmini(&["skill", URI, "references/FORMS.md"]);
        check(&outcome, 0, "Ask before you fill in anything.\n");
        assert_eq!(read, [URI, forms]);
        let (outcome, _) = mcpmini(&["skill", URI, "--with-files", "-j"]);
        let lines: Vec<Value> =
            outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let uris: Vec<_> = lines.iter().map(|line| &line["contents"][0]["uri"]).collect();
        assert_eq!(uris, [URI, forms]);
        // The server does not list this one.
        let (outcome, _) = mcpmini(&["skill", "skill://hidden/pdf-processing/SKILL.md"]);
        check(&outcome, 0, &manifest());
    });
}

#[test]
fn a_skill_is_installed_as_a_whole() {
    everywhere("none", |mcpmini| {
        let scratch = Scratch::new();
        let skills = scratch.path("skills");
        let save = ["skill", "pdf-processing", "--install", skills.to_str().unwrap()];
        let (outcome, _) = mcpmini(&save);
        check(&outcome, 0, "");
        let directory = skills.join("pdf-processing");
        assert_eq!(fs::read_to_string(directory.join("SKILL.md")).unwrap(), manifest());
        let forms = fs::read_to_string(directory.join("references/FORMS.md")).unwrap();
        assert_eq!(forms, "Ask before you fill in anything.\n");
        let saved = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["saved"]["path"].as_str().unwrap().to_owned()
        };
        let paths: Vec<_> = outcome.err.lines().map(saved).collect();
        let expected = ["SKILL.md", "references/FORMS.md"].map(|path| directory.join(path));
        assert_eq!(paths, expected.map(|path| path.to_str().unwrap().to_owned()));
        // Once more, over what is there.
        fs::write(directory.join("SKILL.md"), "old").unwrap();
        fs::write(directory.join("notes"), "mine").unwrap();
        assert_eq!(mcpmini(&save).0.code, 0);
        assert_eq!(fs::read_to_string(directory.join("SKILL.md")).unwrap(), manifest());
        assert_eq!(fs::read_to_string(directory.join("notes")).unwrap(), "mine");
    });
}

/// Checks that a skill with a defect is refused after some files were read, and that nothing of it
/// is printed or installed.
fn check_refusal(defect: &str, files: &[&str], says: &str) {
    everywhere(defect, |mcpmini| {
        let scratch = Scratch::new();
        let skills = scratch.path("skills");
        let words = ["skill", "pdf-processing", "--with-files"];
        let save = [&words[..], &["--install", skills.to_str().unwrap()]].concat();
        for words in [&words[..], &save] {
            let (outcome, read) = mcpmini(words);
            check(&outcome, 11, "");
            assert!(outcome.err.contains(says), "{says}: {}", outcome.err);
            assert_eq!(read, files, "{defect}");
            assert!(!skills.join("pdf-processing").exists(), "{defect}");
        }
    });
}

#[test]
fn a_skill_that_is_not_what_the_list_says_is_refused() {
    check_refusal("digest", &[URI], "is sha256:");
    check_refusal("size", &[URI], "bytes, and not 134 as listed");
    check_refusal("frontmatter", &[URI], "as listed: metadata differs");
    check_refusal("nothing", &[URI], "sent 0 files");
    check_refusal("more", &[URI], "sent 2 files");
    let forms = "skill://pdf-processing/references/FORMS.md";
    check_refusal("digest-of-file", &[URI, forms], forms);
}

#[test]
fn an_entry_that_is_invalid_is_listed_but_not_used() {
    check_refusal("outside", &[], "lies elsewhere");
    everywhere("outside", |mcpmini| {
        let (outcome, _) = mcpmini(&["skills"]);
        check(&outcome, 0, &format!("{URI}\tpdf-processing\tFills in forms\n"));
        assert!(outcome.err.contains("cannot be used"), "{}", outcome.err);
    });
}

#[test]
fn what_cannot_be_verified_comes_with_a_warning_or_not_at_all() {
    everywhere("dynamic", |mcpmini| {
        let (outcome, _) = mcpmini(&["skill", "pdf-processing"]);
        check(&outcome, 0, &manifest());
        assert!(outcome.err.contains("cannot be verified"), "{}", outcome.err);
        let (outcome, _) = mcpmini(&["skill", "pdf-processing", "references/FORMS.md"]);
        check(&outcome, 0, "Ask before you fill in anything.\n");
        let (outcome, read) = mcpmini(&["skill", "pdf-processing", "../../etc/passwd"]);
        check(&outcome, 2, "");
        assert_eq!(read, Vec::<String>::new());
        for more in ["--strict", "--with-files"] {
            let (outcome, read) = mcpmini(&["skill", "pdf-processing", more]);
            check(&outcome, 11, "");
            assert_eq!(read, Vec::<String>::new());
        }
    });
}

#[test]
fn a_skill_that_is_not_there_is_told_of_clearly() {
    let check_error = |outcome: &Outcome, code, says: &str| {
        check(outcome, code, "");
        assert!(outcome.err.contains(says), "{says}: {}", outcome.err);
    };
    everywhere("none", |mcpmini| {
        let skill = |words: &[&str]| mcpmini(&[&["skill"], words].concat()).0;
        check_error(&skill(&["pdf-procesing"]), 3, "did you mean \"pdf-processing\"?");
        check_error(&skill(&["skill://x/y/SKILL.md"]), 3, "has no skill skill://x/y/SKILL.md");
        check_error(&skill(&["pdf-processing", "FORM.md"]), 3, "has no file FORM.md");
        check_error(
            &skill(&["pdf-processing", "SKILL.md", "--install", "d"]),
            2,
            "exclude each other",
        );
    });
    everywhere("twins", |mcpmini| {
        let (outcome, _) = mcpmini(&["skill", "pdf-processing"]);
        check_error(&outcome, 2, "skill://acme/pdf-processing/SKILL.md");
        let (outcome, _) = mcpmini(&["skill", "skill://acme/pdf-processing/SKILL.md"]);
        check(&outcome, 0, &manifest());
    });
    everywhere("stranger", |mcpmini| {
        let (outcome, _) = mcpmini(&["skill", "skill://hidden/pdf-processing/SKILL.md"]);
        check_error(&outcome, 11, "another skill");
    });
    let scratch = Scratch::new();
    let log = scratch.path("log");
    let server = format!("{} --log {}", demo_path(), log.display());
    for era in ERAS {
        let outcome = run(&mut scratch.mcpmini(["skills", &server, "--protocol", era]));
        check_error(&outcome, 3, "the server has no skills: it does not declare");
    }
    assert!(!fs::read_to_string(&log).unwrap().contains("skills/"));
}
