//! What a check finds: a verdict, and how one can tell.

use crate::env::Secret;

/// How a check came out, in the order in which it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is as it should be.
    Pass,
    /// It does not apply to this server.
    Skip,
    /// It cannot be told.
    Unknown,
    /// A recommendation is not followed.
    Warn,
    /// A rule is broken.
    Fail,
}

impl Verdict {
    /// All of them, from the best.
    pub const ALL: [Verdict; 5] =
        [Verdict::Pass, Verdict::Skip, Verdict::Unknown, Verdict::Warn, Verdict::Fail];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Skip => "skip",
            Verdict::Unknown => "unknown",
            Verdict::Warn => "warn",
            Verdict::Fail => "fail",
        }
    }
}

/// What would let a check tell what it cannot tell now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// More time for one answer.
    Patience,
    /// More time for the start of the server.
    Start,
    /// More time for everything.
    Time,
    /// A server that can be reached.
    Reach,
    /// A certificate that is trusted, or trust in the one that there is.
    Certificate,
    /// A server with less to do.
    Leisure,
    /// A server that does not fail at what it is asked first.
    Sound,
    /// A server that does not hang up.
    Connection,
    /// A document that the server names, and that can be fetched.
    Document,
    /// The address of what speaks MCP.
    Endpoint,
    /// Credentials.
    Credentials,
    /// Another name of the same machine.
    Host,
    /// The other era, which was ruled out.
    Era,
    /// A certificate that is looked at.
    Trust,
    /// A connection without anybody between.
    Direct,
    /// A system that shows its sockets and processes.
    Linux,
    /// An interface to a network, on the machine of the server.
    Network,
    /// The key of whoever has signed.
    Key,
    /// A newer client, or one that was built with more.
    Newer,
    /// A person who looks.
    Person,
}

impl Need {
    /// What to do about it, in a sentence.
    pub const fn advice(self) -> &'static str {
        match self {
            Need::Patience => "Give each answer more time with -t (-t 30s).",
            Need::Start => "Give the server more time to start with --start-timeout (60s).",
            Need::Time => "Give the whole examination more time with --max-time (--max-time 5m).",
            Need::Reach => "Start the server, or correct how it is named, and run this again.",
            Need::Certificate => {
                "Mend the certificate first, or run this with --cacert FILE, or with --insecure."
            }
            Need::Leisure => "Run this again when the server has less to do.",
            Need::Sound => "Mend first what the other checks say, and run this again.",
            Need::Connection => {
                "See why the server hangs up (its own log may tell), and run this again."
            }
            Need::Document => "Let the document be fetched from here, and run this again.",
            Need::Endpoint => {
                "Give the URL of the MCP endpoint; `mcpmini discover URL` looks for it."
            }
            Need::Credentials => {
                "Give credentials: mcpmini login, MCPMINI_TOKEN, --bearer-file, or -H."
            }
            Need::Host => "Name the server by the host that it takes, as host-good says.",
            Need::Era => "Run this without --protocol and --transport.",
            Need::Trust => "Run this without --insecure; --cacert names an authority of your own.",
            Need::Direct => {
                "Run this where the server is reached without a proxy or a socket file."
            }
            Need::Linux => {
                "Run this on Linux, on the machine of the server, where /proc can be read."
            }
            Need::Network => "Run this on the machine of the server while it is on a network.",
            Need::Key => "Name the key: mcpmini card verify URL --public-key FILE.",
            Need::Newer => "Try it with a newer version of this program.",
            Need::Person => "Try it by hand: --json prints what was asked, as lines to run.",
        }
    }
}

/// A verdict and its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// How one can tell: what was seen, or why nothing was.
    pub evidence: String,
    /// What would let it be told; `None` where it was.
    pub need: Option<Need>,
}

/// How much of what a server says is shown, in characters.
const EXCERPT: usize = 160;

/// How long evidence is at most, in characters.
const LONGEST: usize = 600;

/// How long a secret must be to be looked for, in bytes.
const SHORTEST: usize = 4;

impl Finding {
    pub(super) fn pass(evidence: impl Into<String>) -> Finding {
        Finding::of(Verdict::Pass, evidence)
    }

    pub(super) fn skip(why: impl Into<String>) -> Finding {
        Finding::of(Verdict::Skip, why)
    }

    pub(super) fn unknown(why: impl Into<String>, need: Need) -> Finding {
        Finding { need: Some(need), ..Finding::of(Verdict::Unknown, why) }
    }

    pub(super) fn warn(evidence: impl Into<String>) -> Finding {
        Finding::of(Verdict::Warn, evidence)
    }

    pub(super) fn fail(evidence: impl Into<String>) -> Finding {
        Finding::of(Verdict::Fail, evidence)
    }

    fn of(verdict: Verdict, evidence: impl Into<String>) -> Finding {
        Finding { verdict, evidence: evidence.into(), need: None }
    }

    /// The worst of several findings, with the evidence of all that are as bad.
    pub(super) fn worst(findings: impl IntoIterator<Item = Finding>) -> Option<Finding> {
        findings.into_iter().reduce(|worst, next| match worst.verdict.cmp(&next.verdict) {
            std::cmp::Ordering::Less => next,
            std::cmp::Ordering::Greater => worst,
            std::cmp::Ordering::Equal => {
                Finding { evidence: format!("{}; {}", worst.evidence, next.evidence), ..worst }
            }
        })
    }

    /// The same without what must not be shown, and no longer than anybody reads.
    pub(super) fn fit_to_show(self, secrets: &[Secret]) -> Finding {
        Finding { evidence: cut(&masked(&self.evidence, secrets), LONGEST), ..self }
    }
}

/// The finding of a check that the time did not suffice for.
pub(super) fn not_reached() -> Finding {
    Finding::unknown("not reached: the time ran out", Need::Time)
}

/// The beginning of what a server says, on one line.
pub(super) fn excerpt(text: &str) -> String {
    // Of what is very long, the end need not be looked at.
    let text = &text[..text.char_indices().nth(4 * EXCERPT).map_or(text.len(), |(at, _)| at)];
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), EXCERPT)
}

/// The first characters of a text, with a mark when there are more.
fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A text without secrets.
pub(super) fn masked(text: &str, secrets: &[Secret]) -> String {
    // What is that short would be found everywhere.
    let secrets = secrets.iter().map(Secret::expose).filter(|secret| SHORTEST <= secret.len());
    secrets.fold(text.to_owned(), |text, secret| mask(&text, secret))
}

/// A text without a secret, also where its end was cut off.
fn mask(text: &str, secret: &str) -> String {
    let mut text = text.replace(secret, "…");
    let beginnings = secret.char_indices().map(|(at, _)| &secret[..at]);
    for beginning in beginnings.filter(|it| SHORTEST <= it.len()).rev() {
        text = text.replace(&format!("{beginning}…"), "…");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_counts() {
        let worst = Finding::worst([Finding::pass("a"), Finding::fail("b"), Finding::warn("c")]);
        assert_eq!(worst, Some(Finding::fail("b")));
        let both = Finding::worst([Finding::warn("a"), Finding::warn("b")]);
        assert_eq!(both, Some(Finding::warn("a; b")));
        assert_eq!(Finding::worst([]), None);
    }

    #[test]
    fn evidence_has_no_secrets_and_one_line() {
        let finding = Finding::fail("it said T0ken-1 and abc");
        let secrets = [Secret::from("T0ken-1"), Secret::from("abc")];
        assert_eq!(finding.fit_to_show(&secrets), Finding::fail("it said … and abc"));
        let cut_off = Finding::fail(excerpt(&format!("{} T0ken-1", "x".repeat(EXCERPT - 6))));
        let expected = format!("{} …", "x".repeat(EXCERPT - 6));
        assert_eq!(cut_off.fit_to_show(&secrets).evidence, expected);
        assert_eq!(excerpt(" a\n\tb  c "), "a b c");
        assert_eq!(excerpt(&"x".repeat(200)).chars().count(), EXCERPT + 1);
        let long = Finding::pass("ä".repeat(LONGEST + 1)).fit_to_show(&[]);
        assert_eq!(long.evidence.chars().count(), LONGEST + 1);
    }
}
