//! The SERVER word of a command line.
//!
//! A word is read by its form alone: whether it names a server never depends on which files are
//! there, and a word without `:`, blank and `/` is always a name.

use std::fmt;
use std::path::PathBuf;

use url::Url;

use super::quoting::{self, QuotingError, is_blank};
use super::source::Layer;

/// A server, as the command line says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// A name from configuration.
    Name {
        /// The only file to look into, for `user:NAME` and the like.
        layer: Option<Layer>,
        /// The name.
        name: String,
    },
    /// An http or https URL.
    Url(Url),
    /// A socket, on which HTTP is spoken.
    Socket(Socket),
    /// A program and its arguments.
    Command(Vec<String>),
    /// The server that was added from this entry of the registry: `com.example/weather`, or
    /// `com.example/weather@1.2.0`.
    Registry(String),
}

/// A Unix-domain socket, on which HTTP is spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Socket {
    /// The socket.
    pub path: PathBuf,
    /// The path for the HTTP requests; begins with `/`.
    pub target: String,
}

/// A word that means no server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordError {
    /// It is empty.
    Empty,
    /// A command line that cannot be split.
    Command(QuotingError),
    /// A URL that is none, or that cannot be used.
    Url(UrlError),
    /// `KIND:NAME`, and there is no such kind.
    Kind(String),
    /// Not a name: wrong characters, or too many.
    Name(String),
}

/// A URL that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlError {
    /// Not a URL.
    Syntax(url::ParseError),
    /// Its scheme is none of http, https and unix.
    Scheme(String),
    /// It contains a user name or a password. Every log on the way would show them.
    Credentials,
    /// A `unix:` URL without a path to a socket.
    NoSocket,
    /// What follows the `#` of a `unix:` URL does not begin with `/`.
    Target,
}

/// The longest name.
pub(super) const NAME_LIMIT: usize = 64;

impl Word {
    /// Reads a SERVER word.
    pub fn parse(text: &str) -> Result<Word, WordError> {
        if text.is_empty() {
            return Err(WordError::Empty);
        }
        if let Some(line) = text.strip_prefix("exec:") {
            return command(line);
        }
        if let Some(entry) = text.strip_prefix("registry:") {
            return Ok(Word::Registry(entry.to_owned()));
        }
        if text.starts_with("unix:") || has_scheme(text) {
            return match parse_url(text).map_err(WordError::Url)? {
                Location::Url(url) => Ok(Word::Url(url)),
                Location::Socket(socket) => Ok(Word::Socket(socket)),
            };
        }
        if text.contains(|letter| letter == '/' || is_blank(letter)) {
            return command(text);
        }
        name(text)
    }
}

fn command(line: &str) -> Result<Word, WordError> {
    quoting::split(line).map(Word::Command).map_err(WordError::Command)
}

fn name(text: &str) -> Result<Word, WordError> {
    let (layer, name) = match text.split_once(':') {
        None => (None, text),
        Some((kind, name)) => match Layer::named(kind) {
            Some(layer) => (Some(layer), name),
            None => return Err(WordError::Kind(text.to_owned())),
        },
    };
    if !is_name(name) {
        return Err(WordError::Name(name.to_owned()));
    }
    Ok(Word::Name { layer, name: name.to_owned() })
}

/// Whether a server can be called that.
pub fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !text.is_empty() && text.len() <= NAME_LIMIT && text.bytes().all(fits)
}

/// Whether the text begins with `scheme://`.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once("://") else { return false };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(fits)
}

/// Where HTTP is spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Location {
    Url(Url),
    Socket(Socket),
}

/// Reads `http://…`, `https://…` or `unix:/socket#/path`.
pub(super) fn parse_url(text: &str) -> Result<Location, UrlError> {
    if let Some(rest) = text.strip_prefix("unix:") {
        return socket(rest.strip_prefix("//").unwrap_or(rest)).map(Location::Socket);
    }
    let mut url = Url::parse(text).map_err(UrlError::Syntax)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlError::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlError::Credentials);
    }
    url.set_fragment(None);
    Ok(Location::Url(url))
}

fn socket(text: &str) -> Result<Socket, UrlError> {
    let (path, target) = text.split_once('#').unwrap_or((text, "/"));
    if path.is_empty() {
        return Err(UrlError::NoSocket);
    }
    if !target.starts_with('/') {
        return Err(UrlError::Target);
    }
    Ok(Socket { path: path.into(), target: target.to_owned() })
}

impl fmt::Display for WordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WordError::Empty => f.write_str("the server is an empty word"),
            WordError::Command(error) => write!(f, "the server's command line is broken: {error}"),
            WordError::Url(error) => write!(f, "the server's URL cannot be used: {error}"),
            WordError::Kind(word) => {
                let word = quoting::quote(word);
                write!(
                    f,
                    "{word} is no server: before a `:` there may be http, https, unix, exec, user, \
                     project, system or registry"
                )
            }
            WordError::Name(name) => {
                let name = quoting::quote(name);
                write!(
                    f,
                    "{name} is no name of a server: names have 1 to {NAME_LIMIT} letters, digits, \
                     `.`, `_` and `-`"
                )
            }
        }
    }
}

impl fmt::Display for UrlError {
    /// Without the URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UrlError::Syntax(error) => write!(f, "{error}"),
            UrlError::Scheme(scheme) => {
                write!(f, "its scheme {scheme} is none of http, https and unix")
            }
            UrlError::Credentials => {
                f.write_str("it contains a user name or a password; use a header for them")
            }
            UrlError::NoSocket => f.write_str("unix: needs the path of a socket"),
            UrlError::Target => f.write_str("what follows the # must begin with /"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Word {
        Word::Url(Url::parse(text).unwrap())
    }

    fn socket(path: &str, target: &str) -> Word {
        Word::Socket(Socket { path: path.into(), target: target.into() })
    }

    fn line(words: &[&str]) -> Word {
        Word::Command(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn called(layer: Option<Layer>, name: &str) -> Word {
        Word::Name { layer, name: name.into() }
    }

    #[test]
    fn a_word_is_read_by_its_form() {
        let check = |text: &str, expected: Word| {
            assert_eq!(Word::parse(text), Ok(expected), "{text}");
        };
        check("github", called(None, "github"));
        check("a.B_c-9", called(None, "a.B_c-9"));
        check(&"x".repeat(64), called(None, &"x".repeat(64)));
        check("help", called(None, "help"));
        check("user:github", called(Some(Layer::User), "github"));
        check("project:github", called(Some(Layer::Project), "github"));
        check("system:github", called(Some(Layer::System), "github"));
        check("http://localhost:3000/mcp", url("http://localhost:3000/mcp"));
        check("HTTPS://Example.com", url("https://example.com/"));
        check("https://h/a?b=c#d", url("https://h/a?b=c"));
        check("unix:/run/s.sock", socket("/run/s.sock", "/"));
        check("unix:///run/s.sock#/mcp?x=1", socket("/run/s.sock", "/mcp?x=1"));
        check("unix:s.sock", socket("s.sock", "/"));
        check("exec:server", line(&["server"]));
        check("exec:'my server' x", line(&["my server", "x"]));
        check("npx -y @x/server", line(&["npx", "-y", "@x/server"]));
        check("registry:com.example/x@1", Word::Registry("com.example/x@1".to_owned()));
        check("./server", line(&["./server"]));
        check("curl http://h/", line(&["curl", "http://h/"]));
        check("exec:http://h/", line(&["http://h/"]));
    }

    #[test]
    fn other_words_are_errors() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            assert_eq!(Word::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
        let names = "names have 1 to 64 letters, digits, `.`, `_` and `-`";
        let kinds = "before a `:` there may be http, https, unix, exec, user, project, system or \
                     registry";
        check("", "the server is an empty word");
        check("a,b", &format!("a,b is no name of a server: {names}"));
        check("user:", &format!("'' is no name of a server: {names}"));
        check("größe", &format!("größe is no name of a server: {names}"));
        let long = "x".repeat(65);
        check(&long, &format!("{long} is no name of a server: {names}"));
        check("localhost:3000", &format!("localhost:3000 is no server: {kinds}"));
        check("a\x1b:b", &format!(r"$'a\u001b:b' is no server: {kinds}"));
        check("exec:", "the server's command line is broken: it is empty");
        check("npx 'x", "the server's command line is broken: a ' is not closed");
        let url = "the server's URL cannot be used: ";
        check("http://", &format!("{url}empty host"));
        check("https://BÜCHER.example/", &format!("{url}invalid international domain name"));
        check("ftp://h/", &format!("{url}its scheme ftp is none of http, https and unix"));
        check("ws://h/", &format!("{url}its scheme ws is none of http, https and unix"));
        check(
            "https://u:hunter2@h/",
            &format!("{url}it contains a user name or a password; use a header for them"),
        );
        check("unix:", &format!("{url}unix: needs the path of a socket"));
        check("unix:#/mcp", &format!("{url}unix: needs the path of a socket"));
        check("unix:/s#mcp", &format!("{url}what follows the # must begin with /"));
    }
}
