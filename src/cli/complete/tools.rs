//! Tools and their arguments, as far as they are stored.

use super::offer::{Candidate, Offer, Typed, files};
use crate::cache::{Lists, Mode};
use crate::config;
use crate::env::Env;
use crate::protocol::arguments::{self, Key};
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::tool::Tool;

/// The names of the tools of the server that is typed.
pub(super) fn names(typed: &Typed<'_>, env: &Env) -> Vec<Candidate> {
    let about = |tool: &Tool| tool.description.clone().or(tool.title.clone()).unwrap_or_default();
    let stored = stored(typed, env).into_iter();
    stored.map(|tool| Candidate::new(tool.name.clone(), &about(&tool))).collect()
}

/// A `KEY=VALUE` of the tool that is typed.
pub(super) fn arguments(typed: &Typed<'_>, current: &str, env: &Env) -> Offer {
    if let Some(path) = current.strip_prefix('@') {
        return Offer::Words(files("@", path, env));
    }
    let keys = keys(typed, env);
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
    Offer::Words(values(&keys, |key| key.written == left, &format!("{left}=")))
}

/// An option for the tool that is typed, after `--`.
pub(super) fn options(typed: &Typed<'_>, current: &str, env: &Env) -> Offer {
    let keys = keys(typed, env);
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
fn keys(typed: &Typed<'_>, env: &Env) -> Vec<Key> {
    let Some(name) = typed.words.get(1) else { return Vec::new() };
    let tools = stored(typed, env);
    let tool = tools.iter().find(|tool| tool.name == *name);
    tool.map(arguments::keys).unwrap_or_default()
}

/// The tools of the server that is typed, from whichever earlier run has seen them last.
fn stored(typed: &Typed<'_>, env: &Env) -> Vec<Tool> {
    let Some(server) = typed.words.first() else { return Vec::new() };
    let overrides = typed.overrides();
    let Ok(resolved) = config::resolve(server, env, &overrides) else { return Vec::new() };
    let identity = config::identity(&resolved, &overrides);
    let pages = Lists::new(env, Mode::of(env, false, false)).latest(&identity, "tools");
    let pages = pages.unwrap_or_default();
    let texts = pages.iter().filter_map(|page| scan::member(page, "tools"));
    texts.flat_map(scan::elements).filter_map(|text| Tool::read(text).ok()).collect()
}
