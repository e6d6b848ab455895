//! Why a transfer failed, as libcurl tells it.
//!
//! The HTTP library says little more than "failed to connect to the server" in its errors; the
//! certificate that did not fit or the refused connection it only logs. So this is a logger that
//! prints nothing and keeps the last records, to be asked when a transfer has failed.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Mutex, Once};

use log::{Level, LevelFilter, Log, Metadata, Record};

/// How many records are kept, over all connections.
const CAPACITY: usize = 50;

/// How much of a record is kept, in characters.
const LONGEST: usize = 500;

/// The only target that is read. Its records at `Debug` tell what happens to a transfer; whole
/// headers, with their secrets, go to another target at `Trace`, which stays off.
const TARGET: &str = "isahc::handler";

/// Where the HTTP library announces the thread of a new client, on the thread that builds it.
const ANNOUNCEMENT_TARGET: &str = "isahc::agent";
const ANNOUNCEMENT: &str = "agent_thread; id=";

/// The thread that carries out the transfers of one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Agent(u64);

/// A point in the sequence of records.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(u64);

static RING: Ring = Ring(Mutex::new(Records { last: 0, kept: VecDeque::new() }));
static INSTALLED: Once = Once::new();

thread_local! {
    static ANNOUNCED: Cell<Option<Agent>> = const { Cell::new(None) };
}

struct Ring(Mutex<Records>);

struct Records {
    last: u64,
    kept: VecDeque<Kept>,
}

struct Kept {
    number: u64,
    agent: Agent,
    text: String,
}

/// Begins to keep records. When the process has another logger already, there will be none.
pub(super) fn install() {
    INSTALLED.call_once(|| {
        if log::set_logger(&RING).is_ok() {
            log::set_max_level(LevelFilter::Debug);
        }
    });
}

/// The agent of the client that was last built on this thread, once.
pub(super) fn take_announced() -> Option<Agent> {
    ANNOUNCED.take()
}

/// Now.
pub(super) fn mark() -> Mark {
    Mark(RING.0.lock().map_or(0, |records| records.last))
}

/// What the agent has said since the mark, oldest first.
pub(super) fn since(mark: Mark, agent: Agent) -> Vec<String> {
    let Ok(records) = RING.0.lock() else { return Vec::new() };
    let kept = records.kept.iter().filter(|kept| kept.number > mark.0 && kept.agent == agent);
    kept.map(|kept| kept.text.clone()).collect()
}

impl Log for Ring {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Debug
            && matches!(metadata.target(), TARGET | ANNOUNCEMENT_TARGET)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        if record.target() == ANNOUNCEMENT_TARGET {
            return announce(&record.args().to_string());
        }
        let Some(agent) = this_agent() else { return };
        if let Ok(mut records) = self.0.lock() {
            records.last += 1;
            let number = records.last;
            if records.kept.len() == CAPACITY {
                records.kept.pop_front();
            }
            let text = record.args().to_string().chars().take(LONGEST).collect();
            records.kept.push_back(Kept { number, agent, text });
        }
    }

    fn flush(&self) {}
}

fn announce(text: &str) {
    let number = text.split_once(ANNOUNCEMENT).and_then(|(_, number)| number.trim().parse().ok());
    if let Some(number) = number {
        ANNOUNCED.set(Some(Agent(number)));
    }
}

/// The agent whose thread this is.
fn this_agent() -> Option<Agent> {
    let thread = std::thread::current();
    let number = thread.name()?.strip_prefix("isahc-agent-")?;
    number.parse().ok().map(Agent)
}

/// What a transfer does as a matter of course.
const NOISE: [&str; 19] = [
    "handler;",
    "Trying ",
    "Host ",
    "Hostname ",
    "IPv4: ",
    "IPv6: ",
    "closing connection",
    "shutting down connection",
    "upload completely sent off",
    "Established connection to ",
    "Request completely sent off",
    "using HTTP/",
    "Invalid response header",
    "request completed with error",
    // It found a kept connection closed, and goes on with a new one.
    "Connection died, retrying",
    // That would need the request a second time, which is not given.
    "rewind of client reader",
    "Issue another request to this URL",
    "Re-using existing",
    "Reusing existing",
];

/// The reason among the records of a transfer that failed.
pub(super) fn reason(records: &[String]) -> Option<String> {
    let telling = |record: &&String| {
        let record = record.trim_start();
        !NOISE.iter().any(|noise| record.starts_with(noise))
    };
    let last = records.iter().rfind(telling)?.trim();
    // The summary of several attempts says less than the last attempt.
    let attempt = last.starts_with("Failed to connect to ").then(|| {
        let attempts = records.iter().filter(|record| record.starts_with("connect to "));
        attempts
            .filter_map(|record| record.rsplit_once(" failed: "))
            .map(|(_, why)| why)
            .next_back()
    });
    let reason = match attempt.flatten() {
        Some(why) => why,
        None => last.strip_prefix("rustls_connection_process_new_packets: ").unwrap_or(last),
    };
    match reason {
        // The HTTP library has refused what libcurl gave it.
        refused if refused.starts_with("Failure writing output to destination") => {
            Some("it sent a header field that is none".to_owned())
        }
        // A kept connection has died, and what was sent on it cannot be sent again.
        lost if lost.starts_with("seek callback returned error") => {
            Some("it was closed before the answer came".to_owned())
        }
        // All that the library tells of some kinds of self-signed certificates.
        "unknown certificate error" => Some("it is self-signed, or not well-formed".to_owned()),
        _ => Some(lower_first(reason)),
    }
}

/// The text with its first letter in lower case, unless it begins with an abbreviation.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_last_record_that_tells_one() {
        let check = |records: &[&str], expected: Option<&str>| {
            let records: Vec<String> = records.iter().map(|&record| record.to_owned()).collect();
            assert_eq!(reason(&records).as_deref(), expected, "{records:?}");
        };
        check(
            &[
                "handler; id=0",
                "  Trying 127.0.0.1:1...",
                "connect to 127.0.0.1 port 1 from 127.0.0.1 port 59144 failed: Connection refused",
                "Failed to connect to 127.0.0.1:1 after 0 ms: Could not connect to server",
                "closing connection #0",
                "request completed with error: failed to connect to the server",
            ],
            Some("connection refused"),
        );
        check(
            &["Could not resolve host: a.invalid", "closing connection #0"],
            Some("could not resolve host: a.invalid"),
        );
        check(
            &["rustls_connection_process_new_packets: invalid peer certificate: UnknownIssuer"],
            Some("invalid peer certificate: UnknownIssuer"),
        );
        check(
            &["CONNECT tunnel failed, response 403", "closing connection #0"],
            Some("CONNECT tunnel failed, response 403"),
        );
        check(&["handler; id=0", "closing connection #0"], None);
        let again = "Issue another request to this URL: 'http://127.0.0.1:1/mcp'";
        check(&["Connection died, retrying a fresh connect (retry count: 1)", again], None);
        check(&["rewind of client reader 'cr-in' failed: 65", again], None);
        check(&["Empty reply from server", again], Some("empty reply from server"));
        let refused =
            "Failure writing output to destination, passed 36 returned 18446744073709551615";
        check(&[refused], Some("it sent a header field that is none"));
        let rewound = "seek callback returned error 2";
        check(&[again, rewound], Some("it was closed before the answer came"));
        let way = "Established connection to 127.0.0.1 (127.0.0.1 port 1) from 127.0.0.1 port 2";
        check(&[way, "Request completely sent off"], None);
        check(&[], None);
    }

    #[test]
    fn announcements_name_the_agent() {
        announce("++ agent_thread; id=17");
        assert_eq!(take_announced(), Some(Agent(17)));
        assert_eq!(take_announced(), None);
        announce("agent took 1ms to start up");
        assert_eq!(take_announced(), None);
    }
}
