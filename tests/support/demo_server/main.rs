//! A small MCP server to try mcpmini with, and the one its tests talk to.
//!
//! It needs no network and no other program, and speaks both eras: the handshake of 2025-11-25 and
//! the stateless requests of 2026-07-28, over stdio or, with `--http`, Streamable HTTP. It is an
//! independent program: of mcpmini's own code it uses nothing.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a program, not the library"
)]

mod asking;
mod changes;
mod faults;
mod http;
mod patch;
mod primitives;
mod protocol;
mod skills;
mod stdio;
mod streams;
mod tasks;
mod tools;

use std::fs::File;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const USAGE: &str = "\
usage: demo-server [--http PORT | --sse PORT] [--era legacy|modern] [--log FILE] [--tick MS]
                   [--crash-after N] [--fault FAULT] [--skills DEFECT] [--ttl MS]
                   [--version-file FILE] [--patch FILE]

  --http PORT  serve http://127.0.0.1:PORT/mcp (0: any free port) and print the URL; else stdio
  --sse PORT   serve http://127.0.0.1:PORT/sse, with the transport of 2024-11-05
  --tick MS    change something every MS milliseconds, and notify about it
  --era ERA    speak only this era
  --log FILE   append every received message to FILE, `EOF` at the end of stdin, and `HANGUP` when
                an HTTP client does not wait for its answer
  --skills DEFECT serve skills that have this defect, or none
  --crash-after N end at the tool call after the Nth, without an answer
  --ttl MS     let clients keep lists for so many milliseconds (default 0; only in the modern era)
  --version-file FILE  tell the first line of FILE as the server's version
  --patch FILE  be as FILE says: changes to what it says about itself and its tools, as JSON
  --fault silent  answer nothing
  --fault exit    end at the start, with a word on stderr and exit code 3
  --fault crash   end at every request for a list or a tool, without an answer
  --fault orphan  start a process that keeps all pipes open for a minute
  --fault stay    ignore the end of stdin, for a minute
  --fault endless  each page of a list points to one that was there before
  --fault bare     know tools and nothing else
  --fault drop    break off what notifies about changes after two of them
  --fault finish  end it in order instead
  --fault noise, port, blab, chatty, curious, talkative, fragile, text-ids, own-code, any-method,
                any-version, no-session, dawdle, half
                  on stdio: what `mcpmini doctor` finds, see faults.rs
";

/// What the command line asks for.
#[derive(Debug, Default)]
struct Options {
    http: Option<u16>,
    sse: Option<u16>,
    tick: Option<u64>,
    era: Option<String>,
    log: Option<Mutex<File>>,
    fault: String,
    /// What is wrong with the skills; none when there are none.
    skills: Option<String>,
    crash_after: Option<u64>,
    ttl: u64,
    version_file: Option<String>,
    patch: patch::Patch,
    /// How many tool calls have come.
    calls: AtomicU64,
    /// What the tool `count` has counted.
    counted: AtomicU64,
    tasks: tasks::Tasks,
}

impl Options {
    /// Reads the command line; none when it is wrong.
    fn from_args(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self::default();
        while let Some(name) = args.next() {
            let value = args.next()?;
            match name.as_str() {
                "--http" => options.http = Some(value.parse().ok()?),
                "--sse" => options.sse = Some(value.parse().ok()?),
                "--tick" => options.tick = Some(value.parse().ok()?),
                "--era" => options.era = Some(value),
                "--log" => {
                    let file = File::options().create(true).append(true).open(value).ok()?;
                    options.log = Some(Mutex::new(file));
                }
                "--skills" => options.skills = Some(value),
                "--fault" => options.fault = value,
                "--ttl" => options.ttl = value.parse().ok()?,
                "--version-file" => options.version_file = Some(value),
                "--patch" => options.patch = patch::Patch(Some(value)),
                "--crash-after" => options.crash_after = Some(value.parse().ok()?),
                _ => return None,
            }
        }
        Some(options)
    }

    /// Whether requests of an era (`legacy`, `modern`) are answered.
    fn speaks(&self, era: &str) -> bool {
        self.era.as_deref().is_none_or(|only| only == era)
    }

    fn has_fault(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// What the server says about itself.
    fn info(&self) -> serde_json::Value {
        let text = self.version_file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let version = text.as_deref().and_then(|text| text.lines().next()).unwrap_or("1.0.0");
        let info = serde_json::json!({ "name": "demo-server", "version": version });
        self.patch.apply("info", info)
    }

    /// Takes in that a tool is called. It may be one call too many.
    fn note_call(&self) {
        let earlier = self.calls.fetch_add(1, Ordering::Relaxed);
        if self.crash_after == Some(earlier) {
            eprintln!("panic: out of paper after {earlier} calls");
            std::process::exit(3);
        }
    }

    /// Counts one further.
    fn count(&self) -> u64 {
        self.counted.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Appends a line to the log, in one write.
    fn log(&self, line: &str) {
        if let Some(file) = &self.log {
            let mut file = file.lock().expect("no thread panics while it writes");
            // A log that cannot be written must not end the server.
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}

fn main() -> ExitCode {
    if std::env::args().any(|word| word == "--help") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let Some(options) = Options::from_args(std::env::args().skip(1)) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    if options.has_fault("exit") {
        eprintln!("fatal: the database is not there");
        return ExitCode::from(3);
    }
    // Threads outlive what started them.
    let options: &'static Options = Box::leak(Box::new(options));
    let served = match (options.http, options.sse) {
        (Some(port), _) => http::serve(port, "/mcp", options),
        (None, Some(port)) => http::serve(port, "/sse", options),
        (None, None) => stdio::serve(options),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo-server: {error}");
            ExitCode::FAILURE
        }
    }
}
