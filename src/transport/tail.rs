//! The last words of a server.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// How much is kept, in bytes.
const KEPT: usize = 64 * 1024;

/// How many of the last lines are shown.
const LINES: usize = 20;

/// The end of what a server wrote on its standard error. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Tail(Rc<RefCell<VecDeque<u8>>>);

impl Tail {
    /// Adds what was read, and drops what is too old.
    pub fn push(&self, chunk: &[u8]) {
        let mut kept = self.0.borrow_mut();
        kept.extend(chunk);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    /// The last lines.
    pub fn text(&self) -> String {
        let kept: Vec<u8> = self.0.borrow().iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let tail = Tail::default();
        assert_eq!(tail.text(), "");
        tail.push(b"a\nb");
        tail.push(b"c\r\n");
        assert_eq!(tail.text(), "a\nbc");
        for line in 0..30 {
            tail.push(format!("{line}\n").as_bytes());
        }
        let text = tail.text();
        assert_eq!((text.lines().next(), text.lines().last()), (Some("10"), Some("29")));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let tail = Tail::default();
        for _ in 0..100 {
            tail.push(&[b'x'; 8192]);
        }
        assert_eq!(tail.text().len(), KEPT);
    }
}
