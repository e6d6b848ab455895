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
            answer(line, legacy, &mut answers, &|out, message| {
                out.extend_from_slice(message);
                out.push(b'\n');
            });
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
    stream.set_nodelay(true)?;
    let (mut unread, mut block) = (Vec::new(), vec![0; BLOCK]);
    loop {
        while let Some((head, body)) = request(&unread) {
            let streams = unread.starts_with(b"POST /sse");
            let mut content = Vec::new();
            answer(&unread[head..body], legacy, &mut content, &|out, message| match streams {
                true => [b"data: ", message, b"\n\n"].iter().for_each(|part| out.extend(*part)),
                false => out.extend_from_slice(message),
            });
            let kind = if streams { "text/event-stream" } else { "application/json" };
            let length = content.len();
            let status = if length == 0 { "202 Accepted" } else { "200 OK" };
            let mut reply = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
            )
            .into_bytes();
            reply.append(&mut content);
            unread.drain(..body);
            stream.write_all(&reply)?;
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

/// Puts the answer to a message, and what goes before it, through `frame`.
fn answer(
    message: &[u8],
    legacy: bool,
    out: &mut Vec<u8>,
    frame: &dyn Fn(&mut Vec<u8>, &[u8]),
) {
    let Some(id) = after(message, b"\"id\":") else { return };
    let id = &id[..id.iter().position(|byte| b",}".contains(byte)).unwrap_or(id.len())];
    let method = after(message, b"\"method\":\"").unwrap_or_default();
    let mut result = Vec::new();
    if method.starts_with(b"tools/call") {
        call(message, legacy, &mut result, &mut |notification| frame(out, notification));
    } else {
        result.extend_from_slice(match (method, legacy) {
            ([b'i', ..], _) => INITIALIZED.as_bytes(),
            ([b't', ..], true) => LISTED.as_bytes(),
            ([b't', ..], false) => LISTED_MODERN.as_bytes(),
            ([b's', ..], false) => DISCOVERED.as_bytes(),
            _ => br#""error":{"code":-32601,"message":"Method not found"}"#,
        });
    }
    let whole = [br#"{"jsonrpc":"2.0","id":"#, id, b",", &result, b"}"].concat();
    frame(out, &whole);
}

/// The result of a tool call; `notify` takes what is sent before it.
fn call(message: &[u8], legacy: bool, out: &mut Vec<u8>, notify: &mut dyn FnMut(&[u8])) {
    let complete = if legacy { "" } else { r#""resultType":"complete","# };
    out.extend_from_slice(b"\"result\":{");
    out.extend_from_slice(complete.as_bytes());
    out.extend_from_slice(br#""content":[{"type":"text","text":""#);
    if let Some(bytes) = number_after(message, b"\"bytes\":") {
        const LINE: &[u8] = br#"2026-07-28T12:00:00Z INFO \"worker 17\" done\n"#;
        out.reserve(bytes + LINE.len() + 64);
        let full = out.len() + bytes;
        while out.len() < full {
            out.extend_from_slice(LINE);
        }
    } else if let Some(count) = number_after(message, b"\"count\":") {
        (0..count).for_each(|_| notify(TICK));
        out.extend_from_slice(b"done");
    } else if let Some(text) = after(message, b"\"text\":\"") {
        let end = text.iter().position(|byte| *byte == b'"').unwrap_or(text.len());
        out.extend_from_slice(&text[..end]);
    }
    out.extend_from_slice(br#""}]}"#);
}

const INITIALIZED: &str = r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"1"}}"#;
const DISCOVERED: &str = r#""result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"floor","version":"1"},"ttlMs":60000,"cacheScope":"private"}"#;
const LISTED: &str = r#""result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},{"name":"log","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}},{"name":"ticks","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}}}}]}"#;
const LISTED_MODERN: &str = r#""result":{"resultType":"complete","ttlMs":60000,"cacheScope":"private","tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},{"name":"log","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}},{"name":"ticks","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}}}}]}"#;
const TICK: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"tick"}}"#;

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
