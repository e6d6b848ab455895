//! Signals that end the program.

use std::io;

use async_signal::{Signal, Signals};
use futures_lite::{StreamExt, future};

/// The signals that ask us to end: we cancel what runs, clean up, and then die of them.
const ENDING: [Signal; 3] = [Signal::Int, Signal::Term, Signal::Hup];

/// Waits for signals that ask us to end.
#[derive(Debug)]
pub struct Endings(Option<Signals>);

impl Endings {
    /// From now on these signals are delivered here instead of killing the process.
    ///
    /// A signal that was ignored when we started stays ignored: that is what `nohup` and a shell
    /// that starts us in the background ask for.
    pub fn watch() -> io::Result<Endings> {
        let wanted: Vec<Signal> =
            ENDING.into_iter().filter(|signal| !is_ignored(*signal as i32)).collect();
        match wanted.is_empty() {
            true => Ok(Endings(None)),
            false => Ok(Endings(Some(Signals::new(wanted)?))),
        }
    }

    /// The number of the next signal. Never ready when all are ignored.
    pub async fn next(&self) -> i32 {
        let Some(mut signals) = self.0.as_ref() else { return future::pending().await };
        match signals.next().await {
            Some(Ok(signal)) => signal as i32,
            Some(Err(_)) | None => future::pending().await,
        }
    }
}

#[allow(unsafe_code, reason = "the only way to ask for a signal's disposition")]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: sigaction with a null new action only writes the old one into `action`, which is a
    // plain C struct for which zero is a valid value.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let asked = libc::sigaction(signal, std::ptr::null(), &raw mut action);
        asked == 0 && action.sa_sigaction == libc::SIG_IGN
    }
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
