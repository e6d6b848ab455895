//! `mcpmini`: argv in, exit code out.

#[cfg(target_env = "musl")]
mod nursery;

use std::process::ExitCode;

use mcpmini::cli::{self, exit::Exit};
use mcpmini::env::{Env, signals};

#[cfg(target_env = "musl")]
#[global_allocator]
static NURSERY: nursery::Nursery = nursery::Nursery::new();

/// Stands in for the function of libcurl that is called before `main` (see `build.rs`). It says that
/// all went well; libcurl does the same work again, and better, when it is used.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the linker looks for this name")]
#[unsafe(no_mangle)]
extern "C" fn __wrap_curl_global_init(_flags: std::ffi::c_long) -> std::ffi::c_int {
    0
}

fn main() -> ExitCode {
    match cli::main(&Env::from_process()) {
        // The shell should see which signal ended us.
        Exit::Signal(signal) => signals::die_of(signal.into()),
        exit => exit.into(),
    }
}
