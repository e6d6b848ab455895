//! The end of the process.

/// Ends the process now.
///
/// All output was written when it was made, and files that were written are closed. What runs at
/// the end of most programs gives memory back piece by piece that goes back as a whole anyway.
#[allow(unsafe_code, reason = "std has no function that does only that")]
pub fn leave(code: u8) -> ! {
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(code.into()) }
}

/// Ends the process by a signal, so that the shell sees which one it was (`$?` is 128 + number).
#[allow(unsafe_code, reason = "the only way to die of a signal")]
pub fn die_of(signal: i32) -> ! {
    // SAFETY: restoring the default action and raising the signal touch no memory of ours.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    // A signal that does not kill by default, or is blocked, ends here.
    std::process::exit(128 + signal)
}
