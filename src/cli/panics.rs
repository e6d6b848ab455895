//! Panics: defects of this program, or of a library that does without an operating system that does
//! not give it what it needs. They are told like every other error.

use std::fs::File;
use std::panic::{PanicHookInfo, set_hook, take_hook};

use super::errors::Error;
use super::exit::Exit;
use super::terminal::Stream;
use crate::env::Env;
use crate::env::streams::ENDLESS;

/// Makes every panic end the program with an error and its exit code. What was started ends with
/// its input.
pub fn report(env: &Env) {
    let set = |name: &str| env.setting(name).filter(|value| value != "0");
    let json_errors = set("MCPMINI_ERRORS").is_some_and(|value| value == "json");
    // Whoever looks for the defect wants to know how the program came there.
    let backtrace = set("RUST_BACKTRACE").map(|_| take_hook());
    set_hook(Box::new(move |panic| {
        if let Some(print) = &backtrace {
            print(panic);
        }
        let error = error(panic);
        let text = if json_errors { error.json_line() } else { error.text(false) };
        let _ = Stream::Stderr.write(text.as_bytes(), ENDLESS);
        error.exit.end()
    }));
}

fn error(panic: &PanicHookInfo<'_>) -> Error {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = text.unwrap_or("a panic");
    let place = panic.location().map(|place| format!(" ({}:{})", file(place.file()), place.line()));
    let text = format!("internal error: {what}{}", place.unwrap_or_default());
    Error::new(Exit::Bug, text).hint(match is_full() {
        true => "this process may open too few files: see `ulimit -n`",
        // The static binary has no tables to walk the stack by.
        false if cfg!(target_env = "musl") => "please report it",
        false => "please report it, with RUST_BACKTRACE=1",
    })
}

/// Whether no more files can be opened, which libraries take for impossible.
fn is_full() -> bool {
    let opened = File::open("/dev/null").map_err(|error| error.raw_os_error());
    matches!(opened, Err(Some(libc::EMFILE | libc::ENFILE)))
}

/// The path of a source file without the directories of whoever built the program.
fn file(path: &str) -> &str {
    path.rsplit_once("/src/").map_or(path, |(_, file)| file)
}
