//! What of a message may be shown: secrets are replaced by `***`.
//!
//! Traces, dry runs and listings of the configuration pass through here and nowhere else. When in
//! doubt a value is hidden: a trace is easily sent to somebody else.

use std::borrow::Cow;

use super::jsonrpc::scan;
use super::params::Members;
use super::randomness::looks_random;

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
const SECRETS: [&str; 3] = ["code", "codeverifier", "session"];

/// Last words of names that tell one: `OPENAI_KEY`, `key`.
const LAST_WORDS: [&str; 8] = ["auth", "jwt", "key", "pass", "pat", "pw", "pwd", "sig"];

/// Names that sound like a secret and are none.
const OPEN: [&str; 6] = [
    "authorizationendpoint",
    "progresstoken",
    "publickey",
    "tokenendpoint",
    "tokentype",
    "wwwauthenticate",
];

/// How well-known issuers let the secrets begin that they give out, and how long those are at least,
/// in bytes. They are secrets by any name.
const FORMS: [(&str, usize); 13] = [
    ("-----BEGIN ", 32),
    ("AIza", 35),
    ("AKIA", 20),
    ("eyJ", 40),
    ("gho_", 20),
    ("ghp_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 20),
    ("sk-", 20),
    ("sk_live_", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
];

/// Whether something of that name is likely a secret: `access_token`, `X-Api-Key`, `password`.
pub fn is_secret(name: &str) -> bool {
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let is_end = |letter: char| !letter.is_ascii_alphanumeric();
    let last_word =
        letters(name.trim_end_matches(is_end).rsplit(is_end).next().unwrap_or_default());
    let name = letters(name);
    !OPEN.contains(&name.as_str())
        && (SECRETS.contains(&name.as_str())
            || LAST_WORDS.contains(&last_word.as_str())
            || TELLING.iter().any(|part| name.contains(part)))
}

/// Whether a value has the form of a secret, whatever its name: `ghp_…`, `sk-…`.
pub fn looks_secret(value: &str) -> bool {
    FORMS.iter().any(|(start, least)| *least <= value.len() && value.starts_with(start))
}

/// What of a text its masked form does not show.
pub fn hidden<'t>(text: &'t str, masked: &str) -> Vec<&'t str> {
    let mut shown = masked.split(MASK);
    let Some(mut rest) = text.strip_prefix(shown.next().unwrap_or_default()) else {
        return Vec::new();
    };
    let mut hidden = Vec::new();
    let mut shown = shown.peekable();
    while let Some(part) = shown.next() {
        let is_last = shown.peek().is_none();
        let end = if is_last { rest.len().checked_sub(part.len()) } else { rest.find(part) };
        let Some(end) = end.filter(|end| rest.is_char_boundary(*end)) else { break };
        hidden.push(&rest[..end]);
        rest = &rest[end + part.len()..];
    }
    hidden
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

/// A URL without its password, and without the parts of its path and the values of parameters that are
/// likely secrets, be they in its query or in its fragment.
pub fn url(url: &str) -> Cow<'_, str> {
    let (base, parameters) = match url.find(['?', '#']) {
        Some(end) => url.split_at(end),
        None => (url, ""),
    };
    let base = without_secret_path(base);
    let masked: String = parameters.split_inclusive(['?', '#', '&', ';']).map(parameter).collect();
    match base {
        Cow::Borrowed(_) if masked == parameters => url.into(),
        base => format!("{base}{masked}").into(),
    }
}

/// What of a URL is before its parameters. A link that is meant for one person has a secret in its path.
fn without_secret_path(base: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = base.split_once("://") else { return base.into() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map(|(_, host)| format!("{MASK}@{host}"));
    let part = |part| if is_secret_value(part) { MASK } else { part };
    let masked = path.split('/').map(part).collect::<Vec<_>>().join("/");
    match host {
        None if masked == path => base.into(),
        host => format!("{scheme}://{}{masked}", host.as_deref().unwrap_or(authority)).into(),
    }
}

/// Whether a part of a URL is likely a secret, whatever it belongs to.
fn is_secret_value(value: &str) -> bool {
    let value = decoded(value);
    looks_secret(&value) || looks_random(&value)
}

/// A parameter with the separator after it.
fn parameter(parameter: &str) -> Cow<'_, str> {
    let bare = parameter.trim_end_matches(['?', '#', '&', ';']);
    match bare.split_once('=') {
        Some((name, value)) if is_secret(&decoded(name)) || is_secret_value(value) => {
            format!("{name}={MASK}{}", &parameter[bare.len()..]).into()
        }
        _ => parameter.into(),
    }
}

/// A name with its `%5F` read as what they stand for, as far as that is ASCII.
fn decoded(name: &str) -> String {
    let mut parts = name.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(code) => {
                decoded.push(code.into());
                decoded.push_str(&part[2..]);
            }
            None => decoded.push_str(part),
        }
    }
    decoded
}

/// A server as a command line names it: a name, a URL, or a command with its arguments.
pub fn server(word: &str) -> Cow<'_, str> {
    if !word.contains(BLANKS) {
        return argument("", word);
    }
    // Where a quote is not closed, nobody knows where words end.
    let is_open = |quote: &char| word.matches(*quote).count() % 2 == 1;
    match QUOTES.iter().any(is_open) {
        true => line(word.split_inclusive(BLANKS)),
        false => line(quoted_words(word)),
    }
    .into()
}

/// The words of a line, each with the blank behind it.
fn line<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut before = "";
    let mut shown = String::new();
    for word in words {
        let bare = word.trim_end_matches(BLANKS);
        shown.push_str(&argument(before, bare));
        shown.push_str(&word[bare.len()..]);
        before = if bare.is_empty() { before } else { bare };
    }
    shown
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
        // A quote that closes more than this word.
        let quote = if word.starts_with(QUOTES) { "" } else { closing_quote(word) };
        return format!("{MASK}{quote}").into();
    }
    if looks_secret(word.trim_matches(QUOTES)) {
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
            format!("{}{space}{MASK}{}", &word[..=at], closing_quote(word)).into()
        }
        // It may be a command line itself: `sh -c '…'`.
        None if word.contains(BLANKS) => line(word.split_inclusive(BLANKS)).into(),
        None => url(word),
    }
}

/// What is between words.
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// What begins and ends a word with blanks in it.
const QUOTES: [char; 2] = ['\'', '"'];

/// The quote at the end of a word, if there is one.
fn closing_quote(word: &str) -> &str {
    if word.ends_with(QUOTES) { &word[word.len() - 1..] } else { "" }
}

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
            "OPENAI_KEY",
            "GH_PAT",
            "DB_PASS",
            "set-cookie",
        ] {
            check(name, true);
        }
        for name in [
            "token_type",
            "expires_in",
            "name",
            "WWW-Authenticate",
            "monkey",
            "encode",
            "publicKey",
            "bypass",
            "country_code",
        ] {
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
        check("unix:/s#/mcp?token=hunter2", "unix:/s#/mcp?token=***");
        check("https://h/#access_token=hunter2&state=x", "https://h/#access_token=***&state=x");
        check("https://h/?a=1#part", "https://h/?a=1#part");
        check("https://h/?api%5Fkey=hunter2;b=1", "https://h/?api%5Fkey=***;b=1");
        check("https://h/?x=ghp_0123456789abcdefghij", "https://h/?x=***");
        check("https://h/mcp/s/Zk3xQ9vT7bN1mW5cR8pL2dF6hJ4sA0yE", "https://h/mcp/s/***");
        check(
            "https://u:hunter2@h/0d9f2c4ab7e81356/mcp?k=0d9f2c4ab7e81356&t=1#3F2504E0-4F89-11D3-9A0C-0305E82C3301",
            "https://***@h/***/mcp?k=***&t=1#3F2504E0-4F89-11D3-9A0C-0305E82C3301",
        );
        check("https://h/s%2D0d9f2c4ab7e81356", "https://h/***");
        check("https://h/?pw=hunter2&x=%30d9f2c4ab7e81356", "https://h/?pw=***&x=***");
        check("https://h/ghp_0123456789abcdefghij", "https://h/***");
        for open in [
            "https://registry.example.com/v0/servers/com.example-weather/versions/latest",
            "https://h/.well-known/oauth-protected-resource/api/v1/mcp?version=2026-07-28",
            "https://0d9f2c4ab7e81356.example.com:8443/mcp",
            "unix:/run/0d9f2c4ab7e81356.sock#/mcp",
            "/home/u/0d9f2c4ab7e81356",
        ] {
            check(open, open);
        }
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
        check("npx don't --token hunter2", "npx don't --token ***");
        check("npx s 'x --token hunter2", "npx s 'x --token ***");
        check("npx s \"--key=hunter2 -v", "npx s \"--key=*** -v");
        check("sh -c 'cd /s && s --token hunter2'", "sh -c 'cd /s && s --token ***'");
        check("s ghp_0123456789abcdefghij -v", "s *** -v");
    }

    #[test]
    fn what_is_not_shown_is_known() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(hidden(text, &server(text)), expected, "{text}");
        };
        check("https://h/?a=1", &[]);
        check("https://u:p@h/?token=hunter2&b=1&key=x", &["u:p", "hunter2", "x"]);
        check("s --token hunter2 --key=x", &["hunter2", "x"]);
        check("s --token hunter2 -v", &["hunter2"]);
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
