//! What of a run must not be shown: the secrets in the words of its command line, and those that its
//! servers are given.
//!
//! Everything that goes to standard error passes through here, and what a command says itself on
//! standard output. The answers of servers do not: they are data.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::rc::Rc;

use url::form_urlencoded;

use crate::config::{self, Endpoint, StdioEndpoint, quoting};
use crate::env::Secret;
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::mask::{self, Author, MASK};
use crate::protocol::sorting::sort_by;

use super::args::Command;
use super::errors::Error;

/// The shortest secret that is looked for in texts, in bytes: a shorter one may be a part of a word.
const SHORTEST: usize = 6;

/// The same for a variable of a server, which may be something else: `debug`, `eu-west`.
const SHORTEST_VARIABLE: usize = 8;

/// The longest word of a command line that may be a server, in bytes; what is longer is data.
const LONGEST_WORD: usize = 8 << 10;

/// How many strings with JSON in them are looked into, one in another.
const DEPTH: usize = 4;

/// Added to a command line that is to be pasted.
const PLACEHOLDER: &str = " (your secret in the place of ***)";

/// The secrets of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Redaction(Rc<RefCell<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// Words that may have secrets in them.
    words: Vec<Secret>,
    /// Secrets.
    values: Vec<Secret>,
    /// Servers among whose variables and arguments are secrets. Which they are is found out when
    /// something is shown: most calls show nothing but the answer.
    processes: Vec<StdioEndpoint>,
    /// What stands for what in a text, once that was found out of all these: a batch may have
    /// thousands of lines to show.
    replacements: Option<Replacements>,
}

/// Texts, and what is shown in their place; the longest first, as one may be a part of another.
type Replacements = Rc<[(String, String)]>;

impl Redaction {
    /// What is known from the beginning: the URLs and the commands among the words of a command line.
    pub(super) fn of_words(words: &[OsString]) -> Redaction {
        let redaction = Redaction::default();
        let words = words.iter().filter(|word| word.len() <= LONGEST_WORD);
        let words = words.filter_map(|word| word.to_str());
        let words = words.filter(|word| word.contains("://") || word.contains(' '));
        words.for_each(|word| redaction.know_word(word));
        redaction
    }

    /// Takes note of a word that may have secrets in it: a URL, a command line.
    pub(super) fn know_word(&self, word: &str) {
        self.0.borrow_mut().add_word(word);
    }

    /// Takes note of secrets.
    pub(super) fn know(&self, secrets: impl IntoIterator<Item = Secret>) {
        self.0.borrow_mut().add(secrets);
    }

    /// Takes note of what a server is given: its arguments and the variables that are set for it, its
    /// headers, its URL.
    pub(super) fn know_server(&self, server: &config::Server) {
        self.know_word(&server.name);
        match &server.endpoint {
            Endpoint::Stdio(endpoint) => {
                let mut known = self.0.borrow_mut();
                known.processes.push(endpoint.clone());
                known.replacements = None;
            }
            Endpoint::Http(endpoint) => {
                self.know_word(&endpoint.url);
                for (name, value) in &endpoint.headers {
                    let value = value.expose();
                    if mask::field(name, value, Author::Client) != value {
                        // `Bearer`, and what comes after it.
                        let token = value.rsplit(' ').next().unwrap_or_default();
                        self.know([value, token].map(Secret::from));
                    }
                }
            }
        }
    }

    /// All secrets, as they may be written in a text.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let secrets = self.0.borrow_mut().secrets();
        let forms = secrets.iter().flat_map(|secret| forms(secret));
        forms.map(Secret::new).collect()
    }

    /// The text without the secrets.
    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let replacements = self.0.borrow_mut().replacements();
        without(text, &replacements, DEPTH)
    }

    /// The error without the secrets. What is to be pasted says where one is missing.
    pub(super) fn error(&self, error: Error) -> Error {
        let apply = |text: String| self.apply(&text).into_owned();
        // A number that is a secret leaves no JSON behind.
        let apply_json = |text: String| {
            let shown = apply(text);
            match json::validate(&shown) {
                Ok(()) => shown,
                Err(_) => json::string(&shown),
            }
        };
        let hint = |hint: String| {
            let hint = apply(hint);
            match hint.contains(MASK) && !hint.contains(PLACEHOLDER) {
                true => hint + PLACEHOLDER,
                false => hint,
            }
        };
        Error {
            message: apply(error.message),
            server: error.server.map(apply),
            data: error.data.map(apply_json),
            trust: error.trust.map(apply_json),
            stderr_tail: error.stderr_tail.map(apply),
            hint: error.hint.map(hint),
            ..error
        }
    }
}

impl Known {
    fn add_word(&mut self, word: &str) {
        if self.words.iter().all(|other| other.expose() != word) {
            self.words.push(Secret::from(word));
            self.replacements = None;
        }
    }

    fn add(&mut self, secrets: impl IntoIterator<Item = Secret>) {
        for secret in secrets {
            if SHORTEST <= secret.expose().len() && !self.values.contains(&secret) {
                self.values.push(secret);
                self.replacements = None;
            }
        }
    }

    /// Takes note of the variables that are set for servers, of those of our own that they get and
    /// whose names tell a secret, and of the secrets among their arguments.
    fn look_into_processes(&mut self) {
        for process in std::mem::take(&mut self.processes) {
            let variables = &process.environment;
            let is_telling = |name: &OsStr| name.to_str().is_some_and(mask::is_secret);
            let telling = variables.iter().filter(|(name, _)| is_telling(name));
            let values = variables.own().chain(telling);
            let values = values.filter_map(|(_, value)| value.to_str());
            // Of a URL only the password is a secret, and where a file is may be told.
            let (urls, values): (Vec<&str>, Vec<&str>) =
                values.partition(|value| value.contains("://"));
            urls.into_iter().for_each(|url| self.add_word(url));
            let is_place = |value: &str| value.starts_with('/') && Path::new(value).exists();
            let values = values.into_iter().filter(|value| SHORTEST_VARIABLE <= value.len());
            self.add(values.filter(|value| !is_place(value)).map(Secret::from));
            let arguments = process.args.iter().map(String::as_str);
            for (argument, masked) in arguments.clone().zip(mask::command(arguments)) {
                self.add(mask::hidden(argument, &masked).into_iter().map(bare));
            }
        }
    }

    /// The secrets, and what is secret in words. A text of several lines is shown line by line.
    fn secrets(&mut self) -> Vec<String> {
        self.look_into_processes();
        let words = self.words.iter().map(Secret::expose);
        let hidden = words.flat_map(|word| mask::hidden(word, &mask::server(word))).map(bare);
        let secrets: Vec<Secret> = self.values.iter().cloned().chain(hidden).collect();
        let lines = secrets.iter().flat_map(|secret| secret.expose().lines());
        let lines = lines.filter(|line| SHORTEST <= line.len());
        let lines: BTreeSet<&str> = lines.collect();
        lines.into_iter().map(str::to_owned).collect()
    }

    fn replacements(&mut self) -> Replacements {
        if let Some(known) = &self.replacements {
            return Rc::clone(known);
        }
        let mut replacements = Vec::new();
        for secret in self.secrets() {
            // Where each letter is escaped there need be no quotes around it to be read by.
            let all = [numbered(&secret, |_| true)];
            replacements.extend(forms(&secret).chain(all).map(|form| (form, MASK.to_owned())));
        }
        for word in self.words.iter().map(Secret::expose) {
            let masked = mask::server(word);
            if masked != word {
                replacements.push((quoting::quote(word), quoting::quote(&masked)));
                replacements.push((word.to_owned(), masked.into_owned()));
            }
        }
        sort_by(&mut replacements, |(one, _), (other, _)| other.len().cmp(&one.len()));
        Rc::clone(self.replacements.insert(replacements.into()))
    }
}

/// A secret of a command line without the quotes and brackets around it, which a server may not get,
/// and without its scheme.
fn bare(hidden: &str) -> Secret {
    let bare = hidden.trim_matches(['\'', '"', '{', '}', '[', ']', ',']);
    Secret::from(bare.strip_prefix("Bearer ").unwrap_or(bare))
}

/// The ways in which a secret is written: as it is, in a URL, and by the common writers of JSON and
/// HTML. Those that are the same come once.
fn forms(secret: &str) -> impl Iterator<Item = String> + use<> {
    let encoded: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let quoted = json::string(secret);
    let escaped = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let escaped = escaped.unwrap_or_default();
    let entities = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let entities = entities.replace('"', "&quot;");
    let forms = [
        secret.to_owned(),
        encoded.replace('+', "%20"),
        encoded,
        escaped.to_owned(),
        escaped.replace('/', "\\/"),
        numbered(escaped, |letter| "&<>".contains(letter)),
        numbered(escaped, |letter| !letter.is_ascii()),
        numbered(escaped, |letter| "&<>'+".contains(letter) || !letter.is_ascii()),
        entities.replace('\'', "&#39;"),
        entities.replace('\'', "&#x27;"),
        entities,
    ];
    BTreeSet::from(forms).into_iter()
}

/// The text with some of its letters as JSON may write each of them: by their numbers.
fn numbered(text: &str, applies: fn(char) -> bool) -> String {
    let number = |letter: char| -> String {
        letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    text.chars().map(|c| if applies(c) { number(c) } else { c.to_string() }).collect()
}

/// The text with everything replaced. JSON strings in it are read, as JSON can write a character in
/// several ways; they are written anew where something was replaced, and stay as they are elsewhere.
fn without<'t>(text: &'t str, replacements: &[(String, String)], depth: usize) -> Cow<'t, str> {
    let mut shown = match depth {
        0 => Cow::Borrowed(text),
        _ => without_in_strings(text, replacements, depth),
    };
    for (secret, mask) in replacements {
        if shown.contains(secret) {
            shown = shown.replace(secret, mask).into();
        }
    }
    shown
}

/// The same for what is between two quotes of the text and has escapes. Nobody knows which quote of
/// a text opens a string, so that each may.
fn without_in_strings<'t>(
    text: &'t str,
    replacements: &[(String, String)],
    depth: usize,
) -> Cow<'t, str> {
    if replacements.is_empty() || !text.contains('\\') {
        return text.into();
    }
    let mut shown = String::new();
    let (mut written, mut open, mut has_escapes) = (0, None, false);
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if open.is_some() => {
                has_escapes = true;
                bytes.next();
            }
            b'"' => {
                let start = open.replace(at).filter(|_| std::mem::take(&mut has_escapes));
                let string = start.and_then(|start| scan::unescape(&text[start..=at]));
                let Some((start, string)) = start.zip(string) else { continue };
                let masked = without(&string, replacements, depth - 1);
                if masked != string {
                    match text.get(written..start) {
                        Some(between) => shown.push_str(between),
                        // The quote that ended the last one begins this one.
                        None => drop(shown.pop()),
                    }
                    json::push_string(&mut shown, &masked);
                    written = at + 1;
                }
            }
            _ => {}
        }
    }
    match written {
        0 => text.into(),
        _ => (shown + &text[written..]).into(),
    }
}

/// Whether the answer of a command is what we say about a server, and not what a server says: then
/// nothing that is secret is in it.
pub(super) fn is_ours(command: &Command) -> bool {
    match command {
        Command::Servers(_)
        | Command::Doctor(_)
        | Command::Approve(_)
        | Command::Trust(_)
        | Command::Lock(_)
        | Command::Policy(_)
        | Command::Login(_)
        | Command::Logout(_)
        | Command::Discover(_)
        | Command::Card(_)
        | Command::Add(_)
        | Command::Remove(_)
        | Command::Config(_)
        | Command::Cache(_) => true,
        _ => command.is_dry_run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    #[test]
    fn secrets_are_replaced_in_every_form() {
        let redaction = Redaction::default();
        redaction.know_word("https://h/mcp?key=x&a=1");
        redaction.know_word("s --token 'hunter 2 two'");
        redaction
            .know(["p\"ss w\\rd/1", "line one of it\nline two of it", "short"].map(Secret::from));
        let check = |text: &str, expected: &str| assert_eq!(redaction.apply(text), expected);
        check("at https://h/mcp?key=x&a=1: no", "at https://h/mcp?key=***&a=1: no");
        check(
            "mcpmini login 'https://h/mcp?key=x&a=1'",
            "mcpmini login 'https://h/mcp?key=***&a=1'",
        );
        check("s --token 'hunter 2 two'", "s --token ***");
        check("it said p\"ss w\\rd/1", "it said ***");
        check("{\"m\":\"p\\\"ss w\\\\rd/1\"}", "{\"m\":\"***\"}");
        check("/?q=p%22ss+w%5Crd%2F1", "/?q=***");
        check("line two of it", "***");
        redaction.know(["größe&co+x"].map(Secret::from));
        check(r"gr\u00f6\u00dfe&co+x", "***");
        check(r"größe\u0026co+x", "***");
        check(r"gr\u00f6\u00dfe\u0026co\u002bx", "***");
        check(r"\u0067\u0072\u00f6\u00df\u0065\u0026\u0063\u006f\u002b\u0078", "***");
        check("short", "short");
    }

    #[test]
    fn secrets_are_replaced_however_json_and_html_write_them() {
        let redaction = Redaction::default();
        redaction.know(["hunter2/ab&cd+'ef", "12345678"].map(Secret::from));
        let check = |text: &str, expected: &str| assert_eq!(redaction.apply(text), expected);
        check(r#"{"x":"a\/b hunter2\/ab&cd+'ef","n":1.50}"#, r#"{"x":"a/b ***","n":1.50}"#);
        check(
            r#"["hunter2/ab\u0026cd\u002bef", "a\/b"]"#,
            r#"["hunter2/ab\u0026cd\u002bef", "a\/b"]"#,
        );
        check(r#"["hunter2/ab\u0026cd\u002b\u0027ef", "a\/b"]"#, r#"["***", "a\/b"]"#);
        check(r#"{"\u0068unter2/ab&cd+'ef" : 1}"#, r#"{"***" : 1}"#);
        check(r#"odd " it said "\u0068unter2/ab&cd+'ef""#, r#"odd " it said "***""#);
        check(r#""{\"x\":\"hunter2\\/ab&cd+'ef\"}""#, r#""{\"x\":\"***\"}""#);
        check(r#""C:\dir" 'hunter2/ab&amp;cd+&#39;ef'"#, r#""C:\dir" '***'"#);
        check(r#""a"\u0068unter2/ab&cd+'ef"\u0068unter2/ab&cd+'ef""#, r#""a"***"***""#);
        check("<p>hunter2/ab&amp;cd+&#x27;ef</p>", "<p>***</p>");
        check("?q=hunter2%2Fab%26cd%2B%27ef", "?q=***");
        let error =
            Error { data: Some(r#"{"pin":12345678}"#.into()), ..Error::new(Exit::Auth, "no") };
        assert_eq!(redaction.error(error).data.unwrap(), r#""{\"pin\":***}""#);
    }

    #[test]
    fn the_secrets_are_those_of_words_as_well() {
        let check = |word: &str, expected: &str| {
            let redaction = Redaction::default();
            redaction.know_word(word);
            assert_eq!(redaction.secrets(), [Secret::from(expected)], "{word}");
        };
        check("s --api-key hunter2 -v", "hunter2");
        check("s --api-key 'hunter2'", "hunter2");
        check("https://h/?key=hunter2&a=1", "hunter2");
        check("s --config '{\"apiKey\":\"hunter2\"}'", "hunter2");
        check("s --header 'Authorization: Bearer hunter2'", "hunter2");
    }

    #[test]
    fn a_hint_says_where_a_secret_is_missing() {
        let redaction = Redaction::default();
        redaction.know_word("https://h/?key=x");
        let error =
            |hint: &str| redaction.error(Error::new(Exit::Auth, "no").hint(hint)).hint.unwrap();
        assert_eq!(error("mcpmini login x"), "mcpmini login x");
        let told = "mcpmini login 'https://h/?key=***' (your secret in the place of ***)";
        assert_eq!(error("mcpmini login 'https://h/?key=x'"), told);
        assert_eq!(error(told), told);
    }
}
