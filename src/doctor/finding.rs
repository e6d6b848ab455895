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

/// A verdict and its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// How one can tell: what was seen, or why nothing was.
    pub evidence: String,
}

/// How much of what a server says is shown, in characters.
const EXCERPT: usize = 160;

impl Finding {
    pub(super) fn pass(evidence: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Pass, evidence: evidence.into() }
    }

    pub(super) fn skip(why: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Skip, evidence: why.into() }
    }

    pub(super) fn unknown(why: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Unknown, evidence: why.into() }
    }

    pub(super) fn warn(evidence: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Warn, evidence: evidence.into() }
    }

    pub(super) fn fail(evidence: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Fail, evidence: evidence.into() }
    }

    /// The worst of several findings, with the evidence of all that are as bad.
    pub(super) fn worst(findings: impl IntoIterator<Item = Finding>) -> Option<Finding> {
        findings.into_iter().reduce(|worst, next| match worst.verdict.cmp(&next.verdict) {
            std::cmp::Ordering::Less => next,
            std::cmp::Ordering::Greater => worst,
            std::cmp::Ordering::Equal => Finding {
                evidence: format!("{}; {}", worst.evidence, next.evidence),
                verdict: worst.verdict,
            },
        })
    }

    /// The same without what must not be shown.
    pub(super) fn without(self, secrets: &[Secret]) -> Finding {
        // What is that short would be found everywhere.
        let secrets = secrets.iter().map(Secret::expose).filter(|secret| 4 <= secret.len());
        let mask = |text: String, secret| text.replace(secret, "…");
        Finding { evidence: secrets.fold(self.evidence, mask), ..self }
    }
}

/// The beginning of what a server says, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
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
        assert_eq!(finding.without(&secrets), Finding::fail("it said … and abc"));
        assert_eq!(excerpt(" a\n\tb  c "), "a b c");
        assert_eq!(excerpt(&"x".repeat(200)).chars().count(), EXCERPT + 1);
    }
}
