//! What the code reads from outside is told in the help texts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::path::Path;

use support::{Scratch, run};

/// The calls that read a variable, up to its name. Programs that others start get the others.
const READS: [&str; 6] =
    ["env(\"", "setting(\"", "directory(\"", "base(\"", "variable(\"", "set(\""];

/// The names of the variables that a file reads, as far as they stand in it.
fn names(text: &str) -> Vec<String> {
    // Tests read what they set themselves.
    let text = text.split("#[cfg(test)]").next().unwrap();
    let mut names = Vec::new();
    for read in READS {
        for (at, _) in text.match_indices(read) {
            let name = text[at + read.len()..].split('"').next().unwrap();
            names.push(name.to_owned());
        }
    }
    names
        .retain(|name| name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'));
    names
}

fn collect(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match path.is_dir() {
            true => collect(&path, found),
            false => found.extend(names(&fs::read_to_string(path).unwrap())),
        }
    }
}

#[test]
fn every_variable_that_is_read_is_documented() {
    let mut read = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut read);
    assert!(10 < read.len(), "the search finds too little: {read:?}");
    let scratch = Scratch::new();
    let page = run(&mut scratch.mcpmini(["help", "environment"])).out;
    let man = run(&mut scratch.mcpmini(["help", "--man"])).out;
    for name in read {
        assert!(page.contains(&format!("  {name} ")), "{name}:\n{page}");
        assert!(man.contains(&format!("\\fB{name}\\fR")), "{name}");
    }
}

/// The example in the topic is a policy: copied, it decides.
#[test]
fn the_policy_in_the_help_is_one() {
    let scratch = Scratch::new();
    let page = run(&mut scratch.mcpmini(["help", "policy-file"])).out;
    let begin = page.find("# Every key").unwrap();
    let end = begin + page[begin..].find("\n\nA list").unwrap();
    let admits = |policy: &str| {
        scratch.write("policy.toml", policy);
        let path = scratch.path("policy.toml");
        let mut command = scratch.mcpmini(["policy", "check", "unix:/run/files.sock"]);
        run(command.env("MCPMINI_POLICY", path))
    };
    let (rules, _) = page[begin..end].split_once("[revocation]").unwrap();
    let outcome = admits(rules);
    assert_eq!(outcome.code, 0, "{} {}", outcome.out, outcome.err);
    // Its lists are not there, and they are required.
    let outcome = admits(&page[begin..end]);
    assert_eq!(outcome.code, 8, "{} {}", outcome.out, outcome.err);
    let outcome = admits("[[allow]]\nhosts = []");
    assert_eq!(outcome.code, 9, "{} {}", outcome.out, outcome.err);
    assert!(outcome.err.contains("missing field `kind`, one of `sigstore`"), "{}", outcome.err);
    assert!(outcome.err.contains("mcpmini help policy-file"), "{}", outcome.err);
}

#[test]
fn the_files_are_documented() {
    let scratch = Scratch::new();
    let page = run(&mut scratch.mcpmini(["help", "files"])).out;
    let man = run(&mut scratch.mcpmini(["help", "--man"])).out;
    assert!(man.contains("\n.SH \"FILES\"\n"));
    for file in [".mcp.json", "~/.config/mcpmini/config.json", "~/.cache/mcpmini/"] {
        assert!(page.contains(file), "{file}:\n{page}");
    }
    assert!(run(&mut scratch.mcpmini(["help"])).out.contains("mcpmini help --man"));
    assert!(run(&mut scratch.mcpmini(["help", "man"])).out.contains("man -l"));
}
