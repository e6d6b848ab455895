//! The file of a policy, in TOML.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::decision::{CrossDomain, DAY, Mode, Rules};
use super::host::Host;
use super::rule::{Allow, Identity, Match, Who, check_command, hexadecimal};
use super::source::{Document, ListSigner, Lists, Mistake};
use crate::config::OFFICIAL_REGISTRY;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDocument {
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    require_signature: bool,
    require_tls: Option<bool>,
    card_max_age_days: Option<u32>,
    cross_domain: Option<CrossDomain>,
    trusted_root: Option<PathBuf>,
    #[serde(default)]
    allow: Vec<Spanned<RawAllow>>,
    #[serde(default)]
    deny: Vec<Spanned<Match>>,
    revocation: Option<Spanned<RawRevocation>>,
}

/// The kinds of `[[allow]]`, for who has left out which.
const KINDS: &str = "`sigstore`, `did-web`, `key`, `host`, `command`, `socket`, `registry`";

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum RawAllow {
    Sigstore {
        issuer: String,
        san: Option<String>,
        san_prefix: Option<String>,
        repo_id: Option<String>,
        #[serde(default)]
        hosts: Vec<String>,
    },
    DidWeb {
        did: String,
        #[serde(default)]
        hosts: Vec<String>,
    },
    Key {
        spki_sha256: String,
        #[serde(default)]
        hosts: Vec<String>,
    },
    Host {
        hosts: Vec<String>,
    },
    Command {
        command: Vec<String>,
        cwd: Option<PathBuf>,
    },
    Socket {
        path: String,
    },
    Registry {
        base: Option<String>,
        namespaces: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRevocation {
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default)]
    urls: Vec<String>,
    #[serde(default = "yes")]
    required: bool,
    max_age: Option<String>,
    san: Option<String>,
    issuer: Option<String>,
    public_key: Option<PathBuf>,
}

fn yes() -> bool {
    true
}

/// Reads a policy. What is not understood is an error: a misspelt rule would not be a rule.
pub(super) fn parse(text: &str) -> Result<Document, Mistake> {
    let line_of = |at: usize| text.get(..at).map(|before| before.matches('\n').count() + 1);
    let raw: RawDocument = toml::from_str(text).map_err(|error| {
        let line = error.span().and_then(|span| line_of(span.start));
        let what = error.message();
        let kinds = if what == "missing field `kind`" { KINDS } else { "" };
        let one_of = if kinds.is_empty() { "" } else { ", one of " };
        (line, format!("{what}{one_of}{kinds}"))
    })?;
    let mut document = Document {
        rules: Rules {
            mode: raw.mode,
            require_signature: raw.require_signature,
            require_tls: raw.require_tls,
            card_max_age: raw.card_max_age_days.map(|days| i64::from(days) * DAY),
            ..Rules::default()
        },
        trusted_root: raw.trusted_root,
        cross_domain: raw.cross_domain,
        lists: Lists::default(),
    };
    for rule in raw.allow {
        let line = line_of(rule.span().start);
        let allow = allow(rule.into_inner()).map_err(|why| (line, format!("allow: {why}")))?;
        document.rules.allow.push((line.unwrap_or_default(), allow));
    }
    for rule in raw.deny {
        let line = line_of(rule.span().start);
        let rule = rule.into_inner();
        rule.check().map_err(|why| (line, format!("deny: {why}")))?;
        document.rules.deny.push((line.unwrap_or_default(), rule));
    }
    if let Some(revocation) = raw.revocation {
        let line = line_of(revocation.span().start);
        let lists = lists(revocation.into_inner());
        document.lists = lists.map_err(|why| (line, format!("revocation: {why}")))?;
    }
    Ok(document)
}

fn allow(raw: RawAllow) -> Result<Allow, String> {
    let (who, hosts) = match raw {
        RawAllow::Sigstore { issuer, san, san_prefix, repo_id, hosts } => {
            let identity = match (san, san_prefix) {
                (Some(exact), None) => Identity::Exact(exact),
                (None, Some(prefix)) if prefix.ends_with(['/', '@']) => Identity::Prefix(prefix),
                (None, Some(_)) => return Err("san_prefix must end with / or @".to_owned()),
                _ => return Err("it needs san or san_prefix, and not both".to_owned()),
            };
            (Who::Certificate { issuer, identity, repository_id: repo_id }, hosts)
        }
        RawAllow::DidWeb { did, hosts } => (Who::DidWeb { did }, hosts),
        RawAllow::Key { spki_sha256, hosts } => {
            let spki = hexadecimal(&spki_sha256)?;
            if spki.len() != 64 {
                return Err("spki_sha256 has not 64 digits".to_owned());
            }
            (Who::Key { spki }, hosts)
        }
        RawAllow::Host { hosts } if hosts.is_empty() => return Err("it names no hosts".to_owned()),
        RawAllow::Host { hosts } => (Who::Host, hosts),
        RawAllow::Command { command, .. } if is_relative(&command) => {
            let why =
                "command names its program by a relative path, which is another one elsewhere";
            return Err(why.to_owned());
        }
        RawAllow::Command { cwd: Some(cwd), .. } if !cwd.is_absolute() => {
            return Err(format!("cwd \"{}\" is no absolute path", cwd.display()));
        }
        RawAllow::Command { command: words, cwd } => {
            check_command(&words)?;
            (Who::Command { words, cwd }, Vec::new())
        }
        RawAllow::Registry { base, namespaces } => {
            let is_name = |name: &String| {
                let (space, name) = name.split_once('/').unwrap_or_default();
                !space.is_empty() && !space.contains('*') && (name == "*" || !name.contains('*'))
            };
            match namespaces.iter().find(|name| !is_name(name)) {
                Some(name) => return Err(format!("\"{name}\" is not com.example/* or one name")),
                None if namespaces.is_empty() => return Err("it has no namespaces".to_owned()),
                None => {}
            }
            let base =
                base.as_deref().unwrap_or(OFFICIAL_REGISTRY).trim_end_matches('/').to_owned();
            (Who::Registry { base, names: namespaces }, Vec::new())
        }
        RawAllow::Socket { path } if !path.starts_with('/') => {
            return Err(format!("path \"{path}\" is no absolute path"));
        }
        RawAllow::Socket { path } => (Who::Socket { path }, Vec::new()),
    };
    let hosts = hosts.iter().map(|host| Host::parse(host)).collect::<Result<_, _>>()?;
    Ok(Allow { who, hosts })
}

/// Whether a command names a program by a path that leads elsewhere from another directory.
fn is_relative(command: &[String]) -> bool {
    command.first().is_some_and(|program| program.contains('/') && !program.starts_with('/'))
}

fn lists(raw: RawRevocation) -> Result<Lists, String> {
    let signer = match (raw.san, raw.issuer, raw.public_key) {
        (Some(identity), Some(issuer), None) => Some(ListSigner::Certificate { identity, issuer }),
        (None, None, Some(path)) => Some(ListSigner::Key { path }),
        (None, None, None) if raw.urls.is_empty() => None,
        (None, None, None) => {
            return Err(
                "lists from the network need a signer: san and issuer, or public_key".into()
            );
        }
        _ => return Err("the signer of the lists is san and issuer, or public_key".into()),
    };
    if raw.files.is_empty() && raw.urls.is_empty() {
        return Err("it names no list".to_owned());
    }
    if let Some(url) = raw.urls.iter().find(|url| !url.starts_with("https://")) {
        return Err(format!("{url} is not https"));
    }
    let max_age = match raw.max_age {
        None => DAY,
        Some(text) => duration(&text).ok_or(format!("\"{text}\" is no duration such as 24h"))?,
    };
    Ok(Lists { files: raw.files, urls: raw.urls, required: raw.required, max_age, signer })
}

/// Reads `90s`, `15m`, `24h` or `7d`, in seconds.
fn duration(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => DAY,
        _ => return None,
    };
    number.parse::<u32>().ok().map(|number| i64::from(number) * unit)
}
