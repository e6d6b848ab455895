//! How long it takes to reach a server, for those who ask.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Takes in how long the steps to a server take; unless it is on, nothing is measured.
#[derive(Debug, Clone, Default)]
pub struct Meter(Option<Rc<Cell<Steps>>>);

/// How long the steps to a server took; `None` for those that were not made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// Starting its process.
    pub spawn: Option<Duration>,
    /// Asking a name server for its address.
    pub resolve: Option<Duration>,
    /// Opening a connection.
    pub connect: Option<Duration>,
    /// The TLS handshake.
    pub tls: Option<Duration>,
}

impl Steps {
    /// All steps that were made, each with its name.
    pub fn made(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        let Steps { spawn, resolve, connect, tls } = *self;
        let steps = [("spawn", spawn), ("resolve", resolve), ("connect", connect), ("tls", tls)];
        steps.into_iter().filter_map(|(name, took)| Some((name, took?)))
    }
}

impl Meter {
    /// One that measures.
    pub fn on() -> Meter {
        Meter(Some(Rc::default()))
    }

    /// Whether anybody wants to know.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// What was measured.
    pub fn steps(&self) -> Steps {
        self.0.as_ref().map(|steps| steps.get()).unwrap_or_default()
    }

    /// Takes in how long the first process took to start.
    pub fn started(&self, took: Duration) {
        self.note(|steps| Steps { spawn: steps.spawn.or(Some(took)), ..steps });
    }

    /// Takes in how the first connection came about. Steps that took no time were not made: the
    /// connection was there, or is not encrypted.
    pub(super) fn connected(&self, resolve: Duration, connect: Duration, tls: Duration) {
        let made = |took: Duration| Some(took).filter(|took| !took.is_zero());
        self.note(|steps| match steps.connect {
            Some(_) => steps,
            None => {
                Steps { resolve: made(resolve), connect: made(connect), tls: made(tls), ..steps }
            }
        });
    }

    fn note(&self, change: impl FnOnce(Steps) -> Steps) {
        if let Some(steps) = &self.0 {
            steps.set(change(steps.get()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_step_counts() {
        let ms = Duration::from_millis;
        let meter = Meter::on();
        meter.started(ms(1));
        meter.started(ms(9));
        meter.connected(ms(0), ms(2), ms(0));
        meter.connected(ms(5), ms(5), ms(5));
        let made: Vec<_> = meter.steps().made().collect();
        assert_eq!(made, [("spawn", ms(1)), ("connect", ms(2))]);
    }

    #[test]
    fn nothing_is_measured_unasked() {
        let meter = Meter::default();
        meter.started(Duration::from_millis(1));
        assert_eq!((meter.is_on(), meter.steps()), (false, Steps::default()));
    }
}
