//! What every x86-64 processor can do, so that there is nothing to ask: 16 bytes at a time.
#![allow(unsafe_code, reason = "vector instructions; measured in benches/scan.rs")]

use std::arch::x86_64::{
    _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
};

/// A bit for every byte that does not stand for itself in a string, see `skip::special`.
#[inline(always)]
pub(super) fn special(chunk: &[u8; 16]) -> u32 {
    // SAFETY: the architecture has the feature.
    unsafe { special_in_vector(chunk) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn special_in_vector(chunk: &[u8; 16]) -> u32 {
    let (low, high) = chunk.split_at(8);
    let half = |bytes: &[u8]| i64::from_le_bytes(*bytes.first_chunk().expect("it is one half"));
    let bytes = _mm_set_epi64x(half(high), half(low));
    let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"'.cast_signed()));
    let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()));
    let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)).cast_unsigned()
}
