//! `mcpmini`: argv in, exit code out.

use std::process::ExitCode;

use mcpmini::cli::{self, exit::Exit};
use mcpmini::env::{Env, signals};

fn main() -> ExitCode {
    match cli::main(&Env::from_process()) {
        // The shell should see which signal ended us.
        Exit::Signal(signal) => signals::die_of(signal.into()),
        exit => exit.into(),
    }
}
