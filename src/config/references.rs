//! What the words and the URL of a definition refer to: the values of variables and files, which are
//! secrets even though such fields mostly have none.

use super::definition::Target;
use super::environment::is_for_everyone;
use super::lookup::Lookup;
use super::resolved::{Origin, Resolved};
use super::template::{self, Piece};
use crate::env::{Env, Secret};

/// The values that the arguments of a definition, or its URL, refer to. What cannot be looked up is
/// left out: who uses the definition is told. Variables that every server gets are no secrets.
pub fn references(resolved: &Resolved, env: &Env) -> Vec<Secret> {
    if resolved.origin == Origin::CommandLine {
        return Vec::new();
    }
    let lookup = Lookup { resolved, env, runs_commands: false };
    let templates = match &resolved.definition.target {
        Target::Stdio(target) => &target.args[..],
        Target::Http(target) => std::slice::from_ref(&target.url),
    };
    let pieces =
        templates.iter().flat_map(|template| template::parse(template).unwrap_or_default());
    let value = |piece| match piece {
        Piece::Text(_) => None,
        Piece::Variable { name, .. } if is_for_everyone(name.as_ref()) => None,
        Piece::Variable { name, .. } => env.variable(name)?.into_string().ok(),
        Piece::File(path) => lookup.secret_file("", path).ok(),
    };
    pieces.filter_map(value).map(Secret::new).collect()
}
