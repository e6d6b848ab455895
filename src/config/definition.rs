//! What a configuration file says about one server.
//!
//! Texts are still templates here: nothing was looked up, read or run for them. Unknown fields are
//! left alone, since other programs share these files; they count for the hash all the same, lest
//! a field that a later version understands were approved without having been seen.

use std::fmt;
use std::time::Duration;

use jsonc_parser::ast::Object;

use super::digest::{Digest, push_canonical_object};
use super::fields::{Fields, Issue};
use super::oauth::OAuthTemplate;
use super::word::Word;
use crate::env::Secret;
use crate::protocol::{Revision, json};

/// What is known about a server before it is contacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// How it is reached.
    pub target: Target,
    /// How long to wait for an answer; zero is without limit.
    pub timeout: Option<Duration>,
    /// How long to wait for the server to be ready; zero is without limit.
    pub start_timeout: Option<Duration>,
    /// The revision to speak, when it is not to be found out.
    pub protocol: Option<&'static Revision>,
    /// How strictly it is held to what it was, if that is said.
    pub trust: Option<Trust>,
    /// Whether it must not be used.
    pub disabled: bool,
    /// The card that it was made from, which may have changed since.
    pub card: Option<Card>,
    /// The entry of the registry that it was made from: `com.example/weather@1.2.0`.
    pub registry: Option<String>,
    /// The registry that has it, where that is not the official one.
    pub registry_url: Option<String>,
    /// The canonical text of all that was said, known fields or not.
    canonical: Secret,
}

/// Where the card is that a definition was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// The URL of the card, or of the catalog that has it inside.
    pub url: String,
    /// The identifier of the entry in the catalog, if it is in one.
    pub entry: Option<String>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// It is started, and speaks on its standard streams.
    Stdio(StdioTarget),
    /// It is somewhere, and speaks HTTP.
    Http(HttpTarget),
}

/// A server to be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StdioTarget {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables for it.
    pub env: Vec<(String, Secret)>,
    /// A file with more of them.
    pub env_file: Option<String>,
    /// Its working directory.
    pub cwd: Option<String>,
    /// Whether it gets all variables of this process, and not only the harmless ones.
    pub inherit_env: bool,
}

/// A server to be reached by HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpTarget {
    /// How HTTP is used.
    pub binding: Binding,
    /// The endpoint: `http:`, `https:` or `unix:`.
    pub url: String,
    /// Headers for every request.
    pub headers: Vec<(String, Secret)>,
    /// More of them: the name, and the variable that has the value.
    pub env_headers: Vec<(String, String)>,
    /// The variable that has a bearer token.
    pub bearer_token_env: Option<String>,
    /// How to get tokens for the server.
    pub oauth: Option<OAuthTemplate>,
}

/// How HTTP is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Binding {
    /// Streamable HTTP, and HTTP+SSE where the server turns out not to know it.
    #[default]
    Auto,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, of the revision 2024-11-05.
    Sse,
}

/// How strictly a server is held to what it was before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Nothing is remembered and nothing is checked.
    Off,
    /// It is accepted as it is when it is first used.
    #[default]
    FirstUse,
    /// Nothing is accepted but what was accepted before, by the user or by a lock file.
    Strict,
}

impl Trust {
    /// The word for it in a file.
    pub fn word(self) -> &'static str {
        match self {
            Trust::Off => "off",
            Trust::FirstUse => "tofu",
            Trust::Strict => "strict",
        }
    }
}

/// The registry that entries are from unless they say another.
pub const OFFICIAL_REGISTRY: &str = "https://registry.modelcontextprotocol.io";

/// The names under which other programs keep the URL. The first one is ours.
const URL_FIELDS: [&str; 4] = ["url", "httpUrl", "serverUrl", "baseUrl"];

/// The names of all fields of a definition.
pub(super) const FIELDS: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "inheritEnv",
    "url",
    "httpUrl",
    "serverUrl",
    "baseUrl",
    "headers",
    "envHeaders",
    "bearerTokenEnv",
    "oauth",
    "timeout",
    "startupTimeout",
    "protocol",
    "trust",
    "card",
    "cardEntry",
    "registry",
    "registryUrl",
    "disabled",
    "enabled",
];

impl Definition {
    /// Reads a definition; on failure says all that is wrong with it, with the offset of each
    /// mistake in the file.
    pub(super) fn read(object: &Object<'_>) -> Result<Definition, Vec<(usize, Issue)>> {
        let mut fields = Fields::of(object);
        let target = target(&mut fields);
        let timeout = fields.milliseconds("timeout");
        let start_timeout = fields.milliseconds("startupTimeout");
        let protocol = protocol(&mut fields);
        let trust = trust(&mut fields);
        let (url, entry) = (fields.string("card"), fields.string("cardEntry"));
        let card = url.map(|url| Card { url, entry });
        let registry = fields.string("registry");
        let registry_url = fields.string("registryUrl");
        let disabled = [fields.flag("disabled"), fields.flag("enabled").map(|enabled| !enabled)];
        let issues = fields.into_issues();
        let (Some(target), true) = (target, issues.is_empty()) else { return Err(issues) };
        let mut canonical = String::new();
        push_canonical_object(&mut canonical, object);
        Ok(Definition {
            target,
            timeout,
            start_timeout,
            protocol,
            trust,
            disabled: disabled.contains(&Some(true)),
            card,
            registry,
            registry_url,
            canonical: Secret::new(canonical),
        })
    }

    /// The definition of a server that stands on the command line itself; `None` for a name.
    pub(super) fn of_word(word: &Word) -> Option<Definition> {
        let http = |url: String| {
            let canonical = format!("{{\"url\":{}}}", json::string(&url));
            Some(Definition::plain(Target::Http(HttpTarget::new(url)), canonical))
        };
        match word {
            Word::Name { .. } | Word::Registry(_) => None,
            Word::Url(url) => http(url.to_string()),
            Word::Socket(socket) => {
                http(format!("unix:{}#{}", socket.path.display(), socket.target))
            }
            Word::Command(words) => {
                let quoted: Vec<_> = words.iter().map(|word| json::string(word)).collect();
                let canonical = format!("{{\"command\":[{}]}}", quoted.join(","));
                let (command, args) = words.split_first()?;
                let target = StdioTarget {
                    command: command.clone(),
                    args: args.to_vec(),
                    ..StdioTarget::default()
                };
                Some(Definition::plain(Target::Stdio(target), canonical))
            }
        }
    }

    fn plain(target: Target, canonical: String) -> Definition {
        Definition {
            target,
            timeout: None,
            start_timeout: None,
            protocol: None,
            trust: None,
            disabled: false,
            card: None,
            registry: None,
            registry_url: None,
            canonical: Secret::new(canonical),
        }
    }

    /// The hash of the definition, of what names it, and of the files it draws in. Two definitions
    /// with one hash say the same.
    pub(super) fn digest(&self, name: &str, path: &str, env_file: Option<Digest>) -> Digest {
        let env_file = env_file.map_or_else(|| "null".to_owned(), |hash| json::string(&hash.hex()));
        let (name, path) = (json::string(name), json::string(path));
        let definition = self.canonical.expose();
        let whole = format!(
            "{{\"definition\":{definition},\"envFile\":{env_file},\"name\":{name},\"path\":{path}}}"
        );
        Digest::of(whole.as_bytes())
    }
}

impl HttpTarget {
    fn new(url: String) -> HttpTarget {
        HttpTarget {
            binding: Binding::Auto,
            url,
            headers: Vec::new(),
            env_headers: Vec::new(),
            bearer_token_env: None,
            oauth: None,
        }
    }
}

/// The ways to reach a server that a definition can ask for.
enum Transport {
    Stdio,
    Http(Binding),
}

/// Reads how the server is reached; `None` when something was wrong with it.
fn target(fields: &mut Fields<'_>) -> Option<Target> {
    let url_field = URL_FIELDS.into_iter().find(|name| fields.has(name));
    if fields.has("command") && url_field.is_some() {
        fields.wrong(Issue::CommandAndUrl);
    }
    match (transport(fields, url_field.is_some())?, url_field) {
        (Transport::Stdio, _) => stdio_target(fields),
        (Transport::Http(binding), Some(url_field)) => http_target(fields, binding, url_field),
        (Transport::Http(binding), None) => {
            let kind = if binding == Binding::Sse { "sse" } else { "http" };
            fields.wrong(Issue::NoUrl { kind });
            None
        }
    }
}

fn transport(fields: &mut Fields<'_>, has_url: bool) -> Option<Transport> {
    match fields.string("type").as_deref() {
        None if has_url => Some(Transport::Http(Binding::Auto)),
        None | Some("stdio") => Some(Transport::Stdio),
        Some("http" | "streamable-http") => Some(Transport::Http(Binding::Http)),
        Some("sse") => Some(Transport::Http(Binding::Sse)),
        Some(unknown) => {
            fields.wrong(Issue::UnknownType(unknown.to_owned()));
            None
        }
    }
}

fn stdio_target(fields: &mut Fields<'_>) -> Option<Target> {
    let words = fields.words("command");
    let target = StdioTarget {
        command: String::new(),
        args: fields.strings("args"),
        env: fields.variables("env"),
        env_file: fields.string("envFile"),
        cwd: fields.string("cwd"),
        inherit_env: fields.flag("inheritEnv") == Some(true),
    };
    // What is wrong with the others is told, too.
    let mut words = words?.into_iter();
    let Some(command) = words.next().filter(|command| !command.is_empty()) else {
        fields.wrong(Issue::NoCommand);
        return None;
    };
    Some(Target::Stdio(StdioTarget { command, args: words.chain(target.args).collect(), ..target }))
}

fn http_target(fields: &mut Fields<'_>, binding: Binding, url_field: &str) -> Option<Target> {
    let headers = fields.headers("headers");
    let named = fields.headers("envHeaders");
    let env_headers: Vec<_> =
        named.into_iter().map(|(name, variable)| (name, variable.expose().to_owned())).collect();
    let bearer_token_env = fields.string("bearerTokenEnv");
    let is_authorization = |name: &String| name.eq_ignore_ascii_case("authorization");
    if bearer_token_env.is_some() {
        if headers.iter().any(|(name, _)| is_authorization(name)) {
            fields.wrong(Issue::Exclusive("bearerTokenEnv", "headers.Authorization"));
        }
        if env_headers.iter().any(|(name, _)| is_authorization(name)) {
            fields.wrong(Issue::Exclusive("bearerTokenEnv", "envHeaders.Authorization"));
        }
    }
    let url = fields.string(url_field)?;
    let oauth = fields.object("oauth.", OAuthTemplate::read);
    Some(Target::Http(HttpTarget { binding, url, headers, env_headers, bearer_token_env, oauth }))
}

/// Reads how strict to be. `"trust": true` is another program's, which asks no questions then.
fn trust(fields: &mut Fields<'_>) -> Option<Trust> {
    if fields.is_boolean("trust") {
        return None;
    }
    let word = fields.string("trust")?;
    let all = [Trust::Off, Trust::FirstUse, Trust::Strict];
    let known = all.into_iter().find(|trust| trust.word() == word);
    if known.is_none() {
        fields.wrong(Issue::UnknownTrust(word));
    }
    known
}

fn protocol(fields: &mut Fields<'_>) -> Option<&'static Revision> {
    let date = fields.string("protocol").filter(|date| date != "auto")?;
    let known = Revision::named(&date);
    if known.is_none() {
        fields.wrong(Issue::UnknownRevision(date));
    }
    known
}
impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)?;
        self.entry.iter().try_for_each(|entry| write!(f, ", entry {entry}"))
    }
}
