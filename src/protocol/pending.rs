//! Tables of what waits for an answer: requests, to know which of them a response belongs to, and calls.

use std::collections::{BTreeMap, VecDeque};

/// How much wider than twice what waits in it the window may be.
const SPARE: usize = 64;

/// Requests that wait for a response, or calls.
///
/// Their numbers are consecutive from 1, so the table is a window that slides over them: finding
/// one is an index, not a hash, and a table at rest allocates nothing. What waits much longer than
/// the others, like a subscription, is put aside, so that the window is no wider than they need.
#[derive(Debug)]
pub struct Pending<T> {
    /// The number of `slots[0]`.
    first: u64,
    slots: VecDeque<Option<T>>,
    /// How many in `slots` wait.
    waiting: usize,
    /// Those that wait and that the window has slid over.
    aside: BTreeMap<u64, T>,
}

/// What a number says about a response that carries it.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<T> {
    /// Its request waited, and waits no more.
    Waiting(T),
    /// Its request was answered or given up before: the response is late, or comes twice.
    Over,
    /// No request ever had this number.
    Unknown,
}

impl<T> Default for Pending<T> {
    fn default() -> Pending<T> {
        Pending { first: 1, slots: VecDeque::new(), waiting: 0, aside: BTreeMap::new() }
    }
}

impl<T> Pending<T> {
    /// Enters a request and returns the number to send it under.
    pub fn register(&mut self, request: T) -> u64 {
        self.slots.push_back(Some(request));
        self.waiting += 1;
        self.first + self.slots.len() as u64 - 1
    }

    /// Takes out the request with that number.
    pub fn complete(&mut self, number: u64) -> Found<T> {
        if number == 0 {
            return Found::Unknown;
        }
        let Some(slot) = number.checked_sub(self.first) else {
            return self.aside.remove(&number).map_or(Found::Over, Found::Waiting);
        };
        let slot = usize::try_from(slot).unwrap_or(usize::MAX);
        let Some(request) = self.slots.get_mut(slot) else { return Found::Unknown };
        let Some(request) = request.take() else { return Found::Over };
        self.waiting -= 1;
        self.slide();
        Found::Waiting(request)
    }

    /// Like [`Pending::complete`], where it does not matter why there is none.
    pub fn remove(&mut self, number: u64) -> Option<T> {
        match self.complete(number) {
            Found::Waiting(request) => Some(request),
            Found::Over | Found::Unknown => None,
        }
    }

    /// Slides over what waits no more, and over what keeps the window much wider than it need be.
    fn slide(&mut self) {
        while let Some(request) = self.slots.front() {
            if request.is_some() && self.slots.len() <= 2 * self.waiting + SPARE {
                return;
            }
            if let Some(Some(request)) = self.slots.pop_front() {
                self.waiting -= 1;
                self.aside.insert(self.first, request);
            }
            self.first += 1;
        }
    }

    /// The request with that number, if it still waits.
    pub fn get(&self, number: u64) -> Option<&T> {
        match number.checked_sub(self.first) {
            Some(slot) => self.slots.get(usize::try_from(slot).ok()?)?.as_ref(),
            None => self.aside.get(&number),
        }
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        match number.checked_sub(self.first) {
            Some(slot) => self.slots.get_mut(usize::try_from(slot).ok()?)?.as_mut(),
            None => self.aside.get_mut(&number),
        }
    }

    /// Those that wait, by their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let slots = (self.first..).zip(&self.slots);
        let waiting = slots.filter_map(|(number, slot)| Some((number, slot.as_ref()?)));
        self.aside.iter().map(|(number, request)| (*number, request)).chain(waiting)
    }

    /// How many wait.
    pub fn count(&self) -> usize {
        self.aside.len() + self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_may_come_in_any_order_and_count_once() {
        let mut pending = Pending::default();
        let numbers: Vec<u64> = "abc".chars().map(|name| pending.register(name)).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(pending.complete(3), Found::Waiting('c'));
        assert_eq!(pending.complete(1), Found::Waiting('a'));
        assert_eq!(pending.complete(1), Found::Over);
        assert_eq!(pending.complete(3), Found::Over);
        assert_eq!(pending.complete(4), Found::Unknown);
        assert_eq!(pending.complete(0), Found::Unknown);
        assert_eq!(pending.complete(u64::MAX), Found::Unknown);
        assert_eq!(pending.get(2), Some(&'b'));
        assert_eq!(pending.register('d'), 4);
    }

    #[test]
    fn a_table_at_rest_holds_nothing() {
        let mut pending = Pending::default();
        for _ in 0..1000 {
            let number = pending.register(());
            assert_eq!(pending.complete(number), Found::Waiting(()));
        }
        assert!(pending.slots.is_empty());
    }

    #[test]
    fn who_waits_for_long_does_not_hold_up_the_window() {
        let mut pending = Pending::default();
        let (long, late) = (pending.register('l'), pending.register('t'));
        for _ in 0..1000 {
            let number = pending.register('s');
            assert_eq!(pending.get(long), Some(&'l'));
            assert_eq!(pending.complete(number), Found::Waiting('s'));
            assert!(pending.slots.len() <= 2 * pending.count() + SPARE);
        }
        assert_eq!(pending.get_mut(late).map(|late| std::mem::replace(late, 'u')), Some('t'));
        assert_eq!(pending.iter().collect::<Vec<_>>(), [(long, &'l'), (late, &'u')]);
        let next = pending.register('n');
        assert_eq!(pending.iter().last(), Some((next, &'n')));
        assert_eq!(pending.complete(long), Found::Waiting('l'));
        assert_eq!((pending.complete(long), pending.get(long)), (Found::Over, None));
        assert_eq!(pending.remove(late), Some('u'));
        assert_eq!((pending.remove(late), pending.count()), (None, 1));
    }
}
