//! Making the best of a frame that is not one message.

use super::super::Id;
use super::super::scan::{self, Broken};
use super::{Decoded, Limits, Malformed, Unusual, deliver, excerpt, is_blank};

/// Reads a frame that is not UTF-8, with U+FFFD for the bytes that are wrong.
#[cold]
pub(super) fn invalid_utf8(frame: &[u8], limits: &Limits, take: &mut dyn FnMut(Decoded)) {
    let text = String::from_utf8_lossy(frame);
    let mut found = Found::default();
    found.unusual.push(Unusual::InvalidUtf8);
    found.read(&text, limits);
    found.hand_to(take);
}

/// Reads a frame that is not one message: it begins with a byte order mark, or holds several
/// messages, a batch, or none.
#[cold]
pub(super) fn recover(text: &str, limits: &Limits, take: &mut dyn FnMut(Decoded)) {
    let mut found = Found::default();
    found.read(text, limits);
    found.hand_to(take);
}

/// What a frame turned out to hold.
#[derive(Default)]
struct Found {
    /// What is odd about the frame, not about one message in it.
    unusual: Vec<Unusual>,
    /// What it holds.
    decoded: Vec<Decoded>,
}

impl Found {
    fn read(&mut self, text: &str, limits: &Limits) {
        let mut rest = text.trim_start_matches('\u{feff}');
        let mut values = 0;
        while !is_blank(rest) {
            let Some(end) = scan::value_end(rest) else { break };
            self.value(rest[..end].trim_start_matches(|c: char| c.is_ascii_whitespace()), limits);
            rest = &rest[end..];
            values += 1;
        }
        if values > 1 {
            self.unusual.push(Unusual::SeveralOnALine);
        }
        if !is_blank(rest) {
            // The whole frame is shown when nothing of it was understood: `5 files read`.
            let from = if self.has_message() { rest } else { text };
            self.malformed(Malformed::Json { excerpt: excerpt(from) });
        }
    }

    /// Reads one of the values in the frame. An array is a batch if anything in it may be a
    /// message; log lines begin with brackets, too.
    fn value(&mut self, text: &str, limits: &Limits) {
        if scan::elements(text).any(|element| element.starts_with('{')) {
            self.unusual.push(Unusual::Batch);
            scan::elements(text).for_each(|element| self.message(element, limits));
        } else {
            self.message(text, limits);
        }
    }

    fn message(&mut self, text: &str, limits: &Limits) {
        let limit = limits.depth;
        match scan::envelope(text, limit) {
            Ok(envelope) => {
                deliver(text.to_owned(), &envelope, &mut |decoded| self.decoded.push(decoded));
            }
            Err(Broken::NoObject) => {
                self.malformed(Malformed::Shape { id: None, excerpt: excerpt(text) });
            }
            Err(Broken::TooDeep { id }) => {
                let id = id.map(|span| &text[span]).filter(|id| *id != "null").map(Id::from_json);
                self.malformed(Malformed::TooDeep { id, limit });
            }
            Err(Broken::Syntax) => self.malformed(Malformed::Json { excerpt: excerpt(text) }),
        }
    }

    fn malformed(&mut self, malformed: Malformed) {
        self.decoded.push(Decoded::Malformed(malformed));
    }

    fn has_message(&self) -> bool {
        self.decoded.iter().any(|decoded| matches!(decoded, Decoded::Message(_)))
    }

    /// Hands everything over; of a frame without any message only the one fault that says most.
    fn hand_to(mut self, take: &mut dyn FnMut(Decoded)) {
        if self.has_message() {
            self.unusual.dedup();
            self.unusual.into_iter().map(Decoded::Unusual).for_each(&mut *take);
            self.decoded.into_iter().for_each(take);
        } else if let Some(at) = self.decoded.iter().position(names_a_request) {
            take(self.decoded.swap_remove(at));
        } else if let Some(last) = self.decoded.pop() {
            take(last);
        }
    }
}

/// Whether a request fails by this fault, since its id is known.
fn names_a_request(decoded: &Decoded) -> bool {
    use Malformed::{Shape, TooDeep};
    matches!(decoded, Decoded::Malformed(Shape { id: Some(_), .. } | TooDeep { id: Some(_), .. }))
}
