//! From a definition to a server that can be contacted: references are followed, relative paths
//! are made absolute, and the flags of the command line are laid over it.
//!
//! This reads variables and files, and it runs commands where the user's own file says so. Whoever
//! calls it has made sure that the definition is approved.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::definition::{HttpTarget, StdioTarget, Target};
use super::environment::is_for_everyone;
use super::error::{BadValue, ConfigError, Problem};
use super::fields::is_header;
use super::quoting::is_blank;
use super::resolved::{Origin, Resolved};
use super::server::{Endpoint, Environment, HttpEndpoint, Server, StdioEndpoint};
use super::template::{self, Piece};
use super::word::{Location, parse_url};
use super::{Digest, Overrides, env_file, secret_command};
use crate::env::{Env, Secret};
use crate::protocol::json;
use crate::store::{self, Guard};

/// The longest file that is drawn in, in bytes.
const FILE_LIMIT: u64 = 64 << 10;

/// Makes a definition into a server that can be contacted.
///
/// Errors when a reference leads nowhere, when a value cannot be used, or when a flag does not fit
/// the server.
pub fn expand(
    resolved: &Resolved,
    overrides: &Overrides,
    env: &Env,
) -> Result<Server, ConfigError> {
    let expansion = Expansion { resolved, env };
    overrides.fit(resolved)?;
    let definition = &resolved.definition;
    let endpoint = match &definition.target {
        Target::Stdio(target) => Endpoint::Stdio(expansion.stdio(target, overrides)?),
        Target::Http(target) => Endpoint::Http(expansion.http(target, overrides)?),
    };
    Ok(Server {
        name: resolved.name.clone(),
        identity: identity(resolved, overrides),
        endpoint,
        timeout: definition.timeout,
        start_timeout: definition.start_timeout,
        protocol: definition.protocol,
    })
}

/// More arguments make another server.
fn identity(resolved: &Resolved, overrides: &Overrides) -> Digest {
    if overrides.args.is_empty() {
        return resolved.identity();
    }
    let mut whole = resolved.identity().hex();
    for argument in &overrides.args {
        json::push_string(&mut whole, argument);
    }
    Digest::of(whole.as_bytes())
}

/// The text of the file with variables that a definition names.
pub(super) fn env_file(
    resolved: &Resolved,
    template: &str,
    env: &Env,
) -> Result<(PathBuf, String), ConfigError> {
    let expansion = Expansion { resolved, env };
    let path = expansion.directory().join(expansion.text("envFile", template)?);
    let text = expansion.file("envFile", &path)?;
    Ok((path, text))
}

struct Expansion<'a> {
    resolved: &'a Resolved,
    env: &'a Env,
}

impl Expansion<'_> {
    fn wrong(&self, field: &str, problem: Problem) -> ConfigError {
        ConfigError::Value(Box::new(BadValue {
            path: self.resolved.origin.path().map(Path::to_owned),
            server: self.resolved.name.clone(),
            field: field.to_owned(),
            problem,
        }))
    }

    /// What relative paths are relative to: the directory of the file, or the working directory.
    fn directory(&self) -> PathBuf {
        let path = self.resolved.origin.path().and_then(Path::parent).map(Path::to_owned);
        path.or_else(|| self.env.cwd.clone()).unwrap_or_default()
    }

    /// Whether the definition is the user's own, and may use what a stranger must not.
    fn is_own(&self) -> bool {
        self.resolved.origin.layer().is_none_or(|layer| layer.is_own())
    }

    fn stdio(
        &self,
        target: &StdioTarget,
        overrides: &Overrides,
    ) -> Result<StdioEndpoint, ConfigError> {
        let cwd = self.cwd(target, overrides)?;
        let program = self.program(target, cwd.as_deref())?;
        let mut args = Vec::new();
        for (index, argument) in target.args.iter().enumerate() {
            args.push(self.text(&format!("args[{index}]"), argument)?);
        }
        args.extend(overrides.args.iter().cloned());
        let environment = self.environment(target, overrides)?;
        Ok(StdioEndpoint { program, args, environment, cwd })
    }

    fn cwd(
        &self,
        target: &StdioTarget,
        overrides: &Overrides,
    ) -> Result<Option<PathBuf>, ConfigError> {
        let cwd = match (&overrides.cwd, &target.cwd) {
            (Some(cwd), _) => self.env.absolute(cwd),
            (None, Some(template)) => self.directory().join(self.text("cwd", template)?),
            (None, None) => return Ok(self.env.cwd.clone()),
        };
        // The system reports a missing directory and a missing program in the same words.
        if cwd.is_dir() { Ok(Some(cwd)) } else { Err(self.wrong("cwd", Problem::NoDirectory(cwd))) }
    }

    fn program(&self, target: &StdioTarget, cwd: Option<&Path>) -> Result<OsString, ConfigError> {
        let command = self.text("command", &target.command)?;
        if command.is_empty() {
            return Err(self.wrong("command", Problem::Empty));
        }
        if !command.contains('/') && !command.contains(is_blank) {
            return Ok(command.into());
        }
        let path = cwd.map_or_else(|| PathBuf::from(&command), |cwd| cwd.join(&command));
        // A path may contain blanks, but mostly a whole command line was meant. The message shows
        // the template: the command itself may have secrets in it.
        if command.contains(is_blank) && !path.is_file() {
            return Err(self.wrong("command", Problem::Blanks(target.command.clone())));
        }
        Ok(path.into())
    }

    fn environment(
        &self,
        target: &StdioTarget,
        overrides: &Overrides,
    ) -> Result<Environment, ConfigError> {
        let everything = target.inherit_env || overrides.inherit_env;
        let ours = self.env.variables.all().into_iter();
        let mut environment = Environment::default();
        environment.inherit(ours.filter(|(name, _)| everything || is_for_everyone(name)));
        if let Some(template) = &target.env_file {
            let (path, text) = env_file(self.resolved, template, self.env)?;
            let variables = env_file::parse(&text)
                .map_err(|bad| self.wrong("envFile", Problem::EnvFile { path, line: bad.line }))?;
            for (name, value) in variables {
                environment.set(&name, &Secret::new(value));
            }
        }
        for (name, template) in &target.env {
            environment.set(name, &self.secret(&format!("env.{name}"), template)?);
        }
        for (name, value) in &overrides.env {
            environment.set(name, value);
        }
        Ok(environment)
    }

    fn http(
        &self,
        target: &HttpTarget,
        overrides: &Overrides,
    ) -> Result<HttpEndpoint, ConfigError> {
        let url = self.text("url", &target.url)?;
        let location = parse_url(&url).map_err(|error| self.wrong("url", Problem::Url(error)))?;
        let (url, socket) = match location {
            Location::Url(url) => (url.into(), None),
            Location::Socket(socket) => (
                format!("http://localhost{}", socket.target),
                Some(self.directory().join(socket.path)),
            ),
        };
        let mut headers = Vec::new();
        for (name, template) in &target.headers {
            let field = format!("headers.{name}");
            self.set_header(&mut headers, &field, name, self.secret(&field, template)?)?;
        }
        for (name, variable) in &target.env_headers {
            let field = format!("envHeaders.{name}");
            let value = Secret::new(self.variable(&field, variable, None)?);
            self.set_header(&mut headers, &field, name, value)?;
        }
        if let Some(variable) = &target.bearer_token_env {
            let token = self.variable("bearerTokenEnv", variable, None)?;
            let value = Secret::new(format!("Bearer {}", token.trim()));
            self.set_header(&mut headers, "bearerTokenEnv", "Authorization", value)?;
        }
        for (name, value) in &overrides.headers {
            self.set_header(&mut headers, &format!("-H {name}"), name, value.clone())?;
        }
        let binding = overrides.binding.unwrap_or(target.binding);
        Ok(HttpEndpoint { binding, url, socket, headers })
    }

    /// Sets a header, in place of one of the same name.
    fn set_header(
        &self,
        headers: &mut Vec<(String, Secret)>,
        field: &str,
        name: &str,
        value: Secret,
    ) -> Result<(), ConfigError> {
        let fits = |byte: u8| matches!(byte, b' '..=b'~' | b'\t');
        if !is_header(name) || !value.expose().bytes().all(fits) {
            return Err(self.wrong(field, Problem::Header));
        }
        headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        headers.push((name.to_owned(), value));
        Ok(())
    }

    /// A value that may be a secret: `!command line`, or a template.
    fn secret(&self, field: &str, template: &Secret) -> Result<Secret, ConfigError> {
        match template.expose().strip_prefix('!') {
            None => self.text(field, template.expose()).map(Secret::new),
            Some(_) if !self.is_own() => Err(self.wrong(field, Problem::NotOwn("!command"))),
            Some(line) => secret_command::run(line, self.env)
                .map_err(|fault| self.wrong(field, Problem::Command(fault))),
        }
    }

    /// A template with its references followed. Words of the command line are no templates.
    fn text(&self, field: &str, template: &str) -> Result<String, ConfigError> {
        let mut text = String::new();
        if self.resolved.origin == Origin::CommandLine {
            text.push_str(template);
        } else {
            let pieces = template::parse(template);
            for piece in pieces.map_err(|_| self.wrong(field, Problem::Reference))? {
                match piece {
                    Piece::Text(plain) => text.push_str(plain),
                    Piece::Variable { name, default } => {
                        text.push_str(&self.variable(field, name, default)?);
                    }
                    Piece::File(path) => text.push_str(&self.secret_file(field, path)?),
                }
            }
        }
        // Neither an argument nor a variable nor a path can have one.
        if text.contains('\0') { Err(self.wrong(field, Problem::Nul)) } else { Ok(text) }
    }

    fn variable(
        &self,
        field: &str,
        name: &str,
        default: Option<&str>,
    ) -> Result<String, ConfigError> {
        let value = self.env.variable(name);
        match (value.filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => value
                .into_string()
                .map_err(|_| self.wrong(field, Problem::NotText { variable: name.to_owned() })),
            (None, Some(default)) => Ok(default.to_owned()),
            (None, None) => Err(self.wrong(field, Problem::Unset { variable: name.to_owned() })),
        }
    }

    fn secret_file(&self, field: &str, path: &str) -> Result<String, ConfigError> {
        if !self.is_own() {
            return Err(self.wrong(field, Problem::NotOwn("${file:…}")));
        }
        let mut text = self.file(field, &self.directory().join(path))?;
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    fn file(&self, field: &str, path: &Path) -> Result<String, ConfigError> {
        let guard = match self.is_own() {
            true => Guard::Named,
            false => Guard::Strangers { user: self.env.user },
        };
        let text = store::read_text(path, FILE_LIMIT, guard);
        let text = text.map_err(|fault| self.wrong(field, Problem::Unreadable(fault)))?;
        text.ok_or_else(|| self.wrong(field, Problem::Missing(path.to_owned())))
    }
}
