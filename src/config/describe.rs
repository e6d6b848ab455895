//! What is said about a server, value by value: what each comes to, and where it is from.
//!
//! Nothing here shows a secret: values of variables and files are masked, and so is what is written
//! for a field that sounds like a secret. No command is run.

use serde_json::Value;

use super::Overrides;
use super::definition::{HttpTarget, StdioTarget, Target};
use super::edit::Entry;
use super::environment::is_for_everyone;
use super::error::ConfigError;
use super::lookup::Lookup;
use super::problem::Problem;
use super::resolved::{Origin, Resolved};
use super::template::{self, Piece};
use crate::env::Env;
use crate::protocol::mask::{self, Author, MASK};

/// One value of a definition.
#[derive(Debug)]
pub struct Described {
    /// The field: `args[1]`, `headers.Authorization`.
    pub field: String,
    /// What it comes to, secrets masked, or why it cannot be used.
    pub value: Result<String, ConfigError>,
    /// What the file says instead, when that is not the value itself: `Bearer ${TOKEN}`.
    pub said: Option<String>,
}

/// What a field holds, and so what of it may be shown.
#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    /// A word, a path or a URL.
    Plain,
    /// A variable for the server, with its name.
    Variable(&'a str),
    /// What follows an option of a command, with its name.
    Argument(&'a str),
    /// An HTTP header, with its name.
    Header(&'a str),
    /// An HTTP header that somebody else has chosen, with its name.
    ForeignHeader(&'a str),
}

impl<'a> Kind<'a> {
    /// What an argument is that follows another: `--token hunter2` is as telling as a variable of
    /// that name.
    fn of_argument(argument: &str, before: &'a str) -> Kind<'a> {
        match before.starts_with('-') && !argument.starts_with('-') {
            true => Kind::Argument(before),
            false => Kind::Plain,
        }
    }
}

/// All values of a definition, in the order of its fields. Where `look_up` is false, because the
/// definition is not approved, references stay as they are.
pub fn describe(resolved: &Resolved, env: &Env, look_up: bool) -> Vec<Described> {
    let lookup = Lookup { resolved, env, runs_commands: false };
    let mut description = Description { lookup, look_up, values: Vec::new() };
    match &resolved.definition.target {
        Target::Stdio(target) => description.stdio(target),
        Target::Http(target) => description.http(target),
    }
    description.values
}

struct Description<'a> {
    lookup: Lookup<'a>,
    look_up: bool,
    values: Vec<Described>,
}

impl Description<'_> {
    fn stdio(&mut self, target: &StdioTarget) {
        self.value("command", Kind::Plain, &target.command);
        let mut before = "";
        for (index, argument) in target.args.iter().enumerate() {
            self.value(&format!("args[{index}]"), Kind::of_argument(argument, before), argument);
            before = argument;
        }
        for (name, value) in &target.env {
            self.value(&format!("env.{name}"), Kind::Variable(name), value.expose());
        }
        for (field, value) in [("envFile", &target.env_file), ("cwd", &target.cwd)] {
            if let Some(value) = value {
                self.value(field, Kind::Plain, value);
            }
        }
    }

    fn http(&mut self, target: &HttpTarget) {
        self.value("url", Kind::Plain, &target.url);
        for (name, value) in &target.headers {
            self.value(&format!("headers.{name}"), Kind::Header(name), value.expose());
        }
        for (name, variable) in &target.env_headers {
            self.variable(&format!("envHeaders.{name}"), variable);
        }
        if let Some(variable) = &target.bearer_token_env {
            self.variable("bearerTokenEnv", variable);
        }
        if let Some(oauth) = &target.oauth {
            for (name, said) in oauth.templates() {
                self.value(&format!("oauth.{name}"), Kind::Variable(name), said);
            }
            for (name, variable) in oauth.variables() {
                self.variable(&format!("oauth.{name}"), variable);
            }
            if let Some(scopes) = oauth.scopes() {
                let (field, value) = ("oauth.scopes".to_owned(), Ok(scopes.to_owned()));
                self.values.push(Described { field, value, said: None });
            }
        }
    }

    /// A value that may have references in it.
    fn value(&mut self, field: &str, kind: Kind<'_>, said: &str) {
        let may_be_command = matches!(kind, Kind::Variable(_) | Kind::Header(_));
        let is_command = may_be_command && said.starts_with('!');
        let pieces = template::parse(said);
        let is_literal = !is_command && matches!(pieces.as_deref(), Ok([] | [Piece::Text(_)]));
        let (value, said) = match pieces {
            _ if self.lookup.resolved.origin == Origin::CommandLine || is_literal => {
                (Ok(literal(kind, said)), None)
            }
            _ if is_command => {
                let allowed = self.lookup.may_run(field);
                (allowed.map(|()| MASK.to_owned()), Some(said.to_owned()))
            }
            Err(_) => (Err(self.lookup.wrong(field, Problem::Reference)), None),
            Ok(pieces) => {
                let said: String = pieces.iter().map(|piece| written(kind, *piece)).collect();
                let value = match self.look_up {
                    true => self.looked_up(field, kind, &pieces),
                    false => Ok(said.clone()),
                };
                (value, Some(said))
            }
        };
        self.values.push(Described { field: field.to_owned(), value, said });
    }

    fn looked_up(
        &self,
        field: &str,
        kind: Kind<'_>,
        pieces: &[Piece<'_>],
    ) -> Result<String, ConfigError> {
        let mut shown = String::new();
        for piece in pieces {
            match *piece {
                Piece::Text(text) => shown.push_str(beside(kind, text)),
                Piece::Variable { name, default } => {
                    let value = self.lookup.variable(field, name, default)?;
                    let text = match is_for_everyone(name.as_ref()) || value.is_empty() {
                        true => &value,
                        false if Some(&*value) == default => beside(kind, &value),
                        false => MASK,
                    };
                    shown.push_str(text);
                }
                Piece::File(path) => {
                    self.lookup.secret_file(field, path)?;
                    shown.push_str(MASK);
                }
            }
        }
        Ok(mask::url(&shown).into_owned())
    }

    /// A field that names the variable that has its value.
    fn variable(&mut self, field: &str, name: &str) {
        let value = match self.look_up {
            true => self.lookup.variable(field, name, None).map(|_| MASK.to_owned()),
            false => Ok(MASK.to_owned()),
        };
        let said = Some(format!("${{{name}}}"));
        self.values.push(Described { field: field.to_owned(), value, said });
    }
}

/// An entry with the values masked that are likely secrets.
pub fn masked(entry: &Entry) -> Entry {
    let mut shown = entry.clone();
    let mask = |value: &mut Value, kind: Kind<'_>| {
        let Some(said) = value.as_str() else { return };
        *value = as_said(kind, said).into();
    };
    for (field, value) in &mut shown {
        match value {
            Value::Object(members) => members.iter_mut().for_each(|(name, value)| {
                let is_header = field == "headers";
                mask(value, if is_header { Kind::Header(name) } else { Kind::Variable(name) });
            }),
            Value::Array(words) => {
                let mut before = String::new();
                for word in words {
                    let said = word.as_str().unwrap_or_default().to_owned();
                    mask(word, Kind::of_argument(&said, &before));
                    before = said;
                }
            }
            value => mask(value, Kind::Plain),
        }
    }
    shown
}

/// A variable for a server as it may be shown: what is written, unless its name tells a secret.
pub fn masked_variable(name: &str, said: &str) -> String {
    as_said(Kind::Variable(name), said)
}

/// A header as it may be shown to whoever is to approve what somebody else has chosen: what is
/// written, unless its name tells a secret. A header of the user's own is masked by any name.
pub fn masked_header(name: &str, said: &str) -> String {
    as_said(Kind::ForeignHeader(name), said)
}

/// A value as it is written, references and commands included, without what is likely a secret.
fn as_said(kind: Kind<'_>, said: &str) -> String {
    match template::parse(said).as_deref() {
        _ if said.starts_with('!') => said.to_owned(),
        Ok(pieces @ [_, ..]) if !matches!(pieces, [Piece::Text(_)]) => {
            pieces.iter().map(|piece| written(kind, *piece)).collect()
        }
        _ => literal(kind, said),
    }
}

/// Whether the name of a header, or the last word of it, tells a secret: `X-Key`.
fn is_secret_header(name: &str) -> bool {
    mask::is_secret(name) || name.rsplit('-').next().is_some_and(mask::is_secret)
}

/// What is written in the file as it is, unless it is likely a secret.
fn literal(kind: Kind<'_>, said: &str) -> String {
    let shown = match kind {
        Kind::Plain => mask::argument("", said),
        Kind::Argument(before) => mask::argument(before, said),
        Kind::Header(name) => mask::field(name, said, Author::Client),
        Kind::ForeignHeader(name) if is_secret_header(name) => {
            mask::field(name, said, Author::Client)
        }
        Kind::Variable(name) if mask::is_secret(name) => MASK.into(),
        Kind::ForeignHeader(_) | Kind::Variable(_) => mask::argument("", said),
    };
    shown.into_owned()
}

/// What stands beside a reference. In a field for a secret that is at most the scheme of a header,
/// `Bearer `.
fn beside<'t>(kind: Kind<'_>, text: &'t str) -> &'t str {
    let is_secret = match kind {
        Kind::Plain => false,
        Kind::Variable(name) | Kind::Argument(name) => mask::is_secret(name),
        Kind::Header(name) => mask::field(name, "x", Author::Client) != "x",
        Kind::ForeignHeader(name) => is_secret_header(name),
    };
    let scheme = text.strip_suffix(' ').unwrap_or_default();
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_secret && !is_scheme { MASK } else { text }
}

/// A piece of a template as it is written.
fn written(kind: Kind<'_>, piece: Piece<'_>) -> String {
    match piece {
        Piece::Text("${") => "$${".to_owned(),
        Piece::Text(text) => beside(kind, text).to_owned(),
        Piece::Variable { name, default: None } => format!("${{{name}}}"),
        Piece::Variable { name, default: Some(default) } => {
            format!("${{{name}:-{}}}", beside(kind, default))
        }
        Piece::File(path) => format!("${{file:{path}}}"),
    }
}

/// All that is wrong with the values of a definition: the field, where one is concerned, and what.
/// No command is run.
pub fn faults(resolved: &Resolved, env: &Env, overrides: &Overrides) -> Vec<(String, ConfigError)> {
    let described = describe(resolved, env, true).into_iter();
    let mut faults: Vec<_> =
        described.filter_map(|value| Some((value.field, value.value.err()?))).collect();
    // What the values come to together tells more: a directory that is not there, a bad URL.
    let dry = Overrides { dry_run: true, ..overrides.clone() };
    if let Err(error) = super::expand(resolved, &dry, env) {
        let field = match &error {
            ConfigError::Value(bad) => bad.field.clone(),
            _ => String::new(),
        };
        if faults.iter().all(|(known, _)| *known != field) {
            faults.push((field, error));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve;
    use crate::store::scratch::Scratch;

    /// The values of the server `s` of the user, as lines.
    #[track_caller]
    fn check(definition: &str, look_up: bool, expected: &[&str]) {
        let scratch = Scratch::new();
        scratch.write("h/.config/mcpmini/token", "hunter2");
        let file = scratch.path("h/.config/mcpmini/config.json");
        scratch.write(
            "h/.config/mcpmini/config.json",
            &format!("{{\"mcpServers\": {{\"s\": {definition}}}}}"),
        );
        let env = Env {
            cwd: Some(scratch.path("")),
            variables: [("HOME", scratch.path("h").to_str().unwrap()), ("T", "hunter2"), ("E", "")]
                .into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        };
        let resolved = resolve("s", &env, &Overrides::default()).unwrap();
        let shown = describe(&resolved, &env, look_up).into_iter().map(|described| {
            let Described { field, value, said } = described;
            let value = value.unwrap_or_else(|error| {
                error.to_string().replace(&format!("{}: Server \"s\": ", file.display()), "! ")
            });
            let said = said.map(|said| format!(" <- {said}")).unwrap_or_default();
            format!("{field} = {value}{said}")
        });
        let home = scratch.path("h").display().to_string();
        let shown: Vec<_> = shown.map(|line| line.replace(&home, "HOME")).collect();
        assert!(!shown.concat().contains("hunter2"), "{shown:#?}");
        assert_eq!(shown, expected);
    }

    #[test]
    fn values_are_shown_and_secrets_are_not() {
        check(
            r#"{"command": "npx", "args": ["-y", "${HOME}/x", "${T}", "${U:-d}", "${E}", "$${T}",
                        "--token", "hunter2", "--api-key=hunter2", "--level=x"],
                "env": {"A": "plain", "B": "x${T}", "API_KEY": "hunter2",
                        "OPENAI_KEY": "hunter2", "GH_PAT": "hunter2", "DB_PASS": "hunter2",
                        "E": "ghp_hunter2hunter2hunter2", "F": "--token hunter2", "C": "!pass hunter3",
                        "D": "${file:token}", "URL": "db://u:hunter2@h",
                        "TOKEN": "hunter2${T}", "TOKEN2": "${U:-hunter2}"}, "cwd": "${U}"}"#,
            true,
            &[
                "command = npx",
                "args[0] = -y",
                "args[1] = HOME/x <- ${HOME}/x",
                "args[2] = *** <- ${T}",
                "args[3] = d <- ${U:-d}",
                "args[4] =  <- ${E}",
                "args[5] = ${T} <- $${T}",
                "args[6] = --token",
                "args[7] = ***",
                "args[8] = --api-key=***",
                "args[9] = --level=x",
                "env.A = plain",
                "env.B = x*** <- x${T}",
                "env.API_KEY = ***",
                "env.OPENAI_KEY = ***",
                "env.GH_PAT = ***",
                "env.DB_PASS = ***",
                "env.E = ***",
                "env.F = --token ***",
                "env.C = *** <- !pass hunter3",
                "env.D = *** <- ${file:token}",
                "env.URL = db://***@h",
                "env.TOKEN = ****** <- ***${T}",
                "env.TOKEN2 = *** <- ${U:-***}",
                "cwd = ! \"cwd\" needs the variable U, which is not set <- ${U}",
            ],
        );
    }

    #[test]
    fn the_values_of_an_address_are_shown_and_secrets_are_not() {
        check(
            r#"{"url": "https://h/", "oauth": {"clientId": "${T}", "clientSecret": "hunter2",
                "idpClientSecretEnv": "T", "scopes": ["a", "b"]}}"#,
            true,
            &[
                "url = https://h/",
                "oauth.clientId = *** <- ${T}",
                "oauth.clientSecret = ***",
                "oauth.idpClientSecretEnv = *** <- ${T}",
                "oauth.scopes = a b",
            ],
        );
        check(
            r#"{"url": "https://h/?key=hunter2", "headers": {"Authorization": "Bearer hunter2",
                "X-A": "token ${T}", "X-B": "hunter2"}, "envHeaders": {"X-C": "T", "X-D": "NO"}}"#,
            true,
            &[
                "url = https://h/?key=***",
                "headers.Authorization = Bearer ***",
                "headers.X-A = token *** <- token ${T}",
                "headers.X-B = ***",
                "envHeaders.X-C = *** <- ${T}",
                "envHeaders.X-D = ! \"envHeaders.X-D\" needs the variable NO, which is not set <- ${NO}",
            ],
        );
    }

    #[test]
    fn nothing_is_looked_up_unless_it_may_be() {
        check(
            r#"{"url": "https://${NO}/", "headers": {"A": "b ${file:none}"}, "bearerTokenEnv": "NO"}"#,
            false,
            &[
                "url = https://${NO}/ <- https://${NO}/",
                "headers.A = b ${file:none} <- b ${file:none}",
                "bearerTokenEnv = *** <- ${NO}",
            ],
        );
    }
}
