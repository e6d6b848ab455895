//! The rules of a policy, and what they match.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

use super::super::pins::Publisher;
use super::super::signature::Signer;
use super::command::Command;
use super::host::Host;
use super::name::{check_name, is_same_version};
use super::subject::{Exposure, Place, Subject};
use crate::config::quoting;

/// Who may sign for, or be, which servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Allow {
    pub(super) who: Who,
    /// The hosts that it is about; none are all.
    pub(super) hosts: Vec<Host>,
}

/// Whom a rule allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Who {
    /// An identity that an issuer vouches for.
    Certificate { issuer: String, identity: Identity, repository_id: Option<String> },
    /// The owner of a key, by its hash in hexadecimal digits.
    Key { spki: String },
    /// The owner of a domain.
    DidWeb { did: String },
    /// Whoever answers at the rule's hosts, signed or not.
    Host,
    /// A command, in place of a signature, and the directory that it must run in.
    Command { words: Vec<String>, cwd: Option<PathBuf> },
    /// A socket, in place of a signature.
    Socket { path: String },
    /// What was added from a registry, by names or namespaces (`com.acme/*`).
    Registry { base: String, names: Vec<String> },
}

/// Which identities are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Identity {
    /// This one.
    Exact(String),
    /// All that begin so. It ends at a boundary, `/` or `@`.
    Prefix(String),
}

/// Whether a pattern means a name in a registry: `com.acme/weather`, or `com.acme/*`.
fn is_listed(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(namespace) => name.strip_prefix(namespace).is_some_and(|rest| !rest.contains('/')),
        None => pattern == name,
    }
}

impl Allow {
    /// Whether it allows a server without regard to who has signed its card.
    pub(super) fn admits_unsigned(&self, subject: &Subject<'_>) -> bool {
        match &self.who {
            Who::Host => self.is_at(subject),
            Who::Command { words, cwd } => {
                let is_there =
                    |command: &Command| cwd.as_deref().is_none_or(|cwd| command.is_in(cwd));
                matches!(&subject.place, Place::Command(it) if it.is(words) && is_there(it))
            }
            Who::Socket { path } => {
                matches!(&subject.place, Place::Socket { path: it, .. } if it == path)
            }
            Who::Registry { base, names } => {
                let listing = subject.listing.as_ref();
                let is_meant = |name: &str| names.iter().any(|pattern| is_listed(pattern, name));
                listing.is_some_and(|it| it.base == *base && is_meant(&it.name))
            }
            Who::Certificate { .. } | Who::Key { .. } | Who::DidWeb { .. } => false,
        }
    }

    /// Whether it stands for a signature, which the place that it names cannot have.
    pub(super) fn replaces_signature(&self) -> bool {
        matches!(self.who, Who::Command { .. } | Who::Socket { .. })
    }

    /// What makes another command of the one that it is about, if something does: a variable, or the
    /// directory that it runs in.
    pub(super) fn steering(&self, subject: &Subject<'_>) -> Option<String> {
        let has_directory = match &self.who {
            Who::Command { cwd, .. } => cwd.is_some(),
            Who::Registry { .. } => false,
            _ => return None,
        };
        if let Some(name) = &subject.steered_by {
            return Some(format!("{name} is set for it and decides what that runs"));
        }
        let Place::Command(command) = &subject.place else { return None };
        let is_open =
            !has_directory && !subject.directory_is_believed && command.follows_directory();
        is_open.then(|| {
            "the directory that it runs in decides what that runs; name it, as cwd, in the rule or in \
             a definition of your own"
                .to_owned()
        })
    }

    /// Whether it is about signers.
    pub(super) fn is_about_signers(&self) -> bool {
        matches!(self.who, Who::Certificate { .. } | Who::Key { .. } | Who::DidWeb { .. })
    }

    /// Whether it allows a server whose card this signer has signed.
    pub(super) fn admits_signed(&self, subject: &Subject<'_>, signer: &Signer) -> bool {
        let is_signer = match (&self.who, signer) {
            (
                Who::Certificate { issuer, identity, repository_id },
                Signer::Certificate(certificate),
            ) => {
                let is_identity = match identity {
                    Identity::Exact(exact) => certificate.identity == *exact,
                    Identity::Prefix(prefix) => certificate.identity.starts_with(prefix),
                };
                let is_repository =
                    repository_id.is_none() || certificate.repository_id == *repository_id;
                certificate.issuer == *issuer && is_identity && is_repository
            }
            (Who::Key { spki: wanted }, Signer::Key { spki }) => *wanted == spki.hex(),
            (Who::DidWeb { did: wanted }, Signer::DidWeb { did, .. }) => wanted == did,
            _ => false,
        };
        is_signer && self.is_at(subject)
    }

    fn is_at(&self, subject: &Subject<'_>) -> bool {
        let at = |host: &String| self.hosts.iter().any(|pattern| pattern.matches(host));
        match &subject.place {
            _ if self.hosts.is_empty() => true,
            Place::Url { host, meant, way, .. } => {
                // Whoever has to prove to be the host may be reached in any way.
                let is_plain = subject.place.exposure() == Some(Exposure::Plain);
                let is_led = !is_plain || way.detours.iter().all(at);
                at(host) && meant.as_ref().is_none_or(at) && is_led
            }
            Place::Socket { .. } | Place::Command(_) => false,
        }
    }
}

/// What is denied or revoked: whatever has all of these properties.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Match {
    /// `example.com`, or `*.example.com` for the hosts below it.
    pub(super) host: Option<String>,
    /// The name in the configuration, in the card or in the registry; `NAME@VERSION` for one version.
    pub(super) name: Option<String>,
    pub(super) command: Option<Vec<String>>,
    /// The identity of the signer.
    pub(super) san: Option<String>,
    pub(super) issuer: Option<String>,
    pub(super) did: Option<String>,
    pub(super) spki_sha256: Option<String>,
    pub(super) card_sha256: Option<String>,
    pub(super) certificate_serial: Option<String>,
    pub(super) log_index: Option<u64>,
}

/// Whether a match applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hit {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It would, if only it were known who has signed the card.
    Unknown,
}

impl Match {
    /// Makes sure that it says something, and that it can be understood.
    pub(super) fn check(&self) -> Result<(), String> {
        if *self == Match::default() {
            return Err("it says nothing about what is meant".to_owned());
        }
        self.command.as_deref().map_or(Ok(()), check_command)?;
        self.name.as_deref().map_or(Ok(()), check_name)?;
        for (name, text) in [("san", &self.san), ("issuer", &self.issuer)] {
            if text.as_ref().is_some_and(|text| text.trim() != text || text.is_empty()) {
                return Err(format!("{name} is empty, or begins or ends with a blank"));
            }
        }
        if let Some(did) = self.did.as_ref().filter(|did| !did.starts_with("did:web:")) {
            return Err(format!("did \"{did}\" does not begin with did:web:"));
        }
        for (name, digits) in [
            ("spki_sha256", &self.spki_sha256),
            ("card_sha256", &self.card_sha256),
            ("certificate_serial", &self.certificate_serial),
        ] {
            if let Some(digits) = digits {
                let digits = hexadecimal(digits).map_err(|reason| format!("{name} {reason}"))?;
                if name.ends_with("sha256") && digits.len() != 64 {
                    return Err(format!("{name} has not 64 digits"));
                }
            }
        }
        self.host.as_deref().map_or(Ok(()), |host| Host::parse(host).map(drop))
    }

    /// Whether it is about who has signed.
    pub(super) fn is_about_signers(&self) -> bool {
        let texts =
            [&self.san, &self.issuer, &self.did, &self.spki_sha256, &self.certificate_serial];
        texts.iter().any(|text| text.is_some()) || self.log_index.is_some()
    }

    /// Whether the card of a server must be known to tell.
    pub(super) fn needs_card(&self) -> bool {
        self.is_about_signers() || self.card_sha256.is_some() || self.name.is_some()
    }

    pub(super) fn hit(&self, subject: &Subject<'_>) -> Hit {
        if !self.meets_claims(subject) {
            return Hit::No;
        }
        if !self.is_about_signers() {
            return Hit::Yes;
        }
        if subject.publisher.is_some_and(|publisher| self.meets_publisher(publisher)) {
            return Hit::Yes;
        }
        match subject.card.as_ref().map(|card| &card.verified) {
            None => Hit::No,
            Some(Err(_)) => Hit::Unknown,
            Some(Ok(verified)) if self.meets_signer(&verified.signer) => {
                let is_entry = |index: u64| verified.log.iter().any(|entry| entry.index == index);
                if self.log_index.is_none_or(is_entry) { Hit::Yes } else { Hit::No }
            }
            Some(Ok(_)) => Hit::No,
        }
    }

    /// What it says, and what cannot be told of a server that it hits, for people.
    pub(super) fn why(&self, subject: &Subject<'_>) -> String {
        match (&self.command, &subject.place) {
            (Some(words), Place::Command(command)) => match command.why_not_told(words) {
                Some(why) => format!("{self}; {why}"),
                None => self.to_string(),
            },
            _ => self.to_string(),
        }
    }

    /// Whether what the server and its card claim to be is what is meant.
    fn meets_claims(&self, subject: &Subject<'_>) -> bool {
        let is_host = |text: &String| {
            let hosts = subject.place.hosts();
            Host::parse(text).is_ok_and(|pattern| hosts.iter().any(|host| pattern.reaches(host)))
        };
        let is_command = |words: &Vec<String>| matches!(&subject.place, Place::Command(command) if command.runs(words));
        let card = subject.card.as_ref();
        let is_name = |text: &String| {
            let (name, version) = match text.split_once('@') {
                Some((name, version)) => (name, Some(version)),
                None => (text.as_str(), None),
            };
            let claimed = card.and_then(|card| card.name.as_deref());
            let is_same = |said: &str| version.is_none_or(|it| is_same_version(it, said));
            let claimed_version = card.and_then(|card| card.version.as_deref());
            let is_version = version.is_none() || claimed_version.is_some_and(is_same);
            let is_entry = subject.entry.is_some_and(|entry| {
                let (entry, its_version) = entry.split_once('@').unwrap_or((entry, ""));
                // An entry without a version may be any.
                entry == name && (its_version.is_empty() || is_same(its_version))
            });
            is_entry || (subject.name == name || claimed == Some(name)) && is_version
        };
        let is_card = |text: &String| {
            card.is_some_and(|card| card.digest.hex() == hexadecimal(text).unwrap_or_default())
        };
        self.host.as_ref().is_none_or(is_host)
            && self.command.as_ref().is_none_or(is_command)
            && self.name.as_ref().is_none_or(is_name)
            && self.card_sha256.as_ref().is_none_or(is_card)
    }

    /// Whether a publisher is meant, of whom no more is known than who that is.
    fn meets_publisher(&self, publisher: &Publisher) -> bool {
        let same = |wanted: &Option<String>, kind: &str, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| publisher.kind == kind && Some(wanted) == found)
        };
        let identity = Some(&*publisher.identity);
        let spki = self.spki_sha256.as_ref().map(|text| hexadecimal(text).unwrap_or_default());
        let key = hexadecimal(&publisher.identity).unwrap_or_default();
        same(&self.san, "sigstore", identity)
            && same(&self.issuer, "sigstore", publisher.issuer.as_deref())
            && same(&self.did, "did-web", identity)
            && same(&spki, "key", Some(&key))
            && self.certificate_serial.is_none()
            && self.log_index.is_none()
    }

    fn meets_signer(&self, signer: &Signer) -> bool {
        let same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        let digits = |wanted: &Option<String>, found: Option<&str>| {
            let wanted = wanted.as_deref().map(|text| hexadecimal(text).unwrap_or_default());
            wanted.is_none_or(|wanted| {
                found.is_some_and(|found| {
                    wanted.trim_start_matches('0') == found.trim_start_matches('0')
                })
            })
        };
        let (certificate, did, key) = match signer {
            Signer::Certificate(certificate) => (Some(certificate), None, None),
            Signer::DidWeb { did, .. } => (None, Some(did.as_str()), None),
            Signer::Key { spki } => (None, None, Some(spki.hex())),
        };
        same(&self.san, certificate.map(|it| it.identity.as_str()))
            && same(&self.issuer, certificate.map(|it| it.issuer.as_str()))
            && same(&self.did, did)
            && digits(&self.spki_sha256, key.as_deref())
            && digits(&self.certificate_serial, certificate.map(|it| it.serial.as_str()))
    }
}

/// Makes sure that the words of a rule can be those of a command.
pub(super) fn check_command(words: &[String]) -> Result<(), String> {
    match words.split_last() {
        None => Err("command has no words".to_owned()),
        Some(_) if words[0] == "*" || words[0].trim().is_empty() => {
            Err("command names no program".to_owned())
        }
        Some((_, beginning)) if beginning.iter().any(|word| word == "*") => {
            Err("in command, \"*\" is only the last word".to_owned())
        }
        Some(_) => Ok(()),
    }
}

/// Hexadecimal digits in lower case; a prefix `sha256:` and colons between them may be written.
pub(super) fn hexadecimal(text: &str) -> Result<String, String> {
    let digits: String = text.trim_start_matches("sha256:").chars().filter(|c| *c != ':').collect();
    match !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        true => Ok(digits.to_ascii_lowercase()),
        false => Err(format!("\"{text}\" is not hexadecimal")),
    }
}

impl fmt::Display for Allow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.who {
            Who::Certificate { issuer, identity, repository_id } => {
                match identity {
                    Identity::Exact(identity) => write!(f, "signed by {identity}")?,
                    Identity::Prefix(prefix) => write!(f, "signed by {prefix}…")?,
                }
                write!(f, ", issuer {issuer}")?;
                if let Some(id) = repository_id {
                    write!(f, ", repository {id}")?;
                }
            }
            Who::Key { spki } => write!(f, "signed with the key sha256:{spki}")?,
            Who::DidWeb { did } => write!(f, "signed by {did}")?,
            Who::Host => f.write_str("any server")?,
            Who::Command { words, cwd } => {
                write!(f, "the command {}", quoting::join(words.iter().map(String::as_str)))?;
                if let Some(cwd) = cwd {
                    write!(f, " in {}", cwd.display())?;
                }
            }
            Who::Socket { path } => write!(f, "the socket {path}")?,
            Who::Registry { base, names } => {
                write!(f, "added from {base} as {}", names.join(" or "))?;
            }
        }
        if !self.hosts.is_empty() {
            let hosts: Vec<String> = self.hosts.iter().map(Host::to_string).collect();
            write!(f, ", at {}", hosts.join(" "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command =
            self.command.as_ref().map(|words| quoting::join(words.iter().map(String::as_str)));
        let index = self.log_index.map(|index| index.to_string());
        let properties = [
            ("host", &self.host),
            ("name", &self.name),
            ("command", &command),
            ("san", &self.san),
            ("issuer", &self.issuer),
            ("did", &self.did),
            ("spki_sha256", &self.spki_sha256),
            ("card_sha256", &self.card_sha256),
            ("certificate_serial", &self.certificate_serial),
            ("log_index", &index),
        ];
        let said = properties
            .iter()
            .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value}")));
        f.write_str(&said.collect::<Vec<_>>().join(", "))
    }
}
