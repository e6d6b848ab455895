//! What a policy says about a server, and which of its rules says so.

use std::path::PathBuf;

use serde::Deserialize;

use super::super::signature::{Covers, Signer};
use super::revocation::{Entry, List};
use super::rule::{Allow, Hit, Match};
use super::subject::{Card, Exposure, Place, Subject};
use crate::config::Layer;
use crate::protocol::rfc3339;

/// The rules of a policy, as a file says them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) mode: Mode,
    pub(super) require_signature: bool,
    /// Whether a server has to prove to be its host; by default, where that is what it is allowed for.
    pub(super) require_tls: Option<bool>,
    /// How old a verification may be, in seconds.
    pub(super) card_max_age: Option<i64>,
    /// With the lines that they begin on.
    pub(super) allow: Vec<(usize, Allow)>,
    /// With the lines that they begin on.
    pub(super) deny: Vec<(usize, Match)>,
}

/// What is done about servers that no rule names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are used; only what is denied or revoked is not.
    Off,
    /// They are used, and watched for changes.
    #[default]
    Tofu,
    /// They are not used.
    Strict,
}

/// What becomes of a server that a document of another domain leads to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CrossDomain {
    /// It is added as one that the user has named.
    Allow,
    /// It is added when the user accepts it by its hash.
    #[default]
    Ask,
    /// It is not added.
    Deny,
}

/// What one policy says about a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whose policy it is.
    pub layer: Layer,
    /// Its file.
    pub path: PathBuf,
    /// Whether the server may be used.
    pub admits: bool,
    /// Which rule decided.
    pub rule: Rule,
    /// The line of the rule in its file.
    pub line: Option<usize>,
    /// What the rule says, for people.
    pub why: String,
    /// Whether it refuses the server because somebody else may answer for its host.
    pub is_unproved: bool,
    /// The documents that it relies on, and of when they are, for people.
    pub relies_on: Vec<String>,
    /// What a rule by words cannot see to, if it admits the server.
    pub caveat: Option<&'static str>,
    /// The mode of the policy.
    pub mode: Mode,
}

/// Which rule of a policy decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A list of what is revoked names the server.
    Revoked,
    /// A list of what is revoked is missing, too old, or not signed.
    RevocationList,
    /// A rule denies it: its number, 1 for the first.
    Deny(usize),
    /// A rule allows it: its number, 1 for the first.
    Allow(usize),
    /// A server has to prove to be its host.
    RequireTls,
    /// A signature is required.
    RequireSignature,
    /// What the mode says about all others.
    Mode,
}

impl Rule {
    /// Its name in answers to programs.
    pub fn word(self) -> &'static str {
        match self {
            Rule::Revoked => "revoked",
            Rule::RevocationList => "revocation_list",
            Rule::Deny(_) => "deny",
            Rule::Allow(_) => "allow",
            Rule::RequireTls => "require_tls",
            Rule::RequireSignature => "require_signature",
            Rule::Mode => "mode",
        }
    }

    /// Its number among the rules of its kind, 1 for the first.
    pub fn number(self) -> Option<usize> {
        match self {
            Rule::Deny(number) | Rule::Allow(number) => Some(number),
            _ => None,
        }
    }
}

/// What a rule of a policy says; the policy adds whose it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) admits: bool,
    pub(super) rule: Rule,
    pub(super) line: Option<usize>,
    pub(super) why: String,
    pub(super) is_unproved: bool,
}

impl Rules {
    /// Whether the card of a server has to be looked up.
    pub(super) fn needs_card(&self) -> bool {
        self.require_signature
            || self.allow.iter().any(|(_, allow)| allow.is_about_signers())
            || self.deny.iter().any(|(_, rule)| rule.needs_card())
    }

    /// Judges a server. What is revoked or denied is so in every mode.
    pub(super) fn judge(&self, subject: &Subject<'_>, lists: &[List]) -> Said {
        self.revoked(subject, lists)
            .or_else(|| self.denied(subject))
            .or_else(|| self.switched_off())
            .or_else(|| self.exposed(subject))
            .or_else(|| self.allowed(subject))
            .or_else(|| self.strict(subject))
            .or_else(|| self.unsigned(subject))
            .unwrap_or_else(|| said(true, Rule::Mode, "nothing in it speaks against the server"))
    }

    fn revoked(&self, subject: &Subject<'_>, lists: &[List]) -> Option<Said> {
        let refuse = |rule: Rule, why: String| Some(said(false, rule, why));
        for List { name, entries, .. } in lists {
            let entries: &[Entry] = match entries {
                Ok(entries) => entries,
                Err(why) => return refuse(Rule::RevocationList, format!("{name}: {why}")),
            };
            for entry in entries {
                match entry.what.hit(subject) {
                    Hit::No => {}
                    Hit::Yes => return refuse(Rule::Revoked, format!("{name} revokes {entry}")),
                    Hit::Unknown => {
                        let why = format!("{name} may revoke it: {entry}; {}", unknown(subject));
                        return refuse(Rule::Revoked, why);
                    }
                }
            }
        }
        None
    }

    fn denied(&self, subject: &Subject<'_>) -> Option<Said> {
        self.deny.iter().enumerate().find_map(|(index, (line, what))| {
            let why = match what.hit(subject) {
                Hit::No => return None,
                Hit::Yes => what.why(subject),
                Hit::Unknown => format!("{what}; {}", unknown(subject)),
            };
            Some(Said { line: Some(*line), ..said(false, Rule::Deny(index + 1), why) })
        })
    }

    fn switched_off(&self) -> Option<Said> {
        (self.mode == Mode::Off).then(|| said(true, Rule::Mode, "mode is off"))
    }

    fn exposed(&self, subject: &Subject<'_>) -> Option<Said> {
        let exposure = subject.place.exposure().filter(|_| self.require_tls == Some(true))?;
        let said = said(false, Rule::RequireTls, exposure.to_string());
        Some(Said { is_unproved: true, ..said })
    }

    /// Why it does not count that a rule allows a host, or a signer of its card, if it does not: any
    /// certificate is taken for that of the host. Without TLS the rule says itself what it is worth;
    /// cards name no such endpoints.
    fn unproved(&self, subject: &Subject<'_>, by_signer: bool) -> Option<String> {
        let exposure = subject.place.exposure()?;
        let counts = by_signer || exposure == Exposure::Insecure && self.require_tls != Some(false);
        counts.then(|| exposure.to_string())
    }

    /// The first rule that allows the server. Where a signature is required, only rules count that
    /// are about one, or about what can have none.
    fn allowed(&self, subject: &Subject<'_>) -> Option<Said> {
        let signer = self.signer(subject).ok();
        self.allow.iter().enumerate().find_map(|(index, (line, allow))| {
            let by_signer = signer.is_some_and(|signer| allow.admits_signed(subject, signer));
            let counts = !self.require_signature || allow.replaces_signature();
            let unsigned = counts && allow.admits_unsigned(subject);
            if !by_signer && !unsigned {
                return None;
            }
            let unproved = self.unproved(subject, by_signer);
            let is_unproved = unproved.is_some();
            let said = match allow.steering(subject).or(unproved) {
                None => said(true, Rule::Allow(index + 1), allow.to_string()),
                // What the rule names is not what would run.
                Some(but) => said(false, Rule::Allow(index + 1), format!("{allow}, but {but}")),
            };
            Some(Said { line: Some(*line), is_unproved, ..said })
        })
    }

    fn strict(&self, subject: &Subject<'_>) -> Option<Said> {
        if self.mode != Mode::Strict {
            return None;
        }
        let why = match self.signer(subject) {
            Ok(signer) => format!("no rule allows it; its card is signed by {signer}"),
            Err(why) => format!("no rule allows it; {why}"),
        };
        Some(said(false, Rule::Mode, format!("mode is strict: {why}")))
    }

    /// Without rules about signers it is enough that the user has once named one.
    fn unsigned(&self, subject: &Subject<'_>) -> Option<Said> {
        if !self.require_signature {
            return None;
        }
        let has_signers = self.allow.iter().any(|(_, allow)| allow.is_about_signers());
        match self.signer(subject) {
            Ok(signer) if has_signers => {
                let why = format!("its card is signed by {signer}, whom no rule allows for it");
                Some(said(false, Rule::RequireSignature, why))
            }
            Ok(signer) => {
                let why = format!("its card is signed by {signer}, as you have verified");
                Some(match self.unproved(subject, true) {
                    None => said(true, Rule::RequireSignature, why),
                    Some(but) => {
                        let why = format!("{why}, but {but}");
                        Said { is_unproved: true, ..said(false, Rule::RequireSignature, why) }
                    }
                })
            }
            Err(why) => Some(said(false, Rule::RequireSignature, why)),
        }
    }

    /// Who has signed the server's card, if that counts.
    fn signer<'s>(&self, subject: &'s Subject<'_>) -> Result<&'s Signer, String> {
        if let Place::Url { meant: Some(host), .. } = &subject.place {
            return Err(format!("its card is not that of {host}, which its Host header names"));
        }
        let Some(Card { verified, age, .. }) = &subject.card else {
            return Err(match &subject.place {
                Place::Url { .. } => "no signed card of it is known".to_owned(),
                Place::Socket { .. } => "a socket has no signed card".to_owned(),
                Place::Command(_) => "a command has no signed card".to_owned(),
            });
        };
        let verified = verified.as_ref().map_err(|_| unknown(subject))?;
        if verified.covers == Covers::UrlOnly {
            return Err("what is signed is the URL of its card, not what it says".to_owned());
        }
        // A domain can withdraw a key at any time, so what it said is not good for ever.
        let usual = matches!(verified.signer, Signer::DidWeb { .. }).then_some(DID_MAX_AGE);
        match (self.card_max_age.or(usual), age) {
            (None, _) => Ok(&verified.signer),
            (Some(limit), Some(age)) if *age <= limit => Ok(&verified.signer),
            (Some(limit), Some(age)) => Err(format!(
                "its card was last verified {} days ago, and {} are allowed",
                age / DAY,
                limit / DAY
            )),
            (Some(_), None) => {
                Err("its card was last verified at a time that is still to come: the \
                                    clock was wrong then, or is now"
                    .to_owned())
            }
        }
    }
}

/// How long what a domain said about its keys is good, unless a policy says otherwise, in seconds.
const DID_MAX_AGE: i64 = 7 * DAY;
pub(super) const DAY: i64 = 24 * 60 * 60;

fn said(admits: bool, rule: Rule, why: impl Into<String>) -> Said {
    Said { admits, rule, line: None, why: why.into(), is_unproved: false }
}

/// Why it is not known who has signed the card that was kept.
fn unknown(subject: &Subject<'_>) -> String {
    match subject.card.as_ref().map(|card| &card.verified) {
        Some(Err(refusal)) => format!("the signature of its card does not count: {refusal}"),
        _ => "it is not known who has signed its card".to_owned(),
    }
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.what.fmt(f)?;
        if let Some(since) = self.since {
            write!(f, ", since {}", rfc3339::format(since))?;
        }
        match &self.reason {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}
