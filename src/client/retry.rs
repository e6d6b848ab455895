//! When a request is sent again, and when a server is started again.
//!
//! ```text
//!                      not run                     outcome unknown         settled
//! repeatable request   again                       again                   never
//! any other            only if asked for           never                   never
//! ```
//!
//! What is wrong until somebody mends it (a program that is not there) is not tried again at all.
//! Repeatable is what does the same twice as once: reads, lists, and tools that say so of
//! themselves. A tool call that the server may have accepted is not sent again, whoever asks.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::NoResult;
use crate::protocol::session::{Failure, Fate};

/// The longest pause between two attempts. A server that asks for a longer one is not asked again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How many starts are allowed within [`WINDOW`].
const STARTS: usize = 5;
/// A server that ends again and again must not keep the machine busy with starting it.
const WINDOW: Duration = Duration::from_secs(30);

/// How often requests are sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How often any request is sent again that was not carried out, because the user asked for it.
    pub asked: u32,
    /// How often a repeatable request is sent again without being asked.
    pub unasked: u32,
    /// The pause before the first repetition; each further one is twice as long.
    pub pause: Duration,
}

impl Policy {
    /// Every request has one attempt.
    pub const ONCE: Policy = Policy { asked: 0, unasked: 0, pause: Duration::from_millis(500) };

    /// What to do about a request that has no result after `attempts`: the pause after which it is
    /// sent again, or `None` when it is not.
    ///
    /// `repeatable` tells whether running it twice does what running it once does.
    pub fn plan(&self, no_result: &NoResult, repeatable: bool, attempts: u32) -> Option<Duration> {
        let most = match (no_result.fate(), repeatable) {
            _ if no_result.lasts() => 0,
            (Fate::Settled, _) | (Fate::Unknown, false) => 0,
            (Fate::NotRun, false) => self.asked,
            (Fate::NotRun | Fate::Unknown, true) => self.asked.max(self.unasked),
        };
        if most < attempts {
            return None;
        }
        let doubled = 2_u32.saturating_pow(attempts.saturating_sub(1));
        let pause = self.pause.saturating_mul(doubled).min(LONGEST_PAUSE);
        match asked_pause(no_result) {
            Some(asked) if LONGEST_PAUSE < asked => None,
            asked => Some(pause.max(asked.unwrap_or_default())),
        }
    }
}

/// How long the server asks us to wait (RFC 9110, `Retry-After`).
fn asked_pause(no_result: &NoResult) -> Option<Duration> {
    match no_result {
        NoResult::Failed(failure) => match failure.cause() {
            Failure::Refused(refused) => refused.retry_after.map(Duration::from_secs),
            _ => None,
        },
        _ => None,
    }
}

/// Keeps a server that cannot live from being started without end.
#[derive(Debug, Default)]
pub struct Breaker {
    /// The latest starts, oldest first.
    starts: VecDeque<Start>,
}

#[derive(Debug)]
struct Start {
    at: Instant,
    /// Whether the server answered anything before it ended.
    in_vain: bool,
}

impl Breaker {
    /// When the server may be started: at once when that is not in the future.
    pub fn opens_at(&self, now: Instant) -> Instant {
        match self.starts.front() {
            Some(oldest) if self.starts.len() == STARTS => (oldest.at + WINDOW).max(now),
            _ => now,
        }
    }

    /// Whether there is no use in waiting: every start of late was in vain.
    pub fn is_hopeless(&self) -> bool {
        self.starts.len() == STARTS && self.starts.iter().all(|start| start.in_vain)
    }

    /// Takes in that the server is started.
    pub fn started(&mut self, now: Instant) {
        if self.starts.len() == STARTS {
            self.starts.pop_front();
        }
        self.starts.push_back(Start { at: now, in_vain: true });
    }

    /// Takes in that the server has answered, so that it can live.
    pub fn answered(&mut self) {
        if let Some(latest) = self.starts.back_mut() {
            latest.in_vain = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::message::{Fault, FaultKind, Refused, Sent};
    use crate::protocol::session::{Limit, TimedOut};

    fn broken(kind: FaultKind, sent: Sent) -> NoResult {
        let fault = Fault::new(kind, "", sent);
        NoResult::Failed(Failure::Broken(fault))
    }

    fn refused(status: u16, retry_after: Option<u64>) -> NoResult {
        let refused = Refused { status, retry_after, ..Refused::default() };
        NoResult::Failed(Failure::Refused(Box::new(refused)))
    }

    fn timed_out(sent: bool) -> NoResult {
        let after = Duration::from_secs(30);
        let timed_out = TimedOut { limit: Limit::Idle, after, sent, streaming: false };
        NoResult::Failed(Failure::TimedOut(timed_out))
    }

    #[test]
    fn what_may_run_twice_is_sent_again_and_nothing_else() {
        const REPEATABLE: bool = true;
        const ONLY_ONCE: bool = false;
        let policy = |asked, unasked| Policy { asked, unasked, ..Policy::ONCE };
        let check = |policy: Policy, no_result: NoResult, repeatable, attempts, expected| {
            let pause = policy.plan(&no_result, repeatable, attempts);
            assert_eq!(pause.map(|pause| pause.as_millis()), expected);
        };
        let unreachable = || broken(FaultKind::Unreachable, Sent::No);
        let lost = || broken(FaultKind::Lost, Sent::Maybe);
        // Nobody asked.
        check(policy(0, 0), unreachable(), REPEATABLE, 1, None);
        check(policy(0, 4), unreachable(), ONLY_ONCE, 1, None);
        check(policy(0, 4), unreachable(), REPEATABLE, 1, Some(500));
        check(policy(0, 4), lost(), REPEATABLE, 4, Some(4_000));
        check(policy(0, 4), lost(), REPEATABLE, 5, None);
        check(policy(0, 4), lost(), ONLY_ONCE, 1, None);
        // The user asked.
        check(policy(2, 4), unreachable(), ONLY_ONCE, 1, Some(500));
        check(policy(2, 4), unreachable(), ONLY_ONCE, 2, Some(1_000));
        check(policy(2, 4), unreachable(), ONLY_ONCE, 3, None);
        check(policy(2, 0), lost(), REPEATABLE, 2, Some(1_000));
        check(policy(9, 4), lost(), ONLY_ONCE, 1, None);
        let fault = Fault::new(FaultKind::Unreachable, "", Sent::No).lasting();
        check(policy(9, 4), NoResult::Failed(Failure::Broken(fault)), REPEATABLE, 1, None);
        check(policy(9, 4), timed_out(true), REPEATABLE, 1, None);
        check(policy(9, 4), refused(401, None), REPEATABLE, 1, None);
        // Pauses grow, but not without end.
        check(policy(99, 0), unreachable(), ONLY_ONCE, 7, Some(30_000));
        check(policy(99, 0), unreachable(), ONLY_ONCE, 99, Some(30_000));
        // The server knows best how long to wait, within reason.
        check(policy(2, 0), refused(503, Some(7)), ONLY_ONCE, 1, Some(7_000));
        check(policy(2, 0), refused(503, Some(0)), ONLY_ONCE, 1, Some(500));
        check(policy(2, 0), refused(429, Some(31)), ONLY_ONCE, 1, None);
    }

    #[test]
    fn a_server_is_started_five_times_in_half_a_minute() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut breaker = Breaker::default();
        for second in 0..5 {
            assert_eq!(breaker.opens_at(at(second)), at(second));
            assert!(!breaker.is_hopeless());
            breaker.started(at(second));
        }
        assert!(breaker.is_hopeless());
        assert_eq!(breaker.opens_at(at(5)), at(30));
        assert_eq!(breaker.opens_at(at(31)), at(31));
        breaker.started(at(31));
        assert_eq!(breaker.opens_at(at(31)), at(31));
        assert_eq!(breaker.starts.len(), STARTS);
    }

    #[test]
    fn a_server_that_answers_is_worth_waiting_for() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        (0..3).for_each(|_| breaker.started(now));
        breaker.answered();
        (0..2).for_each(|_| breaker.started(now));
        assert!(!breaker.is_hopeless());
        assert!(now < breaker.opens_at(now));
    }
}
