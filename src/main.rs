//! `mcpmini`: argv in, exit code out.
#![cfg_attr(target_env = "musl", no_main)]

#[cfg(all(target_arch = "x86_64", any(target_env = "musl", test)))]
mod copying;
#[cfg(any(target_env = "musl", test))]
mod nursery;
#[cfg(target_env = "musl")]
mod start;
#[cfg(target_env = "musl")]
mod unwind;

use std::ffi::OsString;

use mcpmini::cli::{self, exit::Exit, panics};
use mcpmini::env::{Env, ending, streams};

#[cfg(target_env = "musl")]
#[global_allocator]
static NURSERY: nursery::Nursery = nursery::Nursery::new();

/// Stands in for the function of libcurl that is called before `main` (see `scripts/build.rs`). It says that
/// all went well; libcurl does the same work again, and better, when it is used. What must be done before
/// the standard library begins has its place here.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the linker looks for this name")]
#[unsafe(no_mangle)]
extern "C" fn __wrap_curl_global_init(_flags: std::ffi::c_long) -> std::ffi::c_int {
    streams::occupy_standard_descriptors();
    0
}

#[cfg(not(target_env = "musl"))]
fn main() {
    run(std::env::args_os().collect())
}

/// Does what the command line says, and ends the process.
fn run(args: Vec<OsString>) -> ! {
    let env = Env::of_process(args);
    panics::report(&env);
    match cli::main(&env) {
        // The shell should see which signal ended us.
        Exit::Signal(signal) => ending::die_of(signal.into()),
        exit => ending::leave(exit.code()),
    }
}
