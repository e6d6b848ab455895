//! A card for people: what is claimed, by whom, and what the server says to that.

use super::line::cut;
use super::live::Asked;
use super::signature::Signature;
use crate::discovery::claim::{Input, Remote};
use crate::discovery::documents::Origin;
use crate::discovery::registry::Package;
use crate::discovery::{Candidate, Claim};
use crate::protocol::visible::visible;

/// How wide the column of names is.
const NAMES: usize = 13;

/// How much of a text is shown, in characters.
const LONGEST: usize = 1000;

/// Rows of a name and a value. No value can pass for a row, and nothing in one is hidden.
#[derive(Default)]
struct Sheet(String);

impl Sheet {
    fn line(&mut self, text: &str) {
        self.0.push_str(visible(&cut(text, LONGEST)).trim_end());
        self.0.push('\n');
    }

    fn row(&mut self, name: &str, value: &str) {
        self.whole(name, &cut(value.trim(), LONGEST));
    }

    /// A row of which nothing may be left out.
    fn whole(&mut self, name: &str, value: &str) {
        let value = visible(value.trim());
        if !value.is_empty() {
            self.0.push_str(&format!("{name:<NAMES$}{value}\n"));
        }
    }
}

/// All about a card.
pub(in crate::cli) fn text(
    candidate: &Candidate,
    signature: &Signature,
    asked: Option<&Asked>,
) -> String {
    let mut sheet = Sheet::default();
    let claim = &candidate.claim;
    about(&mut sheet, &candidate.shown_name(), claim);
    claim.remotes.iter().for_each(|it| remote(&mut sheet, it));
    if claim.remotes.is_empty() && claim.hints.packages.is_empty() {
        sheet.row("endpoint", "none that can be used");
    }
    sheet.row("packages", &claim.hints.packages.join(", "));
    hints(&mut sheet, candidate);
    source(&mut sheet, candidate, signature);
    claim.remarks.iter().for_each(|remark| sheet.row("note", &remark.to_string()));
    sheet.line("All of this is claimed, and none of it proven.");
    if let Some(asked) = asked {
        sheet.0.push_str(&said(asked, false));
    }
    sheet.0
}

/// What a server says about itself, and where its card differs.
pub(in crate::cli) fn said(asked: &Asked, is_unclaimed: bool) -> String {
    let Asked { live, differing, .. } = asked;
    let mut sheet = Sheet::default();
    if !is_unclaimed {
        sheet.0.push('\n');
    }
    let name = live.name.as_deref().unwrap_or("(no name)");
    let version = live.version.as_deref().unwrap_or_default();
    sheet.line(&format!("The server says: {name} {version}"));
    sheet.row("protocol", &live.versions.join(", "));
    sheet.row("can", &live.capabilities.join(", "));
    match differing.as_slice() {
        [] if is_unclaimed => (),
        [] => sheet.row("card", "says the same"),
        some => some.iter().for_each(|it| sheet.row("differs", &it.to_string())),
    }
    sheet.0
}

/// All about a package of the registry. `words` is the command that runs it, in quotes and whole.
pub(in crate::cli) fn package(
    claim: &Claim,
    package: &Package,
    words: &str,
    document: &str,
) -> String {
    let mut sheet = Sheet::default();
    about(&mut sheet, claim.shown_name(), claim);
    sheet.row("package", &format!("{} {}", package.kind.word(), package.identifier));
    sheet.whole("runs", words);
    for (name, variable) in &package.environment {
        sheet.row("  variable", &input(name, variable));
    }
    let arguments = package.runtime_arguments.iter().chain(&package.arguments);
    for argument in arguments.filter(|argument| argument.input.value.is_none()) {
        let name = argument.name.as_deref().or(argument.flag.as_deref()).unwrap_or_default();
        sheet.row("  argument", &input(name, &argument.input));
    }
    sheet.row("claimed by", document);
    sheet.row("owner", "the registry checks who may publish under a name, and no more");
    sheet.row("signature", &Signature::NotChecked.text());
    sheet.line("All of this is claimed, and none of it proven.");
    sheet.0
}

/// What a server is called and what it is for.
fn about(sheet: &mut Sheet, name: &str, claim: &Claim) {
    let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
    sheet.line(&format!("{name} {}", text(&claim.version)));
    sheet.row("title", &text(&claim.title));
    sheet.row("about", &text(&claim.description));
    sheet.row("website", &text(&claim.website));
}

fn remote(sheet: &mut Sheet, remote: &Remote) {
    let versions = match remote.versions.is_empty() {
        true => String::new(),
        false => format!("; {}", remote.versions.join(", ")),
    };
    sheet.whole("endpoint", &format!("{} ({}{versions})", remote.url, remote.binding.word()));
    for (name, variable) in &remote.variables {
        sheet.row("  variable", &input(name, variable));
    }
    for (name, header) in &remote.headers {
        sheet.row("  header", &input(name, header));
        for (name, variable) in &header.variables {
            sheet.row("    variable", &input(name, variable));
        }
    }
}

/// `name  required, secret, one of a, b: what it is for`
fn input(name: &str, input: &Input) -> String {
    let mut words = Vec::new();
    if input.is_required && input.default.is_none() && input.value.is_none() {
        words.push("required".to_owned());
    }
    if input.is_secret {
        words.push("secret".to_owned());
    }
    if let Some(value) = &input.value {
        words.push(format!("is {value:?}"));
    }
    if let Some(default) = &input.default {
        words.push(format!("default {default:?}"));
    }
    if !input.choices.is_empty() {
        words.push(format!("one of {}", input.choices.join(", ")));
    }
    let about = match &input.description {
        Some(description) if words.is_empty() => format!("  {description}"),
        Some(description) => format!(": {description}"),
        None => String::new(),
    };
    format!("{name}  {}{about}", words.join(", "))
}

/// What older forms say beyond a card.
fn hints(sheet: &mut Sheet, candidate: &Candidate) {
    let hints = &candidate.claim.hints;
    sheet.row("can", &hints.capabilities.join(", "));
    if let Some(tools) = hints.tools {
        sheet.row("tools", &format!("{tools} are listed"));
    }
    sheet.row("protocol", &hints.versions.join(", "));
    match (hints.needs_login, hints.schemes.join(", ")) {
        (Some(true), schemes) if schemes.is_empty() => sheet.row("login", "needed"),
        (Some(true), schemes) => sheet.row("login", &format!("needed ({schemes})")),
        (Some(false), _) => sheet.row("login", "not needed"),
        (None, schemes) => sheet.row("login", &schemes),
    }
}

/// Who claims it, and how far that was checked.
fn source(sheet: &mut Sheet, candidate: &Candidate, signature: &Signature) {
    if let Some(document) = &candidate.document {
        let had = match document.origin {
            Origin::Network => "fetched",
            Origin::Revalidated => "stored; the host says that it is good still",
            Origin::Stored => "stored",
            Origin::Stale(_) => "stored, and out of date",
        };
        sheet.row("claimed by", &format!("{} ({had})", document.address));
    }
    let form = candidate.claim.form;
    let kind = if form.is_current() { "the standard's form" } else { "an older form" };
    sheet.row("found as", &format!("{}, {kind} ({})", candidate.way.word(), form.word()));
    if let Some(entry) = &candidate.entry {
        let by = entry.publisher.as_ref().map(|by| format!(", by {by}")).unwrap_or_default();
        sheet.row("catalog", &format!("{}{by}", entry.identifier));
    }
    match candidate.digest_holds {
        Some(true) => sheet.row("hash", "is the one that the catalog lists"),
        Some(false) => sheet.row("hash", "is NOT the one that the catalog lists"),
        None => (),
    }
    let differing = candidate.contradictions();
    differing.iter().for_each(|it| sheet.row("differs", &it.to_string()));
    sheet.row("signature", &signature.text());
    signature.whence().iter().for_each(|whence| sheet.row("  found", &whence.to_string()));
}
