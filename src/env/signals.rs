//! Signals that end the program.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_lite::future;
use libc::c_int;
use rustix::io::{ioctl_fionbio, read, write};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

use crate::reactor::readable;

/// The signals that ask us to end: we cancel what runs, clean up, and then die of them.
const ENDING: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Where the handler writes the number of a signal, one byte each.
static NOTES: OnceLock<PipeWriter> = OnceLock::new();

/// Whether there may be something to read: it spares a system call each time there is not.
static NOTED: AtomicBool = AtomicBool::new(false);

/// Waits for signals that ask us to end. The default waits for none.
#[derive(Debug, Default)]
pub struct Endings(Option<Rc<OwnedFd>>);

impl Endings {
    /// From now on these signals are delivered here instead of killing the process.
    ///
    /// A signal that was ignored when we started stays ignored: that is what `nohup` and a shell
    /// that starts us in the background ask for.
    ///
    /// Errors when the process has no descriptors left, or watches already.
    pub fn watch() -> io::Result<Endings> {
        let (notes, writer): (PipeReader, PipeWriter) = io::pipe()?;
        ioctl_fionbio(&notes, true)?;
        // A handler must not wait, even if nobody reads.
        ioctl_fionbio(&writer, true)?;
        NOTES.set(writer).map_err(|_| io::ErrorKind::AlreadyExists)?;
        let mut is_any_ours = false;
        for signal in ENDING {
            is_any_ours |= handle(signal)?;
        }
        Ok(Endings(is_any_ours.then(|| Rc::new(notes.into()))))
    }

    /// The number of the next signal, if one has come.
    pub fn take(&self) -> Option<i32> {
        let notes = self.0.as_ref()?;
        if !NOTED.swap(false, Ordering::SeqCst) {
            return None;
        }
        let mut note = [0];
        if read(notes, &mut note) != Ok(1) {
            // The handler may have noted one since, and what it said must not be taken back.
            return None;
        }
        // There may be more.
        NOTED.store(true, Ordering::SeqCst);
        Some(note[0].into())
    }

    /// Whether there is a signal to take.
    pub fn has_come(&self) -> bool {
        self.0.is_some() && NOTED.load(Ordering::SeqCst)
    }

    /// Waits until a signal has come, which somebody else may take. Never ready when all are
    /// ignored.
    pub async fn came(&self) {
        match &self.0 {
            Some(notes) => readable(notes).await,
            None => future::pending().await,
        }
    }
}

/// Whether a signal is one that asks a program to end.
pub fn is_ending(signal: i32) -> bool {
    signal == libc::SIGPIPE || ENDING.contains(&signal)
}

/// Whether our process group is the one that the terminal sends its signals to.
pub fn is_in_foreground() -> bool {
    let foreground = File::open("/dev/tty").ok().and_then(|tty| tcgetpgrp(tty).ok());
    foreground == Some(getpgrp())
}

/// Has a signal noted, unless it is ignored; false when it is.
#[allow(unsafe_code, reason = "the only way to ask for a signal's disposition and to change it")]
fn handle(signal: c_int) -> io::Result<bool> {
    let handler: extern "C" fn(c_int) = note;
    // SAFETY: zero is a valid value of every member of this plain C structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let mut before = action;
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: both structures are valid, and the handler does only what a handler may do.
    let changed = unsafe { libc::sigaction(signal, &raw const action, &raw mut before) };
    if changed != 0 {
        return Err(io::Error::last_os_error());
    }
    if before.sa_sigaction == libc::SIG_IGN {
        // SAFETY: it is put back as it was.
        unsafe { libc::sigaction(signal, &raw const before, std::ptr::null_mut()) };
    }
    Ok(before.sa_sigaction != libc::SIG_IGN)
}

/// The handler. It interrupts whatever runs, so it makes one system call and changes nothing else,
/// `errno` included.
#[allow(unsafe_code, reason = "errno is a pointer")]
extern "C" fn note(signal: c_int) {
    #[cfg(target_os = "linux")]
    use libc::__errno_location as errno_location;
    #[cfg(not(target_os = "linux"))]
    use libc::__error as errno_location;

    let Some(notes) = NOTES.get() else { return };
    // SAFETY: the C library keeps an `errno` for every thread, and hands out where it is.
    let before = unsafe { *errno_location() };
    // When the pipe is full there is enough to read.
    let _ = write(notes, &[signal as u8]);
    NOTED.store(true, Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { *errno_location() = before };
}
