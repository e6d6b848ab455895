//! What this thread waits for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::wake::Alarm;

/// How long one wait takes at most: where `poll` counts milliseconds, it takes no more than 24 days of
/// them, and would fail at once, again and again.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

thread_local! {
    // Never dropped: to have something dropped at the end of a thread takes the system a page of
    // memory, and the lists are empty then.
    static WAITING: ManuallyDrop<RefCell<Waiting>> =
        const { ManuallyDrop::new(RefCell::new(Waiting::new())) };
}

/// What is waited for.
struct Waiting {
    /// How many runs of `block_on` there are on this thread. Without any, nobody would look.
    runs: u32,
    descriptors: Vec<Interest>,
    timers: BTreeMap<(Instant, u64), Waker>,
    last: u64,
}

/// Somebody who waits for a descriptor.
struct Interest {
    number: u64,
    descriptor: Rc<OwnedFd>,
    flags: PollFlags,
    waker: Waker,
}

impl Waiting {
    const fn new() -> Waiting {
        Waiting { runs: 0, descriptors: Vec::new(), timers: BTreeMap::new(), last: 0 }
    }

    fn next_number(&mut self) -> u64 {
        assert!(self.runs > 0, "the reactor's futures belong inside of its block_on");
        self.last += 1;
        self.last
    }
}

fn with_waiting<T>(work: impl FnOnce(&mut Waiting) -> T) -> T {
    WAITING.with(|waiting| work(&mut waiting.borrow_mut()))
}

/// A run of `block_on`, for as long as this lives.
pub(super) struct Running;

impl Running {
    pub(super) fn new() -> Running {
        with_waiting(|waiting| waiting.runs += 1);
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        with_waiting(|waiting| waiting.runs -= 1);
    }
}

/// Waits until something has happened that somebody waits for, or, unless `patient`, only looks.
pub(super) fn wait(alarm: &Alarm, patient: bool) {
    let woken = with_waiting(|waiting| {
        let patient = alarm.may_sleep() && patient;
        let mut woken = waiting.poll(alarm, patient);
        woken.extend(waiting.take_due());
        woken
    });
    // Outside of the borrow: what is woken may wait anew.
    woken.into_iter().for_each(Waker::wake);
}

impl Waiting {
    /// One look at all descriptors; who waited for those that are ready.
    fn poll(&mut self, alarm: &Alarm, patient: bool) -> Vec<Waker> {
        let mut look = Vec::with_capacity(self.descriptors.len() + 1);
        look.push(PollFd::from_borrowed_fd(alarm.descriptor(), PollFlags::IN));
        look.extend(
            self.descriptors.iter().map(|interest| {
                PollFd::from_borrowed_fd(interest.descriptor.as_fd(), interest.flags)
            }),
        );
        let limit = if patient { self.until_next_timer() } else { Some(Duration::ZERO) };
        let limit = limit.map(|limit| timespec(limit.min(LONGEST)));
        // It fails when a signal comes in between, and then nothing is ready.
        let count = poll(&mut look, limit.as_ref()).unwrap_or(0);
        let ready = |fd: &PollFd<'_>| 0 < count && !fd.revents().is_empty();
        alarm.wake_up(ready(&look[0]));
        let fired: Vec<bool> = look[1..].iter().map(ready).collect();
        drop(look);
        let mut fired = fired.into_iter();
        let fired = self.descriptors.extract_if(.., |_| fired.next() == Some(true));
        fired.map(|interest| interest.waker).collect()
    }

    fn until_next_timer(&self) -> Option<Duration> {
        let (at, _) = self.timers.first_key_value()?.0;
        Some(at.saturating_duration_since(Instant::now()))
    }

    /// Those whose time has come.
    fn take_due(&mut self) -> Vec<Waker> {
        if self.timers.is_empty() {
            return Vec::new();
        }
        let later = self.timers.split_off(&(Instant::now(), u64::MAX));
        mem::replace(&mut self.timers, later).into_values().collect()
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).expect("what is no longer than a day fits")
}

/// Waits until a descriptor can be read from, has come to its end, or has failed.
pub fn readable(descriptor: &Rc<OwnedFd>) -> Ready {
    Ready::new(descriptor, PollFlags::IN)
}

/// Waits until a descriptor can be written to, or has failed.
pub(super) fn writable(descriptor: &Rc<OwnedFd>) -> Ready {
    Ready::new(descriptor, PollFlags::OUT)
}

/// Waits for a descriptor.
#[derive(Debug)]
pub struct Ready {
    descriptor: Rc<OwnedFd>,
    flags: PollFlags,
    /// The number of the interest; `None` before the first poll.
    number: Option<u64>,
}

impl Ready {
    fn new(descriptor: &Rc<OwnedFd>, flags: PollFlags) -> Ready {
        Ready { descriptor: descriptor.clone(), flags, number: None }
    }
}

impl Future for Ready {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        with_waiting(|waiting| {
            let Some(number) = self.number else {
                let number = waiting.next_number();
                self.number = Some(number);
                waiting.descriptors.push(Interest {
                    number,
                    descriptor: self.descriptor.clone(),
                    flags: self.flags,
                    waker: context.waker().clone(),
                });
                return Poll::Pending;
            };
            let mut interests = waiting.descriptors.iter_mut();
            match interests.find(|interest| interest.number == number) {
                Some(interest) => {
                    interest.waker.clone_from(context.waker());
                    Poll::Pending
                }
                // It was taken out because it fired.
                None => Poll::Ready(()),
            }
        })
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        with_waiting(|waiting| {
            waiting.descriptors.retain(|interest| interest.number != number);
        });
    }
}

/// Enters somebody who waits for a time; the number to find it with.
pub(super) fn enter_timer(at: Instant, waker: &Waker) -> u64 {
    with_waiting(|waiting| {
        let number = waiting.next_number();
        waiting.timers.insert((at, number), waker.clone());
        number
    })
}

/// Whether a timer still runs; then `waker` is the one to wake.
pub(super) fn renew_timer(at: Instant, number: u64, waker: &Waker) -> bool {
    with_waiting(|waiting| match waiting.timers.get_mut(&(at, number)) {
        Some(entered) => {
            entered.clone_from(waker);
            true
        }
        None => false,
    })
}

/// Takes out a timer that nobody waits for any more.
pub(super) fn drop_timer(at: Instant, number: u64) {
    with_waiting(|waiting| waiting.timers.remove(&(at, number)));
}
