//! When calls are due.

use std::collections::VecDeque;
use std::time::Instant;

use super::Ticket;

/// How many more times than twice the calls may be here.
const SPARE: usize = 64;

/// The times at which calls have to be looked at, in order.
///
/// Of many calls nearly none is ever due, and those that begin later are due later. So a time stays
/// here when its call ends or gets more of it, and that is found out when its turn comes.
#[derive(Debug, Default)]
pub(super) struct Deadlines(VecDeque<(Instant, Ticket)>);

impl Deadlines {
    /// Enters that a call has to be looked at by `at`.
    pub(super) fn enter(&mut self, at: Instant, ticket: Ticket) {
        match self.0.back() {
            Some(last) if (at, ticket) < *last => {
                let place = self.0.partition_point(|entry| *entry < (at, ticket));
                self.0.insert(place, (at, ticket));
            }
            _ => self.0.push_back((at, ticket)),
        }
    }

    /// The call that is due first, and when. `due` tells when a call is due; `None` when it has no
    /// limit, or is no more.
    pub(super) fn first(
        &mut self,
        due: impl Fn(Ticket) -> Option<Instant>,
    ) -> Option<(Instant, Ticket)> {
        while let Some((at, ticket)) = self.0.front().copied() {
            match due(ticket) {
                Some(due) if due <= at => return Some((due, ticket)),
                later => {
                    self.0.pop_front();
                    later.into_iter().for_each(|due| self.enter(due, ticket));
                }
            }
        }
        None
    }

    /// Whether there is much more than so many calls need.
    pub(super) fn are_many_for(&self, calls: usize) -> bool {
        2 * calls + SPARE < self.0.len()
    }

    /// Forgets all and enters these, each call once.
    pub(super) fn renew(&mut self, dues: impl Iterator<Item = (Instant, Ticket)>) {
        self.0.clear();
        self.0.extend(dues);
        self.0.make_contiguous().sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use crate::jsonrpc::scan::random::Random;

    #[test]
    fn the_first_is_always_that_which_is_due_first() {
        let (mut random, start) = (Random::new(14), Instant::now());
        let (mut deadlines, mut dues) = (Deadlines::default(), BTreeMap::new());
        for round in 0..100_000 {
            let ticket = Ticket(random.below(40) as u64);
            let at = start + Duration::from_millis(round + random.below(100) as u64);
            match random.below(4) {
                0 => drop(dues.remove(&ticket)),
                _ => {
                    // A later time need not be entered.
                    if dues.insert(ticket, at).is_none_or(|before| at < before) {
                        deadlines.enter(at, ticket);
                    }
                }
            }
            if deadlines.are_many_for(dues.len()) {
                deadlines.renew(dues.iter().map(|(ticket, at)| (*at, *ticket)));
            }
            if random.below(3) == 0 {
                let first = deadlines.first(|ticket| dues.get(&ticket).copied());
                assert_eq!(first.map(|(at, _)| at), dues.values().min().copied());
                assert!(first.is_none_or(|(at, ticket)| dues[&ticket] == at));
            }
            assert!(deadlines.0.len() <= 2 * 40 + SPARE + 1);
        }
    }
}
