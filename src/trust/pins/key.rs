//! Which server a pin is about.

use std::borrow::Cow;
use std::path::Path;

use crate::config::{Digest, HttpTarget, Overrides, Resolved, Target, meaning};
use crate::env::Env;
use crate::protocol::json;
use crate::protocol::mask;

use super::command::{command, meant, place};
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
    /// The key of a server that is used with these flags. More arguments or variables, and another
    /// `Host`, make another server: it may well have other tools.
    pub fn of(resolved: &Resolved, overrides: &Overrides, env: &Env) -> Key {
        Key::new(resolved, overrides, env, None)
    }

    /// The same where the hash of its command, if nothing is added to it, may be known.
    fn new(resolved: &Resolved, overrides: &Overrides, env: &Env, known: Option<Digest>) -> Key {
        let name = match &resolved.definition.target {
            // A query may hold a secret, and a name is written into files.
            Target::Http(target) if !resolved.is_stored => address(&target.url),
            // So may a command.
            _ => mask::server(&resolved.name).into_owned(),
        };
        Key { file: file(resolved, overrides, env, known), name }
    }
}

/// The name of the file about a server: a hash of what tells it from others.
fn file(resolved: &Resolved, overrides: &Overrides, env: &Env, known: Option<Digest>) -> String {
    let names = overrides.env.iter().map(|(name, _)| format!("{name}="));
    let host = overrides.host().map(|host| format!("Host: {host}"));
    let added: Vec<String> = overrides.args.iter().cloned().chain(names).chain(host).collect();
    let mut parts = match &resolved.definition.target {
        _ if resolved.is_stored => {
            let path = resolved.origin.path().map(Path::to_string_lossy).unwrap_or_default();
            vec!["name".to_owned(), path.into(), resolved.name.clone()]
        }
        Target::Http(target) => vec!["url".to_owned(), canonical_url(&target.url)],
        Target::Stdio(target) => {
            let hash = || {
                // A relative path means another program in another directory.
                let place = place(resolved, target, overrides, env, None);
                command(target, &Overrides::default(), place.as_deref())
            };
            let command = known.unwrap_or_else(hash);
            if added.is_empty() {
                return command.short();
            }
            vec!["cmd".to_owned(), command.to_string()]
        }
    };
    parts.extend(added);
    let text: String = parts.iter().map(|part| json::string(part)).collect();
    Digest::of(text.as_bytes()).short()
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

/// What is known of a server before it is started or reached: the facets of its definition. Where
/// references say which host is reached or which code is started, what they stand for counts; all
/// others stay references, so that no secret gets into a pin.
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
            let command = command(&meant(resolved, target, env), overrides, place.as_deref());
            Facets { command: Some(command), ..Facets::default() }
        }
        Target::Http(target) => {
            let mut endpoint = meant_address(resolved, target, overrides, env);
            if lock.is_some() {
                push_query(&mut endpoint, &target.url);
            }
            Facets { endpoint: Some(endpoint), ..Facets::default() }
        }
    }
}

/// Where requests go: the address of a definition, with the host that its references stand for, and with
/// the `Host` that is asked for there, if that is another. Both choose who answers.
fn meant_address(
    resolved: &Resolved,
    target: &HttpTarget,
    overrides: &Overrides,
    env: &Env,
) -> String {
    let written = address(&target.url);
    let meant = match meaning(resolved, env, &target.url) {
        Cow::Borrowed(_) => written.clone(),
        Cow::Owned(url) => address(&url),
    };
    let Some((scheme, rest)) = meant.split_once("://") else { return meant };
    let authority = rest.split('/').next().unwrap_or_default();
    // Before the host may be a password.
    let host = authority.rsplit('@').next().unwrap_or_default();
    let path = match written.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]).to_owned(),
        None => format!("/{written}"),
    };
    let asked = overrides.host().map(str::to_owned).or_else(|| own_host(resolved, target, env));
    let asked = asked.map(|asked| format!(" (Host: {asked})")).unwrap_or_default();
    format!("{scheme}://{host}{asked}{path}")
}

/// The `Host` that a definition has set, by itself or by a variable.
fn own_host(resolved: &Resolved, target: &HttpTarget, env: &Env) -> Option<String> {
    let is_host = |name: &str| name.eq_ignore_ascii_case("host");
    let named = target.env_headers.iter().find(|(name, _)| is_host(name));
    let value = named.and_then(|(_, variable)| env.variable(variable)?.into_string().ok());
    let written = || {
        let (_, value) = target.headers.iter().find(|(name, _)| is_host(name))?;
        Some(meaning(resolved, env, value.expose()).into_owned())
    };
    value.or_else(written)
}

/// Adds, for a lock file, the hash of the query of a URL, if it has one: it may choose a tenant.
fn push_query(endpoint: &mut String, url: &str) {
    let url = url.split('#').next().unwrap_or_default();
    if let Some((_, query)) = url.split_once('?') {
        *endpoint += &format!("?{}", Digest::of(query.as_bytes()));
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
        assert_eq!(endpoint("http://h/mcp?a=1", None, None), "http://h/mcp");
        assert_eq!(endpoint("http://h/mcp?a=1", Some("x"), None), "http://h (Host: x)/mcp");
        let plain = endpoint("http://h/mcp?a=1", None, lock);
        assert!(plain.starts_with("http://h/mcp?sha256:"), "{plain}");
        assert_ne!(plain, endpoint("http://h/mcp?a=2", None, lock));
        assert_ne!(plain, endpoint("http://h/mcp?a=1", Some("x"), lock));
        assert_ne!(endpoint("http://h/mcp", Some("x"), lock), "http://h/mcp");
    }

    /// The facets of a definition where the variable `V` has a value.
    fn facets(scratch: &Scratch, definition: &str, value: &str) -> Facets {
        let text = format!("{{\"mcpServers\":{{\"s\":{definition}}}}}");
        scratch.write("h/.config/mcpmini/config.json", &text);
        let home = scratch.path("h");
        let env = Env {
            cwd: Some(scratch.path("h")),
            variables: [("HOME", home.to_str().unwrap()), ("V", value)].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        };
        let none = Overrides::default();
        of_definition(&resolve("s", &env, &none).unwrap(), &none, &env, None)
    }

    #[test]
    fn what_references_stand_for_counts_where_it_chooses_who_answers() {
        let scratch = Scratch::new();
        let endpoint = |url: &str, value: &str| {
            facets(&scratch, &format!("{{\"url\":\"{url}\"}}"), value).endpoint.unwrap()
        };
        for (url, value, expected) in [
            ("https://${V}/mcp", "Host.example", "https://host.example/mcp"),
            ("https://h/${V}/mcp", "secret", "https://h/${V}/mcp"),
            ("${V}/mcp", "https://me:pw@h:443/a?b", "https://h/${V}/mcp"),
            ("${V}", "https://h/secret", "https://h/${V}"),
            ("${NONE}/mcp", "", "${NONE}/mcp"),
        ] {
            assert_eq!(endpoint(url, value), expected, "{url}");
        }
        let host = r#"{"url":"https://h/mcp","headers":{"Host":"${V}"}}"#;
        assert_eq!(facets(&scratch, host, "x").endpoint.unwrap(), "https://h (Host: x)/mcp");
        let host = r#"{"url":"https://h/mcp","envHeaders":{"host":"V"}}"#;
        assert_eq!(facets(&scratch, host, "x").endpoint.unwrap(), "https://h (Host: x)/mcp");
    }

    #[test]
    fn what_references_stand_for_counts_where_it_chooses_what_runs() {
        let scratch = Scratch::new();
        let differs = |definition: &str| {
            assert_eq!(
                facets(&scratch, definition, "a"),
                facets(&scratch, definition, "a"),
                "{definition}"
            );
            facets(&scratch, definition, "a") != facets(&scratch, definition, "b")
        };
        for (definition, expected) in [
            (r#"{"command":"${V}"}"#, true),
            (r#"{"command":"${V:-x}/server"}"#, true),
            (r#"{"command":"node","args":["${V}/server.js"]}"#, true),
            (r#"{"command":"env","args":["A=1","python3","-u","${V}/server.py"]}"#, true),
            (r#"{"command":"npx","args":["-y","package@${V}"]}"#, true),
            (r#"{"command":"python3","args":["-X","utf8","${V}"]}"#, true),
            (r#"{"command":"docker","args":["run","--rm","-e","TOKEN","${V}"]}"#, true),
            (r#"{"command":"sh","args":["-c","exec python3 $0","${V}"]}"#, true),
            (r#"{"command":"python3","args":["-m","server","--token","${V}"]}"#, false),
            (r#"{"command":"npx","args":["-y","package","--token","${V}"]}"#, false),
            (r#"{"command":"./server","cwd":"/opt/${V}"}"#, true),
            (r#"{"command":"server","env":{"LD_PRELOAD":"${V}"}}"#, true),
            (r#"{"command":"server","args":["--token","${V}"]}"#, false),
            (r#"{"command":"node","args":["server.js","--token","${V}"]}"#, false),
            (r#"{"command":"env","args":["TOKEN=${V}","node","server.js"]}"#, false),
            (r#"{"command":"server","cwd":"/data/${V}"}"#, false),
            (r#"{"command":"server","env":{"TOKEN":"${V}"}}"#, false),
            (r#"{"command":"${HOME}/server"}"#, false),
        ] {
            assert_eq!(differs(definition), expected, "{definition}");
        }
        let with_file = |text: &str| {
            scratch.write("h/.config/mcpmini/vars", text);
            facets(&scratch, r#"{"command":"server","envFile":"vars"}"#, "a")
        };
        let first = with_file("TOKEN=1\n");
        assert_eq!(first, with_file("TOKEN=2\nMORE=3\n"));
        assert_ne!(first, with_file("TOKEN=1\nNODE_OPTIONS=--require=/tmp/x.js\n"));
    }
}
