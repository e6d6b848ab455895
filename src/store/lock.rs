//! One writer at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::fault::{Action, Fault, Reason};
use super::replace::create_dir;

/// How often a lock that is taken is tried again.
const PAUSE: Duration = Duration::from_millis(5);

/// Holds a lock until it is dropped.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "an open file holds the lock")] File);

/// Locks `path` against other processes that do the same, for reading, changing and replacing it.
/// Waits no longer than `patience` for them.
///
/// The lock lies on a file of its own, `path` with `.lock` added, because a replaced file would
/// take its lock with it. The kernel gives it back when the process ends, however it ends.
pub fn lock(path: &Path, patience: Duration) -> Result<Lock, Fault> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let beside = Path::new(&beside);
    create_dir(path.parent().unwrap_or(Path::new("/")))?;
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(beside).map_err(Fault::io(beside, Action::Lock))?;
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock(file)),
            Err(TryLockError::Error(error)) => return Err(Fault::io(beside, Action::Lock)(error)),
            Err(TryLockError::WouldBlock) if waited >= patience => {
                return Err(Fault::new(beside, Action::Lock, Reason::Busy));
            }
            Err(TryLockError::WouldBlock) => {
                thread::sleep(PAUSE);
                waited += PAUSE;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::replace::replace;
    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn a_lock_keeps_others_out_until_it_is_dropped() {
        let scratch = Scratch::new();
        let path = scratch.path("new/f");
        let held = lock(&path, Duration::ZERO).unwrap();
        let told = lock(&path, Duration::from_millis(10)).unwrap_err().to_string();
        let expected =
            format!("cannot lock {}.lock: another process keeps it locked", path.display());
        assert_eq!(told, expected);
        drop(held);
        assert!(lock(&path, Duration::ZERO).is_ok());
    }

    #[test]
    fn no_change_is_lost_between_writers() {
        let scratch = Scratch::new();
        let path = scratch.write("count", "0");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let _held = lock(&path, Duration::from_secs(60)).unwrap();
                        let count: u32 = scratch.read("count").parse().unwrap();
                        replace(&path, (count + 1).to_string().as_bytes()).unwrap();
                    }
                });
            }
        });
        assert_eq!(scratch.read("count"), "100");
    }
}
