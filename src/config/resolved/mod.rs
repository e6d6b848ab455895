//! From a word to a definition.

use std::path::{Path, PathBuf};

use jsonc_parser::ast::Object;
use serde_json::Value;

use super::Overrides;
use super::definition::{Definition, StdioTarget, Target};
use super::digest::Digest;
use super::document::{Document, Mistake, Place};
use super::edit::Entry;
use super::error::ConfigError;
use super::lookup::Lookup;
use super::source::{self, File, Layer};
use super::word::Word;
use crate::env::Env;
use crate::protocol::similar::closest;

/// A server that was found, before anything was looked up, read or run for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Its name, or the word that stands for it.
    pub name: String,
    /// Where the definition is from.
    pub origin: Origin,
    /// What is said about it.
    pub definition: Definition,
    /// Whether it stands in a file under its name.
    pub is_stored: bool,
}

/// Where a definition is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line itself.
    CommandLine,
    /// A file.
    File {
        /// Which one.
        layer: Layer,
        /// Its path.
        path: PathBuf,
    },
}

impl Origin {
    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Origin::CommandLine => None,
            Origin::File { path, .. } => Some(path),
        }
    }

    /// The layer of the file, if it is one.
    pub fn layer(&self) -> Option<Layer> {
        match self {
            Origin::CommandLine => None,
            Origin::File { layer, .. } => Some(*layer),
        }
    }
}

impl Resolved {
    /// The key under which things are remembered about the server. It is the hash of what was said
    /// about it, with references in place of secrets, so that it changes with the definition and
    /// not with a token.
    pub fn identity(&self) -> Digest {
        let path = self.origin.path().unwrap_or(Path::new(""));
        self.definition.digest(&self.name, &path.to_string_lossy(), None)
    }

    /// The hash that an approval is about: the definition, its name, the real path of its file, and
    /// the contents of the file with variables, if there is one. When that one cannot be read, the
    /// hash says so, and changes once it can.
    pub fn approval(&self, env: &Env) -> Digest {
        let path = self.origin.path().unwrap_or(Path::new(""));
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let variables = match &self.definition.target {
            Target::Stdio(StdioTarget { env_file: Some(template), .. }) => {
                let lookup = Lookup { resolved: self, env, runs_commands: false };
                let file = lookup.env_file(template).ok();
                file.map(|(_, text)| Digest::of(text.as_bytes()))
            }
            _ => None,
        };
        self.definition.digest(&self.name, &path.to_string_lossy(), variables)
    }
}

/// Finds the server that a SERVER word means.
///
/// Errors when the word means none, when no file defines the name, or when a file that comes before
/// the one that does is broken: it might have said something else.
pub fn resolve(word: &str, env: &Env, overrides: &Overrides) -> Result<Resolved, ConfigError> {
    let parsed = Word::parse(word)?;
    if let Word::Name { layer, name } = &parsed {
        return Search { env, overrides }.find(*layer, name);
    }
    if let Word::Registry(entry) = &parsed {
        return added_from(entry, env, overrides);
    }
    let definition = Definition::of_word(&parsed).expect("a name is looked up and defines nothing");
    Ok(Resolved {
        name: word.to_owned(),
        origin: Origin::CommandLine,
        definition,
        is_stored: false,
    })
}

/// The first server that was added from an entry of the registry, of whatever version unless the
/// entry names one. The registry itself is not asked: what it says is used only when it was added.
fn added_from(entry: &str, env: &Env, overrides: &Overrides) -> Result<Resolved, ConfigError> {
    let is_meant =
        |from: &str| from == entry || !entry.contains('@') && from.split('@').next() == Some(entry);
    let (listed, _) = list(env, overrides);
    let servers = listed.into_iter().filter_map(|server| server.resolved.ok());
    let mut meant =
        servers.filter(|server| server.definition.registry.as_deref().is_some_and(is_meant));
    meant.next().ok_or_else(|| ConfigError::NotAdded(entry.to_owned()))
}

/// The later file that defines a server of this name, too, and so is hidden by this one.
pub fn hidden_by(resolved: &Resolved, env: &Env, overrides: &Overrides) -> Option<Layer> {
    let from = resolved.origin.layer()?;
    let search = Search { env, overrides };
    let later = search.layers().iter().skip_while(|layer| **layer != from).skip(1);
    let defines = |layer: Layer| {
        let file = search.load(layer, &mut Vec::new()).ok()??;
        let document = Document::parse(&file.text).ok()?;
        document.servers().any(|(name, _)| name == resolved.name).then_some(layer)
    };
    later.copied().find_map(defines)
}

/// A server in a list.
#[derive(Debug)]
pub struct Listed {
    /// Its name, which may be one that no SERVER word can have.
    pub name: String,
    /// Which file it is in.
    pub layer: Layer,
    /// The path of that.
    pub path: PathBuf,
    /// Whether an earlier file has a server of the same name.
    pub hidden: bool,
    /// The server, or what is wrong with it.
    pub resolved: Result<Resolved, ConfigError>,
}

/// Every server of every file, in the order in which they count. The second part is what is wrong
/// with the files themselves.
pub fn list(env: &Env, overrides: &Overrides) -> (Vec<Listed>, Vec<ConfigError>) {
    let mut listed: Vec<Listed> = Vec::new();
    let mut faults = Vec::new();
    let search = Search { env, overrides };
    for layer in search.layers() {
        let file = match search.load(*layer, &mut Vec::new()) {
            Ok(None) => continue,
            Ok(Some(file)) => file,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        match all(&file) {
            Err(fault) => faults.push(fault),
            Ok(servers) => {
                for (name, resolved) in servers {
                    let hidden = listed.iter().any(|earlier| earlier.name == name);
                    let (layer, path) = (file.layer, file.path.clone());
                    listed.push(Listed { name, layer, path, hidden, resolved });
                }
            }
        }
    }
    (listed, faults)
}

/// The first file that defines a server of this name.
pub(super) fn layer_of(name: &str, env: &Env, overrides: &Overrides) -> Option<Layer> {
    let (listed, _) = list(env, overrides);
    listed.iter().find(|server| server.name == name).map(|server| server.layer)
}

/// Makes sure that a text defines a server, as it would be if it were in that file.
pub(super) fn definition_in(
    text: &str,
    name: &str,
    layer: Layer,
    path: &Path,
) -> Result<(), ConfigError> {
    let file = File { layer, path: path.to_owned(), text: text.to_owned() };
    let document = parse(&file)?;
    let Some((_, said)) = document.servers().find(|(known, _)| *known == name) else {
        return Err(ConfigError::Unchanged(file.path.clone()));
    };
    match read(&file, name, said) {
        Ok(_) | Err(ConfigError::Disabled { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The server that a definition says, as if it were in the user's file; it stands in none yet.
pub fn resolve_entry(name: &str, entry: &Entry, env: &Env) -> Result<Resolved, ConfigError> {
    let servers = Entry::from_iter([(name.to_owned(), Value::Object(entry.clone()))]);
    let whole = Entry::from_iter([("mcpServers".to_owned(), Value::Object(servers))]);
    let text = serde_json::to_string(&whole).expect("a JSON value always serializes");
    let path = env.config_dir().unwrap_or_default().join("config.json");
    let file = File { layer: Layer::User, path, text };
    let document = parse(&file)?;
    let (_, said) = document.servers().next().ok_or(ConfigError::Unchanged(file.path.clone()))?;
    read(&file, name, said).map(|resolved| Resolved { is_stored: false, ..resolved })
}

type Named = (String, Result<Resolved, ConfigError>);

fn all(file: &File) -> Result<Vec<Named>, ConfigError> {
    let document = parse(file)?;
    let servers = document.servers();
    Ok(servers.map(|(name, said)| (name.to_owned(), read(file, name, said))).collect())
}

/// A look through the files.
pub(super) struct Search<'a> {
    pub(super) env: &'a Env,
    pub(super) overrides: &'a Overrides,
}

impl Search<'_> {
    pub(super) fn layers(&self) -> &'static [Layer] {
        source::layers(self.env, self.overrides.config.as_deref())
    }

    pub(super) fn load(
        &self,
        layer: Layer,
        missed: &mut Vec<PathBuf>,
    ) -> Result<Option<File>, ConfigError> {
        let file = source::load(layer, self.env, self.overrides.config.as_deref(), missed);
        let file = match file {
            Err(fault) if layer == Layer::Project => return Err(ConfigError::Project(fault)),
            other => other?,
        };
        if layer == Layer::Named && file.is_none() {
            return Err(ConfigError::NoSuchFile(missed.pop().unwrap_or_default()));
        }
        Ok(file)
    }

    fn find(&self, only: Option<Layer>, name: &str) -> Result<Resolved, ConfigError> {
        let mut looked_at = Vec::new();
        let mut known = Vec::new();
        for layer in self.layers() {
            if only.is_some_and(|only| only != *layer) {
                continue;
            }
            let Some(file) = self.load(*layer, &mut looked_at)? else { continue };
            let document = parse(&file)?;
            if let Some((_, said)) = document.servers().find(|(known, _)| *known == name) {
                return read(&file, name, said);
            }
            known.extend(document.servers().map(|(name, _)| name.to_owned()));
            looked_at.push(file.path.clone());
        }
        let suggestion = closest(name, known.iter().map(String::as_str)).map(str::to_owned);
        Err(ConfigError::Unknown { name: name.to_owned(), only, suggestion, known, looked_at })
    }
}

fn parse(file: &File) -> Result<Document<'_>, ConfigError> {
    Document::parse(&file.text).map_err(|mistake| malformed(file, mistake))
}

fn malformed(file: &File, (at, reason): Mistake) -> ConfigError {
    ConfigError::Malformed { place: Place::at(&file.path, &file.text, at), reason }
}

/// Reads what a file says about one server.
fn read(
    file: &File,
    name: &str,
    said: Result<&Object<'_>, Mistake>,
) -> Result<Resolved, ConfigError> {
    let object = said.map_err(|mistake| malformed(file, mistake))?;
    let definition = Definition::read(object).map_err(|issues| ConfigError::Invalid {
        place: Place::at(&file.path, &file.text, issues.first().map_or(0, |(at, _)| *at)),
        server: name.to_owned(),
        issues: issues.into_iter().map(|(_, issue)| issue).collect(),
    })?;
    if definition.disabled {
        return Err(ConfigError::Disabled { server: name.to_owned(), path: file.path.clone() });
    }
    let origin = Origin::File { layer: file.layer, path: file.path.clone() };
    Ok(Resolved { name: name.to_owned(), origin, definition, is_stored: true })
}

#[cfg(test)]
mod tests;
