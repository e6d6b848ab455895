//! What the tests of the binary share: running it with nothing of the user's around it, the demo
//! server, and small HTTP servers that answer one thing.

#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// No run of the binary in these tests takes that long, not even on a loaded machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A directory that is removed at the end of the test. It is the home and the working directory
/// of what runs in it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("mcpmini-test-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                // The system's name for it: on macOS the usual one leads through a link.
                Ok(()) => return Self(path.canonicalize().unwrap()),
                // A run that was killed has left it, and its number has come round again.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file and returns its path as text.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    /// The lines of a file; none when it is not there.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// A command that sees this directory and nothing else of its surroundings.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.0).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// The binary with these words.
    pub(crate) fn mcpmini<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_mcpmini"));
        command.args(words);
        command
    }

    /// A shell script, in which `$mcpmini` is the binary and `$demo` the demo server as SERVER.
    pub(crate) fn shell(&self, script: &str) -> Command {
        let mut command = self.command("sh");
        command.args(["-c", script]);
        command.env("mcpmini", env!("CARGO_BIN_EXE_mcpmini")).env("demo", demo(""));
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A directory that stays behind in the temporary one does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The path of the demo server, which cargo builds with the tests.
pub(crate) fn demo_path() -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_mcpmini"));
    let path = bin.with_file_name("examples").join("demo-server");
    assert!(path.exists(), "{} is not there: cargo build --examples", path.display());
    path.into_os_string().into_string().unwrap()
}

/// The demo server on stdio, as SERVER.
pub(crate) fn demo(flags: &str) -> String {
    format!("exec:'{}' {flags}", demo_path())
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit code as a shell shows it: 128 + N for signal N.
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) took: Duration,
}

/// Runs a command to its end.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Outcome {
    run_with_input(command, None)
}

/// Runs a command to its end, with bytes on its standard input.
#[track_caller]
pub(crate) fn run_with_input(command: &mut Command, input: Option<&[u8]>) -> Outcome {
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let begin = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if let Some(input) = input {
        // It may end without reading all of it.
        let _ = child.stdin.take().unwrap().write_all(input);
    }
    finish(child, begin)
}

/// Waits for a child whose outputs are pipes.
#[track_caller]
pub(crate) fn finish(mut child: Child, begin: Instant) -> Outcome {
    let out = collect(child.stdout.take().unwrap());
    let err = collect(child.stderr.take().unwrap());
    let status = wait(&mut child);
    Outcome {
        code: status.code().unwrap_or_else(|| 128 + status.signal().unwrap()),
        out: out.join().unwrap(),
        err: err.join().unwrap(),
        took: begin.elapsed(),
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[track_caller]
fn wait(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("no end within {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until something holds; fails the test when it does not.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "it never came: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The running processes whose command line contains a text.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let is_one = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_one).collect()
}

/// A server of the demo server's over HTTP; it ends with this value.
pub(crate) struct HttpDemo {
    child: Child,
    pub(crate) url: String,
}

impl HttpDemo {
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::start_with("--http", flags)
    }

    /// The same with the binding of 2024-11-05.
    pub(crate) fn start_sse(flags: &[&str]) -> Self {
        Self::start_with("--sse", flags)
    }

    fn start_with(binding: &str, flags: &[&str]) -> Self {
        let mut command = Command::new(demo_path());
        let mut child =
            command.args([binding, "0"]).args(flags).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for HttpDemo {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// An HTTP server that gives to each request what `answer` makes of its head and body: a status
/// line, further fields and a body, as they go over the wire. Returns the URL.
pub(crate) fn http_server(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // A client that hangs up is no event.
            let _ = serve(stream, &answer);
        }
    });
    url
}

/// A URL at which nothing listens.
pub(crate) fn closed_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    format!("http://{address}/mcp")
}

/// An answer with a JSON body.
pub(crate) fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

fn serve(stream: TcpStream, answer: impl Fn(&str) -> String) -> std::io::Result<()> {
    stream.set_read_timeout(Some(LIMIT))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        request += &line;
        if line.trim().is_empty() {
            break;
        }
    }
    reader.take(length).read_to_string(&mut request)?;
    let mut stream = stream;
    stream.write_all(answer(&request).as_bytes())
}
