//! Waiting, on one thread and with one system call: for descriptors, for time and for children.
//!
//! A command lives for a millisecond or two. The reactor of `async-io` starts a thread for itself,
//! and opens four descriptors, before the first byte is read; `async-process` starts another. With
//! the two, a call over stdio takes at least twice as long as the same reads and writes in a program
//! without any library; with this reactor it takes one and a half times as long
//! (`scripts/bench-peers`). An executor of `smol` runs the tasks, on the one thread. The two still
//! serve where nobody counts microseconds: sockets of sessions and of logins, the keyboard, and
//! programs that answer for the user. What is waited for stands in two lists, which `poll(2)` gets:
//!
//! ```text
//! block_on ─▶ poll the future ─▶ it is ready: done
//!     ▲                │ else
//!     │                ▼
//!     └──── wake ◀── poll(2): descriptors, the wake-up pipe, until the next timer
//! ```
//!
//! Its futures belong to the thread they were first polled on, and panic when they are polled
//! outside of [`block_on`], where nobody would wake them. Wakers may travel: another thread, like
//! that of the HTTP library, wakes this one through the pipe.

mod child;
mod pipe;
pub mod queue;
mod room;
mod timer;
mod waiting;
mod wake;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use futures_lite::future::yield_now;
use smol::LocalExecutor;

pub use self::child::Exit;
pub use self::pipe::{Reader, Writer};
pub use self::room::is_room_for;
pub use self::timer::{Timer, timeout};
use self::waiting::Running;
pub use self::waiting::{Ready, readable};
use self::wake::Alarm;

/// After so long without a pause others get their turn: a task that always has something to do keeps
/// no other from running, and the descriptors and the clock are looked at.
const TURN: Duration = Duration::from_millis(1);

/// Runs the tasks of an executor until a future has come to its end.
///
/// [`LocalExecutor::run`] does the same, and takes room for 512 tasks each time, so that other
/// threads could help.
pub async fn with_tasks<T>(executor: &LocalExecutor<'_>, future: impl Future<Output = T>) -> T {
    let tasks = async {
        loop {
            let begun = Instant::now();
            while begun.elapsed() < TURN {
                executor.tick().await;
            }
            yield_now().await;
        }
    };
    future.or(tasks).await
}

/// Runs a future to its end on this thread.
///
/// # Panics
/// When the system gives no descriptor to wake the thread with.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let _running = Running::new();
    let alarm = Arc::new(Alarm::new().expect("a process can have one more descriptor"));
    let waker = Waker::from(alarm.clone());
    let mut context = Context::from_waker(&waker);
    let mut looked = Instant::now();
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        let is_idle = !alarm.take();
        if is_idle || looked.elapsed() >= TURN {
            waiting::wait(&alarm, is_idle);
            looked = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::thread;

    use futures_lite::future::{pending, zip};

    use super::*;

    #[test]
    fn a_future_that_is_ready_is_not_waited_for() {
        assert_eq!(block_on(async { 7 }), 7);
        assert_eq!(
            block_on(async {
                yield_now().await;
                8
            }),
            8
        );
    }

    #[test]
    fn timers_end_in_the_order_of_their_times() {
        let begun = Instant::now();
        let after = |milliseconds| async move {
            Timer::after(Duration::from_millis(milliseconds)).await;
            milliseconds
        };
        let first = after(60).or(after(20)).or(after(40));
        assert_eq!(block_on(first), 20);
        assert!(begun.elapsed() >= Duration::from_millis(20));
        assert_eq!(block_on(after(0)), 0);
    }

    #[test]
    fn what_takes_too_long_is_given_up() {
        let limit = Duration::from_millis(10);
        assert_eq!(block_on(timeout(limit, pending::<()>())), None);
        assert_eq!(block_on(timeout(limit, async { 7 })), Some(7));
    }

    #[test]
    fn bytes_pass_through_pipes_of_any_fill() {
        let (ours, mut theirs) = std::io::pipe().unwrap();
        let (mut back, out) = std::io::pipe().unwrap();
        let sent: Vec<u8> = (0..3_000_000_u32).map(|number| number as u8).collect();
        let echo = thread::spawn(move || {
            let mut all = Vec::new();
            back.read_to_end(&mut all).unwrap();
            theirs.write_all(&all).unwrap();
        });
        let (mut reader, mut writer) = (Reader::new(ours).unwrap(), Writer::new(out).unwrap());
        let received = block_on(async {
            writer.write_all(&sent).await.unwrap();
            drop(writer);
            let (mut all, mut block) = (Vec::new(), vec![0; 10_000]);
            loop {
                match reader.read(&mut block).await.unwrap() {
                    0 => return all,
                    length => all.extend_from_slice(&block[..length]),
                }
            }
        });
        echo.join().unwrap();
        assert!(received == sent);
    }

    #[test]
    fn a_writer_without_reader_fails() {
        let (reader, out) = std::io::pipe().unwrap();
        drop(reader);
        let mut writer = Writer::new(out).unwrap();
        let failed = block_on(writer.write_all(b"x")).unwrap_err();
        assert_eq!(failed.kind(), std::io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn another_thread_can_wake_this_one() {
        let (sender, receiver) = smol::channel::bounded(1);
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            sender.send_blocking(7).unwrap();
        });
        assert_eq!(block_on(receiver.recv()), Ok(7));
        thread.join().unwrap();
    }

    #[test]
    fn a_busy_future_does_not_deafen_the_others() {
        let (ours, mut theirs) = std::io::pipe().unwrap();
        theirs.write_all(b"x").unwrap();
        let mut reader = Reader::new(ours).unwrap();
        let busy = async {
            loop {
                yield_now().await;
            }
        };
        let heard = async { reader.read(&mut [0; 8]).await.unwrap() };
        assert_eq!(block_on(heard.or(busy)), 1);
        let timer = async {
            Timer::after(Duration::from_millis(5)).await;
        };
        let busy = async {
            loop {
                yield_now().await;
            }
        };
        block_on(timer.or(busy));
    }

    #[test]
    #[should_panic(expected = "inside of its block_on")]
    fn a_future_that_nobody_would_wake_is_not_waited_for() {
        let timer = Timer::after(Duration::from_secs(1));
        let _ = futures_lite::future::block_on(futures_lite::future::poll_once(timer));
    }

    #[test]
    fn a_busy_task_does_not_keep_others_from_running() {
        let executor = LocalExecutor::new();
        let busy = executor.spawn(async {
            loop {
                yield_now().await;
            }
        });
        let other = executor.spawn(async {
            Timer::after(Duration::from_millis(5)).await;
            7
        });
        assert_eq!(block_on(with_tasks(&executor, other)), 7);
        drop(busy);
    }

    #[test]
    fn two_may_wait_for_one_descriptor() {
        let (ours, mut theirs) = std::io::pipe().unwrap();
        let ours = std::rc::Rc::new(ours.into());
        theirs.write_all(b"x").unwrap();
        block_on(zip(readable(&ours), readable(&ours)));
    }

    #[test]
    fn the_end_of_a_child_is_noticed() {
        let mut child = std::process::Command::new("sleep").arg("0.05").spawn().unwrap();
        block_on(Exit::of(&child).wait());
        assert!(child.try_wait().unwrap().unwrap().success());
        // One that has ended already.
        let mut child = std::process::Command::new("true").spawn().unwrap();
        thread::sleep(Duration::from_millis(50));
        block_on(Exit::of(&child).wait());
        assert!(child.try_wait().unwrap().unwrap().success());
    }
}
