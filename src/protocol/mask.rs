//! What of a message may be shown: secrets are replaced by `***`.
//!
//! Traces, dry runs and listings of the configuration pass through here and nowhere else. When in
//! doubt a value is hidden: a trace is easily sent to somebody else.

use std::borrow::Cow;

use super::jsonrpc::scan;
use super::params::Members;

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// Who wrote a header field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// We did, or our user.
    Client,
    /// The server did.
    Server,
}

/// Fields of requests that the protocol or the HTTP library sets. Every other field is the user's,
/// and may be a key by any name.
const HARMLESS: [&str; 14] = [
    "accept",
    "accept-encoding",
    "content-length",
    "content-type",
    "host",
    "if-modified-since",
    "if-none-match",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "origin",
    "traceparent",
    "user-agent",
];

/// The beginning of the names that mirror arguments of a tool, which the message shows as well.
const MIRRORED: &str = "mcp-param-";

/// Parts of names that tell a secret, without separators and in lower case.
const TELLING: [&str; 12] = [
    "apikey",
    "assertion",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "password",
    "passwd",
    "privatekey",
    "secret",
    "signature",
    "token",
];

/// Whole names that tell one.
const SECRETS: [&str; 7] = ["auth", "code", "codeverifier", "key", "pwd", "session", "sig"];

/// Names that sound like a secret and are none.
const OPEN: [&str; 5] =
    ["authorizationendpoint", "progresstoken", "tokenendpoint", "tokentype", "wwwauthenticate"];

/// Whether something of that name is likely a secret: `access_token`, `X-Api-Key`, `password`.
pub fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    !OPEN.contains(&name.as_str())
        && (SECRETS.contains(&name.as_str()) || TELLING.iter().any(|part| name.contains(part)))
}

/// The value of a header field as it may be shown. Of credentials the scheme is left, of a session
/// id the beginning, so that two of them can be told apart.
pub fn field<'a>(name: &str, value: &'a str, author: Author) -> Cow<'a, str> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "authorization" | "proxy-authorization" => match value.split_once(' ') {
            Some((scheme, _)) => format!("{scheme} {MASK}").into(),
            None => MASK.into(),
        },
        "mcp-session-id" => shortened(value).into(),
        "location" | "content-location" => url(value),
        _ if author == Author::Client => {
            let open = HARMLESS.contains(&name.as_str()) || name.starts_with(MIRRORED);
            if open { value.into() } else { MASK.into() }
        }
        _ if is_secret(&name) => MASK.into(),
        _ => value.into(),
    }
}

/// The beginning of an id that whoever knows the whole could use.
pub fn shortened(id: &str) -> String {
    match id.char_indices().nth(4) {
        // The rest must be long enough not to be guessed.
        Some((at, _)) if 16 <= id.len() => format!("{}{MASK}", &id[..at]),
        _ => MASK.to_owned(),
    }
}

/// A URL without its password and without the values of parameters that are likely secrets.
pub fn url(url: &str) -> Cow<'_, str> {
    let (base, query) = match url.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (url, None),
    };
    let base = without_password(base);
    let Some(query) = query else { return base };
    let masked: Vec<_> = query.split('&').map(parameter).collect();
    format!("{base}?{}", masked.join("&")).into()
}

fn without_password(base: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = base.split_once("://") else { return base.into() };
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{MASK}@{host}{}", &rest[authority.len()..]).into(),
        None => base.into(),
    }
}

fn parameter(parameter: &str) -> Cow<'_, str> {
    match parameter.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={MASK}").into(),
        _ => parameter.into(),
    }
}

/// A server as a command line names it: a name, a URL, or a command with its arguments.
pub fn server(word: &str) -> Cow<'_, str> {
    if !word.contains([' ', '\t', '\n']) {
        return argument("", word);
    }
    let mut before = "";
    let mut shown = String::with_capacity(word.len());
    for word in quoted_words(word) {
        let bare = word.trim_end_matches([' ', '\t', '\n']);
        shown.push_str(&argument(before, bare));
        shown.push_str(&word[bare.len()..]);
        before = if bare.is_empty() { before } else { bare };
    }
    shown.into()
}

/// The words of a command, its program first.
pub fn command<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<Cow<'w, str>> {
    let mut before = "";
    let words = words.into_iter();
    words.map(|word| argument(std::mem::replace(&mut before, word), word)).collect()
}

/// A word of a command that follows `before`. A secret is what follows an option with a telling
/// name, or a telling name in the word itself: `--api-key=…`, `TOKEN=…`, `Authorization: …`.
pub fn argument<'w>(before: &str, word: &'w str) -> Cow<'w, str> {
    let option = before.trim_start_matches(QUOTES);
    if option.starts_with('-') && is_secret(option) && !word.starts_with('-') {
        return MASK.into();
    }
    // The names in a URL are its own, but those of an object may come after one.
    let address = word.find("://").filter(|at| !word[..*at].contains('{'));
    let address = address.unwrap_or(word.len());
    let separators = word[..address].match_indices(['=', ':']);
    let telling = separators.map(|(at, _)| at).find(|at| is_secret(last_name(&word[..*at])));
    match telling {
        Some(at) => {
            let space = if word[at + 1..].starts_with(' ') { " " } else { "" };
            let quote = if word.ends_with(QUOTES) { &word[word.len() - 1..] } else { "" };
            format!("{}{space}{MASK}{quote}", &word[..=at]).into()
        }
        None => url(word),
    }
}

/// What begins and ends a word with blanks in it.
const QUOTES: [char; 2] = ['\'', '"'];

/// The name that a text ends with; empty when that is the name of a file.
fn last_name(text: &str) -> &str {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let text = text.trim_end_matches(QUOTES);
    let name = text.rfind(|letter| !is_part(letter)).map_or(text, |at| &text[at + 1..]);
    if text[..text.len() - name.len()].ends_with('/') { "" } else { name }
}

/// The words of a command line, each with the blank behind it. What is in quotes is one word.
fn quoted_words(line: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    line.split_inclusive(move |letter: char| {
        match quote {
            Some(open) if open == letter => quote = None,
            None if QUOTES.contains(&letter) => quote = Some(letter),
            _ => {}
        }
        quote.is_none() && letter.is_ascii_whitespace()
    })
}

/// A JSON object whose members with telling names are masked, at the top and one object deep: the
/// messages of OAuth are not deeper. What is not an object stays as it is.
pub fn members(object: &str) -> Cow<'_, str> {
    mask_members(object, 2)
}

fn mask_members(object: &str, depth: usize) -> Cow<'_, str> {
    if !object.trim_start().starts_with('{') || depth == 0 {
        return object.into();
    }
    let mut masked = Members::new();
    for (name, value) in scan::members(object) {
        match is_secret(&name) {
            true => masked.push(&name, &format!("\"{MASK}\"")),
            false => masked.push(&name, &mask_members(value, depth - 1)),
        }
    }
    masked.finish().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_secrets() {
        let check = |name: &str, expected| assert_eq!(is_secret(name), expected, "{name}");
        for name in [
            "access_token",
            "refreshToken",
            "X-Api-Key",
            "api_key",
            "client_secret",
            "password",
            "Authorization",
            "code",
            "code_verifier",
            "X-Amz-Signature",
            "key",
            "set-cookie",
        ] {
            check(name, true);
        }
        for name in ["token_type", "expires_in", "name", "WWW-Authenticate", "monkey", "encode"] {
            check(name, false);
        }
    }

    #[test]
    fn header_fields_show_no_secret() {
        use Author::{Client, Server};
        let check = |author, name: &str, value: &str, expected: &str| {
            assert_eq!(field(name, value, author), expected, "{name}");
        };
        check(Client, "Authorization", "Bearer hunter2", "Bearer ***");
        check(Client, "authorization", "hunter2", "***");
        check(Client, "Accept", "text/event-stream", "text/event-stream");
        check(Client, "Mcp-Param-Region", "eu", "eu");
        check(Client, "X-Team", "hunter2", "***");
        check(Client, "Mcp-Session-Id", "1868a90c-7c1f-4bb1", "1868***");
        check(Client, "Mcp-Session-Id", "hunter2", "***");
        check(Server, "mcp-session-id", "äöüß-7c1f-4bb1-x", "äöüß***");
        check(Server, "Set-Cookie", "sid=hunter2", "***");
        check(Server, "X-Request-Id", "7", "7");
        check(Server, "WWW-Authenticate", "Bearer realm=\"x\"", "Bearer realm=\"x\"");
        check(Server, "Location", "https://h/?code=hunter2", "https://h/?code=***");
    }

    #[test]
    fn urls_show_no_secret() {
        let check = |text: &str, expected: &str| assert_eq!(url(text), expected);
        check("https://h/mcp", "https://h/mcp");
        check("https://h/mcp?a=1&api_key=hunter2&b", "https://h/mcp?a=1&api_key=***&b");
        check("https://u:hunter2@h/mcp", "https://***@h/mcp");
        check("https://u:hun@ter2@h:8080/m@p", "https://***@h:8080/m@p");
        check("https://h/a@b", "https://h/a@b");
        check("unix:/s#/mcp", "unix:/s#/mcp");
    }

    #[test]
    fn servers_show_no_secret() {
        let check = |text: &str, expected: &str| assert_eq!(server(text), expected);
        check("files", "files");
        check("https://u:hunter2@h/mcp?token=hunter2", "https://***@h/mcp?token=***");
        check("exec:npx -y some-server /a", "exec:npx -y some-server /a");
        check("exec:s --token hunter2 --key=hunter2 -v", "exec:s --token *** --key=*** -v");
        check("exec:API_KEY=hunter2 s --token -v", "exec:API_KEY=*** s --token -v");
        check("exec:s https://h/?key=hunter2", "exec:s https://h/?key=***");
        check("./s --token hunter2", "./s --token ***");
        check("npx  -y s --token 'hunter 2' /a", "npx  -y s --token *** /a");
        check("npx s \"--token\" hunter2", "npx s \"--token\" ***");
        check(
            "npx mcp-remote https://h/ --header \"Authorization: Bearer hunter2\" -v",
            "npx mcp-remote https://h/ --header \"Authorization: ***\" -v",
        );
        check(
            r#"s --config '{"u":"https://h/","apiKey":"hunter2"}' -v"#,
            r#"s --config '{"u":"https://h/","apiKey":***' -v"#,
        );
        check("docker run -v /home/tokens:/tokens s", "docker run -v /home/tokens:/tokens s");
    }

    #[test]
    fn members_show_no_secret() {
        let check = |text: &str, expected: &str| assert_eq!(members(text), expected);
        check(
            r#"{"access_token":"hunter2","expires_in":3600,"x":{"client_secret":["hunter2"]}}"#,
            r#"{"access_token":"***","expires_in":3600,"x":{"client_secret":"***"}}"#,
        );
        check("[1]", "[1]");
        check("{}", "{}");
    }
}
