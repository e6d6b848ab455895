//! What the user must accept to the letter, because somebody else has chosen it.

use serde_json::Value;

use super::Adoptable;
use crate::cli::args::config_commands::Add;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::run::Run;
use crate::config::{self, Digest, Entry, quoting};
use crate::protocol::mask::{self, Author, MASK};
use crate::protocol::message::Sent;
use crate::protocol::visible::{is_hidden, visible};
use crate::trust::Effect;

/// Why the user must accept a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Consent {
    /// Where the document is from.
    pub(super) from: String,
    /// What is special about it.
    pub(super) why: &'static str,
    /// Whether a policy allows it without being asked.
    pub(super) is_granted: bool,
}

/// Makes sure that the user has accepted what a document has chosen: this very entry.
pub(super) fn check(run: &Run<'_>, add: &Add, name: &str, found: &Adoptable) -> Result<(), Error> {
    let refused = |text: String| Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No);
    let digest = digest(name, &found.entry);
    match add.accept {
        Some(accepted) if accepted == digest => return Ok(()),
        Some(_) => {
            let text = format!("{name} is not what you accept: its digest is {digest}");
            return Err(refused(format!("{text}\n{}", effect(run, name, &found.entry)?)));
        }
        None => {}
    }
    let Some(Consent { from, why, is_granted: false }) = &found.consent else { return Ok(()) };
    let effect = effect(run, name, &found.entry)?;
    let text =
        format!("{name}, as {from} says, is added only if you accept it, because {why}: {effect}");
    Err(refused(text).hint(format!("to accept it: {} --accept {digest}", again(run))))
}

/// Makes sure that people see all of what would be written down: a name, an address or a command is
/// taken for what it looks like.
pub(super) fn refuse_hidden(name: &str, found: &Adoptable) -> Result<(), Error> {
    let entry = Value::Object(found.entry.clone());
    let Some((field, text)) = hidden(&entry, String::new()) else { return Ok(()) };
    let text = format!("{name}: its {field} hides something: {}", visible(&text));
    let error = Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No);
    Err(error.hint("nothing was written"))
}

/// The first text in a value that is not what it looks like, and where it is.
fn hidden(value: &Value, place: String) -> Option<(String, String)> {
    match value {
        Value::String(text) => text.contains(is_hidden).then(|| (place, text.clone())),
        Value::Array(values) => {
            let mut numbered = values.iter().enumerate();
            numbered.find_map(|(index, value)| hidden(value, format!("{place}[{index}]")))
        }
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            let place = match place.is_empty() {
                true => visible(name),
                false => format!("{place}.{}", visible(name)),
            };
            let name = name.contains(is_hidden).then(|| (place.clone(), name.clone()));
            name.or_else(|| hidden(value, place))
        }),
        _ => None,
    }
}

/// The hash of an entry under its name.
fn digest(name: &str, entry: &Entry) -> Digest {
    let whole = serde_json::json!({ "entry": entry, "name": name });
    Digest::of(whole.to_string().as_bytes())
}

/// What using the entry does, whole: what a document has chosen is shown to the letter, what the user
/// gives on the command line without secrets.
fn effect(run: &Run<'_>, name: &str, entry: &Entry) -> Result<String, Error> {
    let mut shown = entry.clone();
    if let Some(headers) = shown.get_mut("headers").and_then(Value::as_object_mut) {
        for given in run.globals.header.iter().filter(|it| !it.value.as_str().contains("${")) {
            let masked = mask::field(&given.name, given.value.as_str(), Author::Client);
            headers.insert(given.name.clone(), masked.into());
        }
    }
    let resolved = config::resolve_entry(name, &shown, run.env).map_err(explain::config)?;
    Ok(format!("it {}", Effect::of(&resolved.definition.target)))
}

/// The command line as it was given, with secrets masked: logs are read by many.
fn again(run: &Run<'_>) -> String {
    let headers = run.globals.header.iter().map(|it| (&it.name, it.value.as_str()));
    let headers = headers.filter(|(name, it)| mask::field(name, it, Author::Client) != *it);
    let variables = run.globals.env.iter().map(|it| (&it.name, it.value.as_str()));
    let variables = variables.filter(|(name, _)| mask::is_secret(name));
    let secrets: Vec<_> = headers.chain(variables).map(|(_, value)| value).collect();
    let is_plain = |value: &&&str| !value.is_empty() && !value.contains("${");
    let word = |word: &std::ffi::OsString| {
        let word = word.to_string_lossy().into_owned();
        secrets.iter().filter(is_plain).fold(word, |word, it| word.replace(it, MASK))
    };
    let words: Vec<String> = run.env.args.iter().skip(1).map(word).collect();
    quoting::join(["mcpmini"].into_iter().chain(words.iter().map(String::as_str)))
}
