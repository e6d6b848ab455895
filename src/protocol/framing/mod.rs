//! Cutting byte streams into frames.
//!
//! A decoder takes bytes in pieces of any size and hands out whole frames. It holds one unfinished
//! frame, at most `limit` bytes of it, and its work is linear in the bytes it is given.

pub mod jsonl;
pub mod sse;

/// A frame grew past the agreed limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// The limit that was passed, in bytes.
    pub limit: usize,
}

/// Makes room for `more` bytes in a buffer that holds a frame of at most `limit` bytes.
///
/// A small buffer doubles, as vectors do. A large one gets the room for the longest frame at once:
/// address space costs nothing until it is written to, whereas to double is to copy the frame and
/// to hold it twice.
pub fn make_room(buffer: &mut Vec<u8>, more: usize, limit: usize) {
    const LARGE: usize = 1 << 20;
    let needed = buffer.len() + more;
    if needed <= buffer.capacity() {
        return;
    }
    let longest = needed.max(limit.saturating_add(LARGE)) - buffer.len();
    if buffer.len() < LARGE || buffer.try_reserve_exact(longest).is_err() {
        buffer.reserve(more);
    }
}
