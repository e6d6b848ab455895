//! Completion in real shells, each on a terminal of its own: a line is typed, the tab key is
//! pressed, and the shell says which words it has then.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod support;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use support::{Scratch, demo_path, run};

/// A shell on a terminal, which `script` of util-linux makes.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn start(scratch: &Scratch, shell: &str) -> Self {
        let mut command = scratch.command("script");
        command.args(["-qfec", shell, "/dev/null"]).env("TERM", "dumb");
        let bin = Path::new(env!("CARGO_BIN_EXE_mcpmini")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", bin.display()));
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let (keys, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let shown = Arc::new(Mutex::new(Vec::new()));
        let seen = shown.clone();
        thread::spawn(move || {
            let mut block = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut block) {
                seen.lock().unwrap().extend(&block[..length]);
            }
        });
        Self { child, keys, shown }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// What was shown from the last `mark` on, once that is there and a line end after it.
    fn wait_for(&self, mark: &str, count: usize) -> String {
        let find = || {
            let shown = String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned();
            let (at, _) = shown.match_indices(mark).nth(count)?;
            let (line, _) = shown[at..].split_once(['\r', '\n'])?;
            Some(line.to_owned())
        };
        let begin = Instant::now();
        loop {
            if let Some(line) = find() {
                return line;
            }
            let shown = self.shown.lock().unwrap().clone();
            let shown = String::from_utf8_lossy(&shown).into_owned();
            assert!(begin.elapsed() < Duration::from_secs(30), "no {mark}: {shown}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a program is there.
fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).any(|directory| directory.join(program).exists())
}

/// A world with servers whose tools are stored; the second one has a tool with an odd name.
fn world() -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    let list = r#"{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let tools = r#"{"id":1,"result":{"tools":[{"name":"two words' $tool","inputSchema":{}}]}}"#;
    let trace = scratch.write(
        "odd.jsonl",
        format!("{{\"dir\":\"out\",\"msg\":{list}}}\n{{\"dir\":\"in\",\"msg\":{tools}}}\n"),
    );
    let (demo, mcpmini) = (demo_path(), env!("CARGO_BIN_EXE_mcpmini"));
    let config = format!(
        r#"{{"mcpServers": {{"files": {{"command": "{demo}", "args": ["--log", "started"]}},
                             "fizz": {{"url": "https://h/"}},
                             "odd": {{"command": "{mcpmini}", "args": ["replay", "{trace}"]}}}}}}"#
    );
    scratch.write(".config/mcpmini/config.json", config);
    for server in ["files", "odd"] {
        assert_eq!(run(&mut scratch.mcpmini(["tools", server])).code, 0, "{server}");
    }
    std::fs::remove_file(scratch.path("started")).unwrap();
    scratch
}

/// Types lines and checks which words the shell has after the tab key.
fn check(shell: &str, command: &str, setup: &str) {
    for program in ["script", shell] {
        if !has(program) {
            eprintln!("skipped: {program} is not installed");
            return;
        }
    }
    let scratch = world();
    let mut terminal = Terminal::start(&scratch, command);
    terminal.press(setup);
    terminal.press("echo RE''ADY\n");
    terminal.wait_for("READY", 0);
    let lines = [
        ("mcpmini cal", "<mcpmini><call>"),
        ("mcpmini call file", "<mcpmini><call><files>"),
        ("mcpmini call files argum", "<mcpmini><call><files><arguments>"),
        ("mcpmini call files arguments si", "<mcpmini><call><files><arguments><size=>"),
        ("mcpmini call files arguments size=la", "<mcpmini><call><files><arguments><size=large>"),
        ("mcpmini call files arguments size='la", "<mcpmini><call><files><arguments><size=large>"),
        ("mcpmini call odd two\\ w", "<mcpmini><call><odd><two words' $tool>"),
        ("mcpmini call odd 'two w", "<mcpmini><call><odd><two words' $tool>"),
        ("mcpmini call files arguments -- --siz", "<mcpmini><call><files><arguments><--><--size>"),
        ("mcpmini --protocol=2026", "<mcpmini><--protocol=2026-07-28>"),
    ];
    for (count, (typed, expected)) in lines.iter().enumerate() {
        // The tab key; then the beginning of the line, where a command goes that shows its words.
        terminal.press(&format!("{typed}\t\u{1}show \n"));
        assert_eq!(terminal.wait_for("<mcpmini>", count), *expected, "{shell}: {typed}");
    }
    assert!(!scratch.path("started").exists(), "no server was started");
}

#[test]
fn bash_completes() {
    let show = "show() { printf '<%s>' \"$@\"; echo; }\n";
    let setup = format!("PS1='$ '; {show}eval \"$(mcpmini completions bash)\"\n");
    check("bash", "bash --norc --noprofile -i", &setup);
}

#[test]
fn zsh_completes() {
    let show = "show() { printf '<%s>' \"$@\"; echo; }\n";
    let script = "eval \"$(mcpmini completions zsh)\"";
    let compinit = "autoload -U compinit; compinit -D";
    // Wherever its file has the line, and also where nothing else makes it complete.
    for setup in
        [format!("{compinit}; {script}"), format!("{script}; {compinit}"), script.to_owned()]
    {
        check("zsh", "zsh -f -i", &format!("PS1='$ '; bindkey -e; {setup}; {show}"));
    }
}

#[test]
fn fish_completes() {
    let show = "function show; printf '<%s>' $argv; echo; end\n";
    check("fish", "fish --no-config -i", &format!("{show}mcpmini completions fish | source\n"));
}

/// nushell says itself what it would offer, without a terminal.
#[test]
fn nushell_completes() {
    let scratch = world();
    let script = run(&mut scratch.mcpmini(["completions", "nushell"])).out;
    let script = scratch.write("completion.nu", script);
    if !has("nu") {
        eprintln!("skipped: nu is not installed");
        return;
    }
    let offered = |line: &str| {
        let ask = "open --raw line | decode utf8 | commandline complete | to json --raw";
        scratch.write("line", line);
        let mut command = scratch.command("nu");
        let bin = Path::new(env!("CARGO_BIN_EXE_mcpmini")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", bin.display()));
        let outcome = run(command.args(["--config", &script, "-c", ask]));
        assert_eq!(outcome.err, "", "{line}");
        serde_json::from_str::<Vec<String>>(&outcome.out).unwrap()
    };
    let check = |line: &str, expected: &[&str]| assert_eq!(offered(line), expected, "{line}");
    check("mcpmini cal", &["call"]);
    check("mcpmini call file", &["files"]);
    check("mcpmini call files arguments si", &["size="]);
    check("mcpmini call files arguments size=la", &["size=large"]);
    check("mcpmini call files arguments -- --siz", &["--size"]);
    check("mcpmini --protocol=2026", &["--protocol=2026-07-28"]);
    // With its quotes, and where some are open already.
    check("mcpmini call odd two", &["\"two words' $tool\""]);
    check("mcpmini call odd \"two w", &["\"two words' $tool\""]);
    check("mcpmini call \"files\" argum", &["arguments"]);
    assert!(offered("mcpmini batch files ").contains(&"odd.jsonl".to_owned()));
    assert!(!scratch.path("started").exists(), "no server was started");
}

#[test]
fn completion_is_fast_and_never_fails() {
    let scratch = world();
    for words in [
        &["bash"][..],
        &["zsh"],
        &["fish"],
        &["nushell"],
        &["tcsh", "x"],
        &[],
        &["bash", "\u{1b}", ""],
        &["nushell", "call", "\""],
    ] {
        let words = ["__complete"].iter().chain(words);
        let outcome = run(&mut scratch.mcpmini(words));
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    }
    let ask = || {
        let line = "mcpmini call files arguments ";
        let outcome = run(&mut scratch.mcpmini(["__complete", "bash", line, "="]));
        assert!(outcome.out.contains("word:size=\n"), "{}", outcome.out);
        outcome.took
    };
    // The machine may be busy, but not each time. An optimised build takes a fifth of it.
    let fastest = (0..10).map(|_| ask()).min().unwrap();
    assert!(fastest < Duration::from_millis(50), "{fastest:?}");
}
