//! A server of the configuration that becomes another when a test wants it to.

use std::fs;

use serde_json::{Value, json};

use super::support::{Outcome, Scratch, demo_path, run};

/// A home with a server called `demo` in its configuration, of one of the eras.
pub(crate) struct World {
    pub(crate) scratch: Scratch,
    /// What is known of servers, from the home on.
    pub(crate) store: &'static str,
}

/// Where a change of the command goes.
pub(crate) const CONFIG: &str = ".config/mcpmini/config.json";

impl World {
    pub(crate) fn new(era: &str) -> Self {
        Self::with(era, &[])
    }

    pub(crate) fn with(era: &str, more: &[&str]) -> Self {
        let scratch = Scratch::new();
        fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
        let world = Self { scratch, store: ".local/state/mcpmini/known-servers" };
        world.define(era, more);
        world
    }

    /// Writes the definition of the server.
    pub(crate) fn define(&self, era: &str, more: &[&str]) {
        let (patch, log) = (self.scratch.path("patch"), self.scratch.path("log"));
        let mut args = vec!["--patch", patch.to_str().unwrap(), "--log", log.to_str().unwrap()];
        args.extend(["--era", era]);
        args.extend(more);
        let servers = json!({ "demo": { "command": demo_path(), "args": args } });
        self.scratch.write(CONFIG, json!({ "mcpServers": servers }).to_string());
    }

    /// Makes the server another one, see the demo server's `--patch`.
    pub(crate) fn patch(&self, patch: Value) {
        self.scratch.write("patch", patch.to_string());
    }

    pub(crate) fn run(&self, words: &[&str]) -> Outcome {
        run(&mut self.scratch.mcpmini(words))
    }

    /// Runs, and takes the exit code and the answer for right. Returns what was on standard error.
    #[track_caller]
    pub(crate) fn expect(&self, words: &[&str], code: i32, out: &str) -> String {
        let outcome = self.run(words);
        let got = (outcome.code, outcome.out.as_str());
        assert_eq!(got, (code, out), "{words:?}: {}", outcome.err);
        outcome.err
    }

    /// The error of a run that fails, as programs see it.
    #[track_caller]
    pub(crate) fn error(&self, words: &[&str]) -> Value {
        let outcome = self.run(&[words, &["--json-errors"]].concat());
        assert_eq!(outcome.out, "", "{words:?}");
        let line = outcome.err.lines().last().unwrap_or_default();
        let error: Value = serde_json::from_str(line).unwrap();
        assert_eq!(error["error"]["exit"], outcome.code, "{words:?}");
        error["error"].clone()
    }

    /// The methods of the requests that came to the server since the last look.
    pub(crate) fn requests(&self) -> Vec<String> {
        let lines = self.scratch.lines("log");
        self.scratch.write("log", "");
        let messages = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages.filter_map(|message| Some(message["method"].as_str()?.to_owned())).collect()
    }

    /// The records of servers that there are.
    pub(crate) fn records(&self) -> Vec<Value> {
        let Ok(entries) = fs::read_dir(self.scratch.path(self.store)) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        let records = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
        records.map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
    }
}

/// The digest in a text, after `--accept`.
#[track_caller]
pub(crate) fn digest_in(text: &str) -> String {
    let at = text.find("--accept sha256:").unwrap_or_else(|| panic!("no digest in {text}"));
    text[at + "--accept ".len()..].chars().take("sha256:".len() + 64).collect()
}
