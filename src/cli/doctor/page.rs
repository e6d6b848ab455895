//! What `doctor` prints: lines for programs, paragraphs for people.

use super::baseline::Baseline;
use crate::cli::args::Format;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::output::{self, Parts, cell};
use crate::cli::run::Run;
use crate::cli::terminal::{Accent, accent};
use crate::doctor::{Report, Verdict};
use crate::protocol::json;
use crate::protocol::params::Members;

/// Where the evidence begins, in columns.
const INDENT: usize = 31;

/// What is printed.
pub(super) struct Page<'a> {
    parts: Parts<'a>,
    run: &'a Run<'a>,
    for_people: bool,
    colored: bool,
    /// What is known already, if the user said so.
    baseline: Option<Baseline>,
    /// How many reports have which verdict, in the order of [`Verdict::ALL`].
    counts: [usize; Verdict::ALL.len()],
    /// How many of the findings are known.
    known: usize,
    /// The checks in the baseline that complain no more.
    over: Vec<&'static str>,
    /// The worst verdict that is not known.
    worst: Verdict,
}

impl<'a> Page<'a> {
    pub(super) fn new(run: &'a Run<'a>, baseline: Option<Baseline>) -> Page<'a> {
        let is_text = run.settings.output != Format::Json;
        let for_people = is_text && run.env.terminals.stdout && run.globals.out.is_none();
        Page {
            parts: Parts::new(run),
            run,
            for_people,
            colored: run.settings.color.applies(for_people),
            baseline,
            counts: Default::default(),
            known: 0,
            over: Vec::new(),
            worst: Verdict::Pass,
        }
    }

    pub(super) fn add(&mut self, report: &Report) -> Result<(), Error> {
        let verdict = report.finding.verdict;
        let known = self.baseline.as_ref().map(|baseline| baseline.knows(report));
        self.counts[verdict as usize] += 1;
        self.known += usize::from(known == Some(true));
        if known != Some(true) {
            self.worst = self.worst.max(verdict);
        }
        if self.baseline.as_ref().is_some_and(|baseline| baseline.is_over(report)) {
            self.over.push(report.check);
        }
        match self.run.settings.output {
            Format::Json => self.parts.add_line(&json(report, known)),
            _ if self.for_people => {
                output::write_trusted(self.run, &paragraph(report, known, self.colored))
            }
            _ => self.parts.add_line(&line(report, known)),
        }
    }

    /// Sums up for people; tells the worst verdict that is not known. Errors when nothing was
    /// checked: that would look like a server that is right.
    pub(super) fn finish(self) -> Result<Verdict, Error> {
        let counted = Verdict::ALL.into_iter().zip(self.counts).filter(|(_, count)| 0 < *count);
        let counted: Vec<String> =
            counted.map(|(verdict, count)| format!("{count} {}", verdict.word())).collect();
        if counted.is_empty() {
            let text = "--only: no such check is for a server that is reached in this way";
            return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
        }
        if self.for_people {
            let known = match self.known {
                0 => String::new(),
                known => format!(" ({known} known)"),
            };
            output::write_trusted(self.run, &format!("\n{}{known}\n", counted.join(", ")))?;
        }
        self.parts.finish()?;
        if !self.over.is_empty() {
            let over = self.over.join(", ");
            self.run.warn(&format!("--baseline: no longer found, take it out of the file: {over}"));
        }
        Ok(self.worst)
    }
}

/// A report as a line for programs.
fn line(report: &Report, known: Option<bool>) -> String {
    let Report { check, title, clause, fix, finding, .. } = report;
    let verdict = finding.verdict.word().to_uppercase();
    let evidence = cell(&finding.evidence);
    let fix = if Verdict::Skip < finding.verdict { fix } else { "" };
    let mut columns = vec![&*verdict, check, title, &evidence, clause, fix];
    columns.extend(known.map(|known| if known { "known" } else { "" }));
    columns.join("\t")
}

/// A report for people: what was found; what to do where a rule is not kept, or nothing was told;
/// and where the rule is.
fn paragraph(report: &Report, known: Option<bool>, colored: bool) -> String {
    let Report { check, title, clause, fix, finding, .. } = report;
    let is_known = known == Some(true);
    let word = format!("{:<7}", finding.verdict.word().to_uppercase());
    let word = match finding.verdict {
        Verdict::Fail if !is_known => accent(&word, Accent::Red, colored),
        Verdict::Warn if !is_known => accent(&word, Accent::Yellow, colored),
        _ => word.into(),
    };
    let evidence = cell(&finding.evidence);
    let mark = if is_known { "known: " } else { "" };
    let mut text = format!("{word}  {check:<22}{mark}{evidence}\n");
    let indent = " ".repeat(INDENT);
    match finding.verdict {
        _ if is_known => (),
        Verdict::Pass | Verdict::Skip => (),
        Verdict::Unknown => text.push_str(&format!("{indent}to do: {fix}\n")),
        Verdict::Warn | Verdict::Fail => {
            text.push_str(&format!("{indent}should be: {title}\n"));
            text.push_str(&format!("{indent}to do: {fix}\n"));
            text.push_str(&format!("{indent}rule: {clause}\n"));
        }
    }
    text
}

fn json(report: &Report, known: Option<bool>) -> String {
    let mut members = Members::new();
    members.push("check", &json::string(report.check));
    members.push("verdict", &json::string(report.finding.verdict.word()));
    if let Some(known) = known {
        members.push("known", if known { "true" } else { "false" });
    }
    members.push("title", &json::string(report.title));
    members.push("evidence", &json::string(&report.finding.evidence));
    members.push("clause", &json::string(report.clause));
    members.push("fix", &json::string(report.fix));
    members.push("ms", &report.took.as_millis().to_string());
    members.push("requests", &json::strings(&report.requests));
    members.finish()
}
