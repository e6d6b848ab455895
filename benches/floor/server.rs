//! A server that costs as little as a server can: what is measured beside it is the client.
//!
//! ```text
//! server [--legacy]            stdio: one message per line
//! server [--legacy] --http     Streamable HTTP on a free port of 127.0.0.1, which it prints
//! ```
//!
//! It has three tools, whose names and arguments it finds without reading the rest of the message:
//! `echo` (`text`), `log` (`bytes`: how long a text to send) and `ticks` (`count`: how many
//! notifications to send before the answer). On the path `/sse` it answers with event streams, on
//! every other path with JSON. `rustc` builds it; it has no dependencies.

#![no_main]

use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::io::{Read, Result, Write};
use std::mem::ManuallyDrop;
use std::net::{TcpListener, TcpStream};
use std::os::fd::FromRawFd;

/// How much is read at once, in bytes.
const BLOCK: usize = 64 << 10;

/// Without the runtime of `std`, which would cost a tenth of the smallest conversation.
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    let word = |at: c_int| {
        // SAFETY: the system hands over `count` pointers to texts that end with a zero.
        unsafe { CStr::from_ptr(*words.add(at as usize)) }.to_bytes()
    };
    let has = |wanted: &[u8]| (1..count).any(|at| word(at) == wanted);
    let legacy = has(b"--legacy");
    let ended = if has(b"--http") { http(legacy) } else { stdio(legacy) };
    ended.is_err().into()
}

/// The standard stream with that number, without a buffer.
fn standard(number: c_int) -> ManuallyDrop<File> {
    // SAFETY: the descriptor is open for as long as the process lives, and never closed here.
    ManuallyDrop::new(unsafe { File::from_raw_fd(number) })
}

/// Answers all lines that have come with one write.
fn stdio(legacy: bool) -> Result<()> {
    const LINES: Frame = Frame { before: b"", after: b"\n" };
    let (mut input, mut output) = (standard(0), standard(1));
    let (mut unread, mut block, mut answers) = (Vec::new(), vec![0; BLOCK], Vec::new());
    loop {
        let length = input.read(&mut block)?;
        if length == 0 {
            return Ok(());
        }
        unread.extend_from_slice(&block[..length]);
        let Some(end) = unread.iter().rposition(|byte| *byte == b'\n') else { continue };
        for line in unread[..end].split(|byte| *byte == b'\n') {
            match Log::wanted(line, legacy) {
                Some(log) => {
                    output.write_all(&answers)?;
                    answers.clear();
                    log.write(&mut *output, LINES)?;
                }
                None => answer(line, legacy, LINES, &mut answers),
            }
        }
        unread.drain(..=end);
        output.write_all(&answers)?;
        answers.clear();
    }
}

fn http(legacy: bool) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    writeln!(standard(1), "{}", listener.local_addr()?.port())?;
    loop {
        let (stream, _) = listener.accept()?;
        std::thread::spawn(move || serve(&stream, legacy));
    }
}

/// Answers the requests of one connection, in order.
fn serve(mut stream: &TcpStream, legacy: bool) -> Result<()> {
    const EVENTS: Frame = Frame { before: b"data: ", after: b"\n\n" };
    const BODIES: Frame = Frame { before: b"", after: b"" };
    stream.set_nodelay(true)?;
    let (mut unread, mut block) = (Vec::new(), vec![0; BLOCK]);
    loop {
        while let Some((head, body)) = request(&unread) {
            let (kind, frame) = match unread.starts_with(b"POST /sse") {
                true => ("text/event-stream", EVENTS),
                false => ("application/json", BODIES),
            };
            let message = &unread[head..body];
            let mut content = Vec::new();
            let log = Log::wanted(message, legacy);
            if log.is_none() {
                answer(message, legacy, frame, &mut content);
            }
            let length = log.as_ref().map_or(content.len(), |log| log.length(frame));
            let status = if length == 0 { "202 Accepted" } else { "200 OK" };
            let mut reply = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
            )
            .into_bytes();
            reply.append(&mut content);
            stream.write_all(&reply)?;
            if let Some(log) = log {
                log.write(&mut stream, frame)?;
            }
            unread.drain(..body);
        }
        let length = stream.read(&mut block)?;
        if length == 0 {
            return Ok(());
        }
        unread.extend_from_slice(&block[..length]);
    }
}

/// Where the head of the first request ends, and its body; none when it has not all come.
fn request(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = bytes[..head].to_ascii_lowercase();
    let length = number_after(&text, b"content-length: ").unwrap_or(0);
    (bytes.len() >= head + length).then_some((head, head + length))
}

/// What stands around a message.
#[derive(Clone, Copy)]
struct Frame {
    before: &'static [u8],
    after: &'static [u8],
}

/// Puts the answer to a message into `out`, and what goes before it.
fn answer(message: &[u8], legacy: bool, frame: Frame, out: &mut Vec<u8>) {
    let Some(id) = id(message) else { return };
    let method = after(message, b"\"method\":\"").unwrap_or_default();
    let mut put = |parts: &[&[u8]]| {
        [&[frame.before], parts, &[frame.after]].concat().iter().for_each(|part| out.extend(*part));
    };
    let constant = match (method, legacy) {
        ([b'i', ..], _) => INITIALIZED,
        ([b't', _, _, _, _, _, b'l', ..], true) => LISTED,
        ([b't', _, _, _, _, _, b'l', ..], false) => LISTED_MODERN,
        ([b's', ..], false) => DISCOVERED,
        ([b't', ..], _) => {
            let count = number_after(message, b"\"count\":").unwrap_or(0);
            (0..count).for_each(|_| put(&[TICK]));
            let text = after(message, b"\"text\":\"").unwrap_or(b"done\"");
            let end = text.iter().position(|byte| *byte == b'"').unwrap_or(text.len());
            return put(&[VERSION, id, result(legacy), &text[..end], END]);
        }
        _ => br#","error":{"code":-32601,"message":"Method not found"}}"#,
    };
    put(&[VERSION, id, constant]);
}

/// An answer with a long text. It is never in memory as a whole.
struct Log {
    id: Vec<u8>,
    legacy: bool,
    bytes: usize,
}

impl Log {
    /// Some if the message asks for one.
    fn wanted(message: &[u8], legacy: bool) -> Option<Log> {
        let bytes = number_after(message, b"\"bytes\":")?;
        Some(Log { id: id(message)?.to_vec(), legacy, bytes: bytes - bytes % LINE.len() })
    }

    fn length(&self, frame: Frame) -> usize {
        let around = [frame.before, VERSION, &self.id, result(self.legacy), END, frame.after];
        self.bytes + around.iter().map(|part| part.len()).sum::<usize>()
    }

    fn write(&self, out: &mut dyn Write, frame: Frame) -> Result<()> {
        out.write_all(&[frame.before, VERSION, &self.id, result(self.legacy)].concat())?;
        let block = LINE.repeat(16 * BLOCK / LINE.len());
        let mut left = self.bytes;
        while left > 0 {
            let now = left.min(block.len());
            out.write_all(&block[..now])?;
            left -= now;
        }
        out.write_all(&[END, frame.after].concat())
    }
}

/// A line of a log as JSON has it, with escapes every fifteen bytes.
const LINE: &[u8] = br#"2026-07-28T12:00:00Z INFO \"worker 17\" done\n"#;

const VERSION: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
const END: &[u8] = br#""}]}}"#;

/// The result of a tool, up to its text.
fn result(legacy: bool) -> &'static [u8] {
    match legacy {
        true => br#","result":{"content":[{"type":"text","text":""#,
        false => br#","result":{"resultType":"complete","content":[{"type":"text","text":""#,
    }
}

const INITIALIZED: &[u8] = br#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"1"}}}"#;
const DISCOVERED: &[u8] = br#","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"1"},"ttlMs":60000,"cacheScope":"private"}}"#;
const LISTED: &[u8] = br#","result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},{"name":"log","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}},{"name":"ticks","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}}}}]}}"#;
const LISTED_MODERN: &[u8] = br#","result":{"resultType":"complete","ttlMs":60000,"cacheScope":"private","tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},{"name":"log","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}},{"name":"ticks","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}}}}]}}"#;
const TICK: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"tick"}}"#;

fn id(message: &[u8]) -> Option<&[u8]> {
    let id = after(message, b"\"id\":")?;
    Some(&id[..id.iter().position(|byte| b",}".contains(byte)).unwrap_or(id.len())])
}

/// What stands behind the first `mark`.
fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let at = text.windows(mark.len()).position(|window| window == mark)?;
    Some(&text[at + mark.len()..])
}

fn number_after(text: &[u8], mark: &[u8]) -> Option<usize> {
    let digits = after(text, mark)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    str::from_utf8(&digits[..end]).ok()?.parse().ok()
}
