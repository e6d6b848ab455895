//! Which server a pin is about.

use std::path::Path;

use crate::config::{Digest, HttpTarget, Overrides, Resolved, Target};
use crate::env::Env;
use crate::protocol::json;
use crate::protocol::mask;

use super::command::{command, place};
use super::facets::Facets;

/// Which server a pin is about: the name that a file gives it, or else its address or its command
/// line. A name stays when its definition changes, which is how such a change is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The name of its file in the store.
    pub(super) file: String,
    /// The server as people name it: what a lock file calls it.
    pub name: String,
}

impl Key {
    /// The key of a server that is used with these flags. More arguments or variables make another
    /// server: it may well have other tools.
    pub fn of(resolved: &Resolved, overrides: &Overrides, env: &Env) -> Key {
        Key::new(resolved, overrides, env, None)
    }

    /// The same where the hash of its command, with nothing added, may be known.
    fn new(resolved: &Resolved, overrides: &Overrides, env: &Env, known: Option<Digest>) -> Key {
        let mut parts = match &resolved.definition.target {
            _ if resolved.is_stored => {
                let path = resolved.origin.path().map(Path::to_string_lossy).unwrap_or_default();
                vec!["name".to_owned(), path.into(), resolved.name.clone()]
            }
            Target::Http(target) => vec!["url".to_owned(), canonical_url(&target.url)],
            Target::Stdio(target) => {
                // A relative path means another program in another directory.
                let place = place(resolved, target, overrides, env, None);
                let known = known.filter(|_| place.is_none());
                let command = known.unwrap_or_else(|| command(target, &Overrides::default(), None));
                vec!["cmd".to_owned(), command.to_string(), place.unwrap_or_default()]
            }
        };
        parts.extend(overrides.args.iter().cloned());
        parts.extend(overrides.env.iter().map(|(name, _)| format!("{name}=")));
        let text: String = parts.iter().map(|part| json::string(part)).collect();
        let mut file = Digest::of(text.as_bytes()).hex();
        // 128 bits are enough to tell servers apart.
        file.truncate(32);
        let name = match &resolved.definition.target {
            // A query may hold a secret, and a name is written into files.
            Target::Http(target) if !resolved.is_stored => address(&target.url),
            // So may a command.
            _ => mask::server(&resolved.name).into_owned(),
        };
        Key { file, name }
    }
}

/// The key of a server, and the facets of its definition; see [`Key::of`] and [`of_definition`].
pub fn of_server(
    resolved: &Resolved,
    overrides: &Overrides,
    env: &Env,
    lock: Option<&Path>,
) -> (Key, Facets) {
    let facets = of_definition(resolved, overrides, env, lock);
    // Most often nothing is added to the command, and one hash of it does for both.
    let is_alone = lock.is_none() && overrides.args.is_empty() && overrides.env.is_empty();
    let command = facets.command.filter(|_| is_alone);
    (Key::new(resolved, overrides, env, command), facets)
}

/// What is known of a server before it is started or reached: the facets of its definition.
/// References to variables stay references, so that no secret gets into a pin.
/// What the command line adds counts as if it stood in the definition. `lock` is the lock file that
/// this is for.
pub fn of_definition(
    resolved: &Resolved,
    overrides: &Overrides,
    env: &Env,
    lock: Option<&Path>,
) -> Facets {
    match &resolved.definition.target {
        Target::Stdio(target) => {
            let place = place(resolved, target, overrides, env, lock);
            let command = command(target, overrides, place.as_deref());
            Facets { command: Some(command), ..Facets::default() }
        }
        Target::Http(target) => {
            let endpoint = match lock {
                Some(_) => address_and_more(target, overrides),
                None => address(&target.url),
            };
            Facets { endpoint: Some(endpoint), ..Facets::default() }
        }
    }
}

/// Where requests go, for a lock file: with a hash of the query and of `Host`, which both choose who
/// answers, if there are such.
fn address_and_more(target: &HttpTarget, overrides: &Overrides) -> String {
    let address = address(&target.url);
    let url = target.url.split('#').next().unwrap_or_default();
    let query = url.split_once('?').map(|(_, query)| query);
    let headers = target.headers.iter().chain(&overrides.headers);
    let hosts = headers.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let more: Vec<&str> = query.into_iter().chain(hosts.map(|(_, value)| value.expose())).collect();
    match more.is_empty() {
        true => address,
        false => format!("{address}?{}", Digest::of(json::strings(more).as_bytes())),
    }
}

/// Where a URL leads, without query and fragment, which may hold secrets and change nothing about
/// that.
pub fn address(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    canonical_url(&url[..end])
}

/// A URL in the one spelling that those of one meaning share: scheme and host in lower case, no
/// default port, no fragment, no slash at the end. References to variables stay as they are.
fn canonical_url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let scheme = scheme.to_ascii_lowercase();
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let authority = match authority.contains("${") {
        true => authority.to_owned(),
        false => authority.to_ascii_lowercase(),
    };
    let port = if scheme == "https" { ":443" } else { ":80" };
    let authority = authority.strip_suffix(port).unwrap_or(&authority);
    format!("{scheme}://{authority}{}", path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve;
    use crate::env::Secret;
    use crate::store::scratch::Scratch;

    #[test]
    fn urls_of_one_meaning_have_one_spelling() {
        let check = |url: &str, canonical: &str, place: &str| {
            assert_eq!((canonical_url(url).as_str(), address(url).as_str()), (canonical, place));
        };
        check("HTTPS://Example.COM:443/Mcp/", "https://example.com/Mcp", "https://example.com/Mcp");
        check("http://h:80", "http://h", "http://h");
        check("http://h:8080/#x", "http://h:8080", "http://h:8080");
        check("https://h/mcp?key=1", "https://h/mcp?key=1", "https://h/mcp");
        check(
            "https://${HOST}:443/${TOKEN}/",
            "https://${HOST}/${TOKEN}",
            "https://${HOST}/${TOKEN}",
        );
        check("https://h?x", "https://h?x", "https://h");
        check("unix:/run/x.sock#/mcp", "unix:/run/x.sock", "unix:/run/x.sock");
    }

    #[test]
    fn a_name_stays_and_everything_else_makes_another_server() {
        let scratch = Scratch::new();
        let env = Env {
            cwd: Some(scratch.path("p")),
            variables: [("HOME", scratch.path("h").to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        };
        let define = |definition: &str| {
            let text = format!("{{\"mcpServers\":{{\"s\":{definition},\"t\":{definition}}}}}");
            scratch.write("h/.config/mcpmini/config.json", &text);
        };
        scratch.write("p/f", "");
        let none = Overrides::default();
        let key = |word: &str, overrides: &Overrides| {
            let resolved = resolve(word, &env, overrides).unwrap();
            let key = Key::of(&resolved, overrides, &env);
            let (same, facets) = of_server(&resolved, overrides, &env, None);
            assert_eq!((&same, facets), (&key, of_definition(&resolved, overrides, &env, None)));
            key
        };
        define(r#"{"command":"a"}"#);
        let first = key("s", &none);
        assert_eq!((first.name.as_str(), first.file.len()), ("s", 32));
        define(r#"{"command":"b"}"#);
        assert_eq!(key("s", &none), first);
        assert_ne!(key("t", &none).file, first.file);
        let more = Overrides { args: vec!["x".into()], ..Overrides::default() };
        assert_ne!(key("s", &more).file, first.file);
        let set = |value: &str| Overrides {
            env: vec![("A".into(), Secret::from(value))],
            ..Overrides::default()
        };
        assert_ne!(key("s", &set("1")).file, first.file);
        assert_eq!(key("s", &set("1")), key("s", &set("2")), "a value may be a secret");

        assert_eq!(key("http://H:80/", &none), key("http://h", &none));
        assert_eq!(key("http://H:80/", &none).name, "http://h");
        assert_ne!(key("http://h", &none).file, key("http://h/a", &none).file);
        assert_ne!(key("http://h", &none).file, key("http://h?key=1", &none).file);
        assert_eq!(key("http://h?key=1", &none).name, "http://h");
        assert_ne!(key("exec:a", &none).file, key("exec:'a b'", &none).file);
        // The directory counts where it decides what is meant.
        let there = Overrides { cwd: Some(scratch.path("h")), ..Overrides::default() };
        assert_eq!(key("exec:a", &there).file, key("exec:a", &none).file);
        assert_eq!(key("exec:/a ./b", &there).file, key("exec:/a ./b", &none).file);
        assert_ne!(key("exec:./a", &there).file, key("exec:./a", &none).file);
        assert_ne!(key("exec:sh ./a", &there).file, key("exec:sh ./a", &none).file);
    }

    #[test]
    fn a_lock_has_all_that_chooses_who_answers() {
        let scratch = Scratch::new();
        let env = Env { cwd: Some(scratch.path("")), ..Env::default() };
        let endpoint = |url: &str, host: Option<&str>, lock: Option<&Path>| {
            let headers = host.map(|host| ("HOST".to_owned(), Secret::from(host)));
            let more = Overrides { headers: headers.into_iter().collect(), ..Overrides::default() };
            let resolved = resolve(url, &env, &more).unwrap();
            of_definition(&resolved, &more, &env, lock).endpoint.unwrap()
        };
        let lock = scratch.path("lock");
        let lock = Some(lock.as_path());
        assert_eq!(endpoint("http://h/mcp", None, lock), "http://h/mcp");
        assert_eq!(endpoint("http://h/mcp?a=1", Some("x"), None), "http://h/mcp");
        let plain = endpoint("http://h/mcp?a=1", None, lock);
        assert!(plain.starts_with("http://h/mcp?sha256:"), "{plain}");
        assert_ne!(plain, endpoint("http://h/mcp?a=2", None, lock));
        assert_ne!(plain, endpoint("http://h/mcp?a=1", Some("x"), lock));
        assert_ne!(endpoint("http://h/mcp", Some("x"), lock), "http://h/mcp");
    }
}
