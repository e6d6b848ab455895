//! Descriptors, where the system may give no more of them (`ulimit -n`).

use std::os::fd::AsRawFd;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};

/// Whether so many files more can be opened. Libraries take it for granted, and panic.
///
/// The lowest number that is free tells: those below it are taken, and those above mostly free.
pub fn is_room_for(files: u64) -> bool {
    let Some(limit) = getrlimit(Resource::Nofile).current else { return true };
    match fcntl_dupfd_cloexec(rustix::stdio::stderr(), 0) {
        Ok(lowest) => lowest.as_raw_fd().unsigned_abs() as u64 + files <= limit,
        Err(_) => false,
    }
}
