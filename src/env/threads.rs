//! Threads, where the system may have none left (`ulimit -u`).

use std::io;
use std::thread::Builder;

/// Errors when no thread can be started. The pool of threads that reads and writes files beside
/// everything else would try again and again, deaf to time and signals.
pub fn check() -> io::Result<()> {
    Builder::new().spawn(|| ()).map(drop)
}
