//! Tools, prompts, resources, skills and their arguments, as far as they are stored.

use super::candidate::{Candidate, Offer, files};
use super::typed::Typed;
use crate::cache::{Lists, Mode};
use crate::config;
use crate::env::Env;
use crate::protocol::arguments::{self, Key};
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::skill::{Files, Skill};
use crate::protocol::model::tool::Tool;

/// Words by what the help of their command calls them.
type Named<'t> = [(&'static str, &'t str)];

fn named<'t>(words: &Named<'t>, name: &str) -> Option<&'t str> {
    words.iter().find(|(known, _)| *known == name).map(|(_, word)| *word)
}

/// The names of the tools of the server that is typed.
pub(super) fn names(words: &Named<'_>, typed: &Typed<'_>, env: &Env) -> Vec<Candidate> {
    described(words, typed, env, "tools", "name")
}

/// The names of its prompts.
pub(super) fn prompts(words: &Named<'_>, typed: &Typed<'_>, env: &Env) -> Vec<Candidate> {
    described(words, typed, env, "prompts", "name")
}

/// The URIs of its resources.
pub(super) fn resources(words: &Named<'_>, typed: &Typed<'_>, env: &Env) -> Vec<Candidate> {
    described(words, typed, env, "resources", "uri")
}

/// The names of its skills.
pub(super) fn skills(words: &Named<'_>, typed: &Typed<'_>, env: &Env) -> Vec<Candidate> {
    let candidate = |item: &String| {
        let frontmatter = scan::member(item, "frontmatter")?;
        let about = text(frontmatter, "description").unwrap_or_default();
        Some(Candidate::new(text(frontmatter, "name")?, &about))
    };
    stored(words, typed, env, "skills").iter().filter_map(candidate).collect()
}

/// The files of the skill that is typed.
pub(super) fn skill_files(words: &Named<'_>, typed: &Typed<'_>, env: &Env) -> Vec<Candidate> {
    let wanted = named(words, "SKILL").unwrap_or_default();
    let skills = stored(words, typed, env, "skills");
    let skills = skills.iter().filter_map(|item| Skill::read(item).ok());
    let files = skills.filter(|skill| skill.name == wanted || skill.uri == wanted);
    let files = files.flat_map(|skill| match skill.files {
        Files::Listed(files) => files,
        Files::Dynamic => Vec::new(),
    });
    files.map(|file| Candidate::new(file.path, "")).collect()
}

/// What a stored list has in one member, and what it says about each.
fn described(
    words: &Named<'_>,
    typed: &Typed<'_>,
    env: &Env,
    list: &str,
    member: &str,
) -> Vec<Candidate> {
    let candidate = |item: &String| {
        let word = text(item, member)?;
        let said = ["description", "title", "name"].into_iter().filter_map(|name| text(item, name));
        let about = said.into_iter().find(|said| *said != word);
        Some(Candidate::new(word, &about.unwrap_or_default()))
    };
    stored(words, typed, env, list).iter().filter_map(candidate).collect()
}

/// A `KEY=VALUE` of the tool that is typed.
pub(super) fn arguments(words: &Named<'_>, typed: &Typed<'_>, current: &str, env: &Env) -> Offer {
    pairs(&keys(words, typed, env), typed, current, env)
}

/// A `KEY=VALUE` of the prompt that is typed.
pub(super) fn prompt_arguments(
    words: &Named<'_>,
    typed: &Typed<'_>,
    current: &str,
    env: &Env,
) -> Offer {
    let prompts = stored(words, typed, env, "prompts");
    let wanted = named(words, "NAME");
    let prompt = prompts.iter().find(|prompt| text(prompt, "name").as_deref() == wanted);
    let arguments = prompt.and_then(|prompt| scan::member(prompt, "arguments")).unwrap_or("[]");
    let key = |argument: &str| {
        let name = text(argument, "name")?;
        Some(Key {
            written: name.clone(),
            name,
            is_required: scan::member(argument, "required") == Some("true"),
            is_flag: false,
            description: text(argument, "description"),
            values: Vec::new(),
        })
    };
    let keys: Vec<Key> = scan::elements(arguments).filter_map(key).collect();
    pairs(&keys, typed, current, env)
}

fn pairs(keys: &[Key], typed: &Typed<'_>, current: &str, env: &Env) -> Offer {
    if let Some(path) = current.strip_prefix('@') {
        return Offer::Words(files("@", path, env));
    }
    let Some((left, value)) = current.split_once('=') else {
        // A key that stands there already is most likely not wanted again.
        let is_given = |key: &Key| {
            let given = typed.words.iter().skip(2).filter_map(|word| word.split_once('='));
            given.map(|(left, _)| left.trim_end_matches(':')).any(|left| left == key.written)
        };
        let wanted = keys.iter().filter(|key| !is_given(key));
        let part = |key: &Key| Candidate::part(format!("{}=", key.written), &about(key));
        return Offer::Words(wanted.map(part).collect());
    };
    if let Some(path) = value.strip_prefix('@') {
        return Offer::Words(files(&format!("{left}=@"), path, env));
    }
    Offer::Words(values(keys, |key| key.written == left, &format!("{left}=")))
}

/// An option for the tool that is typed, after `--`.
pub(super) fn options(words: &Named<'_>, typed: &Typed<'_>, current: &str, env: &Env) -> Offer {
    let keys = keys(words, typed, env);
    if let Some((left, _)) = current.split_once('=') {
        let name = left.strip_prefix("--").unwrap_or_default();
        return Offer::Words(values(&keys, |key| key.name == name, &format!("{left}=")));
    }
    let last = typed.tail.as_ref().and_then(|tail| tail.last()?.strip_prefix("--"));
    let open = last.and_then(|last| keys.iter().find(|key| key.name == last && !key.is_flag));
    if let Some(open) = open {
        return Offer::Words(values(&keys, |key| key.name == open.name, ""));
    }
    let option = |key: &Key| Candidate::new(format!("--{}", key.name), &about(key));
    Offer::Words(keys.iter().filter(|key| !key.name.contains('=')).map(option).collect())
}

fn values(keys: &[Key], is_meant: impl Fn(&Key) -> bool, before: &str) -> Vec<Candidate> {
    let values = keys.iter().filter(|key| is_meant(key)).flat_map(|key| &key.values);
    values.map(|value| Candidate::new(format!("{before}{value}"), "")).collect()
}

fn about(key: &Key) -> String {
    let description = key.description.as_deref().unwrap_or_default();
    match (key.is_required, description) {
        (true, "") => "required".to_owned(),
        (true, description) => format!("required: {description}"),
        (false, description) => description.to_owned(),
    }
}

/// The keys of the tool that is typed.
fn keys(words: &Named<'_>, typed: &Typed<'_>, env: &Env) -> Vec<Key> {
    let wanted = named(words, "TOOL");
    let tools = stored(words, typed, env, "tools");
    let tool = tools.iter().find(|tool| text(tool, "name").as_deref() == wanted);
    let tool = tool.and_then(|tool| Tool::read(tool).ok());
    tool.map(|tool| arguments::keys(&tool)).unwrap_or_default()
}

/// The elements of a list of the server that is typed, as JSON, from whichever earlier run has seen
/// it last.
fn stored(words: &Named<'_>, typed: &Typed<'_>, env: &Env, list: &str) -> Vec<String> {
    let Some(server) = named(words, "SERVER") else { return Vec::new() };
    let overrides = typed.overrides();
    let Ok(resolved) = config::resolve(server, env, &overrides) else { return Vec::new() };
    let identity = config::identity(&resolved, &overrides);
    let pages = Lists::new(env, Mode::of(env, false, false)).latest(&identity, list);
    let pages = pages.unwrap_or_default();
    let lists = pages.iter().filter_map(|page| scan::member(page, list));
    lists.flat_map(scan::elements).map(str::to_owned).collect()
}

fn text(object: &str, name: &str) -> Option<String> {
    Some(scan::unescape(scan::member(object, name)?)?.into_owned())
}
