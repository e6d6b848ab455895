//! The start of the static binary, without that of the standard library.
//!
//! `std` readies every program for threads, panics and overflowing stacks before `main`, with a
//! dozen system calls and a few pages of memory: a third of what `mcpmini --version` takes, and a
//! tenth of a call over stdio. What of that is needed is done here.

#![allow(unsafe_code, reason = "the words of the command line come as pointers")]

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

use mcpmini::env::streams;

/// The C library calls this.
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    // Who writes to a pipe that nobody reads gets an error and not a signal.
    // SAFETY: this changes a setting of the process, which has one thread.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    streams::occupy_standard_descriptors();
    let word = |at: usize| -> OsString {
        // SAFETY: the system hands over `count` pointers to texts that end with a zero.
        let text = unsafe { CStr::from_ptr(*words.add(at)) };
        OsStr::from_bytes(text.to_bytes()).to_owned()
    };
    crate::run((0..usize::try_from(count).unwrap_or(0)).map(word).collect())
}
