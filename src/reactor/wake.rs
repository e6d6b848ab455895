//! Waking a thread that waits.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::Wake;

use rustix::io::{Errno, read, write};

/// Wakes the thread that runs a future.
#[derive(Debug)]
pub(super) struct Alarm {
    /// Whether the future wants to be polled again.
    rung: AtomicBool,
    /// Whether the thread waits, or is about to, so that it must be told through `descriptor`.
    asleep: AtomicBool,
    descriptor: OwnedFd,
    #[cfg(not(target_os = "linux"))]
    sender: OwnedFd,
}

impl Alarm {
    #[cfg(target_os = "linux")]
    pub(super) fn new() -> Result<Alarm, Errno> {
        use rustix::event::{EventfdFlags, eventfd};
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Alarm { rung: AtomicBool::new(false), asleep: AtomicBool::new(false), descriptor })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn new() -> Result<Alarm, Errno> {
        let (descriptor, sender) = rustix::pipe::pipe()?;
        for end in [&descriptor, &sender] {
            rustix::io::ioctl_fioclex(end)?;
            rustix::io::ioctl_fionbio(end, true)?;
        }
        let (rung, asleep) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Alarm { rung, asleep, descriptor, sender })
    }

    /// Whether it was rung since the last time.
    pub(super) fn take(&self) -> bool {
        self.rung.swap(false, SeqCst)
    }

    /// Whether the thread may go to sleep: from now on it is told through the descriptor.
    pub(super) fn may_sleep(&self) -> bool {
        self.asleep.store(true, SeqCst);
        !self.rung.load(SeqCst)
    }

    /// The thread is awake.
    pub(super) fn wake_up(&self, was_told: bool) {
        self.asleep.store(false, SeqCst);
        if was_told {
            // What was written says nothing but that it was written.
            let _ = read(&self.descriptor, &mut [0; 64]);
        }
    }

    /// Becomes readable when the alarm is rung while the thread sleeps.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    fn tell(&self) {
        #[cfg(target_os = "linux")]
        let sender = &self.descriptor;
        #[cfg(not(target_os = "linux"))]
        let sender = &self.sender;
        // It fails when it is full, and then the thread will wake up anyway.
        let _ = write(sender, &1_u64.to_ne_bytes());
    }
}

impl Wake for Alarm {
    fn wake(self: std::sync::Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &std::sync::Arc<Self>) {
        // One that was rung already is answered before the thread sleeps again.
        if !self.rung.swap(true, SeqCst) && self.asleep.load(SeqCst) {
            self.tell();
        }
    }
}
