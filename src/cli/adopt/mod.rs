//! `mcpmini add` of a server that is looked up: what is claimed is shown, the user consents, the
//! server is asked, and a plain entry is written.
//!
//! ```text
//! word ── look up ──▶ entry ── leads elsewhere, or runs something? ──▶ --accept DIGEST, or exit 8
//!                       └───── no ──▶ ask the server ──▶ show ──▶ write
//! ```

mod bundle;
mod consent;
mod found;
mod package;

use std::path::PathBuf;

use smol::LocalExecutor;

use self::consent::Consent;
use super::args::Format;
use super::args::config_commands::Add;
use super::args::usage::first_given;
use super::config::{entry, file};
use super::discover::{self, Asked, Stranger};
use super::errors::Error;
use super::exit::Exit;
use super::output;
use super::run::Run;
use crate::config::{Changeable, Entry, Layer, Overrides, Resolved, Word, resolve};
use crate::discovery::bundle::Bundle;
use crate::discovery::{Claim, Place};
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::trust::pins::Publisher;

/// A server that was found, ready to be written down.
pub(super) struct Adoptable {
    /// What it calls itself.
    name: String,
    /// What would stand in the file.
    entry: Entry,
    /// Why the user must accept it to the letter; `None` when the user has named it.
    consent: Option<Consent>,
    /// What is claimed about it, if anything is: for people, and as JSON.
    claimed: Option<(String, String)>,
    /// The claim, to be held against what the server says.
    claim: Claim,
    /// Who has signed the card, if that is known.
    publisher: Option<Publisher>,
    /// The bundle to unpack, and where to.
    bundle: Option<(Bundle, PathBuf)>,
    /// Whether nothing but the server itself can tell that there is one.
    is_unclaimed: bool,
}

/// Where the words of `add` say to look; `None` when they are a server themselves.
pub(super) fn place<'w>(
    name: Option<&str>,
    server: Option<&'w str>,
) -> Result<Option<(&'w str, Place)>, Error> {
    let Some(word) = server else { return Ok(None) };
    let is_looked_up =
        ["registry:", "card:", "catalog:", "file:"].iter().any(|it| word.starts_with(it));
    let looked_up = || discover::place(word).map(|place| Some((word, place)));
    if is_looked_up {
        return looked_up();
    }
    match (Place::parse(word), name) {
        // With a name, a URL or a command is taken as it is.
        (Ok(Place::Host(_)), Some(_)) if !word.contains("://") => looked_up(),
        (_, Some(_)) => Ok(None),
        (Ok(_), None) => looked_up(),
        (Err(error), None) => match Word::parse(word) {
            Ok(Word::Name { .. }) | Err(_) if word.contains("://") => {
                Err(Error::usage(error.to_string()))
            }
            Ok(Word::Command(_)) => {
                let hint = match discover::registry_name(word) {
                    Some(name) => format!("of the registry: mcpmini add {name}"),
                    None => "mcpmini add NAME -- COMMAND ARG...".to_owned(),
                };
                Err(Error::usage("a command needs a NAME").hint(hint))
            }
            _ => Ok(None),
        },
    }
}

/// Options that are about what is looked up.
pub(super) fn refuse_needless_options(add: &Add) -> Result<(), Error> {
    let given = first_given(&[
        ("--accept", add.accept.is_some()),
        ("--entry", add.entry.is_some()),
        ("--var", !add.var.is_empty()),
        ("--standard", add.standard),
        ("--max-card-bytes", add.max_card_bytes.is_some()),
        ("--allow-http", add.allow_http),
        ("--registry", add.registry.is_some()),
        ("--local", add.local),
        ("--package", add.package.is_some()),
        ("--allow-registry-url", add.allow_registry_url),
    ]);
    match given {
        None => Ok(()),
        Some(flag) => Err(Error::usage(format!("{flag} is for a server that is looked up"))),
    }
}

/// Looks a server up and adds it.
pub(super) async fn run(
    run: &Run<'_>,
    add: &Add,
    name: Option<&str>,
    word: &str,
    place: &Place,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    entry::refuse_what_is_not_stored(run.globals)?;
    if let Place::Search(text) = place {
        let error = Error::usage(format!("registry:{text} is no name in a registry"));
        return Err(error.hint(format!("mcpmini discover registry:{text} looks for one")));
    }
    let file = file::find(run, add.project, &file::only_file(run))?;
    let found = match place {
        Place::Registry { name, version } => {
            package::look_up(run, add, name, version.as_deref()).await?
        }
        _ => found::look_up(run, add, word, place).await?,
    };
    let name = name.map_or_else(|| found.name.clone(), str::to_owned);
    consent::refuse_hidden(&name, &found)?;
    consent::check(run, add, &name, &found)?;
    if let Some((bundle, folder)) = &found.bundle {
        bundle::unpack(run, bundle, folder)?;
    }
    let asked = match found.entry.contains_key("url") {
        true => {
            let (entry, claim, is_named) = (&found.entry, &found.claim, found.consent.is_none());
            let stranger = Stranger { name: &name, entry, claim, is_named };
            Some(discover::ask(run, stranger, executor).await)
        }
        false => None,
    };
    let asked = heed(run, &found, asked, &name)?;
    if add.force {
        hold_publisher(run, &name, &found, &file)?;
    }
    file::write(run, add, &name, &found.entry, &file)?;
    hold_publisher(run, &name, &found, &file)?;
    if let Some(asked) = &asked {
        note_greeting(run, &name, asked, &file)?;
    }
    tell(run, &name, &found, asked.as_ref(), &file)
}

/// What the server said. Where a document stands for it, it need not answer now.
fn heed(
    run: &Run<'_>,
    found: &Adoptable,
    asked: Option<Result<Asked, Error>>,
    name: &str,
) -> Result<Option<Asked>, Error> {
    match asked {
        None => Ok(None),
        Some(Ok(asked)) => {
            discover::heed(run, &asked.differing)?;
            Ok(Some(asked))
        }
        Some(Err(error)) if error.exit == Exit::Auth => {
            run.warn(&format!("the server wants to know who is asking: mcpmini login {name}"));
            Ok(None)
        }
        // A policy does not admit it, so nobody could use it.
        Some(Err(error)) if error.exit == Exit::Trust => Err(error),
        Some(Err(error)) if found.is_unclaimed || run.over().is_some() => Err(error),
        Some(Err(error)) => {
            run.warn(&format!("the server could not be asked: {}", error.message));
            Ok(None)
        }
    }
}

/// Holds who has signed the card against who had when a server of this name was accepted, if there is
/// one in the file. Of one that was just written, it is the first thing that is known.
fn hold_publisher(
    run: &Run<'_>,
    name: &str,
    found: &Adoptable,
    file: &Changeable,
) -> Result<(), Error> {
    let Some(publisher) = found.publisher.clone() else { return Ok(()) };
    let overrides = file::only_file(run);
    match written(run, name, file, &overrides) {
        Some(resolved) => {
            crate::cli::consent::hold_publisher(run, &resolved, &overrides, publisher)
        }
        None => Ok(()),
    }
}

/// Remembers what a server has said that was written to the file.
fn note_greeting(run: &Run<'_>, name: &str, asked: &Asked, file: &Changeable) -> Result<(), Error> {
    let overrides = file::only_file(run);
    match written(run, name, file, &overrides) {
        Some(resolved) => {
            crate::cli::consent::note_greeting(run, &resolved, &overrides, asked.greeting.clone())
        }
        None => Ok(()),
    }
}

/// The server of that name in the file, if there is one.
fn written(
    run: &Run<'_>,
    name: &str,
    file: &Changeable,
    overrides: &Overrides,
) -> Option<Resolved> {
    let word = match file.layer {
        Layer::Named => name.to_owned(),
        layer => format!("{layer}:{name}"),
    };
    resolve(&word, run.env, overrides).ok()
}

/// Shows what was claimed, what was verified, and what was done.
fn tell(
    run: &Run<'_>,
    name: &str,
    found: &Adoptable,
    asked: Option<&Asked>,
    file: &Changeable,
) -> Result<Exit, Error> {
    let line = file::line(run, "added", name, file);
    if run.settings.output != Format::Json {
        let mut text = found.claimed.as_ref().map(|(text, _)| text.clone()).unwrap_or_default();
        if let Some(asked) = asked {
            text.push_str(&discover::said(asked, found.is_unclaimed));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        output::write(run, (text + &line).as_bytes())?;
        return Ok(Exit::Ok);
    }
    let mut members = Members::new();
    members.push("name", &json::string(name));
    members.push("action", &json::string("added"));
    members.push("layer", &json::string(&file.layer.to_string()));
    members.push("path", &json::string(&file.path.to_string_lossy()));
    let entry = serde_json::to_string(&crate::config::masked(&found.entry));
    members.push("entry", &entry.expect("a JSON value always serializes"));
    if let Some((_, claimed)) = &found.claimed {
        members.push("claimed", claimed);
    }
    if let Some(asked) = asked {
        discover::push_asked(&mut members, asked);
    }
    output::write_line(run, &members.finish())?;
    Ok(Exit::Ok)
}
