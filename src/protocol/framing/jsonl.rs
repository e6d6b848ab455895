//! Newline-delimited frames, the framing of the stdio binding.
//!
//! ```text
//!   handed out    unfinished          read into next
//! |------------|--------|.........|//////////////////|
//!            start   searched    end          buffer.len()
//! ```

use std::mem;
use std::ops::Range;

use super::{TooLong, make_room};
use crate::bytes;

/// The size of the buffer at first. Most conversations are shorter, and memory that is not used
/// need not be had.
const FIRST: usize = 4 << 10;
/// The size of the buffer once a read has filled it, while lines are short: what a pipe holds.
const BLOCK: usize = 64 << 10;
/// Less than this is not worth a read.
const LEAST: usize = 2 << 10;
/// By how much a long line extends the buffer at most. What is extended is cleared first.
const MOST: usize = 1 << 20;

/// Cuts a byte stream into lines.
///
/// ```
/// use mcpmini_protocol::framing::jsonl::Lines;
/// let mut lines = Lines::new(1024);
/// lines.spare()[..8].copy_from_slice(b"{}\r\n\n[]\n");
/// lines.filled(8);
/// assert_eq!(lines.next_line(), Ok(Some(b"{}".to_vec())));
/// assert_eq!(lines.next_line(), Ok(Some(b"[]".to_vec())));
/// assert_eq!(lines.next_line(), Ok(None));
/// ```
#[derive(Debug)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    /// `start..searched` is known to hold no line feed.
    searched: usize,
    /// Where the bytes that were read end.
    end: usize,
    /// Whether the last read has filled all there was room for, so that there may be more.
    was_filled: bool,
    limit: usize,
    /// How many lines are behind `start`.
    passed: u64,
}

impl Lines {
    /// A decoder that refuses lines longer than `limit` bytes.
    pub fn new(limit: usize) -> Lines {
        let (start, searched, end) = (0, 0, 0);
        let (buffer, was_filled, passed) = (Vec::new(), false, 0);
        Lines { buffer, start, searched, end, was_filled, limit, passed }
    }

    /// Space to read into, at least 2 KiB. It grows with the line that is being read.
    pub fn spare(&mut self) -> &mut [u8] {
        if self.buffer.len() - self.end < LEAST || self.start == self.end {
            self.move_to_front();
        }
        let is_first = self.buffer.is_empty();
        if self.buffer.len() - self.end < LEAST || self.was_filled && self.buffer.len() < BLOCK {
            let more = if is_first { FIRST } else { self.end.clamp(BLOCK, MOST) };
            make_room(&mut self.buffer, more, self.limit);
            self.buffer.resize(self.end + more, 0);
        }
        &mut self.buffer[self.end..]
    }

    /// Tells that `count` bytes were read into [`Lines::spare`].
    ///
    /// # Panics
    /// When that is more than there is room for.
    pub fn filled(&mut self, count: usize) {
        assert!(count <= self.buffer.len() - self.end, "no more is read than there is room for");
        self.end += count;
        self.was_filled = self.end == self.buffer.len();
    }

    /// The next whole line, without its end; `None` when more must be read. Lines of nothing but
    /// white space are skipped.
    ///
    /// Errors when a line is longer than the limit. The stream is of no use after that.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        while let Some(at) = bytes::find(b'\n', &self.buffer[self.searched..self.end]) {
            let line = self.start..self.searched + at;
            self.check(line.len())?;
            self.searched = line.end + 1;
            let next = line.end + 1;
            if let Some(line) = self.take(line, next) {
                return Ok(Some(line));
            }
        }
        self.searched = self.end;
        self.check(self.unfinished())?;
        Ok(None)
    }

    /// What is left when the stream ends: a last line without its end.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        self.searched = self.end;
        self.take(self.start..self.end, self.end)
    }

    /// How many lines have gone by, those that were skipped included. After
    /// [`Lines::next_line`] it is the number of the line that was handed out, from 1.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// The length of the unfinished line, in bytes.
    pub fn unfinished(&self) -> usize {
        self.end - self.start
    }

    fn check(&self, length: usize) -> Result<(), TooLong> {
        if length > self.limit { Err(TooLong { limit: self.limit }) } else { Ok(()) }
    }

    /// Removes the bytes up to `next` and returns `line`, which is among them, unless it is blank.
    fn take(&mut self, line: Range<usize>, next: usize) -> Option<Vec<u8>> {
        self.start = next;
        self.passed += 1;
        let text = &self.buffer[line.clone()];
        if text.trim_ascii().is_empty() {
            return None;
        }
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let length = text.len();
        // A long line keeps the buffer, and the little that follows it moves. It is at the front,
        // because the buffer had to grow for it.
        if line.start > 0 || length < BLOCK || length < self.end / 2 {
            return Some(text.to_vec());
        }
        let rest = self.buffer[next..self.end].to_vec();
        let mut long = mem::replace(&mut self.buffer, rest);
        long.truncate(length);
        (self.start, self.searched, self.end) = (0, self.searched - next, self.end - next);
        Some(long)
    }

    fn move_to_front(&mut self) {
        if self.start == 0 {
            return;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.searched -= self.start;
        self.end -= self.start;
        self.start = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(lines: &mut Lines, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let spare = lines.spare();
            let (now, later) = bytes.split_at(bytes.len().min(spare.len()));
            spare[..now.len()].copy_from_slice(now);
            lines.filled(now.len());
            bytes = later;
        }
    }

    /// Every way of cutting the input in three must give the same lines.
    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        let bytes = input.as_bytes();
        for (a, b) in (0..=bytes.len()).flat_map(|b| (0..=b).map(move |a| (a, b))) {
            let mut lines = Lines::new(64);
            let mut found = Vec::new();
            for chunk in [&bytes[..a], &bytes[a..b], &bytes[b..]] {
                feed(&mut lines, chunk);
                while let Some(line) = lines.next_line().unwrap() {
                    found.push(line);
                }
            }
            found.extend(lines.finish());
            let found: Vec<_> = found.iter().map(|line| str::from_utf8(line).unwrap()).collect();
            assert_eq!(found, expected, "{input:?} cut at {a} and {b}");
            assert_eq!((lines.finish(), lines.unfinished()), (None, 0));
        }
    }

    #[test]
    fn lines_end_with_a_line_feed() {
        check("", &[]);
        check("a\nb\n", &["a", "b"]);
        check("a\r\nb\r\n", &["a", "b"]);
        check("a", &["a"]);
        check("a\nb\r", &["a", "b"]);
        check("é\u{2028}\u{85}\n", &["é\u{2028}\u{85}"]);
        check(" a \n", &[" a "]);
        check("a\rb\n", &["a\rb"]);
    }

    #[test]
    fn blank_lines_are_skipped() {
        check("\n\r\n \t\r\n\na\n\n", &["a"]);
        check(" \r", &[]);
        check("\n\n\n", &[]);
    }

    #[test]
    fn skipped_lines_are_counted() {
        let mut lines = Lines::new(64);
        feed(&mut lines, b"\na\n \r\n\nb\nc");
        let mut next = || (lines.next_line().unwrap().or_else(|| lines.finish()), lines.passed());
        assert_eq!(next(), (Some(b"a".to_vec()), 2));
        assert_eq!(next(), (Some(b"b".to_vec()), 5));
        assert_eq!(next(), (Some(b"c".to_vec()), 6));
    }

    #[test]
    fn a_line_over_the_limit_is_an_error() {
        let check = |input: &[u8], expected| {
            let mut lines = Lines::new(4);
            feed(&mut lines, input);
            assert_eq!(lines.next_line(), expected, "{input:?}");
        };
        check(b"1234\n", Ok(Some(b"1234".to_vec())));
        check(b"1234", Ok(None));
        check(b"12345\n", Err(TooLong { limit: 4 }));
        check(b"12345", Err(TooLong { limit: 4 }));
    }

    #[test]
    fn long_and_short_lines_come_out_as_they_went_in() {
        let lengths =
            [3, 70_000, 1, 200_000, 65_535, 65_536, 5_000_000, 0, 12, 2_000_000, 2_000_000];
        let lengths = || lengths.iter().copied().chain((0..4000).map(|n| n * 7 % 300)).enumerate();
        let line = |n: usize, length: usize| vec![b'a' + (n % 26) as u8; length];
        let mut input = Vec::new();
        for (n, length) in lengths() {
            input.extend(line(n, length));
            input.push(b'\n');
        }
        for chunk in [1000, 16 << 10, 64 << 10, 3 << 20] {
            let mut lines = Lines::new(5_000_000);
            let mut expected = lengths().filter(|&(_, length)| length > 0);
            for chunk in input.chunks(chunk) {
                feed(&mut lines, chunk);
                while let Some(found) = lines.next_line().unwrap() {
                    let (n, length) = expected.next().unwrap();
                    assert!(found == line(n, length), "line {n}");
                }
            }
            assert_eq!((expected.next(), lines.finish()), (None, None));
        }
    }

    #[test]
    fn a_long_line_is_not_copied() {
        let mut lines = Lines::new(1 << 20);
        feed(&mut lines, &vec![b'a'; 500_000]);
        assert_eq!(lines.next_line(), Ok(None));
        assert_eq!(lines.unfinished(), 500_000);
        let place = lines.buffer.as_ptr();
        feed(&mut lines, b"a\nb\nc");
        let line = lines.next_line().unwrap().unwrap();
        assert_eq!((line.len(), line.as_ptr()), (500_001, place));
        assert_eq!(lines.next_line(), Ok(Some(b"b".to_vec())));
        assert_eq!(lines.finish(), Some(b"c".to_vec()));
    }

    #[test]
    fn short_lines_do_not_make_the_buffer_grow() {
        let mut lines = Lines::new(1 << 20);
        for _ in 0..10_000 {
            feed(&mut lines, &[b'a'; 100]);
            feed(&mut lines, b"\n");
            assert!(lines.next_line().unwrap().is_some());
        }
        assert_eq!(lines.buffer.len(), FIRST);
    }
}
