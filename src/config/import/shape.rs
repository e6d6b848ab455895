//! Where servers stand in the files of other programs.

use std::path::Path;

use jsonc_parser::ast;
use serde_json::{Map, Value};

use super::Kind;
use crate::config::document::{self, Malformed, Mistake};

/// A server as the other program has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Foreign {
    pub(super) name: String,
    pub(super) fields: Map<String, Value>,
}

/// Reads a file as a value; on failure says where the mistake is, in bytes.
pub(super) fn read(kind: Kind, text: &str) -> Result<Value, Mistake> {
    if kind == Kind::Codex {
        return toml(text);
    }
    // Some programs make an empty file.
    let members = document::whole(text)?.map(|whole| members(&whole)).unwrap_or_default();
    Ok(Value::Object(members))
}

#[cfg(feature = "import-codex")]
fn toml(text: &str) -> Result<Value, Mistake> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, Malformed::Toml(error.message().to_owned()))
    })
}

#[cfg(not(feature = "import-codex"))]
fn toml(_: &str) -> Result<Value, Mistake> {
    Err((0, Malformed::NoToml))
}

fn value(parsed: &ast::Value<'_>) -> Value {
    match parsed {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(truth) => truth.value.into(),
        ast::Value::StringLit(text) => text.value.as_ref().into(),
        ast::Value::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        ast::Value::Array(array) => array.elements.iter().map(value).collect(),
        ast::Value::Object(object) => Value::Object(members(object)),
    }
}

fn members(object: &ast::Object<'_>) -> Map<String, Value> {
    let members = object.properties.iter();
    members.map(|member| (member.name.as_str().to_owned(), value(&member.value))).collect()
}

/// Whether the file switches off a server in another place than its definition.
pub(super) fn is_excluded(kind: Kind, whole: &Value, name: &str) -> bool {
    let excluded = whole.get("mcp").and_then(|mcp| mcp.get("excluded"));
    let excluded = excluded.and_then(Value::as_array).into_iter().flatten();
    kind == Kind::Gemini && excluded.into_iter().any(|excluded| excluded == name)
}

/// The servers of a file, in its order; of two with one name the first counts. `directory` is where
/// the user is: Claude Code keeps servers for each directory.
pub(super) fn servers(kind: Kind, whole: &Value, directory: Option<&Path>) -> Vec<Foreign> {
    let at = |path: &[&str]| path.iter().try_fold(whole, |value, name| value.get(name));
    let lists: Vec<Option<&Value>> = match kind {
        Kind::ClaudeCode => {
            let projects = at(&["projects"]);
            let of = |directory: &Path| projects?.get(directory.to_str()?)?.get("mcpServers");
            let local = directory.into_iter().flat_map(Path::ancestors).find_map(of);
            vec![local, at(&["mcpServers"])]
        }
        Kind::ClaudeDesktop | Kind::Cursor | Kind::Gemini | Kind::Windsurf => {
            vec![at(&["mcpServers"])]
        }
        // The second form is that of other programs of the family, the third an older one.
        Kind::VsCode => vec![at(&["servers"]), at(&["mcpServers"]), at(&["mcp", "servers"])],
        Kind::Codex => vec![at(&["mcp_servers"])],
        Kind::OpenCode => match at(&["mcp", "servers"]) {
            Some(servers) => vec![Some(servers)],
            None => vec![at(&["mcp"])],
        },
        Kind::Zed => vec![at(&["context_servers"])],
    };
    let mut found: Vec<Foreign> = Vec::new();
    let members = lists.into_iter().flatten().filter_map(Value::as_object).flatten();
    for (name, fields) in members {
        if let Value::Object(fields) = fields
            && found.iter().all(|earlier| earlier.name != *name)
        {
            found.push(Foreign { name: name.clone(), fields: fields.clone() });
        }
    }
    found
}
