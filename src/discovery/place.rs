//! What a word of the command line says about where to look. It is decided by its form alone.

use std::fmt;
use std::path::PathBuf;

use crate::net::{Address, InvalidAddress};

/// Where to look for servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A host, or the root of one: its catalog, and what else it publishes.
    Host(Address),
    /// The endpoint of a server: the card beside it.
    Endpoint(Address),
    /// A card or a catalog itself.
    Document(Address),
    /// The same in a file.
    File(PathBuf),
    /// An entry of the registry.
    Registry {
        /// Its name: `com.example/weather`.
        name: String,
        /// Its version; `None` for the latest.
        version: Option<String>,
    },
    /// Whatever the registry finds by this text.
    Search(String),
}

/// Why a word says no place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoPlace {
    /// A URL that cannot be used.
    Url(InvalidAddress),
    /// It is neither a URL nor a host nor a file.
    Word(String),
    /// After `registry:` there is neither a name nor a text to search for.
    Registry(String),
}

impl Place {
    /// Reads a word.
    pub fn parse(word: &str) -> Result<Place, NoPlace> {
        if let Some(name) = word.strip_prefix("registry:") {
            return registry(name);
        }
        for prefix in ["card:", "catalog:"] {
            if let Some(rest) = word.strip_prefix(prefix) {
                return match Place::parse(rest)? {
                    Place::Host(at) | Place::Endpoint(at) => Ok(Place::Document(at)),
                    other => Ok(other),
                };
            }
        }
        if let Some(path) = word.strip_prefix("file:") {
            return Ok(Place::File(path.strip_prefix("//").unwrap_or(path).into()));
        }
        if word.contains("://") {
            return Address::parse(word).map(url).map_err(NoPlace::Url);
        }
        if word.starts_with(['/', '.', '~']) || word.ends_with(".json") {
            return Ok(Place::File(word.into()));
        }
        host(word.strip_suffix('/').unwrap_or(word))
            .map(Place::Host)
            .ok_or_else(|| NoPlace::Word(word.to_owned()))
    }
}

/// What a URL is the URL of.
fn url(address: Address) -> Place {
    let path = path_of(&address);
    if path == "/" && !address.as_str().contains('?') {
        return Place::Host(address);
    }
    let is_document =
        path.ends_with(".json") || path.ends_with("/server-card") || path.contains("/.well-known/");
    if is_document { Place::Document(address) } else { Place::Endpoint(address) }
}

/// The path of a URL, without its query.
fn path_of(address: &Address) -> &str {
    let path = address.as_str().strip_prefix(&address.origin()).unwrap_or_default();
    path.split('?').next().unwrap_or_default()
}

/// The place that the standard reserves for the card of the server at an endpoint.
pub fn card_beside(endpoint: &Address) -> Address {
    // Not joined: a path that begins with two slashes would name another host.
    let path = path_of(endpoint).trim_end_matches('/');
    let url = format!("{}{path}/server-card", endpoint.origin());
    Address::parse(&url).expect("a path below a URL is a URL")
}

/// A bare host, with or without a port: `example.com`, `localhost:3000`, `[::1]:3000`. It is asked
/// over https, and on this machine over http.
pub fn host(word: &str) -> Option<Address> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || ".-:[]".contains(letter);
    let (name, port) = match word.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (word, None),
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port != 0));
    let is_name =
        name.contains('.') || name == "localhost" || name.starts_with('[') || port.is_some();
    if !word.chars().all(fits) || !is_port || !is_name || name.is_empty() {
        return None;
    }
    let secure = Address::parse(&format!("https://{word}/")).ok()?;
    match secure.is_loopback() {
        true => Address::parse(&format!("http://{word}/")).ok(),
        false => Some(secure),
    }
}

fn registry(text: &str) -> Result<Place, NoPlace> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version.to_owned())),
        None => (text, None),
    };
    let is_version = version.as_ref().is_none_or(|version| !version.is_empty());
    match super::lint::is_name(name) && is_version {
        true => Ok(Place::Registry { name: name.to_owned(), version }),
        false if text.contains(['/', '@']) || text.trim().is_empty() => {
            Err(NoPlace::Registry(text.to_owned()))
        }
        false => Ok(Place::Search(text.to_owned())),
    }
}

impl fmt::Display for NoPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPlace::Url(why) => why.fmt(f),
            NoPlace::Word(word) => write!(f, "{word:?} is neither a host nor a URL nor a file"),
            NoPlace::Registry(name) => {
                write!(f, "{name:?} is no name in a registry, such as com.example/weather")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        let shown = match Place::parse(word) {
            Ok(Place::Host(at)) => format!("host {at}"),
            Ok(Place::Endpoint(at)) => format!("endpoint {at}"),
            Ok(Place::Document(at)) => format!("document {at}"),
            Ok(Place::File(path)) => format!("file {}", path.display()),
            Ok(Place::Registry { name, version }) => format!("registry {name} {version:?}"),
            Ok(Place::Search(text)) => format!("search {text}"),
            Err(why) => format!("error: {why}"),
        };
        assert_eq!(shown, expected, "{word}");
    }

    #[test]
    fn a_word_is_read_by_its_form() {
        check("example.com", "host https://example.com/");
        check("example.com:8443", "host https://example.com:8443/");
        check("example.com/", "host https://example.com/");
        check("localhost", "host http://localhost/");
        check("localhost:3000", "host http://localhost:3000/");
        check("127.0.0.1:3000", "host http://127.0.0.1:3000/");
        check("[::1]:3000", "host http://[::1]:3000/");
        check("10.0.0.1", "host https://10.0.0.1/");
        check("intranet:8080", "host https://intranet:8080/");
        check("https://example.com", "host https://example.com/");
        check("http://example.com/", "host http://example.com/");
        check("https://example.com/mcp", "endpoint https://example.com/mcp");
        check("https://example.com/?x=1", "endpoint https://example.com/?x=1");
        check(
            "https://example.com/mcp/server-card",
            "document https://example.com/mcp/server-card",
        );
        check("https://example.com/card.json?x", "document https://example.com/card.json?x");
        check(
            "https://example.com/.well-known/mcp",
            "document https://example.com/.well-known/mcp",
        );
        check("card:https://example.com/about", "document https://example.com/about");
        check("catalog:https://example.com/", "document https://example.com/");
        check("card:./card", "file ./card");
        check("card.json", "file card.json");
        check("./card", "file ./card");
        check("/tmp/card", "file /tmp/card");
        check("file:///tmp/card", "file /tmp/card");
        check("file:card", "file card");
        check("registry:weather map", "search weather map");
        check("registry:com.example/weather", "registry com.example/weather None");
        check("registry:com.example/weather@1.2.0", "registry com.example/weather Some(\"1.2.0\")");
    }

    #[test]
    fn other_words_are_no_places() {
        let neither =
            |word: &str| format!("error: {word:?} is neither a host nor a URL nor a file");
        for word in
            ["weather", "com.example/weather", "a b.c", "a:b", "a.b:0", "a.b:99999", "", ":80"]
        {
            check(word, &neither(word));
        }
        let none = |name: &str| {
            format!("error: {name:?} is no name in a registry, such as com.example/weather")
        };
        for name in ["a/b/c", "", "a/b@", "weather@1"] {
            check(&format!("registry:{name}"), &none(name));
        }
        check("ftp://h/", "error: a URL must begin with http:// or https://");
        check(
            "https://u:p@h/",
            "error: a URL must not contain a user name or password; use an Authorization header",
        );
    }
}
