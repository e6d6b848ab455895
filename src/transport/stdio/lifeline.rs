//! Ties the life of a child, and of what it starts, to ours.
//!
//! When we end in an orderly way, we see to it that nothing of the server is left. When we are
//! killed there is no time for that, and a server that does not look at its input would stay for
//! ever. So the child gets the reading end of one more pipe, to which nobody writes, and the kernel
//! is asked to send the whole process group SIGTERM when something happens to the pipe. What happens
//! is that we, who have the other end, are gone.
//!
//! The usual request for a signal at the parent's death (`PR_SET_PDEATHSIG`) reaches the child
//! alone, not the server that an `npx` or `uvx` starts. And it must be made between `fork` and
//! `exec`: that rules out `posix_spawn`, which need not copy our address space.

use std::io;

use rustix::process::Pid;

/// Our end of the pipe. The group ends when it is dropped.
#[derive(Debug)]
pub(super) struct Lifeline {
    #[cfg(target_os = "linux")]
    _ours: io::PipeWriter,
}

/// The child's end, which it inherits.
#[derive(Debug)]
pub(super) struct Theirs {
    #[cfg(target_os = "linux")]
    theirs: io::PipeReader,
}

#[cfg(target_os = "linux")]
impl Lifeline {
    /// A lifeline for the next child.
    pub(super) fn new() -> io::Result<(Lifeline, Theirs)> {
        let (theirs, ours) = io::pipe()?;
        // The only descriptor, beside the standard ones, that is not closed when the child starts.
        rustix::io::fcntl_setfd(&theirs, rustix::io::FdFlags::empty())?;
        Ok((Lifeline { _ours: ours }, Theirs { theirs }))
    }
}

#[cfg(target_os = "linux")]
impl Theirs {
    /// Makes it the lifeline of this process group. Where the kernel refuses, the child still sees
    /// the end of its input.
    #[allow(unsafe_code, reason = "no safe function makes these requests")]
    pub(super) fn tie(self, group: Pid) {
        use libc::{F_SETFL, F_SETOWN, O_ASYNC, SIGTERM, c_int, fcntl};
        use std::os::fd::AsRawFd;

        // From the kernel's headers, the same on every processor.
        const F_SETSIG: c_int = 10;
        let theirs = self.theirs.as_raw_fd();
        // A negative number stands for a group. SIGTERM instead of SIGIO, because wrappers pass it
        // on and servers expect it.
        let requests = [(F_SETOWN, -group.as_raw_pid()), (F_SETSIG, SIGTERM), (F_SETFL, O_ASYNC)];
        for (request, value) in requests {
            // SAFETY: the descriptor is open, and the requests take a number and no pointer.
            unsafe { fcntl(theirs, request, value) };
        }
    }
}

/// Where the kernel cannot be asked, the child only sees the end of its input.
#[cfg(not(target_os = "linux"))]
impl Lifeline {
    pub(super) fn new() -> io::Result<(Lifeline, Theirs)> {
        Ok((Lifeline {}, Theirs {}))
    }
}

#[cfg(not(target_os = "linux"))]
impl Theirs {
    pub(super) fn tie(self, _group: Pid) {}
}
