//! The least that one call takes: what a program does that has nothing to decide.
//!
//! ```text
//! client hello                              starts and says a word
//! client legacy|modern COMMAND [WORD...]    starts a server, calls `echo`, prints the answer
//! client legacy|modern PORT [PATH]          the same over HTTP, on one connection to 127.0.0.1
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
    let modern = word(1) == b"modern";
    let done = match (word(1), str::from_utf8(word(2)).map(str::parse)) {
        (b"hello", _) => standard(1).write_all(b"hello\n"),
        (_, Ok(Ok(port))) => over_http(port, str::from_utf8(word(3)).unwrap_or(""), modern),
        // SAFETY: the words end with a null pointer, so those from the second on do too.
        _ => over_pipes(unsafe { words.add(2) }, modern),
    };
    done.is_err().into()
}

/// The open file with that number, which is not closed at the end.
fn standard(number: c_int) -> ManuallyDrop<File> {
    // SAFETY: the descriptor stays open for as long as the process lives.
    ManuallyDrop::new(unsafe { File::from_raw_fd(number) })
}

fn over_pipes(words: *const *const c_char, modern: bool) -> Result<()> {
    let (process, mut input, mut output) = start(words)?;
    let mut answer = Vec::new();
    if modern {
        input.write_all(format!("{CALL_MODERN}\n").as_bytes())?;
    } else {
        input.write_all(format!("{INITIALIZE}\n").as_bytes())?;
        read_line(&mut output, &mut answer)?;
        input.write_all(format!("{INITIALIZED}\n").as_bytes())?;
        input.write_all(format!("{CALL}\n").as_bytes())?;
    }
    read_line(&mut output, &mut answer)?;
    standard(1).write_all(&answer)?;
    drop(input);
    // SAFETY: a null pointer tells that nobody wants the status.
    unsafe { waitpid(process, std::ptr::null_mut(), 0) };
    Ok(())
}

fn read_line(output: &mut File, line: &mut Vec<u8>) -> Result<()> {
    let mut block = [0; 4096];
    line.clear();
    while line.last() != Some(&b'\n') {
        let length = output.read(&mut block)?;
        if length == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        line.extend_from_slice(&block[..length]);
    }
    Ok(())
}

fn over_http(port: u16, path: &str, modern: bool) -> Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    let mut answer = Vec::new();
    if modern {
        post(&mut stream, path, CALL_MODERN, &mut answer)?;
    } else {
        for message in [INITIALIZE, INITIALIZED, CALL] {
            post(&mut stream, path, message, &mut answer)?;
        }
    }
    standard(1).write_all(&answer)
}

/// Sends a message; the answer is all that comes before the body is as long as announced.
fn post(stream: &mut TcpStream, path: &str, body: &str, answer: &mut Vec<u8>) -> Result<()> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all((head + body).as_bytes())?;
    let mut block = [0; 4096];
    let mut come = 0;
    loop {
        let length = stream.read(&mut block[come..])?;
        come += length;
        let text = str::from_utf8(&block[..come]).unwrap_or("");
        let parts = text.split_once("\r\n\r\n").and_then(|(head, body)| {
            let length = head.split_once("Content-Length: ")?.1.lines().next()?;
            (body.len() >= length.parse().ok()?).then_some(body)
        });
        if let Some(body) = parts {
            answer.clear();
            answer.extend_from_slice(body.as_bytes());
            return Ok(());
        }
        if length == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
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
