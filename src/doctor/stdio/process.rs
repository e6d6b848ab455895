//! A server process, with everything that it writes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use futures_lite::{FutureExt, future};
use rustix::process::Signal;
use serde_json::Value;

use super::family::{Family, Guardian};
use crate::doctor::finding::excerpt;
use crate::doctor::reading::{self, Odd};
use crate::protocol::framing::jsonl::Lines;
use crate::protocol::trace::{Direction, Trace};
use crate::reactor::{Reader, Timer, Writer};
use crate::transport::stdio::{Copy, ExitText, Group, Pipes, Target};

/// The longest line that is read, in bytes.
const LIMIT: usize = 4 << 20;

/// How much is kept of what the server writes on its standard error, in bytes.
const KEPT: usize = 256 << 10;

/// How long the system may take to tell that a process has ended, or to hand out what it wrote last.
const MOMENT: Duration = Duration::from_millis(100);

/// How many messages are kept that nobody has asked for yet; the oldest ones go.
const WAITING: usize = 100;

/// How long these messages may be together, in bytes. In memory they are many times that.
const WAITING_BYTES: usize = 4 << 20;

/// How many lines that are no messages are kept, and how many requests of the server.
const NOISE: usize = 20;

/// A server process.
#[derive(Debug)]
pub(super) struct Process {
    group: Group,
    stdin: Option<Writer>,
    stdout: Option<Reader>,
    stderr: Option<Reader>,
    lines: Lines,
    /// The messages that came and were not asked for yet.
    waiting: VecDeque<(usize, Value)>,
    /// The lines that were written to it.
    pub(super) sent: Vec<String>,
    /// What came on standard output and is no message.
    pub(super) noise: Vec<String>,
    /// What is odd about the messages that came, the first of it.
    pub(super) odd: Option<Odd>,
    /// The methods of the requests that it has sent.
    pub(super) requests: Vec<String>,
    /// The beginning of what came on standard error.
    pub(super) complaints: Vec<u8>,
    /// How much came on standard error, in bytes.
    pub(super) complained: usize,
    /// It, and all that it has started.
    pub(super) family: Family,
    copy: Copy,
    trace: Trace,
    /// Whether nothing of it is left, so that its number may belong to others.
    is_gone: bool,
}

impl Process {
    /// Starts the server, or says why it cannot be started.
    pub(super) fn start(target: &Target) -> Result<Process, String> {
        let guardian = Guardian::appoint();
        let (group, Pipes { stdin, stdout, stderr }) =
            Group::spawn(target).map_err(|fault| fault.text)?;
        let family = Family::of(group.id(), guardian);
        Ok(Process {
            group,
            stdin: Some(stdin),
            stdout: Some(stdout),
            stderr: Some(stderr),
            lines: Lines::new(LIMIT),
            waiting: VecDeque::new(),
            sent: Vec::new(),
            noise: Vec::new(),
            odd: None,
            requests: Vec::new(),
            complaints: Vec::new(),
            complained: 0,
            family,
            copy: Copy::new(&target.stderr),
            trace: target.trace.clone(),
            is_gone: false,
        })
    }

    /// Writes a line; false when the server does not take it in time.
    pub(super) async fn write(&mut self, line: &str, patience: Duration) -> bool {
        let Some(stdin) = &mut self.stdin else { return false };
        self.trace.frame(Direction::Out, line.as_bytes());
        self.sent.push(line.to_owned());
        let writing = async { stdin.write_all(format!("{line}\n").as_bytes()).await.is_ok() };
        let too_late = async {
            Timer::after(patience).await;
            false
        };
        writing.or(too_late).await
    }

    /// Waits for a message of that kind, and takes it out of those that came.
    pub(super) async fn expect(
        &mut self,
        wanted: impl Fn(&Value) -> bool,
        patience: Duration,
    ) -> Option<Value> {
        let until = Instant::now() + patience;
        loop {
            if let Some(at) = self.waiting.iter().position(|(_, message)| wanted(message)) {
                return self.waiting.remove(at).map(|(_, message)| message);
            }
            if !self.read_until(until).await {
                return None;
            }
        }
    }

    /// Reads what comes within that time.
    pub(super) async fn listen(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.read_until(until).await {}
    }

    /// Reads something from either output; false when the time is over or both have ended.
    async fn read_until(&mut self, until: Instant) -> bool {
        // A server that writes without end has always something to read: neither the time nor a
        // signal would be looked at.
        future::yield_now().await;
        if until <= Instant::now() {
            return false;
        }
        let too_late = async {
            Timer::at(until).await;
            false
        };
        self.read().or(too_late).await
    }

    async fn read(&mut self) -> bool {
        enum Came {
            Output(usize),
            Complaint(usize),
        }
        if self.stdout.is_none() && self.stderr.is_none() {
            return false;
        }
        let mut block = [0; 8 << 10];
        let (stdout, stderr, lines) = (&mut self.stdout, &mut self.stderr, &mut self.lines);
        let output = async {
            match stdout {
                Some(pipe) => Came::Output(pipe.read(lines.spare()).await.unwrap_or(0)),
                None => future::pending().await,
            }
        };
        let complaint = async {
            match stderr {
                Some(pipe) => Came::Complaint(pipe.read(&mut block).await.unwrap_or(0)),
                None => future::pending().await,
            }
        };
        match output.or(complaint).await {
            Came::Output(0) => self.stdout = None,
            Came::Output(length) => {
                self.lines.filled(length);
                self.take_lines();
            }
            Came::Complaint(0) => {
                self.copy.finish().await;
                self.stderr = None;
            }
            Came::Complaint(length) => {
                self.complained = self.complained.saturating_add(length);
                let room = KEPT.saturating_sub(self.complaints.len()).min(length);
                self.complaints.extend_from_slice(&block[..room]);
                self.copy.push(&block[..length]).await;
            }
        }
        true
    }

    fn take_lines(&mut self) {
        loop {
            match self.lines.next_line() {
                Ok(Some(line)) => self.take_line(&line),
                Ok(None) => return,
                Err(_) => {
                    self.note_noise("a line without end".to_owned());
                    // Nothing after it can be understood.
                    self.stdout = None;
                    return;
                }
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        self.trace.frame(Direction::In, line);
        let is_message = |value: &Value| value.get("jsonrpc").is_some_and(|it| it == "2.0");
        let odd = match reading::read(line) {
            Some((message, odd)) if is_message(&message) => {
                self.keep(line.len(), [message]);
                odd
            }
            Some((Value::Array(messages), odd)) if messages.iter().all(is_message) => {
                self.keep(line.len(), messages);
                odd
            }
            _ => return self.note_noise(excerpt(&String::from_utf8_lossy(line))),
        };
        self.odd = self.odd.take().or(odd);
    }

    /// Keeps the messages of a line of that length.
    fn keep(&mut self, length: usize, messages: impl IntoIterator<Item = Value>) {
        for message in messages {
            let method = message.get("method").and_then(Value::as_str);
            if let (Some(method), true) = (method, message.get("id").is_some())
                && self.requests.len() < NOISE
            {
                self.requests.push(excerpt(method));
            }
            self.waiting.push_back((length, message));
        }
        let mut together: usize = self.waiting.iter().map(|(length, _)| length).sum();
        // The newest is kept in any case.
        while WAITING < self.waiting.len() || 1 < self.waiting.len() && WAITING_BYTES < together {
            together -= self.waiting.pop_front().map_or(0, |(length, _)| length);
        }
    }

    fn note_noise(&mut self, line: String) {
        if self.noise.len() < NOISE {
            self.noise.push(line);
        }
    }

    /// Whether the process has ended by itself. The system tells a moment later.
    pub(super) async fn has_ended(&mut self) -> bool {
        self.group.exited_within(MOMENT).await
    }

    /// Closes its input and waits for it to go; false when it did not go in time.
    pub(super) async fn close(&mut self, patience: Duration) -> bool {
        self.stdin = None;
        self.gone_within(patience).await
    }

    /// Asks it to end, by SIGTERM, and waits for it to go; false when it did not go in time.
    pub(super) async fn terminate(&mut self, patience: Duration) -> bool {
        self.group.signal(Signal::TERM);
        self.gone_within(patience).await
    }

    /// Waits for it to go, while it may still write.
    async fn gone_within(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            let step =
                Duration::from_millis(20).min(until.saturating_duration_since(Instant::now()));
            if self.group.exited_within(step).await {
                // Its last words may be in the pipes still, which somebody else may hold open.
                self.listen(MOMENT).await;
                return true;
            }
            if until <= Instant::now() {
                return false;
            }
            // The descriptors are not looked at in no time.
            self.listen(Duration::from_millis(1)).await;
        }
    }

    /// How it ended, for people, and whether that was in order; `None` when it has not.
    pub(super) fn ending(&self) -> Option<(String, bool)> {
        let status = self.group.status()?;
        Some((ExitText(status).to_string(), status.success()))
    }

    /// Ends whatever is left of it.
    pub(super) async fn kill(&mut self) {
        self.family.kill_strays();
        self.group.signal(Signal::KILL);
        self.is_gone = self.group.exited_within(Duration::from_secs(1)).await;
        if self.family.is_whole() {
            // What it has started in its last moment.
            self.family.kill_strays();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Also what it has started: dropping the child ends only the child.
        if !self.is_gone {
            self.family.kill_strays();
            self.group.signal(Signal::KILL);
        }
    }
}
