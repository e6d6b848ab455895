//! Making the best of a frame that is not one message.

use super::super::scan::{self, Broken};
use super::{Decoded, Id, Limits, Malformed, Unusual, deliver, excerpt, is_blank};

/// Reads a frame that is not UTF-8, with U+FFFD for the bytes that are wrong.
#[cold]
pub(super) fn invalid_utf8(frame: &[u8], limits: &Limits, take: &mut dyn FnMut(Decoded)) {
    let mut recovery = Recovery::new(limits, take);
    recovery.note(Unusual::InvalidUtf8);
    recovery.frame(&String::from_utf8_lossy(frame));
}

/// Reads a frame that is not one message: it begins with a byte order mark, or holds several
/// messages, a batch, or none.
#[cold]
pub(super) fn recover(text: &str, limits: &Limits, take: &mut dyn FnMut(Decoded)) {
    Recovery::new(limits, take).frame(text);
}

/// A frame that is being recovered. It keeps nothing but notes, so that a frame of a million values
/// takes no more memory than another.
struct Recovery<'a> {
    limits: &'a Limits,
    take: &'a mut dyn FnMut(Decoded),
    /// What is odd about the frame, not about one message in it.
    notes: Vec<Unusual>,
    /// How many of the notes were handed over. They go with the next message.
    noted: usize,
    /// The last part that was not understood, as long as none was. Of a frame without anything
    /// else, this is all that is reported.
    fault: Option<Malformed>,
    /// Whether there was a message, or at least the id of one.
    understood: bool,
}

impl<'a> Recovery<'a> {
    fn new(limits: &'a Limits, take: &'a mut dyn FnMut(Decoded)) -> Recovery<'a> {
        Recovery { limits, take, notes: Vec::new(), noted: 0, fault: None, understood: false }
    }

    fn note(&mut self, unusual: Unusual) {
        if !self.notes.contains(&unusual) {
            self.notes.push(unusual);
        }
    }

    fn frame(mut self, text: &str) {
        let mut rest = text.trim_start_matches('\u{feff}');
        while !is_blank(rest)
            && let Some(end) = scan::value_end(rest)
        {
            self.value(rest[..end].trim_ascii_start());
            rest = &rest[end..];
            self.note(Unusual::SeveralOnALine);
        }
        if !is_blank(rest) {
            // The whole frame is shown when nothing of it was understood: `5 files read`.
            let from = if self.understood { rest } else { text };
            self.malformed(Malformed::Json { excerpt: excerpt(from) });
        }
        if let Some(fault) = self.fault.take() {
            (self.take)(Decoded::Malformed(fault));
        }
    }

    /// Reads one of the values in the frame. An array is a batch if anything in it may be a
    /// message; log lines begin with brackets, too.
    fn value(&mut self, text: &str) {
        if scan::elements(text).any(|element| element.starts_with('{')) {
            self.note(Unusual::Batch);
            scan::elements(text).for_each(|element| self.message(element));
        } else {
            self.message(text);
        }
    }

    fn message(&mut self, text: &str) {
        let limit = self.limits.depth;
        match scan::envelope(text, limit) {
            Ok(envelope) => deliver(text.to_owned(), &envelope, &mut |decoded| match decoded {
                Decoded::Malformed(malformed) => self.malformed(malformed),
                decoded => self.hand_over(decoded),
            }),
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

    /// Hands over a message, or what is unusual about it.
    fn hand_over(&mut self, decoded: Decoded) {
        self.begin();
        for &unusual in &self.notes[self.noted..] {
            (self.take)(Decoded::Unusual(unusual));
        }
        self.noted = self.notes.len();
        (self.take)(decoded);
    }

    fn malformed(&mut self, malformed: Malformed) {
        // An id makes a request fail at once instead of waiting.
        if malformed.id().is_some() {
            self.begin();
        }
        if self.understood {
            (self.take)(Decoded::Malformed(malformed));
        } else {
            self.fault = Some(malformed);
        }
    }

    /// Something of the frame was understood, so that what was not is worth a report of its own.
    fn begin(&mut self) {
        self.understood = true;
        if let Some(fault) = self.fault.take() {
            (self.take)(Decoded::Malformed(fault));
        }
    }
}
