//! The correlation table: which request each response belongs to.

use std::collections::VecDeque;

/// Requests that wait for a response.
///
/// Request numbers are consecutive from 1, so the table is a window that slides over them: finding
/// a request is an index, not a hash, and a table at rest allocates nothing.
#[derive(Debug)]
pub struct Pending<T> {
    /// The number of `slots[0]`.
    first: u64,
    slots: VecDeque<Option<T>>,
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
        Pending { first: 1, slots: VecDeque::new() }
    }
}

impl<T> Pending<T> {
    /// Enters a request and returns the number to send it under.
    pub fn register(&mut self, request: T) -> u64 {
        self.slots.push_back(Some(request));
        self.first + self.slots.len() as u64 - 1
    }

    /// Takes out the request with that number.
    pub fn complete(&mut self, number: u64) -> Found<T> {
        if number == 0 {
            return Found::Unknown;
        }
        let Some(slot) = number.checked_sub(self.first) else { return Found::Over };
        let slot = usize::try_from(slot).unwrap_or(usize::MAX);
        let Some(request) = self.slots.get_mut(slot) else { return Found::Unknown };
        let Some(request) = request.take() else { return Found::Over };
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
        Found::Waiting(request)
    }

    /// The request with that number, if it still waits.
    pub fn get(&self, number: u64) -> Option<&T> {
        let slot = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.slots.get(slot)?.as_ref()
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
}
