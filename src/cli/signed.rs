//! What a verified signature says, for people and for programs, and what it does not say.

use std::path::{Path, PathBuf};

use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output;
use super::run::Run;
use super::sources;
use super::whence::Whence;
use crate::protocol::params::Members;
use crate::protocol::{json, rfc3339};
use crate::trust::signature::sigstore::TrustRoot;
use crate::trust::signature::{Certificate, Covers, Signer, Verified};

/// The variable that names the authorities and logs to trust.
const ROOT_VARIABLE: &str = "MCPMINI_TRUSTED_ROOT";

/// What the trusted root is called that is built in.
const PUBLIC_ROOT: &str = "the public sigstore, as it was when this program was built";

/// What a bundle is asked for as.
pub(super) const BUNDLE: &str =
    "application/vnd.dev.sigstore.bundle.v0.3+json, application/json;q=0.9";

/// What a domain's keys are asked for as.
pub(super) const DID_DOCUMENT: &str = "application/did+json, application/json;q=0.9";

/// What no signature of a card says.
const UNVERIFIED: [&str; 2] = [
    "that the server which answers is the one that the card describes",
    "that what the card claims is true",
];

/// The authorities and logs to trust, and what they are called: those of `--trusted-root`, of the
/// variable, or those that are built in.
pub(super) fn root(run: &Run<'_>, option: Option<&Path>) -> Result<(TrustRoot, String), Error> {
    let variable = || Some((ROOT_VARIABLE, PathBuf::from(run.env.setting(ROOT_VARIABLE)?)));
    let named = option.map(|path| ("--trusted-root", path.to_owned())).or_else(variable);
    let Some((what, path)) = named else {
        let root = TrustRoot::production().map_err(|refusal| {
            Error::new(Exit::Bug, format!("the trusted root that is built in: {refusal}"))
        })?;
        return Ok((root, PUBLIC_ROOT.to_owned()));
    };
    let text = sources::text_file(run, &path, what)?;
    let root = TrustRoot::from_json(text.as_bytes()).map_err(|refusal| {
        let text = format!("{what} {}: {refusal}", path.display());
        Error::new(Exit::Config, text).phase(Phase::Config)
    })?;
    Ok((root, path.display().to_string()))
}

/// A card of which was verified who signed it.
#[derive(Debug)]
pub(super) struct Report<'a> {
    /// Where the card was found.
    pub(super) place: &'a str,
    /// The card.
    pub(super) card: &'a [u8],
    /// What was verified.
    pub(super) verified: &'a Verified,
    /// Where it was found.
    pub(super) whence: &'a Whence,
    /// Whose authorities and logs were trusted; `None` when none were needed.
    pub(super) root: Option<&'a str>,
    /// The endpoints for which it was kept.
    pub(super) remembered: &'a [String],
}

impl Report<'_> {
    /// As lines for people.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{} is signed\n", self.place);
        for (name, value) in self.facts() {
            text += &format!("{name:<16}{}\n", output::cell(&value));
        }
        for endpoint in self.remembered {
            text += &format!("{:<16}{}\n", "remembered for", output::cell(endpoint));
        }
        for unverified in self.unverified() {
            text += &format!("{:<16}{unverified}\n", "not verified");
        }
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let Verified { signer, card, covers, signed_at, expires_at, log } = self.verified;
        let mut facts = match signer {
            Signer::Certificate(certificate) => {
                let Certificate { identity, issuer, repository_id, owner_id, .. } = certificate;
                let mut facts = vec![("identity", identity.clone()), ("issuer", issuer.clone())];
                let numbers = [("repository id", repository_id), ("owner id", owner_id)];
                facts
                    .extend(numbers.into_iter().filter_map(|(what, id)| Some((what, id.clone()?))));
                facts
            }
            Signer::Key { spki } => vec![("key", spki.to_string())],
            Signer::DidWeb { did, kid, .. } => vec![("domain", did.clone()), ("key", kid.clone())],
        };
        if let Some(time) = signed_at {
            let who = if log.is_empty() { "as the signer says" } else { "as the log says" };
            facts.push(("signed at", format!("{}, {who}", rfc3339::format(*time))));
        }
        if let Some(time) = expires_at {
            facts.push(("holds until", rfc3339::format(*time)));
        }
        for entry in log {
            facts.push(("log entry", format!("{} in {}", entry.index, entry.log_id)));
        }
        let what = match covers {
            Covers::Bytes => "the bytes of the card",
            Covers::Value => "the value of the card, however it is written",
            Covers::UrlOnly => "the URL of the card, not its contents",
        };
        facts.push(("covers", format!("{what}: {} bytes, {card}", self.card.len())));
        facts.push(("found", self.whence.to_string()));
        facts.extend(self.root.map(|root| ("trusted root", root.to_owned())));
        facts
    }

    /// What was not verified, beyond what no signature says.
    fn unverified(&self) -> Vec<&'static str> {
        let mut unverified = UNVERIFIED.to_vec();
        if let (Signer::Key { .. }, true) = (&self.verified.signer, self.verified.log.is_empty()) {
            unverified.push("that anybody but the signer could know of it: it is in no log");
        }
        if self.verified.signed_at.is_none() {
            unverified.push("when it was signed");
        }
        if let Signer::DidWeb { publishes: false, .. } = self.verified.signer {
            unverified.push("that the signer is who publishes what the catalog's entry names");
        }
        unverified
    }

    /// As a JSON object.
    pub(super) fn json(&self) -> String {
        let mut members = Members::new();
        members.push("card", &json::string(self.place));
        members.push("bytes", &self.card.len().to_string());
        signature(&mut members, self.verified);
        self.whence.push(&mut members);
        if let Some(root) = self.root {
            members.push("trustedRoot", &json::string(root));
        }
        if !self.remembered.is_empty() {
            members.push("remembered", &json::strings(self.remembered));
        }
        members.push("notVerified", &json::strings(self.unverified()));
        members.finish()
    }
}

/// Adds what a signature says.
fn signature(members: &mut Members, verified: &Verified) {
    let Verified { signer, card, covers, signed_at, expires_at, log } = verified;
    members.push("sha256", &json::string(&card.hex()));
    members.push("signer", &self::signer(signer));
    let covers = match covers {
        Covers::Bytes => "bytes",
        Covers::Value => "value",
        Covers::UrlOnly => "url",
    };
    members.push("covers", &json::string(covers));
    for (name, time) in [("signedAt", signed_at), ("expiresAt", expires_at)] {
        if let Some(time) = time {
            members.push(name, &json::string(&rfc3339::format(*time)));
        }
    }
    let entries: Vec<String> = log
        .iter()
        .map(|entry| {
            let mut members = Members::new();
            members.push("index", &entry.index.to_string());
            members.push("logId", &json::string(&entry.log_id));
            members.finish()
        })
        .collect();
    members.push("log", &format!("[{}]", entries.join(",")));
}

/// Who has signed, as a JSON object.
pub(super) fn signer(signer: &Signer) -> String {
    let mut members = Members::new();
    let mut text = |name: &str, value: &str| members.push(name, &json::string(value));
    match signer {
        Signer::Certificate(certificate) => {
            text("kind", "sigstore");
            text("identity", &certificate.identity);
            text("issuer", &certificate.issuer);
            text("certificateSerial", &certificate.serial);
            let Certificate { repository, repository_id, owner_id, .. } = certificate;
            for (name, value) in
                [("repository", repository), ("repositoryId", repository_id), ("ownerId", owner_id)]
            {
                value.iter().for_each(|value| text(name, value));
            }
        }
        Signer::Key { spki } => {
            text("kind", "key");
            text("spkiSha256", &spki.hex());
        }
        Signer::DidWeb { did, kid, publishes } => {
            text("kind", "did-web");
            text("did", did);
            text("key", kid);
            members.push("publishes", if *publishes { "true" } else { "false" });
        }
    }
    members.finish()
}
