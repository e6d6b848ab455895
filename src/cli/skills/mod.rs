//! `mcpmini skills` and `mcpmini skill`: what a server can teach (SEP-2640, Skills Extension).
//!
//! A file of a skill is read when it is wanted and not before, and nothing of a skill leaves the
//! program unless all that was read of it is what its entry in the list says.

mod files;

use smol::LocalExecutor;

use self::files::{Choice, Loaded, choose, read_all};
use super::answer::{Folder, Wishes, mismatch};
use super::args::Format;
use super::args::skill_commands::{Skill as Wanted, Skills};
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::lines::{Lines, first_line};
use super::listing;
use super::read::Output;
use super::run::Run;
use crate::client::NoResult;
use crate::protocol::json::{self, Json};
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::model::skill::{BadSkill, EXTENSION, MANIFEST, Skill};
use crate::protocol::params::Params;
use crate::protocol::similar::closest;

/// Lists skills.
pub(super) async fn run_list(
    run: &Run<'_>,
    skills: &Skills,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut contact = Contact::find(run, &skills.server, executor)?;
    let listed = list(run, &mut contact).await;
    contact.finish(listed).await
}

async fn list(run: &Run<'_>, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    let mut lines = Lines::new(run, &["URI", "NAME", "DESCRIPTION"]);
    let look = &mut |page| {
        listing::items(&page, method::LIST_SKILLS).try_for_each(|text| {
            let Listed { uri, name, description } = Listed::read(text);
            if let Err(bad) = Skill::read(text) {
                run.warn(&format!("the skill {uri} cannot be used: {}", bad_text(&bad)));
            }
            lines.item(text, || vec![uri, name, first_line([Some(&description), None])])
        })
    };
    show(contact, look).await?;
    lines.finish()
}

/// Prints or installs a skill.
pub(super) async fn run(
    run: &Run<'_>,
    wanted: &Wanted,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let folder = wanted.install.as_deref().map(|path| Folder::open(run, path)).transpose()?;
    let mut contact = Contact::find(run, &wanted.server, executor)?;
    let loaded = load(run, wanted, folder.as_ref(), &mut contact).await;
    contact.finish(loaded).await
}

async fn load(
    run: &Run<'_>,
    wanted: &Wanted,
    folder: Option<&Folder<'_>>,
    contact: &mut Contact<'_>,
) -> Result<Exit, Error> {
    let is_remembered = listing::recall(contact, method::LIST_SKILLS).is_some();
    let entry = find(contact, &wanted.skill).await?;
    let skill = Skill::read(entry.as_str()).map_err(|bad| {
        mismatch(format!("the skill {} cannot be used: {}", wanted.skill, bad_text(&bad)))
    })?;
    let files = read_all(contact, &skill, choose(run, wanted, &skill)?).await;
    let files = files.map_err(|error| match error.exit {
        Exit::Mismatch if is_remembered => error.hint("--refresh gets the list of skills anew"),
        _ => error,
    })?;
    if let Some(folder) = folder {
        for (Choice { path, .. }, Loaded { bytes, .. }) in &files {
            folder.put_below(&format!("{}/{path}", skill.name), bytes)?;
        }
        return Ok(Exit::Ok);
    }
    let wishes = Wishes::default();
    let mut output = Output::new(run, &wishes);
    let printed = wanted.file.as_deref().unwrap_or(MANIFEST);
    for (choice, Loaded { result, .. }) in &files {
        if choice.path == printed || run.settings.output == Format::Json {
            output.add(result)?;
        }
    }
    output.finish()
}

/// The entry of the skill with a name or a URI.
async fn find(contact: &mut Contact<'_>, word: &str) -> Result<Json, Error> {
    let (mut found, mut names) = (Vec::new(), Vec::new());
    let look = &mut |page: Json| {
        for text in listing::items(&page, method::LIST_SKILLS) {
            let Listed { uri, name, .. } = Listed::read(text);
            if uri == word || name == word {
                found.push((uri, Json::from(text)));
            }
            names.push(name);
        }
        Ok(())
    };
    show(contact, look).await?;
    if 1 < found.len() {
        let uris: Vec<_> = found.iter().map(|(uri, _)| uri.as_str()).collect();
        let text = format!("the server has {} skills {word}", found.len());
        let error = Error::new(Exit::Usage, text).phase(Phase::Request).sent(Sent::No);
        return Err(error.hint(format!("name one by its URI: {}", uris.join(", "))));
    }
    match found.pop() {
        Some((_, entry)) => Ok(entry),
        // A server need not list all of its skills.
        None if word.contains('/') => get(contact, word).await,
        None => {
            let nearest = closest(word, names.iter().map(String::as_str));
            let error = Error::new(Exit::Rpc, format!("the server has no skill {word}"));
            Err(error.phase(Phase::Request).sent(Sent::No).hint(match nearest {
                Some(nearest) => format!("did you mean \"{nearest}\"?"),
                None => "`mcpmini skills SERVER` lists the skills".to_owned(),
            }))
        }
    }
}

/// Asks for the entry of a skill that is not listed.
async fn get(contact: &mut Contact<'_>, uri: &str) -> Result<Json, Error> {
    let params = Params::new().with("uri", json::string(uri));
    let result = match contact.try_request(method::GET_SKILL, params, Vec::new()).await? {
        Ok(result) => result,
        Err(NoResult::Error(error)) if error.code == ErrorObject::INVALID_PARAMS => {
            let no_skill =
                Error { message: format!("the server has no skill {uri}"), ..Error::from(&error) };
            return Err(no_skill.phase(Phase::Request).server(contact.server.name.clone()));
        }
        Err(no_result) => return Err(contact.explain(no_result)),
    };
    let entry = scan::member(result.as_str(), "skill").unwrap_or("null");
    if Listed::read(entry).uri != uri {
        return Err(mismatch(format!("the server described another skill than {uri}")));
    }
    Ok(Json::from(entry))
}

/// Shows the list of skills, after making sure that the server has one.
async fn show(contact: &mut Contact<'_>, look: listing::Look<'_>) -> Result<(), Error> {
    contact.declare(EXTENSION);
    if listing::recall(contact, method::LIST_SKILLS).is_none() {
        contact.settle().await?;
        let greeting = contact.greeting().await?;
        let capabilities = scan::member(greeting.as_str(), "capabilities").unwrap_or("{}");
        let extensions = scan::member(capabilities, "extensions").unwrap_or("{}");
        if scan::member(extensions, EXTENSION).is_none() {
            let text = format!("the server has no skills: it does not declare {EXTENSION}");
            let error = Error::new(Exit::Rpc, text).phase(Phase::Request).sent(Sent::No);
            return Err(error.server(contact.server.name.clone()));
        }
    }
    listing::show(contact, method::LIST_SKILLS, look).await
}

/// A skill as far as a list shows it; what is missing is empty.
struct Listed {
    uri: String,
    name: String,
    description: String,
}

impl Listed {
    fn read(text: &str) -> Listed {
        let string = |text: &str, name| {
            let text = scan::member(text, name).and_then(scan::unescape);
            text.unwrap_or_default().into_owned()
        };
        let frontmatter = scan::member(text, "frontmatter").unwrap_or("{}");
        Listed {
            uri: string(text, "uri"),
            name: string(frontmatter, "name"),
            description: string(frontmatter, "description"),
        }
    }
}

fn bad_text(bad: &BadSkill) -> String {
    let text = match bad {
        BadSkill::Uri => "its URI is not that of a SKILL.md",
        BadSkill::Frontmatter => "its frontmatter lacks a valid name or a description",
        BadSkill::Name => "its directory is not called as the skill is",
        BadSkill::Resources => "the server does not say which files it has",
        BadSkill::Incomplete => "SKILL.md is not among its files",
        BadSkill::TooLarge => "it has more than 512 files or 16 MiB",
        BadSkill::File(uri) => {
            return format!(
                "its file {uri} has no valid length and hash, lies elsewhere, or is listed twice"
            );
        }
    };
    text.to_owned()
}
