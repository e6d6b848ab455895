//! The rules of `src` (see ARCHITECTURE.md), as tests.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::{Path, PathBuf};

/// The floors, lowest first. A module may use only modules on lower floors; modules that share a
/// floor may not use each other.
const FLOORS: [&[&str]; 7] = [
    &["protocol", "reactor"],
    &["env", "store", "net"],
    &["transport", "config"],
    &["auth", "cache", "discovery", "trust"],
    &["client"],
    &["doctor"],
    &["cli"],
];

/// Files on no floor: the library's list of floors, and what only the binary has.
const BINARY: [&str; 6] = ["copying", "lib", "main", "nursery", "start", "unwind"];

/// What the protocol may not touch, of what the language and the standard library give to everybody.
/// That it uses nothing of ours is for the compiler to see: it is a package of its own.
const EFFECTS: [&str; 11] = [
    "async ",
    ".await",
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "Instant::now",
    "SystemTime",
    "println!",
    "eprintln!",
];

#[test]
fn imports_go_down() {
    let mut seen = 0;
    for (path, text) in sources("src") {
        let Some(floor) = floor(&path) else { continue };
        // `crate` is another one there: the protocol is a package, and the compiler keeps it down.
        if path.starts_with("src/protocol") {
            continue;
        }
        for (number, line) in code(&text).lines().enumerate() {
            for name in line.match_indices("crate::").map(|(at, _)| first_word(&line[at + 7..])) {
                let used = FLOORS.iter().position(|names| names.contains(&name));
                let same = path.starts_with(Path::new("src").join(name))
                    || path == Path::new("src").join(format!("{name}.rs"));
                assert!(
                    same || used < Some(floor),
                    "{}:{}: uses {name}",
                    path.display(),
                    number + 1
                );
                seen += 1;
            }
        }
    }
    assert!(50 < seen, "only {seen} imports were looked at");
}

#[test]
fn every_module_has_a_floor() {
    for entry in fs::read_dir("src").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let known = FLOORS.iter().any(|names| names.contains(&name.as_str()));
        assert!(known || BINARY.contains(&name.as_str()), "{name} is on no floor");
    }
}

/// Parsers and what they need. A crate that does I/O, or brings `async`, has no place among them.
#[test]
fn the_protocol_depends_on_parsers_only() {
    let manifest = fs::read_to_string("src/protocol/Cargo.toml").unwrap();
    let (_, rest) = manifest.split_once("[dependencies]\n").unwrap();
    let (section, _) = rest.split_once("\n[").unwrap();
    let names = section
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.split([' ', '.']).next().unwrap_or_default());
    let names: Vec<&str> = names.collect();
    assert_eq!(
        names,
        [
            "base64",
            "jsonschema",
            "memchr",
            "saphyr-parser",
            "serde",
            "serde_json",
            "simd-json",
            "url"
        ]
    );
    assert_eq!(manifest.matches("dependencies").count(), 1, "there are others");
}

#[test]
fn the_protocol_has_no_effects() {
    for (path, text) in sources("src/protocol") {
        for effect in EFFECTS {
            assert!(!code(&text).contains(effect), "{}: {effect}", path.display());
        }
    }
}

#[test]
fn only_the_table_of_revisions_knows_dates() {
    for (path, text) in sources("src") {
        if path.ends_with("protocol/revision.rs") {
            continue;
        }
        for (number, line) in code(&text).lines().enumerate() {
            let dated = line.split('"').skip(1).step_by(2).any(is_date);
            assert!(!dated, "{}:{}: {line}", path.display(), number + 1);
        }
    }
}

#[test]
fn unsafe_code_stands_in_few_files() {
    const EXPECTED: [&str; 10] = [
        "src/copying.rs",
        "src/env/ending.rs",
        "src/env/signals.rs",
        "src/main.rs",
        "src/nursery.rs",
        "src/protocol/jsonrpc/scan/avx2.rs",
        "src/protocol/jsonrpc/scan/sse2.rs",
        "src/start.rs",
        "src/transport/stdio/lifeline.rs",
        "src/unwind.rs",
    ];
    let is_unsafe = |text: &str| {
        ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "#[unsafe("]
            .iter()
            .any(|word| text.contains(word))
    };
    let mut found: Vec<String> = sources("src")
        .into_iter()
        .filter(|(_, text)| is_unsafe(&code(text)))
        .map(|(path, _)| path.to_string_lossy().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, EXPECTED);
}

#[test]
fn exit_codes_are_named_in_one_file() {
    for (path, text) in sources("src") {
        // A process that a signal did not kill has only this left.
        if path.ends_with("cli/exit.rs") || path.ends_with("env/ending.rs") {
            continue;
        }
        for call in ["process::exit(", "ExitCode::from("] {
            assert!(!code(&text).contains(call), "{}: {call}", path.display());
        }
    }
}

#[test]
fn files_are_short_and_say_what_they_are() {
    for (path, text) in sources("src") {
        let lines = code(&text).lines().count();
        assert!(lines <= 400, "{}: {lines} lines", path.display());
        assert!(text.starts_with("//! "), "{}: no module comment", path.display());
    }
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The text without comments and without its test module.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines().filter(is_code).map(|line| format!("{line}\n")).collect()
}

fn floor(path: &Path) -> Option<usize> {
    let inside = path.strip_prefix("src").unwrap().to_string_lossy().into_owned();
    FLOORS.iter().position(|names| names.contains(&first_word(&inside)))
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

fn sources(dir: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        // Modules that are compiled for tests only: `tests.rs`, `scratch.rs`.
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true => found.extend(sources(path.to_str().unwrap())),
            false if name == "tests.rs" || name == "scratch.rs" || !name.ends_with(".rs") => (),
            false => found.push((path.clone(), fs::read_to_string(&path).unwrap())),
        }
    }
    found
}
