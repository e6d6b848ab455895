//! The scanner's inner loops for x86-64 processors with AVX2: 64 bytes at a time.
//!
//! Every block becomes a few 64-bit words with one bit for each byte: quotes, backslashes, opening
//! and closing brackets. Backslashes cross out quotes, pairs of quotes cross out brackets, and what
//! is left is counted. The code is unsafe in two ways: it may only run where the processor has been
//! asked, and loading a vector takes a pointer. The portable loops in `skip` must give the same
//! answers, which a test asks of both.
#![allow(unsafe_code, reason = "vector instructions; measured in benches/scan.rs")]

use std::arch::x86_64::{
    __m256i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm256_and_si256,
    _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_max_epu8, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_srli_epi16,
};
use std::mem;

use super::check::escape;
use super::skip::Nest;
use crate::bytes::Ability;

const BLOCK: usize = 64;

/// Whether the processor can do what is compiled for it here.
static ABILITY: Ability = Ability::new(is_able);

/// Like `skip::nest`; `None` when this processor cannot do it, or was not asked yet.
#[inline]
pub(super) fn nest(text: &[u8], at: usize, room: usize) -> Option<Option<Nest>> {
    // SAFETY: the processor has every feature that the function is compiled for.
    ABILITY
        .is_there(text.len().saturating_sub(at))
        .then(|| unsafe { nest_in_blocks(text, at, room) })
}

/// Like `skip::string`; `None` when this processor cannot do it, or was not asked yet.
#[inline]
pub(super) fn string(text: &[u8], at: usize) -> Option<Option<usize>> {
    // SAFETY: the processor has every feature that the function is compiled for.
    ABILITY.is_there(text.len().saturating_sub(at)).then(|| unsafe { string_in_blocks(text, at) })
}

/// Like `check::portable_string`; `None` when this processor cannot do it, or was not asked yet.
#[inline]
pub(super) fn checked_string(text: &[u8], at: usize) -> Option<Option<usize>> {
    // SAFETY: the processor has every feature that the function is compiled for.
    ABILITY
        .is_there(text.len().saturating_sub(at))
        .then(|| unsafe { checked_string_in_blocks(text, at) })
}

/// Unescapes from `at` on to `out` from `end` on, as long as there is much of both, up to what is no
/// text or a simple escape. Tells where it has come to in both; at once, when this processor cannot do
/// it or was not asked yet.
#[inline]
pub(super) fn unescape(text: &[u8], at: usize, out: &mut [u8], end: usize) -> (usize, usize) {
    match ABILITY.is_there(text.len().saturating_sub(at)) {
        // SAFETY: the processor has every feature that the function is compiled for.
        true => unsafe { unescape_in_blocks(text, at, out, end) },
        false => (at, end),
    }
}

/// From now on the processor helps, if it can.
#[cfg(test)]
pub(super) fn ask_at_once() {
    ABILITY.is_there(usize::MAX);
}

/// Whether the processor has what the functions here are compiled for.
fn is_able() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("popcnt")
}

#[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
fn nest_in_blocks(text: &[u8], at: usize, room: usize) -> Option<Nest> {
    let mut scan =
        Scan { open: 1, room, too_deep: false, in_string: 0, escapes: Escapes::default() };
    let end = end_in_blocks(text, at, |block, _| scan.block(block))?;
    Some(Nest { end, too_deep: scan.too_deep })
}

#[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
fn string_in_blocks(text: &[u8], at: usize) -> Option<usize> {
    let mut escapes = Escapes::default();
    end_in_blocks(text, at, |block, _| {
        let vectors = Vectors::load(block);
        let quotes = vectors.equal(b'"') & !escapes.next(vectors.equal(b'\\'));
        (quotes != 0).then_some(quotes.trailing_zeros() as usize)
    })
}

#[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
fn checked_string_in_blocks(text: &[u8], at: usize) -> Option<usize> {
    let mut escapes = Escapes::default();
    let mut is_broken = false;
    let end = end_in_blocks(text, at, |block, begin| {
        let vectors = Vectors::load(block);
        let escaped = escapes.next(vectors.equal(b'\\'));
        let quotes = vectors.equal(b'"') & !escaped;
        // All before the end of the string, which may be in another block.
        let inside = quotes.wrapping_sub(1) & !quotes;
        is_broken = vectors.at_most(0x1F) & inside != 0;
        let mut others = escaped & inside & !vectors.simple_escapes();
        while others != 0 {
            is_broken |= escape(text, begin + others.trailing_zeros() as usize).is_none();
            others &= others - 1;
        }
        (quotes != 0 || is_broken).then_some(quotes.trailing_zeros() as usize)
    });
    end.filter(|_| !is_broken)
}

#[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
fn unescape_in_blocks(
    text: &[u8],
    mut at: usize,
    out: &mut [u8],
    mut end: usize,
) -> (usize, usize) {
    // More is copied than is there to copy: it is faster, and there is room for it.
    while let Some(two) = text[at..].first_chunk::<{ 2 * BLOCK }>()
        && out.len() - end >= 2 * BLOCK
    {
        let vectors = Vectors::load(two.first_chunk().expect("it is half of it"));
        let mut special = vectors.equal(b'\\') | vectors.equal(b'"') | vectors.at_most(0x1F);
        // Where the part begins that was not copied yet, and where all ends.
        let (mut from, mut to) = (0, BLOCK);
        while special != 0 {
            let place = special.trailing_zeros() as usize;
            copy_block(two, from, out, end);
            end += place - from;
            from = place;
            if place == BLOCK - 1 {
                // What it escapes is in the next block.
                to = place;
                break;
            }
            let character = SIMPLE[usize::from(two[place + 1])];
            if two[place] != b'\\' || character == 0 {
                return (at + place, end);
            }
            out[end] = character;
            end += 1;
            from = place + 2;
            special &= !(3 << place);
        }
        if from < to {
            copy_block(two, from, out, end);
            end += to - from;
        }
        at += from.max(to);
    }
    (at, end)
}

/// Copies a block. As an array, because the length of a slice is not known to the compiler.
#[inline(always)]
fn copy_block(two: &[u8; 2 * BLOCK], from: usize, out: &mut [u8], end: usize) {
    if let (Some(to), Some(block)) =
        (out[end..].first_chunk_mut::<BLOCK>(), two[from..].first_chunk::<BLOCK>())
    {
        *to = *block;
    }
}

/// What a letter stands for behind a backslash; 0 where it is no escape, or more than a letter.
const SIMPLE: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = [b"\"\"", b"\\\\", b"//", b"b\x08", b"f\x0C", b"n\n", b"r\r", b"t\t"];
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at][0] as usize] = pairs[at][1];
        at += 1;
    }
    table
};

/// Goes through `text` from `at` on, block by block, until `look` finds the last byte; tells the
/// place after it. `look` gets a block and its place in the text. Inlined, so that `look` is compiled for the processor too.
#[inline(always)]
fn end_in_blocks(
    text: &[u8],
    at: usize,
    mut look: impl FnMut(&[u8; BLOCK], usize) -> Option<usize>,
) -> Option<usize> {
    let mut rest = text.get(at..)?;
    let mut padded = [b' '; 2 * BLOCK];
    // One call for whole blocks and for the rest, so that it is inlined whatever is optimised for.
    while !rest.is_empty() {
        let (block, after) =
            rest.split_first_chunk().unwrap_or_else(|| (pad(&mut padded, text, rest.len()), &[]));
        let begin = text.len() - rest.len();
        if let Some(last) = look(block, begin) {
            return Some(begin + last + 1);
        }
        rest = after;
    }
    None
}

/// The last `length` bytes of a text, made a block with blanks.
#[inline(always)]
fn pad<'a>(padded: &'a mut [u8; 2 * BLOCK], text: &[u8], length: usize) -> &'a [u8; BLOCK] {
    match text.last_chunk::<BLOCK>() {
        // A block is copied faster than a part of one.
        Some(last) => *padded.first_chunk_mut().expect("it is half of it") = *last,
        None => padded[BLOCK - length..BLOCK].copy_from_slice(&text[text.len() - length..]),
    }
    padded[BLOCK - length..].first_chunk().expect("less than a block was asked for")
}

/// Which bytes are escaped, block by block.
#[derive(Default)]
struct Escapes {
    /// One when the first byte of the next block is.
    carried: u64,
}

impl Escapes {
    /// Which bytes of the next block are escaped by a backslash before them.
    #[inline]
    fn next(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let carried = mem::take(&mut self.carried);
        if backslashes == 0 {
            return carried;
        }
        // A byte is escaped by a run of backslashes of odd length. To add the first bit of a run to
        // the run makes a carry come out right after its end. A run of odd length that begins at an
        // even place ends before an odd one, and the other way round.
        let runs = backslashes & !carried;
        let first = runs & !(runs << 1);
        let (after_even, _) = runs.overflowing_add(first & EVEN);
        let (after_odd, leaves) = runs.overflowing_add(first & !EVEN);
        self.carried = u64::from(leaves);
        carried | (after_even & !runs & !EVEN) | (after_odd & !runs & EVEN)
    }
}

/// What counting brackets in one block must know of those before it.
struct Scan {
    /// How many brackets are open.
    open: usize,
    /// How many may be, beyond the first.
    room: usize,
    too_deep: bool,
    /// All ones when the block begins inside a string.
    in_string: u64,
    escapes: Escapes,
}

impl Scan {
    /// Scans one block. Tells where in it the last open bracket is closed, if it is.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
    fn block(&mut self, block: &[u8; BLOCK]) -> Option<usize> {
        let vectors = Vectors::load(block);
        let quotes = vectors.equal(b'"') & !self.escapes.next(vectors.equal(b'\\'));
        if quotes == 0 && self.in_string != 0 {
            return None;
        }
        let inside = prefix_xor(quotes) ^ self.in_string;
        self.in_string = (inside.cast_signed() >> 63).cast_unsigned();
        // `[` and `{` differ in one bit, and so do `]` and `}`.
        let folded = vectors.or(b'{' - b'[');
        let opening = folded.equal(b'{') & !inside;
        let closing = folded.equal(b'}') & !inside;
        self.count(opening, closing)
    }

    /// Counts the brackets of a block.
    #[inline]
    #[target_feature(enable = "bmi1,popcnt")]
    fn count(&mut self, opening: u64, mut closing: u64) -> Option<usize> {
        let (opens, closes) = (opening.count_ones() as usize, closing.count_ones() as usize);
        if self.open + opens - 1 > self.room {
            self.check_room(opening, closing);
        }
        if closes >= self.open {
            // The last one may be among them: it is the one with as many before it as are open.
            let mut closed = 1;
            while closing != 0 {
                let place = closing.trailing_zeros();
                let before = (opening & ((1 << place) - 1)).count_ones() as usize;
                if closed == self.open + before {
                    return Some(place as usize);
                }
                closed += 1;
                closing &= closing - 1;
            }
        }
        self.open = self.open + opens - closes;
        None
    }

    /// Finds out whether more brackets are open at once than there is room for.
    #[cold]
    fn check_room(&mut self, opening: u64, closing: u64) {
        let mut open = self.open;
        for place in 0..BLOCK {
            if opening >> place & 1 == 1 {
                open += 1;
                self.too_deep |= open - 1 > self.room;
            }
            if closing >> place & 1 == 1 {
                open -= 1;
                if open == 0 {
                    return;
                }
            }
        }
    }
}

/// The bytes of a block.
#[derive(Clone, Copy)]
struct Vectors {
    low: __m256i,
    high: __m256i,
}

// The halves are spelled out: what goes over an array becomes a loop when optimised for size.
impl Vectors {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(block: &[u8; BLOCK]) -> Vectors {
        let (low, high) = block.split_at(BLOCK / 2);
        // SAFETY: at each place begin 32 readable bytes; this load does not ask for alignment.
        let load = |half: &[u8]| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
        Vectors { low: load(low), high: load(high) }
    }

    /// Every byte with the bits of `byte` added.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn or(self, byte: u8) -> Vectors {
        let bits = _mm256_set1_epi8(byte.cast_signed());
        Vectors { low: _mm256_or_si256(self.low, bits), high: _mm256_or_si256(self.high, bits) }
    }

    /// Which bytes are no higher than `limit`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn at_most(self, limit: u8) -> u64 {
        let bound = _mm256_set1_epi8(limit.cast_signed());
        let (low, high) = (_mm256_max_epu8(self.low, bound), _mm256_max_epu8(self.high, bound));
        Vectors { low, high }.equal(limit)
    }

    /// Which bytes make an escape of two bytes, after a backslash: `"\/bfnrt`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn simple_escapes(self) -> u64 {
        // For each half of a byte a set of bits; those of both have one in common for these bytes:
        // one bit stands for 2x, one for 5x, one for 6x and one for 7x.
        let right = _mm256_setr_epi8(
            0, 0, 0b1101, 0, 0b1000, 0, 0b0100, 0, 0, 0, 0, 0, 0b0010, 0, 0b0100, 0b0001, //
            0, 0, 0b1101, 0, 0b1000, 0, 0b0100, 0, 0, 0, 0, 0, 0b0010, 0, 0b0100, 0b0001,
        );
        let left = _mm256_setr_epi8(
            0, 0, 0b0001, 0, 0, 0b0010, 0b0100, 0b1000, 0, 0, 0, 0, 0, 0, 0, 0, //
            0, 0, 0b0001, 0, 0, 0b0010, 0b0100, 0b1000, 0, 0, 0, 0, 0, 0, 0, 0,
        );
        let (nibble, nothing) = (_mm256_set1_epi8(0x0F), _mm256_setzero_si256());
        let others = |bytes| {
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
            let by_right = _mm256_shuffle_epi8(right, _mm256_and_si256(bytes, nibble));
            let both = _mm256_and_si256(by_right, _mm256_shuffle_epi8(left, high));
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(both, nothing)).cast_unsigned()
        };
        !(u64::from(others(self.low)) | u64::from(others(self.high)) << 32)
    }

    /// Which bytes are `byte`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(self, byte: u8) -> u64 {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(self.low, wanted)).cast_unsigned();
        let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(self.high, wanted)).cast_unsigned();
        u64::from(low) | u64::from(high) << 32
    }
}

/// Every bit becomes the parity of itself and those below: from each odd one on, up to before the
/// next, it is set.
#[inline]
#[target_feature(enable = "pclmulqdq")]
fn prefix_xor(bits: u64) -> u64 {
    let product =
        _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits.cast_signed()), _mm_set_epi64x(0, -1));
    _mm_cvtsi128_si64(product).cast_unsigned()
}
