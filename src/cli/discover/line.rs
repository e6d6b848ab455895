//! A server that was found, on one line.

use std::borrow::Cow;

use super::signature::Signature;
use crate::discovery::claim::{Binding, Remote};
use crate::discovery::documents::Document;
use crate::discovery::lookup::Way;
use crate::discovery::registry::Package;
use crate::discovery::{Candidate, Claim};
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::protocol::visible::visible;

/// How much of a column is shown, in characters.
const LONGEST: usize = 300;

/// The remote that would be used: the first of Streamable HTTP, else the first.
pub(in crate::cli) fn remote_of(claim: &Claim) -> Option<&Remote> {
    claim.remotes_of(Binding::Http).next().or(claim.remotes.first())
}

/// What people want to know of it: name, version, URL, where it was found, notes.
pub(super) fn columns(candidate: &Candidate) -> Vec<String> {
    let claim = &candidate.claim;
    let url = remote_of(claim).map(|remote| remote.url.clone()).unwrap_or_default();
    let columns = [
        candidate.shown_name(),
        claim.version.clone().unwrap_or_default(),
        url,
        candidate.way.word().to_owned(),
        notes(candidate).join("; "),
    ];
    columns.iter().map(|column| visible(&cut(column.trim(), LONGEST))).collect()
}

/// The beginning of a text that is longer than people read.
pub(super) fn cut(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        None => text.into(),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}… ({more} characters more)", &text[..end]).into()
        }
    }
}

fn notes(candidate: &Candidate) -> Vec<String> {
    let claim = &candidate.claim;
    let mut notes = Vec::new();
    if !is_standard(candidate) {
        notes.push(format!("older form ({})", claim.form.word()));
    }
    match (&candidate.document, remote_of(claim)) {
        (_, None) if !claim.hints.packages.is_empty() => {
            notes.push(format!("a package ({})", claim.hints.packages.join(", ")));
        }
        (None, None) if candidate.entry.is_some() => {
            notes.push("its card was not fetched".to_owned())
        }
        (_, None) => notes.push("names no endpoint that can be used".to_owned()),
        (_, Some(remote)) if remote.binding == Binding::Sse => notes.push("HTTP+SSE".to_owned()),
        _ => (),
    }
    if candidate.digest_holds == Some(false) {
        notes.push("not the card that the catalog lists".to_owned());
    }
    notes.extend(candidate.contradictions().iter().map(ToString::to_string));
    notes.extend(claim.remarks.iter().map(ToString::to_string));
    notes
}

/// Whether it is where, and as, the standard says.
fn is_standard(candidate: &Candidate) -> bool {
    candidate.claim.form.is_current() && !matches!(candidate.way, Way::Legacy(_))
}

/// All that is known, as a JSON object, with the card as it came.
pub(in crate::cli) fn json(candidate: &Candidate, signature: &Signature) -> String {
    let claim = &candidate.claim;
    let mut members = Members::new();
    members.push("name", &json::string(&candidate.shown_name()));
    push_texts(&mut members, claim);
    if let Some(remote) = remote_of(claim) {
        members.push("url", &json::string(&remote.url));
        members.push("transport", &json::string(remote.binding.word()));
        members.push("protocolVersions", &json::strings(&remote.versions));
        let headers = remote.headers.iter().map(|(name, _)| name);
        members.push("headers", &json::strings(headers));
        let variables = remote.variables.iter().map(|(name, _)| name);
        members.push("variables", &json::strings(variables));
    }
    members.push("source", &json::string(candidate.way.word()));
    members.push("form", &json::string(claim.form.word()));
    let status = if is_standard(candidate) { "standard" } else { "superseded" };
    members.push("status", &json::string(status));
    if let Some(entry) = &candidate.entry {
        members.push("identifier", &json::string(&entry.identifier));
        if let Some(publisher) = &entry.publisher {
            members.push("publisher", &json::string(publisher));
        }
    }
    if let Some(holds) = candidate.digest_holds {
        members.push("digestHolds", &holds.to_string());
    }
    signature.push(&mut members);
    members.push("notes", &json::strings(notes(candidate)));
    if let Some(document) = &candidate.document {
        members.push("document", &json::string(document.address.as_str()));
        // Else a list of a thousand servers would be there a thousand times.
        if !candidate.is_one_of_several {
            members.push("card", &verbatim(document));
        }
    }
    members.finish()
}

/// The same for a package of a registry: the command that runs it, whole, and the entry as it came.
pub(in crate::cli) fn package_json(
    claim: &Claim,
    package: &Package,
    words: &[String],
    document: &Document,
) -> String {
    let mut members = Members::new();
    members.push("name", &json::string(claim.shown_name()));
    push_texts(&mut members, claim);
    members.push("package", &json::string(package.kind.word()));
    members.push("identifier", &json::string(&package.identifier));
    members.push("argv", &json::strings(words));
    let names = package.environment.iter().map(|(name, _)| name);
    members.push("env", &json::strings(names));
    members.push("source", &json::string("registry"));
    Signature::NotChecked.push(&mut members);
    members.push("document", &json::string(document.address.as_str()));
    members.push("card", &verbatim(document));
    members.finish()
}

fn push_texts(members: &mut Members, claim: &Claim) {
    let texts = [
        ("title", &claim.title),
        ("version", &claim.version),
        ("description", &claim.description),
        ("website", &claim.website),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            members.push(name, &json::string(text));
        }
    }
}

/// A document: as it came, or, from inside of a catalog, as it stands there.
fn verbatim(document: &Document) -> String {
    match std::str::from_utf8(&document.body) {
        Ok(text) if !text.is_empty() => text.trim_start_matches('\u{feff}').trim().to_owned(),
        _ => serde_json::to_string(&*document.object).expect("a JSON value always serializes"),
    }
}
