//! Ending the work of an authorizer without losing what it has begun.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures_lite::FutureExt;

use crate::reactor::Timer;

/// How long a renewal that nobody waits for any more may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Ends the work of an authorizer. Clones are for the same one.
///
/// A refresh token that rotates is good once: if it was sent and nobody reads the answer, the login
/// is lost. So a renewal that is under way may come to its end, while everything else, such as
/// waiting for a person, is broken off.
#[derive(Debug, Clone, Default)]
pub struct Brake(Rc<Wheels>);

#[derive(Debug, Default)]
struct Wheels {
    renewing: Cell<bool>,
    leaving: Cell<bool>,
}

/// Tells the brake of a renewal as long as it lives.
#[derive(Debug)]
pub(super) struct Renewal(Rc<Wheels>);

impl Brake {
    /// Lets the work go on as long as a renewal is under way, but not for long. What it does
    /// afterwards asks nobody.
    pub async fn stop(&self, work: impl Future) {
        self.0.leaving.set(true);
        let late = async {
            Timer::after(PATIENCE).await;
        };
        if self.0.renewing.get() {
            async { drop(work.await) }.or(late).await;
        }
    }

    /// Whether nobody waits any more for what comes.
    pub(super) fn is_leaving(&self) -> bool {
        self.0.leaving.get()
    }

    /// Says that a renewal is under way.
    pub(super) fn renewal(&self) -> Renewal {
        self.0.renewing.set(true);
        Renewal(self.0.clone())
    }
}

impl Drop for Renewal {
    fn drop(&mut self) {
        self.0.renewing.set(false);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use futures_lite::future;

    use super::*;

    #[test]
    fn only_a_renewal_is_waited_for() {
        let brake = Brake::default();
        let begun = Instant::now();
        crate::reactor::block_on(brake.stop(future::pending::<()>()));
        assert!(begun.elapsed() < Duration::from_secs(1) && brake.is_leaving());

        let brake = Brake::default();
        let done = Cell::new(false);
        let renewal = brake.renewal();
        let work = async {
            Timer::after(Duration::from_millis(20)).await;
            drop(renewal);
            done.set(true);
        };
        crate::reactor::block_on(brake.stop(work));
        assert!(done.get());
    }
}
