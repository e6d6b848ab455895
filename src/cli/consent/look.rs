//! Looks at the tools of a server, and how long each of them counts.

use std::time::{Duration, Instant};

/// How long a look counts at most, and where the server does not say for how long its list is good.
const LONGEST: Duration = Duration::from_secs(60);

/// How much longer it counts while other calls are under way, which would all have to end before the
/// next look, where trust is not strict: some calls take minutes.
const GRACE: Duration = Duration::from_secs(9 * 60);

/// How long it counts at least, whatever the server says: otherwise there would be one for each call.
const SHORTEST: Duration = Duration::from_secs(1);

/// Looks at the tools of a server.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Until when the last one counts; `None` when there was none on this connection, or the server
    /// has said that its tools are others now.
    until: Option<Instant>,
    /// The number of the connection on which the server was asked; `None` for a list at hand.
    on: Option<u32>,
}

impl Looks {
    /// A look begins: on the connection with this number, or in a list that is at hand.
    pub(super) fn begin(&mut self, on: Option<u32>) {
        self.on = on;
    }

    /// A look has come to its end, of a list that is good for so long by the server's word (`ttlMs`).
    pub(super) fn note(&mut self, good_for: Option<Duration>) {
        // How soon a list changes that must not be kept is not said.
        let said = good_for.filter(|time| !time.is_zero());
        let time = match self.on {
            Some(_) => said.map_or(LONGEST, |time| time.clamp(SHORTEST, LONGEST)),
            // Whether a list at hand is still good can be told again without a request.
            None => SHORTEST,
        };
        self.until = Some(Instant::now() + time);
    }

    /// Somebody else has looked lately, which does for what is done at once.
    pub(super) fn note_others(&mut self) {
        self.until = Some(Instant::now() + SHORTEST);
    }

    /// What was seen counts no more.
    pub(super) fn forget(&mut self) {
        self.until = None;
    }

    /// Whether the last look counts.
    pub(super) fn count(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() < until)
    }

    /// The same while other calls are under way.
    pub(super) fn count_meanwhile(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() < until + GRACE)
    }

    /// The connection that it was on. It is told also when the look has just ceased to count.
    pub(super) fn connection(&self) -> Option<u32> {
        self.on.filter(|_| self.until.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_counts_as_long_as_the_server_says_within_bounds() {
        let check = |on: Option<u32>, good_for: Option<u64>, seconds: u64| {
            let mut looks = Looks::default();
            looks.begin(on);
            let begun = Instant::now();
            looks.note(good_for.map(Duration::from_millis));
            let until = looks.until.unwrap();
            let time = Duration::from_secs(seconds);
            assert!(begun + time <= until && until <= Instant::now() + time, "{good_for:?}");
            assert!(looks.count());
        };
        check(Some(1), None, 60);
        check(Some(1), Some(0), 60);
        check(Some(1), Some(1), 1);
        check(Some(1), Some(5_000), 5);
        check(Some(1), Some(u64::MAX), 60);
        check(None, None, 1);
    }

    #[test]
    fn a_look_that_is_over_or_forgotten_does_not_count() {
        let mut looks = Looks::default();
        assert!(!looks.count());
        looks.begin(Some(3));
        assert_eq!(looks.connection(), None);
        looks.note(None);
        assert_eq!((looks.count(), looks.connection()), (true, Some(3)));
        looks.until = Some(Instant::now());
        assert_eq!((looks.count(), looks.connection()), (false, Some(3)));
        assert!(looks.count_meanwhile());
        looks.until = Instant::now().checked_sub(GRACE);
        assert!(!looks.count_meanwhile());
        looks.note(None);
        looks.forget();
        assert_eq!((looks.count(), looks.count_meanwhile()), (false, false));
        assert_eq!(looks.connection(), None);
    }
}
