//! Sorting, in little code.
//!
//! The standard library's is compiled once for every type and comparison, 4 to 9 KB each time, which made
//! a fiftieth of the program. These lists are short and sorted once: here is one sort of positions, and for
//! every type no more than what compares two of its values and puts them in their places.

use std::cmp::Ordering;

/// Sorts; what is equal stays in its order.
///
/// ```
/// let mut words = ["to", "be", "or", "not"];
/// mcpmini_protocol::sorting::sort(&mut words);
/// assert_eq!(words, ["be", "not", "or", "to"]);
/// ```
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts by a comparison; what is equal to it stays in its order.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order =
        sorted_positions(items.len(), &|one, other| compare(&items[one], &items[other]));
    for place in 0..items.len() {
        // What stood there may have made room for another one, more than once.
        let mut from = order[place];
        while from < place {
            from = order[from];
        }
        order[place] = from;
        items.swap(place, from);
    }
}

/// The positions of so many items, in the order of the items.
fn sorted_positions(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_unstable_by(|one, other| compare(*one, *other).then(one.cmp(other)));
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        // Multiples of a number modulo a prime: every permutation has long cycles, and each first
        // half occurs in many items.
        for (count, step) in
            [(0, 1), (1, 1), (2, 1), (7, 3), (101, 37), (1_009, 1_008), (10_007, 2_903)]
        {
            let items: Vec<(usize, usize)> =
                (0..count).map(|at| (at * step % count % 10, at)).collect();
            let (mut expected, mut sorted) = (items.clone(), items);
            expected.sort_by_key(|(first, _)| *first);
            sort_by(&mut sorted, |one, other| one.0.cmp(&other.0));
            assert_eq!(sorted, expected, "{count}");
        }
    }

    #[test]
    fn sorting_what_is_moved_by_one_takes_no_longer() {
        let mut items: Vec<usize> = (1..200_000).chain([0]).collect();
        sort(&mut items);
        assert!(items.is_sorted());
        items.rotate_right(1);
        sort(&mut items);
        assert!(items.is_sorted());
    }
}
