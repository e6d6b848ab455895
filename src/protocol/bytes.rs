//! Finding bytes, and knowing when to ask the processor for help.
//!
//! Fast code for this processor exists only after the processor has been asked what it can do. On
//! a virtual machine every such question (`CPUID`) ends in the hypervisor, for several
//! microseconds, and the standard library asks eight: more than a short call spends on all else it
//! does itself. So nothing here asks before there is enough to do.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Up to this length a loop over words is as good, in bytes.
const SHORT: usize = 64;

/// Up to this length it is as good as a search that has to ask the processor first, in bytes.
const UNASKED: usize = 4 << 10;

/// Whether there was enough to search for that question to be worth it. The search asks by itself.
static ASKED: Ability = Ability::new(|| true);

/// Whether so many bytes are best searched by words.
#[inline]
fn by_words(length: usize) -> bool {
    length <= SHORT || length <= UNASKED && !ASKED.is_there(length)
}

/// Where `byte` stands first.
#[inline]
pub fn find(byte: u8, text: &[u8]) -> Option<usize> {
    match by_words(text.len()) {
        true => find_in_words(text, |word| equal(word, byte), |found| found == byte),
        false => memchr::memchr(byte, text),
    }
}

/// Where one of two bytes stands first.
#[inline]
pub fn find_either(one: u8, other: u8, text: &[u8]) -> Option<usize> {
    match by_words(text.len()) {
        true => find_in_words(
            text,
            |word| equal(word, one) | equal(word, other),
            |found| found == one || found == other,
        ),
        false => memchr::memchr2(one, other, text),
    }
}

#[inline(always)]
fn find_in_words(
    text: &[u8],
    in_word: impl Fn(u64) -> u64,
    is_it: impl Fn(u8) -> bool,
) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = text[at..].first_chunk() {
        let found = in_word(u64::from_le_bytes(*word)) & TOPS;
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += word.len();
    }
    text[at..].iter().position(|byte| is_it(*byte)).map(|offset| at + offset)
}

/// Every byte of a word with this value times a byte is that byte.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// The top bit of every byte of a word.
pub(super) const TOPS: u64 = ONES << 7;

/// Sets the top bit of every byte of a word that is below `limit` (at most 128), and of none before
/// the first such byte. Other bits are of no meaning.
#[inline(always)]
pub(super) const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * limit as u64) & !word
}

/// The same for every byte that is `byte`.
#[inline(always)]
pub(super) const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * byte as u64), 1)
}

/// A question that is put off until there is enough to do to be worth it, and then asked once.
#[derive(Debug)]
pub struct Ability {
    /// How much was done without it, in bytes; or one of the two answers.
    state: AtomicUsize,
    ask: fn() -> bool,
}

/// How much is done without an answer, in bytes: about as much as takes as long as the question.
const ENOUGH: usize = 64 << 10;
const UNABLE: usize = usize::MAX - 1;
const ABLE: usize = usize::MAX;

impl Ability {
    /// A question that has not been asked.
    pub const fn new(ask: fn() -> bool) -> Ability {
        Ability { state: AtomicUsize::new(0), ask }
    }

    /// Whether the processor is able to help with so many bytes, as far as that is known or worth
    /// to be known.
    #[inline]
    pub fn is_there(&self, bytes: usize) -> bool {
        match self.state.load(Relaxed) {
            ABLE => true,
            UNABLE => false,
            done => self.is_there_after(done.saturating_add(bytes)),
        }
    }

    #[cold]
    fn is_there_after(&self, done: usize) -> bool {
        // Who counts at the same time may be forgotten; the answer is the same for all.
        if done < ENOUGH {
            self.state.store(done, Relaxed);
            return false;
        }
        let able = (self.ask)();
        self.state.store(if able { ABLE } else { UNABLE }, Relaxed);
        able
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_wherever_they_stand() {
        for byte in [0, b'\n', b'"', 0x7f, 0x80, 0xff] {
            for length in [0, 1, 7, 8, 9, 40, SHORT, SHORT + 1, UNASKED, UNASKED + 1] {
                let other = byte ^ 1;
                let mut text = vec![byte.wrapping_add(2); length];
                assert_eq!(find(byte, &text), None);
                assert_eq!(find_either(byte, other, &text), None);
                for at in (0..length).rev().take(20).chain((0..length).rev().skip(4000)) {
                    text[at] = byte;
                    assert_eq!(find(byte, &text), Some(at), "{byte} at {at} of {length}");
                    text[at] = other;
                    assert_eq!(find_either(byte, other, &text), Some(at));
                    assert_eq!(find_either(other, byte, &text), Some(at));
                }
            }
        }
    }

    #[test]
    fn the_question_is_asked_when_there_is_enough_to_do() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let ability = Ability::new(|| ASKED.fetch_add(1, Relaxed) == 0);
        assert!(!ability.is_there(ENOUGH / 2));
        assert!(!ability.is_there(ENOUGH / 2 - 1));
        assert_eq!(ASKED.load(Relaxed), 0);
        assert!(ability.is_there(1));
        assert!(ability.is_there(1));
        assert_eq!(ASKED.load(Relaxed), 1);

        let ability = Ability::new(|| false);
        assert!(!ability.is_there(usize::MAX));
        assert!(!ability.is_there(1));
    }
}
