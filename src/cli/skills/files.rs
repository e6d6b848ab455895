//! The files of a skill: which are wanted, and whether they are what was promised.

use crate::cli::answer::{contents_of, excerpt, mismatch};
use crate::cli::args::skill_commands::Skill as Wanted;
use crate::cli::contact::Contact;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::run::Run;
use crate::config::Digest;
use crate::protocol::json::{self, Json};
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::model::document::Document;
use crate::protocol::model::frontmatter::Discrepancy;
use crate::protocol::model::result::contents;
use crate::protocol::model::skill::{File, Files, MANIFEST, Skill};
use crate::protocol::params::Params;
use crate::protocol::similar::closest;
use crate::protocol::sorting::sort_by;

/// A file to read.
pub(super) struct Choice {
    /// Where it belongs in the skill.
    pub(super) path: String,
    uri: String,
    /// What it must be; `None` when nobody knows.
    promised: Option<(String, u64)>,
}

/// What was read.
pub(super) struct Loaded {
    /// As the server sent it.
    pub(super) result: Json,
    /// What is in the file.
    pub(super) bytes: Vec<u8>,
}

/// The files to read, `SKILL.md` first.
pub(super) fn choose(
    run: &Run<'_>,
    wanted: &Wanted,
    skill: &Skill<'_>,
) -> Result<Vec<Choice>, Error> {
    let all = wanted.with_files || wanted.install.is_some();
    let asked = wanted.file.as_deref().unwrap_or(MANIFEST);
    let files = match &skill.files {
        Files::Listed(files) => files,
        Files::Dynamic => return choose_unlisted(run, skill, asked, all),
    };
    if files.iter().all(|file| file.path != asked) {
        let error = Error::new(Exit::Rpc, format!("the skill {} has no file {asked}", skill.name));
        let nearest = closest(asked, files.iter().map(|file| &*file.path));
        let error = error.phase(Phase::Request).sent(Sent::No);
        return Err(match nearest {
            Some(nearest) => error.hint(format!("did you mean \"{nearest}\"?")),
            None => error,
        });
    }
    let chosen = |file: &&File| all || file.path == asked || file.path == MANIFEST;
    let mut chosen: Vec<_> = files.iter().filter(chosen).map(Choice::listed).collect();
    let last = |choice: &Choice| choice.uri != skill.uri;
    sort_by(&mut chosen, |one, other| last(one).cmp(&last(other)));
    Ok(chosen)
}

/// The files to read of a skill that the server does not promise anything about.
fn choose_unlisted(
    run: &Run<'_>,
    skill: &Skill<'_>,
    asked: &str,
    all: bool,
) -> Result<Vec<Choice>, Error> {
    let text = format!("the server makes the skill {} on demand", skill.name);
    if all {
        return Err(mismatch(format!("{text}: nobody knows which files it has")));
    }
    let text = format!("{text}: its files cannot be verified");
    if run.globals.strict {
        return Err(mismatch(text));
    }
    run.warn(&text);
    let mut choices = vec![Choice::unlisted(MANIFEST, skill.uri.clone())];
    if asked != MANIFEST {
        let uri = skill.uri_of(asked).ok_or_else(|| {
            Error::new(Exit::Usage, format!("{asked} is no path in a skill")).phase(Phase::Usage)
        })?;
        choices.push(Choice::unlisted(asked, uri));
    }
    Ok(choices)
}

impl Choice {
    fn listed(file: &File) -> Choice {
        let promised = Some((file.digest.clone(), file.size));
        Choice { path: file.path.clone(), uri: file.uri.clone(), promised }
    }

    fn unlisted(path: &str, uri: String) -> Choice {
        Choice { path: path.to_owned(), uri, promised: None }
    }
}

/// Reads a file and makes sure that it is what was promised.
async fn read(contact: &mut Contact<'_>, file: &Choice) -> Result<Loaded, Error> {
    let uri = &file.uri;
    let params = Params::new().with("uri", json::string(uri));
    let result = contact.request(method::READ_RESOURCE, params, Vec::new()).await?;
    // More than one could not be told apart by whoever prints them.
    let found = contents(result.as_str(), &mut Document::new());
    let [resource] = found.as_slice() else {
        return Err(mismatch(format!("the server sent {} files for {uri}", found.len())));
    };
    let bytes = contents_of(resource)?.into_owned();
    if let Some((digest, size)) = &file.promised {
        let length = bytes.len() as u64;
        let error = match Digest::of(&bytes).to_string() {
            _ if length != *size => format!("{uri} has {length} bytes, and not {size} as listed"),
            found if found != *digest => format!("{uri} is {found}, and not {digest} as listed"),
            _ => return Ok(Loaded { result, bytes }),
        };
        return Err(mismatch(error));
    }
    Ok(Loaded { result, bytes })
}

/// Reads files, of which the first is `SKILL.md`. When it is not what it must be, no other is asked
/// for.
pub(super) async fn read_all(
    contact: &mut Contact<'_>,
    skill: &Skill<'_>,
    choices: Vec<Choice>,
) -> Result<Vec<(Choice, Loaded)>, Error> {
    let mut files = Vec::with_capacity(choices.len());
    for choice in choices {
        let loaded = read(contact, &choice).await?;
        if files.is_empty() {
            let manifest = String::from_utf8_lossy(&loaded.bytes);
            skill.compare(&manifest).map_err(|why| mismatch(discrepancy_text(skill, &why)))?;
        }
        files.push((choice, loaded));
    }
    Ok(files)
}

fn discrepancy_text(skill: &Skill<'_>, discrepancy: &Discrepancy) -> String {
    let what = match discrepancy {
        Discrepancy::Missing => "there is none".to_owned(),
        Discrepancy::TooLong => "it is too long".to_owned(),
        Discrepancy::Unreadable(why) => excerpt(why).into_owned(),
        Discrepancy::Field(name) => format!("{} differs", excerpt(name)),
    };
    format!("the frontmatter of {} is not as listed: {what}", skill.uri)
}
