//! Event streams, the framing of HTTP responses of type `text/event-stream`.
//!
//! Follows the WHATWG HTML standard, section 9.2.6, and keeps its words: *last event ID*,
//! *reconnection time*. In one thing it goes further: see [`Events::finish`].

use std::mem;
use std::time::Duration;

use super::{TooLong, make_room};
use crate::bytes;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The event type. Empty stands for `message`, also where the stream spells that out.
    pub name: String,
    /// The data lines, joined by line feeds. It may be empty; such events only carry an id, or keep
    /// the connection alive.
    pub data: Vec<u8>,
    /// Whether the event has an id of its own. It is [`Events::last_event_id`] then.
    pub has_id: bool,
}

/// Cuts a byte stream into events.
///
/// ```
/// use mcpmini_protocol::framing::sse::Events;
/// let mut events = Events::new(1024);
/// let mut chunk = &b"id: 7\ndata: {}\n\n: alive\n"[..];
/// let event = events.next_event(&mut chunk).unwrap().unwrap();
/// assert_eq!((&*event.data, events.last_event_id()), (&b"{}"[..], Some("7")));
/// assert_eq!(events.next_event(&mut chunk), Ok(None));
/// ```
#[derive(Debug)]
pub struct Events {
    /// Whether a byte order mark may still come.
    at_start: bool,
    /// Whether the last chunk ended with a carriage return, to which a line feed may belong.
    after_cr: bool,
    /// The beginning of a line that has not ended, unless `in_data`.
    line: Vec<u8>,
    /// Whether the unfinished line is data. It goes straight into the event, however long it is.
    in_data: bool,
    event: Event,
    has_data: bool,
    /// The last event ID buffer.
    id: String,
    last_event_id: String,
    reconnection_time: Option<Duration>,
    limit: usize,
}

impl Events {
    /// A decoder that refuses events with more than `limit` bytes of data.
    pub fn new(limit: usize) -> Events {
        Events {
            at_start: true,
            after_cr: false,
            line: Vec::new(),
            in_data: false,
            event: Event::default(),
            has_data: false,
            id: String::new(),
            last_event_id: String::new(),
            reconnection_time: None,
            limit,
        }
    }

    /// The last event ID, from which the stream can be resumed; `None` when there is none or the
    /// server has taken it back. Events that have not ended do not count.
    pub fn last_event_id(&self) -> Option<&str> {
        Some(&*self.last_event_id).filter(|id| !id.is_empty())
    }

    /// How long the server asks us to wait before we reconnect.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.reconnection_time
    }

    /// Takes bytes from the front of `chunk`, up to the end of the next event. `None` means that
    /// all were taken and more are needed.
    ///
    /// Errors when an event is longer than the limit. The stream is of no use after that.
    pub fn next_event(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>, TooLong> {
        if self.at_start {
            self.skip_mark(chunk);
        }
        if !chunk.is_empty() && mem::take(&mut self.after_cr) {
            *chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        if self.is_between_events()
            && let Some((data, rest)) = plain_event(chunk)
            && data.len() <= self.limit
        {
            *chunk = rest;
            return Ok(Some(Event { name: String::new(), data: data.to_vec(), has_id: false }));
        }
        while let Some(end) = line_end(chunk) {
            let (line, rest) = chunk.split_at(end);
            self.after_cr = rest == b"\r";
            *chunk = rest.strip_prefix(b"\r\n").unwrap_or(&rest[1..]);
            if self.in_data || !self.line.is_empty() {
                self.hold(line)?;
                self.end_held_line()?;
            } else if !line.is_empty() {
                self.end_line(line)?;
            } else if let Some(event) = self.end_event() {
                return Ok(Some(event));
            }
        }
        self.hold(mem::take(chunk))?;
        Ok(None)
    }

    /// What is left when the stream ends: an event that lacks its blank line, or even the end of
    /// its last line. The standard discards it; some servers never send that line, so the caller
    /// may look whether the data is whole. Its id is not remembered: if it is not whole, it has to
    /// be sent again. The decoder is ready for another stream then.
    pub fn finish(&mut self) -> Option<Event> {
        // A held line is within the limit, or `next_event` has said that it is not.
        let _ = self.end_held_line();
        let event = mem::take(&mut self.event);
        (self.at_start, self.after_cr) = (true, false);
        mem::take(&mut self.has_data).then_some(event)
    }

    /// Skips a byte order mark, which may be cut between chunks.
    fn skip_mark(&mut self, chunk: &mut &[u8]) {
        while let Some((first, rest)) = chunk.split_first() {
            self.at_start = *first == BYTE_ORDER_MARK[self.line.len()];
            if !self.at_start {
                return;
            }
            self.line.push(*first);
            *chunk = rest;
            if self.line == BYTE_ORDER_MARK {
                self.line.clear();
                self.at_start = false;
                return;
            }
        }
    }

    /// Whether nothing of an event, nor of a line, was taken yet.
    fn is_between_events(&self) -> bool {
        let Event { name, has_id, .. } = &self.event;
        let in_event = self.has_data || *has_id || !name.is_empty();
        !in_event && !self.in_data && self.line.is_empty()
    }

    /// Keeps a part of a line whose end has not come with it.
    fn hold(&mut self, part: &[u8]) -> Result<(), TooLong> {
        if self.in_data {
            return self.push_data(part);
        }
        if self.line.first().or(part.first()) == Some(&b':') {
            // The colon is enough to know the rest for a comment.
            self.line.clear();
            self.line.push(b':');
            return Ok(());
        }
        if self.line.len() + part.len() > self.limit {
            return Err(TooLong { limit: self.limit });
        }
        self.line.extend_from_slice(part);
        // One byte after the colon must be there: it may be the blank that does not count.
        if self.line.starts_with(b"data:") && self.line.len() > b"data:".len() {
            let line = mem::take(&mut self.line);
            self.in_data = true;
            return self.begin_data(field(&line).1);
        }
        Ok(())
    }

    fn end_held_line(&mut self) -> Result<(), TooLong> {
        if mem::take(&mut self.in_data) {
            return Ok(());
        }
        let line = mem::take(&mut self.line);
        self.end_line(&line)
    }

    /// Reads a line that is not blank.
    #[inline]
    fn end_line(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let (name, value) = field(line);
        match name {
            b"data" => self.begin_data(value)?,
            b"" => (),
            _ if line.len() > self.limit => return Err(TooLong { limit: self.limit }),
            b"event" if value == b"message" => self.event.name.clear(),
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => {
                self.id.clear();
                self.id.push_str(&String::from_utf8_lossy(value));
                self.event.has_id = true;
            }
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let milliseconds =
                    str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
                self.reconnection_time =
                    milliseconds.map(Duration::from_millis).or(self.reconnection_time);
            }
            _ => (),
        }
        Ok(())
    }

    fn end_event(&mut self) -> Option<Event> {
        let event = mem::take(&mut self.event);
        if event.has_id {
            mem::swap(&mut self.last_event_id, &mut self.id);
        }
        mem::take(&mut self.has_data).then_some(event)
    }

    #[inline]
    fn begin_data(&mut self, value: &[u8]) -> Result<(), TooLong> {
        if mem::replace(&mut self.has_data, true) {
            self.push_data(b"\n")?;
        }
        self.push_data(value)
    }

    #[inline]
    fn push_data(&mut self, part: &[u8]) -> Result<(), TooLong> {
        let data = &mut self.event.data;
        if data.len() + part.len() > self.limit {
            return Err(TooLong { limit: self.limit });
        }
        if data.capacity() == 0 {
            *data = part.to_vec();
        } else {
            make_room(data, part.len(), self.limit);
            data.extend_from_slice(part);
        }
        Ok(())
    }
}

/// The data of the event that `bytes` begin with, and what follows it, if the event is nothing but
/// one line of data and is all there. Nearly all are, and this is the short way for them.
fn plain_event(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = bytes.strip_prefix(b"data:")?;
    let (value, rest) = line.split_at(bytes::find_either(b'\n', b'\r', line)?);
    let rest = rest.strip_prefix(b"\n\n").or_else(|| rest.strip_prefix(b"\r\n\r\n"))?;
    Some((value.strip_prefix(b" ").unwrap_or(value), rest))
}

/// Where the first line in `bytes` ends.
fn line_end(bytes: &[u8]) -> Option<usize> {
    // Every other line is blank.
    match bytes.first()? {
        b'\n' | b'\r' => Some(0),
        _ => bytes::find_either(b'\n', b'\r', bytes),
    }
}

/// The name and the value of the field on a line. The name of a comment is empty.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let (name, value) = match line.strip_prefix(b"data:") {
        Some(value) => (&line[..4], value),
        None => {
            let colon = bytes::find(b':', line).unwrap_or(line.len());
            (&line[..colon], line.get(colon + 1..).unwrap_or_default())
        }
    };
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way of cutting the input in three must give the same events.
    #[track_caller]
    fn check_stream(input: &[u8], expected: &[&str], left: Option<&str>, id: Option<&str>) {
        for (a, b) in (0..=input.len()).flat_map(|b| (0..=b).map(move |a| (a, b))) {
            let mut events = Events::new(256);
            let mut found = Vec::new();
            for mut chunk in [&input[..a], &input[a..b], &input[b..]] {
                while let Some(event) = events.next_event(&mut chunk).unwrap() {
                    found.push(show(&event));
                }
                assert!(chunk.is_empty());
            }
            assert_eq!(found, expected, "cut at {a} and {b}");
            assert_eq!(events.finish().as_ref().map(show).as_deref(), left, "cut at {a} and {b}");
            assert_eq!(events.last_event_id(), id, "cut at {a} and {b}");
            assert_eq!(events.finish(), None);
        }
    }

    /// A stream that ends with a whole event.
    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        check_stream(input.as_bytes(), expected, None, None);
    }

    fn show(event: &Event) -> String {
        let data = String::from_utf8_lossy(&event.data);
        let id = if event.has_id { "#" } else { "" };
        match &*event.name {
            "" => format!("{id}{data}"),
            name => format!("{id}{name}: {data}"),
        }
    }

    #[test]
    fn events_end_with_a_blank_line() {
        check("", &[]);
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("data:  a \n\n\n\ndata\n\n", &[" a ", ""]);
        check("data: a\ndata: b\ndata:\n\n", &["a\nb\n"]);
        check("data:\ndata:\n\n", &["\n"]);
        check("data: a\nda\n\n", &["a"]);
    }

    #[test]
    fn lines_end_with_any_line_end() {
        check("data: a\r\ndata: b\r\n\r\n", &["a\nb"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("data: a\r\n\n", &["a"]);
        check("data: a\n\r\ndata: b\n\r", &["a", "b"]);
        check("data: a\r\r\n\ndata: b\n\n", &["a", "b"]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_once() {
        check("\u{feff}data: a\n\n", &["a"]);
        check("\u{feff}\u{feff}data: a\n\n", &[]);
        check("data: \u{feff}a\n\n", &["\u{feff}a"]);
        check_stream(b"\xefdata: a\n\n", &[], None, None);
        check_stream(b"\xef\xbb\ndata: a\n\n", &["a"], None, None);
        check_stream(b"\xef\xbb", &[], None, None);
    }

    #[test]
    fn fields_have_their_meaning() {
        check(": alive\n\n:\n\n", &[]);
        check("event: ping\ndata: a\n\ndata: b\n\n", &["ping: a", "b"]);
        check("event: message\ndata: a\n\n", &["a"]);
        check("event: x\nevent: message\ndata: a\n\n", &["a"]);
        check("event: lost\n\ndata: a\n\n", &["a"]);
        check("data: [DONE]\n\n", &["[DONE]"]);
        check("unknown: x\n data: no\ndata : no\nDATA: no\ndata: a: b\n\n", &["a: b"]);
        check("data: na\u{ef}ve \u{2028}\n\n", &["na\u{ef}ve \u{2028}"]);
    }

    #[test]
    fn the_last_event_id_is_that_of_a_whole_event() {
        let check = |input: &str, expected: &[&str], left, id| {
            check_stream(input.as_bytes(), expected, left, id);
        };
        check("id: 7\ndata: a\n\ndata: b\n\n", &["#a", "b"], None, Some("7"));
        check("id: 7\ndata:\n\n", &["#"], None, Some("7"));
        check("id: 7\n\n", &[], None, Some("7"));
        check("id: 7\n\nid: 8\n\nid: 7\n\n", &[], None, Some("7"));
        check("id: 7\n\nid\n\n", &[], None, None);
        check("id: 7\n\nid: 8\0\n\n", &[], None, Some("7"));
        check("id: 7\n\nid: 8\ndata: a", &[], Some("#a"), Some("7"));
        check("id: 7\n\nid: 8\n", &[], None, Some("7"));
    }

    #[test]
    fn what_lacks_its_blank_line_is_left_over() {
        let check = |input: &str, expected: &[&str], left| {
            check_stream(input.as_bytes(), expected, left, None);
        };
        check("data: a", &[], Some("a"));
        check("data: a\n", &[], Some("a"));
        check("data: a\ndata: b\r", &[], Some("a\nb"));
        check("event: e\ndata", &[], Some("e: "));
        check("data: a\n\n: alive", &["a"], None);
        check("data: a\n\nevent: e\n", &["a"], None);
    }

    #[test]
    fn the_reconnection_time_is_in_milliseconds() {
        let check = |input: &str, expected| {
            let mut events = Events::new(64);
            assert_eq!(events.next_event(&mut input.as_bytes()), Ok(None));
            let milliseconds = events.reconnection_time().map(|time| time.as_millis());
            assert_eq!(milliseconds, expected, "{input:?}");
        };
        check("retry: 250\n", Some(250));
        check("retry:0\n", Some(0));
        check("retry: 1\nretry: 2\n", Some(2));
        check("retry: 1\nretry: x\nretry: 1.5\nretry\nretry: -1\n", Some(1));
        check("retry: 99999999999999999999\n", None);
    }

    #[test]
    fn an_event_over_the_limit_is_an_error() {
        let check = |input: &str, expected: Result<(), TooLong>| {
            for size in [1, 3, input.len()] {
                let mut events = Events::new(8);
                let found = input.as_bytes().chunks(size).try_for_each(|mut chunk| {
                    while events.next_event(&mut chunk)?.is_some() {}
                    Ok(())
                });
                assert_eq!(found, expected, "{input:?} by {size}");
            }
        };
        let too_long = Err(TooLong { limit: 8 });
        check("data: 12345678\n\n", Ok(()));
        check("data: 123456789\n\n", too_long);
        check("data: 1234\ndata: 567\n\n", Ok(()));
        check("data: 1234\ndata: 5678\n\n", too_long);
        check("data: 1234\n\ndata: 5678\n\n", Ok(()));
        check("event: 1", Ok(()));
        check("event: 12", too_long);
        check("event: 1\n", Ok(()));
        check("event: 12\n", too_long);
        check(": a comment may be long", Ok(()));
        check(": a comment may be long\n", Ok(()));
    }

    #[test]
    fn long_data_comes_out_as_it_went_in() {
        let data: Vec<u8> = (0..3_000_000_u32).map(|n| b'a' + (n % 23) as u8).collect();
        let input = [b"data: ", &*data, b"\ndata:", &*data, b"\n\n"].concat();
        let mut events = Events::new(10_000_000);
        let mut found = Vec::new();
        for mut chunk in input.chunks(16 << 10) {
            found.extend(events.next_event(&mut chunk).unwrap());
        }
        assert_eq!(found.len(), 1);
        assert!(found[0].data == [&*data, &*data].join(&b'\n'));
    }
}
