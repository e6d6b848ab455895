//! Waiting for a child process to end.

use std::os::fd::OwnedFd;
use std::process::Child;
use std::rc::Rc;
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::timer::Timer;
use super::waiting::readable;

/// How often to look where the system cannot tell: at first, and after a while.
const SOON: Duration = Duration::from_millis(1);
const LATER: Duration = Duration::from_millis(20);

/// The end of a child process.
#[derive(Debug)]
pub struct Exit {
    process: Pid,
    /// A descriptor that becomes readable when the process ends (Linux 5.3).
    descriptor: Option<Rc<OwnedFd>>,
}

impl Exit {
    /// The end of this child.
    pub fn of(child: &Child) -> Exit {
        let process = Pid::from_child(child);
        #[cfg(target_os = "linux")]
        let descriptor = {
            use rustix::process::{PidfdFlags, pidfd_open};
            pidfd_open(process, PidfdFlags::empty()).ok().map(Rc::new)
        };
        #[cfg(not(target_os = "linux"))]
        let descriptor = None;
        Exit { process, descriptor }
    }

    /// Waits for the end, and leaves it to the caller to ask for the exit status.
    pub async fn wait(&self) {
        if let Some(descriptor) = &self.descriptor {
            return readable(descriptor).await;
        }
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let mut pause = SOON;
        // An error says that there is no such child any more.
        while let Ok(None) = waitid(WaitId::Pid(self.process), look) {
            Timer::after(pause).await;
            pause = (2 * pause).min(LATER);
        }
    }
}
