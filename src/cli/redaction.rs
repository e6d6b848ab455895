//! What of a run must not be shown: the secrets in the words of its command line, and those that its
//! servers are given.
//!
//! Everything that goes to standard error passes through here, and what a command says itself on
//! standard output. The answers of servers do not: they are data.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use url::form_urlencoded;

use crate::config::{self, Endpoint, Environment, quoting};
use crate::env::Secret;
use crate::protocol::json;
use crate::protocol::mask::{self, Author, MASK};

use super::args::Command;
use super::errors::Error;

/// The shortest secret that is looked for in texts, in bytes: a shorter one may be a part of a word.
const SHORTEST: usize = 6;

/// The same for a variable of a server, which may be something else: `debug`, `eu-west`.
const SHORTEST_VARIABLE: usize = 8;

/// The longest word of a command line that may be a server, in bytes; what is longer is data.
const LONGEST_WORD: usize = 8 << 10;

/// Added to a command line that is to be pasted.
const PLACEHOLDER: &str = " (your secret in the place of ***)";

/// The secrets of a run.
#[derive(Debug, Default)]
pub(super) struct Redaction(RefCell<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Words that may have secrets in them.
    words: Vec<Secret>,
    /// Secrets.
    values: Vec<Secret>,
    /// Variables of servers, among which are secrets. Which they are is found out when something is
    /// shown: most calls show nothing but the answer.
    environments: Vec<Environment>,
}

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

    /// Takes note of what a server is given: the variables that are set for it, its headers, its URL.
    pub(super) fn know_server(&self, server: &config::Server) {
        self.know_word(&server.name);
        match &server.endpoint {
            Endpoint::Stdio(endpoint) => {
                self.0.borrow_mut().environments.push(endpoint.environment.clone());
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

    /// The secrets that servers are given.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let mut known = self.0.borrow_mut();
        known.look_into_environments();
        known.values.clone()
    }

    /// The text without the secrets.
    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        for (secret, mask) in self.0.borrow_mut().replacements() {
            if shown.contains(&secret) {
                shown = shown.replace(&secret, &mask).into();
            }
        }
        shown
    }

    /// The error without the secrets. What is to be pasted says where one is missing.
    pub(super) fn error(&self, error: Error) -> Error {
        let apply = |text: String| self.apply(&text).into_owned();
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
            data: error.data.map(apply),
            trust: error.trust.map(apply),
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
        }
    }

    fn add(&mut self, secrets: impl IntoIterator<Item = Secret>) {
        for secret in secrets {
            if SHORTEST <= secret.expose().len() && !self.values.contains(&secret) {
                self.values.push(secret);
            }
        }
    }

    /// Takes note of the variables that are set for a server, and of those of our own that it gets and
    /// whose names tell a secret.
    fn look_into_environments(&mut self) {
        for variables in std::mem::take(&mut self.environments) {
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
        }
    }

    /// What stands for what, the longest first: one may be a part of another.
    fn replacements(&mut self) -> Vec<(String, String)> {
        self.look_into_environments();
        let mut replacements = Vec::new();
        let mut hidden = Vec::new();
        for word in self.words.iter().map(Secret::expose) {
            let masked = mask::server(word);
            if masked == word {
                continue;
            }
            hidden.extend(mask::hidden(word, &masked));
            replacements.push((quoting::quote(word), quoting::quote(&masked)));
            replacements.push((word.to_owned(), masked.into_owned()));
        }
        // A text of several lines is shown line by line.
        let values = self.values.iter().flat_map(|value| value.expose().lines());
        let values = values.chain(hidden).filter(|value| SHORTEST <= value.len());
        for value in values {
            let encoded = form_urlencoded::byte_serialize(value.as_bytes()).collect();
            let escaped = json::string(value).trim_matches('"').to_owned();
            let forms = [value.to_owned(), encoded, escaped];
            replacements.extend(forms.map(|form| (form, MASK.to_owned())));
        }
        replacements.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        replacements
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
        check("short", "short");
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
