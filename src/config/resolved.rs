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
    Ok(Resolved { name: word.to_owned(), origin: Origin::CommandLine, definition })
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
    read(&file, name, said)
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
    Ok(Resolved { name: name.to_owned(), origin, definition })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Binding;
    use crate::protocol::Revision;
    use crate::store::scratch::Scratch;

    /// A world in which `p` is the project, `h` the home directory, and `e` the administrator's.
    fn world(scratch: &Scratch) -> Env {
        let home = scratch.path("h");
        Env {
            cwd: Some(scratch.path("p")),
            variables: [("HOME", home.to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            system_dir: Some(scratch.path("e")),
            ..Env::default()
        }
    }

    const PROJECT: &str = "p/.mcp.json";
    const USER: &str = "h/.config/mcpmini/config.json";
    const SYSTEM: &str = "e/config.json";

    /// The error for the server `s`, with the scratch directory cut out of it.
    fn error(scratch: &Scratch, word: &str) -> String {
        let error = resolve(word, &world(scratch), &Overrides::default()).unwrap_err();
        assert!(!error.is_usage(), "{error}");
        error.to_string().replace(&format!("{}/", scratch.path("").display()), "")
    }

    #[test]
    fn the_first_file_that_defines_a_name_wins() {
        let scratch = Scratch::new();
        let define = |file, names: &[&str]| {
            let entries = names.iter().map(|name| format!("{name:?}: {{\"command\": \"x\"}}"));
            let entries = entries.collect::<Vec<_>>().join(", ");
            scratch.write(file, &format!("{{\"mcpServers\": {{{entries}}}}}"));
        };
        define(PROJECT, &["all", "p", "pu"]);
        define(USER, &["all", "u", "pu"]);
        define(SYSTEM, &["all", "e"]);
        let named = scratch.write("named.json", r#"{"servers": {"all": {"url": "http://h"}}}"#);
        #[track_caller]
        fn check(env: &Env, named: Option<&Path>, word: &str, from: Option<Layer>) {
            let overrides = Overrides { config: named.map(Path::to_owned), ..Overrides::default() };
            let found = resolve(word, env, &overrides).ok();
            assert_eq!(found.and_then(|found| found.origin.layer()), from, "{word}");
        }
        let mut env = world(&scratch);
        check(&env, None, "all", Some(Layer::Project));
        check(&env, None, "p", Some(Layer::Project));
        check(&env, None, "u", Some(Layer::User));
        check(&env, None, "e", Some(Layer::System));
        check(&env, None, "none", None);
        check(&env, None, "user:all", Some(Layer::User));
        check(&env, None, "system:all", Some(Layer::System));
        check(&env, None, "project:all", Some(Layer::Project));
        check(&env, None, "project:u", None);
        check(&env, Some(&named), "all", Some(Layer::Named));
        check(&env, Some(&named), "u", None);
        check(&env, Some(&named), "user:all", None);

        let hidden = |word| {
            let found = resolve(word, &env, &Overrides::default()).unwrap();
            hidden_by(&found, &env, &Overrides::default())
        };
        assert_eq!(hidden("all"), Some(Layer::User));
        assert_eq!(hidden("p"), None);
        assert_eq!(hidden("user:all"), Some(Layer::System));

        let (listed, faults) = list(&env, &Overrides::default());
        let listed: Vec<_> = listed.iter().map(|it| (it.name.as_str(), it.hidden)).collect();
        assert_eq!(
            listed,
            [
                ("all", false),
                ("p", false),
                ("pu", false),
                ("all", true),
                ("u", false),
                ("pu", true),
                ("all", true),
                ("e", false),
            ]
        );
        assert!(faults.is_empty());

        env.variables =
            [("HOME", scratch.path("h").to_str().unwrap()), ("MCPMINI_NO_PROJECT", "1")].into();
        check(&env, None, "all", Some(Layer::User));
        env.variables = [("MCPMINI_CONFIG", named.to_str().unwrap())].into();
        check(&env, None, "all", Some(Layer::Named));
        env.variables = [].into();
        check(&env, None, "u", None);
        check(&env, None, "e", Some(Layer::System));
    }

    #[test]
    fn words_that_name_nothing_need_no_file() {
        let scratch = Scratch::new();
        scratch.write(PROJECT, "broken");
        for word in ["http://h/mcp", "unix:/s", "exec:x", "./x y"] {
            let found = resolve(word, &world(&scratch), &Overrides::default()).unwrap();
            assert_eq!((found.name.as_str(), found.origin), (word, Origin::CommandLine));
        }
        let error = resolve("a:b", &world(&scratch), &Overrides::default()).unwrap_err();
        assert!(error.is_usage());
    }

    #[test]
    fn an_unknown_name_is_told_with_what_there_is() {
        let scratch = Scratch::new();
        let check = |word: &str, expected: &str| assert_eq!(error(&scratch, word), expected);
        let places = "(looked at p/.mcpmini.json, p/.mcp.json, h/.config/mcpmini/config.json, \
                      e/config.json)";
        check("s", &format!("unknown server \"s\"; no server is configured {places}"));
        check(
            "user:s",
            "unknown server \"user:s\"; no server is configured \
             (looked at h/.config/mcpmini/config.json)",
        );
        scratch.write(USER, r#"{"mcpServers": {"github": {}, "db": {}}}"#);
        scratch.write(SYSTEM, r#"{"mcpServers": {"github": {}, "a\u001bb": {}}}"#);
        check(
            "githbu",
            &format!(
                "unknown server \"githbu\": did you mean \"github\"?; \
                 there are a\\u{{1b}}b, db, github {places}"
            ),
        );
        let nowhere = Env::default();
        let told = resolve("s", &nowhere, &Overrides::default()).unwrap_err().to_string();
        assert_eq!(
            told,
            "unknown server \"s\"; no server is configured \
             (there is no place to look for it: HOME is not set)"
        );
        let overrides = Overrides { config: Some("/no/file".into()), ..Overrides::default() };
        let told = resolve("s", &nowhere, &overrides).unwrap_err().to_string();
        assert_eq!(told, "cannot read /no/file: there is no such file");
    }

    #[test]
    fn files_of_other_programs_are_read() {
        let scratch = Scratch::new();
        let check = |text: &str| {
            scratch.write(USER, text);
            let found = resolve("s", &world(&scratch), &Overrides::default());
            found.map(|found| found.definition.target).map_err(|error| error.to_string())
        };
        let stdio = |command: &str, args: &[&str]| {
            Ok(Target::Stdio(StdioTarget {
                command: command.to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                ..StdioTarget::default()
            }))
        };
        assert_eq!(
            check(
                "\u{feff}{ // a comment\n\"mcpServers\": {\"s\": {\"command\": \"x\",}, /**/ },}"
            ),
            stdio("x", &[])
        );
        assert_eq!(
            check(r#"{"inputs": [], "servers": {"s": {"type": "stdio", "command": "x"}}}"#),
            stdio("x", &[])
        );
        assert_eq!(
            check(
                r#"{"mcpServers": {"s": {"command": ["x", "a"], "args": ["b"], "alwaysLoad": 1}}}"#
            ),
            stdio("x", &["a", "b"])
        );
        assert_eq!(
            check(r#"{"mcpServers": {"s": {"command": "x", "env": null, "args": null}}}"#),
            stdio("x", &[])
        );
        for (fields, binding) in [
            (r#""url": "http://h""#, Binding::Auto),
            (r#""httpUrl": "http://h""#, Binding::Auto),
            (r#""serverUrl": "http://h/sse""#, Binding::Auto),
            (r#""type": "http", "url": "http://h""#, Binding::Http),
            (r#""type": "streamable-http", "url": "http://h""#, Binding::Http),
            (r#""type": "sse", "url": "http://h""#, Binding::Sse),
        ] {
            let found = check(&format!("{{\"mcpServers\": {{\"s\": {{{fields}}}}}}}"));
            let Ok(Target::Http(target)) = found else { panic!("{fields}: {found:?}") };
            assert_eq!(target.binding, binding, "{fields}");
        }
    }

    #[test]
    fn all_other_fields_are_read() {
        let scratch = Scratch::new();
        scratch.write(
            USER,
            r#"{"mcpServers": {"s": {"url": "http://h", "timeout": 1500, "startupTimeout": 0,
                "protocol": "2025-06-18", "enabled": true, "disabled": false}}}"#,
        );
        let found = resolve("s", &world(&scratch), &Overrides::default()).unwrap().definition;
        assert_eq!(found.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(found.start_timeout, Some(Duration::ZERO));
        assert_eq!(found.protocol, Revision::named("2025-06-18"));
    }

    /// Definitions of the server `s`, and what is said about them.
    const BAD_DEFINITIONS: &[(&str, &str)] = &[
        ("{}", "1:21: Server \"s\": stdio server requires \"command\" field"),
        (r#"{"type": "stdio"}"#, "1:21: Server \"s\": stdio server requires \"command\" field"),
        (
            r#"{"type": "stdio", "url": "http://h"}"#,
            "1:21: Server \"s\": stdio server requires \"command\" field",
        ),
        (r#"{"command": ""}"#, "1:21: Server \"s\": stdio server requires \"command\" field"),
        (r#"{"command": []}"#, "1:21: Server \"s\": stdio server requires \"command\" field"),
        (r#"{"command": null}"#, "1:21: Server \"s\": stdio server requires \"command\" field"),
        (r#"{"type": "http"}"#, "1:21: Server \"s\": http server requires \"url\" field"),
        (
            r#"{"type": "streamable-http", "command": "x"}"#,
            "1:21: Server \"s\": http server requires \"url\" field",
        ),
        (r#"{"type": "sse"}"#, "1:21: Server \"s\": sse server requires \"url\" field"),
        (
            r#"{"command": "x", "url": "http://h"}"#,
            "1:21: Server \"s\": both \"command\" and \"url\" are set - server should be either \
             stdio (command) OR http/sse (url), not both",
        ),
        (r#"{"type": "ws"}"#, "1:21: Server \"s\": unknown server type \"ws\""),
        (
            r#"{"type": "ws", "command": "x", "url": "http://h"}"#,
            "1:21: Server \"s\": both \"command\" and \"url\" are set - server should be either \
             stdio (command) OR http/sse (url), not both; Server \"s\": unknown server type \"ws\"",
        ),
        (
            r#"{"type": 1}"#,
            "1:30: Server \"s\": \"type\" must be a string, and is a number; \
             Server \"s\": stdio server requires \"command\" field",
        ),
        (
            r#"{"command": 1}"#,
            "1:33: Server \"s\": \"command\" must be a string or an array of \
             strings, and is a number",
        ),
        (
            r#"{"command": ["x", 1]}"#,
            "1:39: Server \"s\": \"command[1]\" must be a string, and is \
             a number",
        ),
        (
            r#"{"command": "x", "args": "y"}"#,
            "1:46: Server \"s\": \"args\" must be an array of \
             strings, and is a string",
        ),
        (
            r#"{"command": "x", "args": ["a", 8080]}"#,
            "1:52: Server \"s\": \"args[1]\" must be a \
             string, and is a number",
        ),
        (
            r#"{"command": "x", "args": [null]}"#,
            "1:47: Server \"s\": \"args[0]\" must be a \
             string, and is null",
        ),
        (
            r#"{"command": "x", "env": []}"#,
            "1:45: Server \"s\": \"env\" must be an object of \
             strings, and is an array",
        ),
        (
            r#"{"command": "x", "env": {"PORT": 80}}"#,
            "1:54: Server \"s\": \"env.PORT\" must be a \
             string, and is a number",
        ),
        (
            r#"{"command": "x", "env": {"D": true}}"#,
            "1:51: Server \"s\": \"env.D\" must be a \
             string, and is true or false",
        ),
        (
            r#"{"command": "x", "env": {"A=B": ""}}"#,
            "1:53: Server \"s\": \"env.A=B\" does not \
             name an environment variable",
        ),
        (
            r#"{"command": "x", "env": {"": ""}}"#,
            "1:50: Server \"s\": \"env.\" does not name an \
             environment variable",
        ),
        (
            r#"{"command": "x", "env": {"A": "1", "A": "2"}}"#,
            "1:56: Server \"s\": \"env.A\" is \
             there twice",
        ),
        (
            r#"{"command": "x", "cwd": {}}"#,
            "1:45: Server \"s\": \"cwd\" must be a string, and is \
             an object",
        ),
        (
            r#"{"command": "x", "envFile": true}"#,
            "1:49: Server \"s\": \"envFile\" must be a \
             string, and is true or false",
        ),
        (
            r#"{"command": "x", "inheritEnv": "yes"}"#,
            "1:52: Server \"s\": \"inheritEnv\" must be \
             true or false, and is a string",
        ),
        (r#"{"command": "x", "command": "y"}"#, "1:38: Server \"s\": \"command\" is there twice"),
        (
            r#"{"url": ["http://h"]}"#,
            "1:29: Server \"s\": \"url\" must be a string, and is an \
             array",
        ),
        (
            r#"{"url": "http://h", "headers": "A: b"}"#,
            "1:52: Server \"s\": \"headers\" must be an \
             object of strings, and is a string",
        ),
        (
            r#"{"url": "http://h", "headers": {"A": 1}}"#,
            "1:58: Server \"s\": \"headers.A\" must \
             be a string, and is a number",
        ),
        (
            r#"{"url": "http://h", "headers": {"A B": ""}}"#,
            "1:60: Server \"s\": \"headers.A B\" \
             does not name an HTTP header",
        ),
        (
            r#"{"url": "http://h", "headers": {"A": "", "a": ""}}"#,
            "1:62: Server \"s\": \
             \"headers.a\" is there twice",
        ),
        (
            r#"{"url": "http://h", "envHeaders": {"A": {}}}"#,
            "1:61: Server \"s\": \
             \"envHeaders.A\" must be a string, and is an object",
        ),
        (
            r#"{"url": "http://h", "bearerTokenEnv": 1}"#,
            "1:59: Server \"s\": \"bearerTokenEnv\" \
             must be a string, and is a number",
        ),
        (
            r#"{"url": "http://h", "bearerTokenEnv": "T", "headers": {"authorization": "x"}}"#,
            "1:21: Server \"s\": both \"bearerTokenEnv\" and \"headers.Authorization\" are set",
        ),
        (
            r#"{"url": "http://h", "bearerTokenEnv": "T", "envHeaders": {"Authorization": "X"}}"#,
            "1:21: Server \"s\": both \"bearerTokenEnv\" and \"envHeaders.Authorization\" are set",
        ),
        (
            r#"{"command": "x", "timeout": "5s"}"#,
            "1:49: Server \"s\": \"timeout\" must be a whole \
             number of milliseconds, and is a string",
        ),
        (
            r#"{"command": "x", "timeout": -1}"#,
            "1:49: Server \"s\": \"timeout\" must be a whole \
             number of milliseconds, and is a number",
        ),
        (
            r#"{"command": "x", "startupTimeout": 1.5}"#,
            "1:56: Server \"s\": \"startupTimeout\" \
             must be a whole number of milliseconds, and is a number",
        ),
        (
            r#"{"command": "x", "protocol": 2025}"#,
            "1:50: Server \"s\": \"protocol\" must be a \
             string, and is a number",
        ),
        (
            r#"{"command": "x", "protocol": "1999-01-01"}"#,
            "1:21: Server \"s\": unknown protocol \
             \"1999-01-01\" (there are auto, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, \
             2026-07-28)",
        ),
        (
            r#"{"command": "x", "disabled": 1}"#,
            "1:50: Server \"s\": \"disabled\" must be true or \
             false, and is a number",
        ),
        (r#"[]"#, "1:21: \"s\" must be an object, and is an array"),
        (r#""npx x""#, "1:21: \"s\" must be an object, and is a string"),
    ];

    /// Whole files, and what is said about them.
    const BAD_FILES: &[(&str, &str)] = &[
        ("", "1:1: there is nothing in the file; an empty one is {}"),
        ("// nothing", "1:1: there is nothing in the file; an empty one is {}"),
        ("[]", "1:1: a configuration must be an object, and is an array"),
        ("{\"mcpServers\": []}", "1:16: \"mcpServers\" must be an object, and is an array"),
        ("{\"servers\": 1}", "1:13: \"servers\" must be an object, and is a number"),
        (
            "{\"servers\": {},\n \"mcpServers\": {}}",
            "1:2: both \"mcpServers\" and \"servers\" are set",
        ),
        ("{\"mcpServers\": {},\n \"mcpServers\": {}}", "2:2: \"mcpServers\" is there twice"),
        ("{\"mcpServers\": {\"s\": {},\n \"s\": {}}}", "2:2: \"s\" is there twice"),
        ("{\n  \"s\": {\"command\": \"x\"}\n}", "2:3: \"s\" stands outside of \"mcpServers\""),
        (
            "{\"mcpServers\": {\"s\": {\"command\": \"x\"\n \"args\": []}}}",
            "1:37: not JSON: expected comma",
        ),
        ("{\"mcpServers\": {\"s\": }}", "1:22: not JSON: unexpected close brace"),
        ("{\"mcpServers\": {", "1:16: not JSON: unterminated object"),
        ("{\"ä\": \"x}", "1:7: not JSON: unterminated string literal"),
        ("{'mcpServers': {}}", "1:2: not JSON: single-quoted strings are not allowed"),
        ("{mcpServers: {}}", "1:2: not JSON: expected string for object property"),
        ("{} {}", "1:4: not JSON: text cannot contain more than one json value"),
        ("{\n/* open", "2:1: not JSON: unterminated comment block"),
        ("{,}", "1:2: not JSON: unexpected token in object"),
        ("# no comment\n{}", "1:1: not JSON: unexpected token"),
    ];

    #[test]
    fn wrong_definitions_are_told_by_place_server_and_field() {
        assert!(BAD_DEFINITIONS.len() + BAD_FILES.len() >= 60);
        let scratch = Scratch::new();
        let wrap = |definition: &str| format!("{{\"mcpServers\": {{\"s\":{definition}}}}}");
        let definitions = BAD_DEFINITIONS.iter().map(|(text, expected)| (wrap(text), *expected));
        let files = BAD_FILES.iter().map(|(text, expected)| ((*text).to_owned(), *expected));
        let mut found = Vec::new();
        for (text, expected) in definitions.chain(files) {
            scratch.write(USER, &text);
            let told = error(&scratch, "s");
            if told != format!("{USER}:{expected}") {
                found.push(format!("{text}\n  found    {told}\n  expected {USER}:{expected}"));
            }
        }
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn a_wrong_definition_does_not_harm_its_neighbours() {
        let scratch = Scratch::new();
        let text = r#"{"mcpServers": {"bad": 1, "worse": {"command": 1}, "s": {"command": "x"},
            "off": {"command": "x", "disabled": true}, "out": {"command": "x", "enabled": false}}}"#;
        scratch.write(USER, text);
        assert!(resolve("s", &world(&scratch), &Overrides::default()).is_ok());
        let (listed, _) = list(&world(&scratch), &Overrides::default());
        let usable = listed.iter().map(|server| server.resolved.is_ok());
        assert_eq!(usable.collect::<Vec<_>>(), [false, false, true, false, false]);
        assert_eq!(error(&scratch, "off"), format!("server \"off\" is disabled in {USER}"));
        assert_eq!(error(&scratch, "out"), format!("server \"out\" is disabled in {USER}"));
    }

    #[test]
    fn a_broken_file_before_the_right_one_is_an_error() {
        let scratch = Scratch::new();
        scratch.write(USER, r#"{"mcpServers": {"s": {"command": "x"}}}"#);
        scratch.write(PROJECT, "{");
        assert_eq!(error(&scratch, "s"), format!("{PROJECT}:1:1: not JSON: unterminated object"));
        assert!(resolve("user:s", &world(&scratch), &Overrides::default()).is_ok());
        let instead =
            format!("`--config {PROJECT}` takes it as it is, MCPMINI_NO_PROJECT=1 leaves it out");
        scratch.write(PROJECT, "{}");
        scratch.chmod(PROJECT, 0o666);
        assert_eq!(
            error(&scratch, "s"),
            format!(
                "cannot read {PROJECT}: others may change it (to forbid that: chmod o-w {PROJECT}); {instead}"
            )
        );
        scratch.write(PROJECT, "{}");
        std::fs::write(scratch.path(PROJECT), b"\xff{}").unwrap();
        assert_eq!(error(&scratch, "s"), format!("cannot read {PROJECT}: not UTF-8; {instead}"));
    }

    #[test]
    fn identities_differ_where_definitions_do() {
        let scratch = Scratch::new();
        let identity = |text: &str| {
            scratch.write(USER, &format!("{{\"mcpServers\": {{\"s\": {text}}}}}"));
            resolve("s", &world(&scratch), &Overrides::default()).unwrap().identity()
        };
        let plain = identity(r#"{"command": "x", "args": ["a"]}"#);
        assert_eq!(identity(r#"{ "args": ["a"], /* moved */ "command": "x" }"#), plain);
        assert_ne!(identity(r#"{"command": "x", "args": ["b"]}"#), plain);
        assert_ne!(identity(r#"{"command": "x", "args": ["a"], "later": 1}"#), plain);
        let of_word =
            |word| resolve(word, &world(&scratch), &Overrides::default()).unwrap().identity();
        assert_eq!(of_word("exec:'x y' z"), of_word("exec:'x y' z"));
        assert_ne!(of_word("exec:'x y' z"), of_word("exec:x y z"));
        assert_ne!(of_word("http://h/a"), of_word("http://h/b"));
    }
}
