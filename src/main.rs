//! `mcpmini`: argv in, exit code out.

use std::process::ExitCode;

use mcpmini::cli::{self, exit::Exit, panics};
use mcpmini::env::{Env, signals};

fn main() -> ExitCode {
    let env = Env::from_process();
    panics::report(&env);
    match cli::main(&env) {
        // The shell should see which signal ended us.
        Exit::Signal(signal) => signals::die_of(signal.into()),
        exit => exit.into(),
    }
}
