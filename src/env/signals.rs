//! Signals that end the program.

use std::cell::Cell;
use std::io;
use std::task::Poll;

use async_signal::{Signal, Signals};
use futures_lite::{StreamExt, future};

/// The signals that ask us to end: we cancel what runs, clean up, and then die of them.
const ENDING: [Signal; 3] = [Signal::Int, Signal::Term, Signal::Hup];

/// Waits for signals that ask us to end. The default waits for none.
#[derive(Debug, Default)]
pub struct Endings {
    signals: Option<Signals>,
    /// One that has come and that nobody has waited for yet.
    early: Cell<Option<i32>>,
}

impl Endings {
    /// From now on these signals are delivered here instead of killing the process.
    ///
    /// A signal that was ignored when we started stays ignored: that is what `nohup` and a shell
    /// that starts us in the background ask for.
    pub fn watch() -> io::Result<Endings> {
        let wanted: Vec<Signal> =
            ENDING.into_iter().filter(|signal| !is_ignored(*signal as i32)).collect();
        let signals = if wanted.is_empty() { None } else { Some(Signals::new(wanted)?) };
        Ok(Endings { signals, early: Cell::new(None) })
    }

    /// The number of a signal that has come already. The next that waits for one will get it.
    pub fn early(&self) -> Option<i32> {
        if self.early.get().is_none() {
            self.early.set(future::block_on(future::poll_once(self.receive())));
        }
        self.early.get()
    }

    /// The number of the next signal. Never ready when all are ignored.
    pub async fn next(&self) -> i32 {
        let mut receive = std::pin::pin!(self.receive());
        // It may be received elsewhere while this waits.
        future::poll_fn(|context| match self.early.take() {
            Some(signal) => Poll::Ready(signal),
            None => receive.as_mut().poll(context),
        })
        .await
    }

    async fn receive(&self) -> i32 {
        let Some(mut signals) = self.signals.as_ref() else { return future::pending().await };
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
