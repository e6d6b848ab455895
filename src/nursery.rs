//! Memory for the first moments of a process, which for most calls are all of it.
//!
//! musl's allocator asks the system for a page or two for every size of block, and gives them back
//! when the last block of a size is freed. A call of a millisecond spends a quarter of it on that.
//! So the first blocks are cut one behind the other from memory that the process has anyway, and
//! are never given back; the last one may shrink, grow and go. When that memory is used up,
//! everything else comes from musl, whose allocator is good at long and large jobs.

#![allow(unsafe_code, reason = "an allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How much there is, in bytes. Pages that are not used cost nothing.
const ROOM: usize = 256 << 10;

/// Blocks that are larger come from the system from the start, in bytes.
const LARGEST: usize = 16 << 10;

/// The first blocks from the nursery, the others from the system.
pub(crate) struct Nursery {
    room: UnsafeCell<[u8; ROOM]>,
    /// Where the next block may begin.
    next: AtomicUsize,
}

// SAFETY: bytes of `room` belong to whoever has moved `next` past them, and to nobody else.
unsafe impl Sync for Nursery {}

impl Nursery {
    pub(crate) const fn new() -> Nursery {
        Nursery { room: UnsafeCell::new([0; ROOM]), next: AtomicUsize::new(0) }
    }

    fn start(&self) -> *mut u8 {
        self.room.get().cast()
    }

    /// Where a block of ours begins, counted from the start; `None` when it came from the system.
    fn offset(&self, block: *mut u8) -> Option<usize> {
        let offset = block.addr().wrapping_sub(self.start().addr());
        (offset < ROOM).then_some(offset)
    }

    /// Cuts a block, if there is room for it.
    fn cut(&self, layout: Layout) -> Option<*mut u8> {
        if layout.size() > LARGEST {
            return None;
        }
        let mut next = self.next.load(Relaxed);
        loop {
            let address = self.start().addr() + next;
            let begin = next + (address.next_multiple_of(layout.align()) - address);
            let end = begin + layout.size();
            if end > ROOM {
                return None;
            }
            match self.next.compare_exchange_weak(next, end, Relaxed, Relaxed) {
                // SAFETY: `begin` is inside of `room`.
                Ok(_) => return Some(unsafe { self.start().add(begin) }),
                Err(moved) => next = moved,
            }
        }
    }

    /// Moves the end of the last block; false when another block is behind it, or no room.
    fn resize(&self, begin: usize, old: usize, new: usize) -> bool {
        let end = begin + new;
        end <= ROOM && self.next.compare_exchange(begin + old, end, Relaxed, Relaxed).is_ok()
    }
}

// SAFETY: blocks that are handed out do not overlap, because `next` only moves back over a block
// that its owner gives up; they are inside of `room`, aligned as asked for, and not moved.
unsafe impl GlobalAlloc for Nursery {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller promises holds for the system, too.
        self.cut(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.cut(layout) {
            Some(block) => {
                // A block that was given back may have stood there.
                // SAFETY: the block is as long as that.
                unsafe { block.write_bytes(0, layout.size()) };
                block
            }
            // SAFETY: what the caller promises holds for the system, too.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.offset(block) {
            Some(begin) => {
                self.resize(begin, layout.size(), 0);
            }
            // SAFETY: what is not ours came from the system.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(begin) = self.offset(block) else {
            // SAFETY: what is not ours came from the system.
            return unsafe { System.realloc(block, layout, size) };
        };
        if size <= LARGEST && self.resize(begin, layout.size(), size) || size <= layout.size() {
            return block;
        }
        // SAFETY: the caller promises that the alignment is one and the size not too large; the new
        // block is another one than the old, and both are as long as what is copied.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }
}
