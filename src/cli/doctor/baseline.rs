//! Findings that are known: a file in which a line names a check and its verdict.
//!
//! ```text
//! # mcpmini doctor: what is known of http://127.0.0.1:3001/mcp
//! auth-none warn everything is answered: HTTP 200 with a result
//! ```
//!
//! What stands after the verdict is for people: evidence has ports and times in it, and another
//! port is no other finding. A check that comes out worse than the file says is a new finding.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::output::{self, cell};
use crate::cli::run::Run;
use crate::doctor::{self, Report, Verdict};
use crate::protocol::mask;
use crate::protocol::message::Sent;
use crate::protocol::similar;
use crate::store::{self, Guard};

/// How long such a file may be, in bytes.
const LIMIT: u64 = 1 << 20;

/// The verdicts that are findings, from the mildest.
const FINDINGS: [Verdict; 3] = [Verdict::Unknown, Verdict::Warn, Verdict::Fail];

/// What is known of a server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Baseline {
    known: BTreeMap<String, Verdict>,
}

impl Baseline {
    /// Reads such a file.
    pub(super) fn read(run: &Run<'_>, path: &Path) -> Result<Baseline, Error> {
        let fail =
            |text: String| Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No);
        let text = store::read_text(
            &run.env.absolute(path),
            LIMIT,
            Guard::Named { until: run.env.deadline() },
        );
        match text.map_err(|fault| fail(fault.to_string()))? {
            Some(text) => Baseline::parse(&text)
                .map_err(|(line, why)| fail(format!("{}, line {line}: {why}", path.display()))),
            None => {
                let error = fail(format!("there is no file {}", path.display()));
                Err(error.hint(format!("write it with --write-baseline {}", path.display())))
            }
        }
    }

    /// Reads the text of such a file. Errors with the number of the line, and what is wrong there.
    fn parse(text: &str) -> Result<Baseline, (usize, String)> {
        let mut known = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let mut words = line.split_whitespace();
            let Some(check) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            if !doctor::all_checks().iter().any(|(id, _)| *id == check) {
                let ids = doctor::all_checks().into_iter().map(|(id, _)| id);
                let hint = similar::closest(check, ids);
                let hint = hint.map(|id| format!("; did you mean {id}?")).unwrap_or_default();
                return Err((number, format!("there is no check {check:?}{hint}")));
            }
            let word = words.next().unwrap_or_default();
            let verdict = FINDINGS.into_iter().find(|verdict| verdict.word() == word);
            let Some(verdict) = verdict else {
                return Err((number, format!("{word:?} is none of unknown, warn, fail")));
            };
            let worst = known.entry(check.to_owned()).or_insert(verdict);
            *worst = verdict.max(*worst);
        }
        Ok(Baseline { known })
    }

    /// Whether a finding is in it, at least as bad.
    pub(super) fn knows(&self, report: &Report) -> bool {
        let known = self.known.get(report.check);
        Verdict::Unknown <= report.finding.verdict
            && known.is_some_and(|known| report.finding.verdict <= *known)
    }

    /// Whether a check is in it that complains no more.
    pub(super) fn is_over(&self, report: &Report) -> bool {
        report.finding.verdict < Verdict::Unknown && self.known.contains_key(report.check)
    }
}

/// The findings of a run, for the file of a later one.
#[derive(Debug)]
pub(super) struct Draft {
    text: String,
}

impl Draft {
    pub(super) fn new(server: &str) -> Draft {
        // The file is to be committed.
        let server = mask::server(server);
        Draft { text: format!("# mcpmini doctor: what is known of {}\n", cell(&server)) }
    }

    /// Takes note of a finding.
    pub(super) fn add(&mut self, report: &Report) {
        let finding = &report.finding;
        if FINDINGS.contains(&finding.verdict) {
            let (check, verdict) = (report.check, finding.verdict.word());
            self.text.push_str(&format!("{check} {verdict} {}\n", cell(&finding.evidence)));
        }
    }

    /// Puts them into a file, in place of what was there.
    pub(super) fn write(&self, run: &Run<'_>, path: &Path) -> Result<(), Error> {
        output::replace(run, &run.env.absolute(path), run.redaction.apply(&self.text).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::doctor::Finding;

    fn report(check: &'static str, verdict: Verdict, evidence: &str) -> Report {
        let finding = Finding { verdict, evidence: evidence.to_owned(), need: None };
        let (title, clause, fix) = ("", "", "");
        let (requests, took) = (Vec::new(), Duration::ZERO);
        Report { check, title, clause, fix, finding, requests, took }
    }

    #[test]
    fn what_is_at_most_as_bad_is_known() {
        let text = "# a comment\n\norigin-bad warn\n  ping  unknown why\nverbs warn\nverbs fail\n";
        let baseline = Baseline::parse(text).unwrap();
        let check = |id, verdict, known, over| {
            let report = report(id, verdict, "");
            assert_eq!(baseline.knows(&report), known, "{id} {verdict:?}");
            assert_eq!(baseline.is_over(&report), over, "{id} {verdict:?}");
        };
        check("origin-bad", Verdict::Fail, false, false);
        check("origin-bad", Verdict::Warn, true, false);
        check("origin-bad", Verdict::Unknown, true, false);
        check("origin-bad", Verdict::Pass, false, true);
        check("origin-bad", Verdict::Skip, false, true);
        check("ping", Verdict::Unknown, true, false);
        check("ping", Verdict::Warn, false, false);
        check("verbs", Verdict::Fail, true, false);
        check("era", Verdict::Fail, false, false);
        check("era", Verdict::Pass, false, false);
    }

    #[test]
    fn what_a_draft_says_is_known_afterwards() {
        let url = Draft::new("https://h.example/mcp?api_key=hunter2").text;
        assert_eq!(url, "# mcpmini doctor: what is known of https://h.example/mcp?api_key=***\n");
        let mut draft = Draft::new("exec:a\nb");
        let reports = [
            report("ping", Verdict::Fail, "no\n# answer"),
            report("era", Verdict::Pass, ""),
            report("verbs", Verdict::Unknown, ""),
        ];
        reports.iter().for_each(|report| draft.add(report));
        let baseline = Baseline::parse(&draft.text).unwrap();
        let known: Vec<bool> = reports.iter().map(|report| baseline.knows(report)).collect();
        assert_eq!(known, [true, false, true], "{}", draft.text);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let check = |text: &str, line, expected: &str| {
            let (found, why) = Baseline::parse(text).unwrap_err();
            assert_eq!((found, &*why), (line, expected), "{text}");
        };
        check("\norign-bad fail", 2, "there is no check \"orign-bad\"; did you mean origin-bad?");
        check("ping pass", 1, "\"pass\" is none of unknown, warn, fail");
        check("ping", 1, "\"\" is none of unknown, warn, fail");
        check("{\"check\":\"ping\"}", 1, "there is no check \"{\\\"check\\\":\\\"ping\\\"}\"");
    }
}
