//! The start of the static binary, without that of the standard library.
//!
//! `std` readies every program for threads, panics and overflowing stacks before `main`, with a
//! dozen system calls and a few pages of memory: a third of what `mcpmini --version` takes, and a
//! tenth of a call over stdio. What of that is needed is done here.

#![allow(unsafe_code, reason = "the words of the command line come as pointers")]

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use mcpmini::env::streams;

use crate::NURSERY;
use crate::nursery::PAGE;

/// How much of the stack, and how much memory for small blocks, the shortest call takes, in bytes.
const STACK: usize = 32 << 10;
const BLOCKS: usize = 44 << 10;

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
    let words: Vec<OsString> = (0..usize::try_from(count).unwrap_or(0)).map(word).collect();
    if 2 < words.len() {
        // It is more than `--version`.
        prepare_memory();
    }
    crate::run(words)
}

/// Asks at once for the memory that every command uses. Page by page, as each is first written to,
/// the system takes twice as long for it.
fn prepare_memory() {
    let here = 0_u8;
    for (begin, length) in [((&raw const here).addr() - STACK, STACK), (NURSERY.begin(), BLOCKS)] {
        let begin = ptr::without_provenance_mut(begin.next_multiple_of(PAGE));
        // SAFETY: it changes nothing of what is in the pages. It fails where the system is older than
        // this request (Linux 5.14), which is no loss.
        unsafe { libc::madvise(begin, length, libc::MADV_POPULATE_WRITE) };
    }
}
