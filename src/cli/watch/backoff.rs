//! When to open again what broke off.

use std::time::{Duration, Instant};

/// The first wait; each that follows is twice as long.
const FIRST: Duration = Duration::from_secs(1);

/// How many attempts in a row may bring nothing.
const ATTEMPTS: u32 = 5;

/// What has stood so long was no failure.
const STEADY: Duration = Duration::from_secs(30);

/// Waits that grow as long as nothing comes of the attempts.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    fruitless: u32,
    /// Since when it stands, or stood the last time.
    since: Option<Instant>,
}

impl Backoff {
    /// It stands.
    pub(super) fn stands(&mut self, now: Instant) {
        self.since = Some(now);
    }

    /// Whether it ever stood.
    pub(super) fn has_stood(&self) -> bool {
        self.since.is_some()
    }

    /// It has brought something.
    pub(super) fn reset(&mut self) {
        self.fruitless = 0;
    }

    /// How long to wait now that it broke off; `None` to give up.
    pub(super) fn next(&mut self, now: Instant) -> Option<Duration> {
        if self.since.take().is_some_and(|since| now.duration_since(since) > STEADY) {
            self.reset();
        }
        let wait = FIRST * 2_u32.pow(self.fruitless);
        self.fruitless += 1;
        (self.fruitless <= ATTEMPTS).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_until_something_comes_of_them() {
        let mut backoff = Backoff::default();
        let now = Instant::now();
        let seconds = |backoff: &mut Backoff, now| backoff.next(now).map(|wait| wait.as_secs());
        assert_eq!(seconds(&mut backoff, now), Some(1));
        assert_eq!(seconds(&mut backoff, now), Some(2));
        backoff.reset();
        for wait in [1, 2, 4, 8, 16] {
            backoff.stands(now);
            assert_eq!(seconds(&mut backoff, now + STEADY), Some(wait));
        }
        assert_eq!(seconds(&mut backoff, now), None);
        backoff.stands(now);
        assert_eq!(seconds(&mut backoff, now + STEADY + FIRST), Some(1));
    }
}
