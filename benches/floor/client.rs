//! The least that one call takes: what a program does that has nothing to decide.
//!
//! ```text
//! client hello                              starts and says a word
//! client legacy|modern COMMAND [WORD...]    starts a server, calls `echo`, prints the answer
//! client legacy|modern PORT [PATH]          the same over HTTP, on one connection to 127.0.0.1
//! client long …                             as modern, but calls `log`, whose answer has 64 MB
//! ```
//!
//! The messages are constants; the answers are read and not looked at. Starting a server costs
//! `posix_spawn`, two pipes, and waiting until the server has gone, with no library in between.
//! `rustc` builds it; it has no dependencies.

#![no_main]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::{Read, Result, Write};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::net::TcpStream;
use std::os::fd::FromRawFd;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#;
const CALL_MODERN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"floor","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

const CALL_LONG: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log","arguments":{"bytes":67108864},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"floor","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// How much of a long answer is read at once, in bytes.
const BLOCK: usize = 64 << 10;

/// Without the runtime of `std`, which costs as much as a tenth of a call.
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    let word = |at: usize| {
        if at >= count as usize {
            return &b""[..];
        }
        // SAFETY: the system hands over `count` pointers to texts that end with a zero.
        unsafe { CStr::from_ptr(*words.add(at)) }.to_bytes()
    };
    let messages: &[&str] = match word(1) {
        b"legacy" => &[INITIALIZE, INITIALIZED, CALL],
        b"modern" => &[CALL_MODERN],
        _ => &[CALL_LONG],
    };
    let (mut small, mut large) = ([0; 4096], Vec::new());
    let block = match word(1) {
        b"long" => {
            large.resize(BLOCK, 0);
            &mut large[..]
        }
        _ => &mut small,
    };
    let done = match (word(1), str::from_utf8(word(2)).map(str::parse)) {
        (b"hello", _) => standard(1).write_all(b"hello\n"),
        (_, Ok(Ok(port))) => {
            over_http(port, str::from_utf8(word(3)).unwrap_or(""), messages, block)
        }
        // SAFETY: the words end with a null pointer, so those from the second on do too.
        _ => over_pipes(unsafe { words.add(2) }, messages, block),
    };
    done.is_err().into()
}

/// The open file with that number, which is not closed at the end.
fn standard(number: c_int) -> ManuallyDrop<File> {
    // SAFETY: the descriptor stays open for as long as the process lives.
    ManuallyDrop::new(unsafe { File::from_raw_fd(number) })
}

fn over_pipes(words: *const *const c_char, messages: &[&str], block: &mut [u8]) -> Result<()> {
    let (process, mut input, mut output) = start(words)?;
    let mut answer = Vec::new();
    for message in messages {
        input.write_all(format!("{message}\n").as_bytes())?;
        if *message != INITIALIZED {
            read_line(&mut output, &mut answer, block)?;
        }
    }
    standard(1).write_all(&answer)?;
    drop(input);
    // SAFETY: a null pointer tells that nobody wants the status.
    unsafe { waitpid(process, std::ptr::null_mut(), 0) };
    Ok(())
}

fn read_line(output: &mut File, line: &mut Vec<u8>, block: &mut [u8]) -> Result<()> {
    line.clear();
    while line.last() != Some(&b'\n') {
        read(output, line, block)?;
    }
    Ok(())
}

/// Appends what comes next.
fn read(from: &mut impl Read, to: &mut Vec<u8>, block: &mut [u8]) -> Result<()> {
    match from.read(block)? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        length => Ok(to.extend_from_slice(&block[..length])),
    }
}

fn over_http(port: u16, path: &str, messages: &[&str], block: &mut [u8]) -> Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    let mut answer = Vec::new();
    let mut head = 0;
    for message in messages {
        head = post(&mut stream, path, message, &mut answer, block)?;
    }
    standard(1).write_all(&answer[head..])
}

/// Sends a message and reads the answer, which has come when the body is as long as announced; where
/// the body begins.
fn post(
    stream: &mut TcpStream,
    path: &str,
    body: &str,
    answer: &mut Vec<u8>,
    block: &mut [u8],
) -> Result<usize> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all((head + body).as_bytes())?;
    answer.clear();
    let (head, end) = loop {
        read(stream, answer, block)?;
        let Some(head) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let length = str::from_utf8(&answer[..head]).ok().and_then(|text| {
            text.split_once("Content-Length: ")?.1.lines().next()?.parse::<usize>().ok()
        });
        let Some(length) = length else { return Err(std::io::ErrorKind::InvalidData.into()) };
        break (head + 4, head + 4 + length);
    };
    while answer.len() < end {
        read(stream, answer, block)?;
    }
    Ok(head)
}

/// Starts a process with pipes as its standard input and output; its number and our ends.
fn start(words: *const *const c_char) -> Result<(c_int, File, File)> {
    let (theirs_in, ours_in) = pipe()?;
    let (ours_out, theirs_out) = pipe()?;
    let mut actions = MaybeUninit::<[u8; 256]>::uninit();
    let actions = actions.as_mut_ptr().cast();
    let mut process = 0;
    // SAFETY: `actions` has room for the structure, which takes 80 bytes at most, and is only used
    // after it was initialised; all other pointers come from the system or point to locals.
    let failed = unsafe {
        posix_spawn_file_actions_init(actions);
        posix_spawn_file_actions_adddup2(actions, theirs_in, 0);
        posix_spawn_file_actions_adddup2(actions, theirs_out, 1);
        posix_spawnp(&mut process, *words, actions, std::ptr::null(), words, environ)
    };
    // SAFETY: the four descriptors are ours, and each is given to one file.
    let [_, _, input, output] = unsafe {
        [theirs_in, theirs_out, ours_in, ours_out].map(|number| File::from_raw_fd(number))
    };
    match failed {
        0 => Ok((process, input, output)),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

/// The end to read from and the end to write to. No child gets them by accident.
fn pipe() -> Result<(c_int, c_int)> {
    const CLOSE_ON_EXEC: c_int = 0o2_000_000;
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors.
    match unsafe { pipe2(ends.as_mut_ptr(), CLOSE_ON_EXEC) } {
        0 => Ok((ends[0], ends[1])),
        _ => Err(std::io::Error::last_os_error()),
    }
}

unsafe extern "C" {
    static environ: *const *const c_char;
    fn pipe2(ends: *mut c_int, flags: c_int) -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn posix_spawn_file_actions_init(actions: *mut c_void) -> c_int;
    fn posix_spawn_file_actions_adddup2(actions: *mut c_void, from: c_int, to: c_int) -> c_int;
    fn posix_spawnp(
        process: *mut c_int,
        program: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        words: *const *const c_char,
        environment: *const *const c_char,
    ) -> c_int;
}
