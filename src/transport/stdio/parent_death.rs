//! Ties a child's life to ours, for the case that we are killed without a chance to end it.

use std::process::Command;

/// Asks the kernel to send the child SIGTERM when we die (Linux; elsewhere the child only sees the
/// end of its input).
///
/// SIGTERM and not SIGKILL, because wrappers (`npx`, `uvx`, `sh`) pass it on to the real server. The
/// request lasts until the thread that starts the child ends, so the child must be started from
/// the main thread.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "pre_exec is the only place between fork and exec")]
pub(super) fn tie(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let parent = getpid();
    let between_fork_and_exec = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // We may have died before the kernel was asked.
        match getppid() == Some(parent) {
            true => Ok(()),
            false => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    };
    // SAFETY: the closure makes two system calls and neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(between_fork_and_exec);
    }
}

/// Does nothing where the kernel cannot be asked.
#[cfg(not(target_os = "linux"))]
pub(super) fn tie(_command: &mut Command) {}
