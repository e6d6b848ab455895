//! Checks of a server from outside: does it keep the rules that protect its users?
//!
//! ```text
//! Target ──▶ Examination ──▶ Report, Report, …      one for each check, in the order of the tables
//!              │            ──▶ Unusable             why there is nothing to examine, if so
//!              ├─ http    groups of checks over an endpoint      (questions: `Probe` → `Answer`)
//!              └─ stdio   groups of checks over a process        (facts: two runs of it)
//! ```
//!
//! A check is one function in the table of its group. It asks what a client may ask at any time
//! (`initialize`, `server/discover`, `ping`, lists) or what a server must refuse; it never runs a
//! tool. What cannot be told from outside is [`Verdict::Unknown`], never a pass.
//!
//! The verdicts follow the words of the specification: a MUST that is broken, or a door that stands
//! open, fails; a SHOULD is a warning.

mod finding;
mod http;
mod reading;
mod sockets;
mod stdio;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::http::StatusCode;
use futures_lite::FutureExt;

pub use self::finding::{Finding, Need, Verdict};
pub(crate) use self::stdio::unpinned;
use crate::env::Secret;
use crate::protocol::message::Fault;
use crate::protocol::revision::{Era, Revision};
use crate::reactor::Timer;
use crate::transport;
use crate::trust::signature::sigstore::TrustRoot;

/// What is examined.
#[derive(Debug)]
pub enum Target {
    /// An endpoint.
    Http(Box<transport::http::Target>),
    /// A process, which is started several times.
    Stdio(transport::stdio::Target),
}

/// How it is examined.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long one answer may take.
    pub patience: Duration,
    /// How long the start of a process may take, up to its first answer.
    pub start: Duration,
    /// When everything must be over. What has not been checked by then is unknown.
    pub until: Instant,
    /// The only revision to speak, if one is wanted.
    pub revision: Option<&'static Revision>,
    /// Whether the server is known to speak HTTP+SSE, the binding of 2024-11-05.
    pub sse: bool,
    /// Whether a server that asks for no credentials fails.
    pub require_auth: bool,
    /// How many fresh connections one session is tried on.
    pub connections: u32,
    /// The checks that are wanted, by their ids, in which `*` stands for anything; all when there
    /// are none.
    pub only: Vec<String>,
    /// Whose signatures of cards count.
    pub root: Arc<TrustRoot>,
    /// What may stand in no evidence.
    pub secrets: Vec<Secret>,
}

impl Options {
    /// Whether that era is to be tried.
    fn tries(&self, era: Era) -> bool {
        !self.sse && self.revision.is_none_or(|revision| revision.era == era)
    }

    /// The revision to open a session with.
    fn offer(&self) -> &'static str {
        let wanted = self.revision.filter(|revision| revision.era == Era::Legacy);
        wanted.unwrap_or_else(|| Revision::newest(Era::Legacy)).date
    }
}

/// What a check has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The id of the check.
    pub check: &'static str,
    /// What should be so.
    pub title: &'static str,
    /// Where that is written.
    pub clause: &'static str,
    /// What whoever runs the server can do when it is not so; when that cannot be told, what would
    /// let it be told.
    pub fix: &'static str,
    /// Whether it is so, and how one can tell.
    pub finding: Finding,
    /// What was asked, as something to try by hand: command lines of curl, or lines for the
    /// server's standard input. Credentials and sessions are left out.
    pub requests: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// A check of a server of the kind `S`.
struct Check<S> {
    /// What it is called on the command line. Never changes.
    id: &'static str,
    /// What should be so.
    title: &'static str,
    /// Where that is written.
    clause: &'static str,
    /// What whoever runs the server can do when it is not so.
    fix: &'static str,
    /// Finds out.
    run: for<'s> fn(&'s S) -> Running<'s>,
}

/// A check at work.
type Running<'s> = Pin<Box<dyn Future<Output = Finding> + 's>>;

/// A server that can be examined.
trait Subject: Sized + 'static {
    /// All checks, in order.
    fn checks() -> Vec<&'static Check<Self>>;
    /// What was asked since this was called last.
    fn take_requests(&self) -> Vec<String>;
}

/// Why a server cannot be examined. Some checks tell something nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// It cannot be started or reached, or hangs up.
    Fault(Fault),
    /// It is too busy, or what stands in front of it does not reach it.
    Busy(StatusCode),
    /// It does not answer within that time.
    Silent(Duration),
    /// It refuses everybody who comes like this, and not for want of credentials.
    Refused {
        /// What it says.
        said: String,
        /// The host that it would take (`localhost:3000`), if that is why.
        host: Option<String>,
    },
    /// What answers speaks no MCP that is known here: what it does instead, in a sentence.
    NotMcp(String),
}

/// A server under examination.
#[derive(Debug)]
pub struct Examination {
    subject: Either,
    options: Options,
    position: usize,
    ran_out: bool,
}

#[derive(Debug)]
enum Either {
    Http(Box<http::Site>),
    Stdio(Box<stdio::Runs>),
}

/// The ids and titles of all checks.
pub fn all_checks() -> Vec<(&'static str, &'static str)> {
    let http = http::Site::checks().into_iter().map(|check| (check.id, check.title));
    let stdio = stdio::Runs::checks().into_iter().map(|check| (check.id, check.title));
    http.chain(stdio).collect()
}

impl Examination {
    /// An examination that has not begun. Errors when no connection can be prepared, for want of
    /// files.
    pub fn new(target: Target, options: Options) -> Result<Examination, Fault> {
        let subject = match target {
            Target::Http(target) => Either::Http(Box::new(http::Site::new(*target, &options)?)),
            Target::Stdio(target) => Either::Stdio(Box::new(stdio::Runs::new(target, &options))),
        };
        Ok(Examination { subject, options, position: 0, ran_out: false })
    }

    /// Opens the conversation, which the checks need. Not later than the time that the options give,
    /// it is done; what it came to, the checks tell.
    pub async fn open(&mut self) {
        match &mut self.subject {
            Either::Http(site) => site.open().await,
            Either::Stdio(runs) => runs.open().await,
        }
    }

    /// Why the server cannot be examined, if that is so.
    pub fn unusable(&self) -> Option<Unusable> {
        match &self.subject {
            Either::Http(site) => site.unusable(),
            Either::Stdio(runs) => runs.unusable(),
        }
    }

    /// Runs the next check; `None` when there are no more.
    ///
    /// A future that is dropped loses its check.
    pub async fn next(&mut self) -> Option<Report> {
        let position = self.position;
        match &self.subject {
            Either::Http(site) => {
                let (next, report) = run(&**site, position, &self.options).await?;
                self.note(next, report)
            }
            Either::Stdio(runs) => {
                let (next, report) = run(&**runs, position, &self.options).await?;
                self.note(next, report)
            }
        }
    }

    fn note(&mut self, next: usize, report: Report) -> Option<Report> {
        self.position = next;
        self.ran_out |= report.finding.need == Some(Need::Time);
        Some(report)
    }

    /// Whether the time was over before all checks could tell.
    pub fn ran_out(&self) -> bool {
        self.ran_out
    }

    /// Leaves the server as it was: ends the sessions that were opened, and the processes.
    pub async fn close(self) {
        match self.subject {
            Either::Http(site) => (*site).close().await,
            Either::Stdio(runs) => runs.close().await,
        }
    }
}

/// Runs the check at a position, or the next one that is wanted, and tells the position after it.
async fn run<S: Subject>(
    subject: &S,
    position: usize,
    options: &Options,
) -> Option<(usize, Report)> {
    let checks = S::checks().into_iter().enumerate().skip(position);
    let (at, check) = checks.into_iter().find(|(_, check)| is_wanted(check.id, &options.only))?;
    if at != 0 {
        // What was asked to open the conversation belongs to the first check.
        subject.take_requests();
    }
    let begun = Instant::now();
    let too_late = async {
        Timer::at(options.until).await;
        finding::not_reached()
    };
    // What is known already is told also when the time is over.
    let finding = (check.run)(subject).or(too_late).await;
    let Check { id, title, clause, fix, .. } = check;
    // The URL may have a secret in it.
    let requests = subject.take_requests();
    let report = Report {
        check: id,
        title,
        clause,
        fix: finding.need.map_or(*fix, Need::advice),
        finding: finding.fit_to_show(&options.secrets),
        requests: requests.iter().map(|it| finding::masked(it, &options.secrets)).collect(),
        took: begun.elapsed(),
    };
    Some((at + 1, report))
}

/// Whether an id is one of those that are wanted.
fn is_wanted(id: &str, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|pattern| fits(pattern, id))
}

/// Whether a text fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((beginning, rest)) => text.strip_prefix(beginning).is_some_and(|text| {
            text.char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .any(|at| fits(rest, &text[at..]))
        }),
    }
}

/// Whether a pattern fits at least one check.
pub fn knows(pattern: &str) -> bool {
    all_checks().iter().any(|(id, _)| fits(pattern, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_of_one_form() {
        let ids: Vec<&str> = all_checks().iter().map(|(id, _)| *id).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), ids.len());
        for id in ids {
            assert!(id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{id}");
        }
    }

    #[test]
    fn patterns_choose_checks() {
        let check = |pattern: &str, text: &str, expected| {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        };
        check("origin-bad", "origin-bad", true);
        check("origin-bad", "origin-bad-", false);
        check("origin-*", "origin-bad", true);
        check("*", "", true);
        check("*bad", "origin-bad", true);
        check("*-b*d", "origin-bad", true);
        check("o*x*", "origin-bad", false);
        assert!(knows("origin-*") && !knows("orign-*"));
    }
}
