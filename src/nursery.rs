//! Small blocks of memory, cheaply.
//!
//! musl's allocator asks the system for a page or two for every size of block, and gives them back
//! when the last block of a size is freed. A call of a millisecond spends a quarter of it on that,
//! and a long one half of its time in an allocator that is made to be small and hard to misuse.
//! So small blocks are cut from memory that the process has anyway, one behind the other, and those
//! that are freed are handed out again:
//!
//! ```text
//! room   |AAAA|BB|CC|DDDDDDDD|..........................|
//!              └──▶ free 2   ▲ next
//! ```
//!
//! The last block grows where it is, and leaves its place to whatever comes next when it is freed, of
//! any size: most blocks are a text in the making, or freed before the next one is asked for.
//!
//! Blocks have one of four sizes between a power of two and the next, all multiples of 16 bytes, which
//! is their alignment. Long blocks come from musl, and so do all when the room is used up, or while a
//! thread that was handing one out has to wait for a processor.

#![allow(unsafe_code, reason = "an allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::hint;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};

/// How much there is, in bytes: enough for a few thousand calls at a time. Pages that are not used cost
/// nothing.
const ROOM: usize = 4 << 20;

/// The smallest block, in bytes. Every block is aligned to that.
const SMALLEST: usize = 16;

/// How often a thread looks whether another one, which has the books for a few nanoseconds, is done.
const PATIENCE: u32 = 100;

/// The largest block, in bytes.
const LARGEST: usize = 16 << 10;

/// Blocks from this size on are asked to be of large pages, in bytes.
#[cfg(target_os = "linux")]
const HUGE: usize = 4 << 20;

/// The size of a page, in bytes, or a divisor of it.
#[cfg(target_os = "linux")]
pub(crate) const PAGE: usize = 4 << 10;

/// From this size on, in bytes, a larger block is looked for where there is none of the size: below, it
/// takes longer than it saves.
const LONG: usize = 256;

/// How many of the next larger sizes will do for such a block.
const LARGER: usize = 4;

/// The number of the largest size.
const LAST: usize = Size::of(LARGEST).number;

/// Small blocks from its own room, all others from the system.
// What is always used stands before what mostly is not, so that it shares a page with others.
#[repr(C)]
pub(crate) struct Nursery {
    is_busy: AtomicBool,
    books: UnsafeCell<Books>,
    room: UnsafeCell<Room>,
}

#[repr(align(16))]
struct Room {
    _bytes: [u8; ROOM],
}

/// What is free.
struct Books {
    /// Where the part begins that was never handed out.
    next: usize,
    /// For every size the block that was freed last. Each begins with the address of the one before.
    freed: [Option<NonNull<Freed>>; LAST + 1],
}

struct Freed {
    before: Option<NonNull<Freed>>,
}

impl Books {
    /// The block of this size that was freed last.
    #[inline(always)]
    fn pop(&mut self, number: usize) -> Option<NonNull<u8>> {
        let block = self.freed[number]?;
        // SAFETY: it was put there by `give`, and nobody has written to it since.
        self.freed[number] = unsafe { block.as_ref() }.before;
        Some(block.cast())
    }
}

// SAFETY: `books` are used only by who has set `is_busy`, and the bytes of `room` only by who was
// handed them, or by who has the books while they are free.
unsafe impl Sync for Nursery {}

impl Nursery {
    pub(crate) const fn new() -> Nursery {
        Nursery {
            is_busy: AtomicBool::new(false),
            books: UnsafeCell::new(Books { next: 0, freed: [None; LAST + 1] }),
            room: UnsafeCell::new(Room { _bytes: [0; ROOM] }),
        }
    }

    /// Has something done with the books, unless another thread has them for long: it was put to sleep
    /// with them.
    #[inline(always)]
    fn with_books<T>(&self, work: impl FnOnce(&mut Books) -> Option<T>) -> Option<T> {
        let mut patience = PATIENCE;
        while self.is_busy.swap(true, Ordering::Acquire) {
            patience = patience.checked_sub(1)?;
            hint::spin_loop();
        }
        // SAFETY: nobody else has them, as `is_busy` was not set before.
        let done = work(unsafe { &mut *self.books.get() });
        self.is_busy.store(false, Ordering::Release);
        done
    }

    /// A block of the system, which gives large pages for a large one if it can: a result of 64 MB
    /// takes 16,000 pages of the usual size, and to get them is a tenth of the work with it.
    #[inline]
    fn widen(block: *mut u8, size: usize) -> *mut u8 {
        #[cfg(target_os = "linux")]
        if size >= HUGE && !block.is_null() {
            let begin = block.map_addr(|address| address.next_multiple_of(PAGE));
            let length = size - (begin.addr() - block.addr());
            // SAFETY: it is advice about pages that belong to the block alone, but for the rest of
            // the last one, and changes nothing of what is in them.
            unsafe { libc::madvise(begin.cast(), length, libc::MADV_HUGEPAGE) };
        }
        block
    }

    fn start(&self) -> *mut u8 {
        self.room.get().cast()
    }

    /// The address of the first block.
    #[cfg(target_env = "musl")]
    pub(crate) fn begin(&self) -> usize {
        self.start().addr()
    }

    fn is_ours(&self, block: *mut u8) -> bool {
        block.addr().wrapping_sub(self.start().addr()) < ROOM
    }

    /// A block that was freed, or a new one; `None` when the system has to help.
    #[inline(always)]
    fn take(&self, layout: Layout) -> Option<NonNull<u8>> {
        let size = Size::for_layout(layout)?;
        self.with_books(|books| {
            let mut begin = books.next;
            if layout.align() > SMALLEST {
                // Rare, and so not looked for among those that were freed.
                let address = self.start().addr() + begin;
                begin += address.wrapping_neg() & (layout.align() - 1);
            } else if let Some(block) = books.pop(size.number) {
                return Some(block);
            } else if size.bytes >= LONG {
                // One of up to twice the size is better than a page that was not used yet. It stays a
                // block of the smaller size, so that in the end each size has as many as it takes.
                let mut larger = size.number + 1..=(size.number + LARGER).min(LAST);
                if let Some(block) = larger.find_map(|number| books.pop(number)) {
                    return Some(block);
                }
            }
            let end = begin + size.bytes;
            if end > ROOM {
                return None;
            }
            books.next = end;
            // SAFETY: `begin` is inside of the room.
            NonNull::new(unsafe { self.start().add(begin) })
        })
    }

    /// Where a block of ours begins in the room.
    fn place(&self, block: *mut u8) -> usize {
        block.addr() - self.start().addr()
    }

    /// Makes a block longer or shorter where it is, which only the last one can be.
    fn stretch(&self, block: *mut u8, old: Layout, new: Layout) -> bool {
        let begin = self.place(block);
        let stretched = self.with_books(|books| {
            let (old, new) = (Size::for_layout(old)?, Size::for_layout(new)?);
            let end = begin + new.bytes;
            let can = begin + old.bytes == books.next && end <= ROOM;
            can.then(|| books.next = end)
        });
        stretched.is_some()
    }

    /// Takes a block back. When the books are in use it is lost, which is rare and harmless.
    #[inline(always)]
    fn give(&self, block: *mut u8, layout: Layout) {
        let size = Size::for_layout(layout);
        self.with_books(|books| {
            let (size, begin) = (size?, self.place(block));
            if begin + size.bytes == books.next {
                books.next = begin;
                return Some(());
            }
            let freed = &mut books.freed[size.number];
            let block: NonNull<Freed> = NonNull::new(block)?.cast();
            // SAFETY: the block is ours again; it has room for an address and is aligned for one.
            unsafe { block.write(Freed { before: *freed }) };
            *freed = Some(block);
            Some(())
        });
    }
}

/// The size of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    /// Its place in the order of sizes.
    number: usize,
    bytes: usize,
}

impl Size {
    /// The size of the block for so many bytes, of which there is at least one.
    #[inline(always)]
    const fn of(bytes: usize) -> Size {
        let longest = bytes - 1;
        // Every multiple of 16 bytes up to 128, then four sizes for each power of two.
        let power = (longest | 64).ilog2();
        let step = power - 2;
        let steps = longest >> step;
        Size { number: steps + 4 * (power as usize - 6), bytes: (steps + 1) << step }
    }

    /// The size of the block for something; `None` when that is too long.
    #[inline(always)]
    fn for_layout(layout: Layout) -> Option<Size> {
        if layout.size() > LARGEST || layout.align() > LARGEST {
            return None;
        }
        Some(Size::of(layout.size().max(1)))
    }
}

// SAFETY: a block is handed out once until it is given back, is as long and as aligned as asked for,
// and does not move. Blocks of the system go back to the system.
unsafe impl GlobalAlloc for Nursery {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(block) => block.as_ptr(),
            // SAFETY: what the caller promises holds for the system, too.
            None => Nursery::widen(unsafe { System.alloc(layout) }, layout.size()),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(block) => {
                // SAFETY: the block is as long as that.
                unsafe { block.write_bytes(0, layout.size()) };
                block.as_ptr()
            }
            // SAFETY: what the caller promises holds for the system, too.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.is_ours(block) {
            true => self.give(block, layout),
            // SAFETY: what is not ours came from the system.
            false => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.is_ours(block) {
            // SAFETY: what is not ours came from the system.
            return Nursery::widen(unsafe { System.realloc(block, layout, size) }, size);
        }
        // SAFETY: the caller promises that the size is not too large.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let fits = Size::for_layout(wanted) == Size::for_layout(layout);
        if fits || self.stretch(block, layout, wanted) {
            return block;
        }
        // SAFETY: the new block is another one than the old, and both are as long as what is copied.
        unsafe {
            let new = self.alloc(wanted);
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.give(block, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static NURSERY: Nursery = Nursery::new();

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn blocks_have_the_next_of_four_sizes() {
        let check = |size, align, expected: Option<(usize, usize)>| {
            let found = Size::for_layout(layout(size, align));
            assert_eq!(found.map(|size| (size.number, size.bytes)), expected, "{size} bytes");
        };
        check(0, 1, Some((0, 16)));
        check(1, 16, Some((0, 16)));
        check(16, 1, Some((0, 16)));
        check(17, 1, Some((1, 32)));
        check(64, 32, Some((3, 64)));
        check(128, 1, Some((7, 128)));
        check(129, 1, Some((8, 160)));
        check(2736, 8, Some((25, 3072)));
        check(LARGEST, 8, Some((LAST, LARGEST)));
        check(LARGEST + 1, 8, None);
        check(8, 2 * LARGEST, None);
        for size in 1..=LARGEST {
            let block = Size::of(size);
            assert!(size <= block.bytes && block.bytes.is_multiple_of(SMALLEST), "{size} bytes");
            let is_tight = size <= 128 || block.bytes < size + size.div_ceil(4);
            assert!(is_tight && Size::of(block.bytes) == block, "{size} bytes");
        }
    }

    /// Takes, fills, resizes and gives back blocks, and checks that each keeps what is in it.
    fn use_blocks(seed: u64, rounds: usize) {
        let mut random = seed;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
            ((random >> 33) % limit) as usize
        };
        let mut held: Vec<(*mut u8, Layout, u8)> = Vec::new();
        // SAFETY: every block is used as long as it is, and given back with its own layout.
        unsafe {
            for round in 0..rounds {
                let mark = round as u8;
                let size = [40, 300, 5000, 40_000][below(4)];
                let layout = layout(1 + below(size), 1 << below(6));
                match below(3) {
                    0 => {
                        let block = NURSERY.alloc_zeroed(layout);
                        assert!(block.addr().is_multiple_of(layout.align()));
                        assert!((0..layout.size()).all(|at| *block.add(at) == 0));
                        block.write_bytes(mark, layout.size());
                        held.push((block, layout, mark));
                    }
                    1 if !held.is_empty() => {
                        let (block, old, mark) = held.swap_remove(below(held.len() as u64));
                        let new = Layout::from_size_align(layout.size(), old.align()).unwrap();
                        let block = NURSERY.realloc(block, old, new.size());
                        let kept = old.size().min(new.size());
                        assert!((0..kept).all(|at| *block.add(at) == mark));
                        block.write_bytes(mark, new.size());
                        held.push((block, new, mark));
                    }
                    _ if !held.is_empty() => {
                        let (block, layout, mark) = held.swap_remove(below(held.len() as u64));
                        assert!((0..layout.size()).all(|at| *block.add(at) == mark));
                        NURSERY.dealloc(block, layout);
                    }
                    _ => (),
                }
            }
            for (block, layout, _) in held {
                NURSERY.dealloc(block, layout);
            }
        }
    }

    #[test]
    fn blocks_do_not_overlap_whoever_asks() {
        std::thread::scope(|scope| {
            for seed in 1..=4 {
                scope.spawn(move || use_blocks(seed, 4_000));
            }
        });
    }

    #[test]
    fn a_freed_block_is_handed_out_again() {
        static NURSERY: Nursery = Nursery::new();
        // SAFETY: as in `use_blocks`.
        unsafe {
            let first = NURSERY.alloc(layout(100, 8));
            assert!(NURSERY.is_ours(first));
            let last = NURSERY.alloc(layout(1, 1));
            NURSERY.dealloc(first, layout(100, 8));
            assert_eq!(NURSERY.alloc(layout(112, 1)), first);
            assert!(last < NURSERY.alloc(layout(112, 1)));
        }
    }

    #[test]
    fn a_larger_block_will_do() {
        static NURSERY: Nursery = Nursery::new();
        // SAFETY: as in `use_blocks`.
        unsafe {
            let large = NURSERY.alloc(layout(1000, 8));
            let last = NURSERY.alloc(layout(1, 1));
            NURSERY.dealloc(large, layout(1000, 8));
            // More than half of it would be lost.
            assert!(last < NURSERY.alloc(layout(440, 1)));
            assert_eq!(NURSERY.alloc(layout(520, 1)), large);
            NURSERY.dealloc(large, layout(520, 1));
            // It has the smaller size now.
            assert!(last < NURSERY.alloc(layout(1000, 1)));
            assert_eq!(NURSERY.alloc(layout(520, 1)), large);
        }
    }

    #[test]
    fn the_last_block_changes_its_size_where_it_is() {
        static NURSERY: Nursery = Nursery::new();
        // SAFETY: as in `use_blocks`.
        unsafe {
            let first = NURSERY.alloc(layout(10, 1));
            let last = NURSERY.alloc(layout(20, 1));
            assert_eq!(NURSERY.realloc(last, layout(20, 1), 5000), last);
            assert_eq!(NURSERY.realloc(last, layout(5000, 1), 30), last);
            assert_eq!(NURSERY.alloc(layout(1, 1)), last.add(32));
            // They are not the last any more.
            assert_ne!(NURSERY.realloc(last, layout(30, 1), 5000), last);
            assert_ne!(NURSERY.realloc(first, layout(10, 1), 20), first);
        }
    }

    #[test]
    fn the_place_of_the_last_block_is_free_for_any_other() {
        static NURSERY: Nursery = Nursery::new();
        // SAFETY: as in `use_blocks`.
        unsafe {
            let first = NURSERY.alloc(layout(10, 1));
            let last = NURSERY.alloc(layout(20, 1));
            NURSERY.dealloc(last, layout(20, 1));
            assert_eq!(NURSERY.alloc(layout(5000, 1)), last);
            NURSERY.dealloc(first, layout(10, 1));
            assert_eq!(NURSERY.alloc(layout(1, 1)), first);
        }
    }

    #[test]
    fn when_the_room_is_used_up_the_system_helps() {
        static NURSERY: Nursery = Nursery::new();
        let size = layout(LARGEST, 1);
        // SAFETY: as in `use_blocks`.
        unsafe {
            let blocks: Vec<_> = (0..ROOM / LARGEST).map(|_| NURSERY.alloc(size)).collect();
            assert!(blocks.iter().all(|block| NURSERY.is_ours(*block)));
            let other = NURSERY.alloc(size);
            assert!(!other.is_null() && !NURSERY.is_ours(other));
            NURSERY.dealloc(other, size);
            NURSERY.dealloc(blocks[7], size);
            assert_eq!(NURSERY.alloc(size), blocks[7]);
        }
    }
}
