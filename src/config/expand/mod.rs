//! From a definition to a server that can be contacted: references are followed, relative paths
//! are made absolute, and the flags of the command line are laid over it.
//!
//! This reads variables and files, and it runs commands where the user's own file says so. Whoever
//! calls it has made sure that the definition is approved.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

use super::definition::{HttpTarget, StdioTarget, Target};
use super::environment::{is_for_everyone, is_for_us};
use super::error::ConfigError;
use super::lookup::Lookup;
use super::problem::Problem;
use super::quoting::is_blank;
use super::resolved::{Origin, Resolved};
use super::server::{Endpoint, Environment, HttpEndpoint, Server, StdioEndpoint};
use super::word::{Location, parse_url};
use super::{Digest, Overrides, env_file};
use crate::env::{Env, Secret};
use crate::protocol::headers::is_token;
use crate::protocol::json;

/// Makes a definition into a server that can be contacted.
///
/// Errors when a reference leads nowhere, when a value cannot be used, or when a flag does not fit
/// the server.
pub fn expand(
    resolved: &Resolved,
    overrides: &Overrides,
    env: &Env,
) -> Result<Server, ConfigError> {
    overrides.fit(resolved)?;
    let expansion = Expansion {
        overrides,
        lookup: Lookup { resolved, env, runs_commands: !overrides.dry_run },
    };
    let definition = &resolved.definition;
    let endpoint = match &definition.target {
        Target::Stdio(target) => Endpoint::Stdio(expansion.stdio(target)?),
        Target::Http(target) => Endpoint::Http(expansion.http(target)?),
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

/// What a text of a definition means at this time, to be compared with what it means at another:
/// references are followed. Those to `HOME` and `PWD` stay: whose home it is decides which files say
/// what is trusted, and where one is, the user knows.
pub fn meaning<'t>(resolved: &Resolved, env: &Env, text: &'t str) -> Cow<'t, str> {
    if resolved.origin == Origin::CommandLine || !text.contains("${") {
        return Cow::Borrowed(text);
    }
    let lookup = Lookup { resolved, env, runs_commands: false };
    Cow::Owned(lookup.text_but(text, |name| matches!(name, "HOME" | "PWD")))
}

/// The variables that the file of a definition sets, named by `template`; none where it cannot be read,
/// which whoever makes use of it is told.
pub fn file_variables(resolved: &Resolved, env: &Env, template: &str) -> Vec<(String, Secret)> {
    let lookup = Lookup { resolved, env, runs_commands: false };
    let Ok((_, text)) = lookup.env_file(template) else { return Vec::new() };
    let variables = env_file::parse(&text).unwrap_or_default().into_iter();
    variables.map(|(name, value)| (name, Secret::new(value))).collect()
}

/// The key under which things are remembered about a server that is used with these flags. More
/// arguments, and another `Host`, make another server.
pub fn identity(resolved: &Resolved, overrides: &Overrides) -> Digest {
    if overrides.args.is_empty() && overrides.host().is_none() {
        return resolved.identity();
    }
    let mut whole = resolved.identity().hex();
    for word in overrides.args.iter().map(String::as_str).chain(overrides.host()) {
        json::push_string(&mut whole, word);
    }
    Digest::of(whole.as_bytes())
}

struct Expansion<'a> {
    overrides: &'a Overrides,
    lookup: Lookup<'a>,
}

impl Expansion<'_> {
    fn stdio(&self, target: &StdioTarget) -> Result<StdioEndpoint, ConfigError> {
        let cwd = self.cwd(target)?;
        let program = self.program(target)?;
        let mut args = Vec::new();
        for (index, argument) in target.args.iter().enumerate() {
            args.push(self.lookup.text(&format!("args[{index}]"), argument)?);
        }
        args.extend(self.overrides.args.iter().cloned());
        let environment = self.environment(target)?;
        Ok(StdioEndpoint { program, args, environment, cwd })
    }

    fn cwd(&self, target: &StdioTarget) -> Result<Option<PathBuf>, ConfigError> {
        let (field, cwd) = match (&self.overrides.cwd, &target.cwd) {
            (Some(cwd), _) => ("--cwd", self.lookup.env.absolute(cwd)),
            (None, Some(template)) => {
                ("cwd", self.lookup.directory().join(self.lookup.text("cwd", template)?))
            }
            (None, None) => return Ok(self.lookup.env.cwd.clone()),
        };
        // The system reports a missing directory and a missing program in the same words.
        if cwd.is_dir() {
            Ok(Some(cwd))
        } else {
            Err(self.lookup.wrong(field, Problem::NoDirectory(cwd)))
        }
    }

    /// Where a relative path in a definition leads from: what a file says is relative to the file,
    /// whatever directory it is used in.
    fn base(&self, target: &StdioTarget) -> Result<Option<PathBuf>, ConfigError> {
        let Lookup { resolved, env, .. } = self.lookup;
        match (&resolved.origin, &target.cwd) {
            (Origin::CommandLine, _) => {
                let cwd = self.overrides.cwd.as_ref().map(|cwd| env.absolute(cwd));
                Ok(cwd.or_else(|| env.cwd.clone()))
            }
            (Origin::File { .. }, None) => Ok(Some(self.lookup.directory())),
            (Origin::File { .. }, Some(template)) => {
                Ok(Some(self.lookup.directory().join(self.lookup.text("cwd", template)?)))
            }
        }
    }

    fn program(&self, target: &StdioTarget) -> Result<OsString, ConfigError> {
        let command = self.lookup.text("command", &target.command)?;
        if command.is_empty() {
            return Err(self.lookup.wrong("command", Problem::Empty));
        }
        if !command.contains('/') && !command.contains(is_blank) {
            return Ok(command.into());
        }
        let base = self.base(target)?;
        let path = base.map_or_else(|| PathBuf::from(&command), |base| base.join(&command));
        // A path may contain blanks, but mostly a whole command line was meant. The message shows
        // the template: the command itself may have secrets in it.
        if command.contains(is_blank) && !path.is_file() {
            return Err(self.lookup.wrong("command", Problem::Blanks(target.command.clone())));
        }
        Ok(path.into())
    }

    fn environment(&self, target: &StdioTarget) -> Result<Environment, ConfigError> {
        let everything = target.inherit_env || self.overrides.inherit_env;
        let ours = self.lookup.env.variables.all().into_iter();
        let mut environment = Environment::default();
        environment.inherit(
            ours.filter(|(name, _)| everything && !is_for_us(name) || is_for_everyone(name)),
        );
        if let Some(template) = &target.env_file {
            let (path, text) = self.lookup.env_file(template)?;
            let variables = env_file::parse(&text).map_err(|bad| {
                self.lookup.wrong("envFile", Problem::EnvFile { path, line: bad.line })
            })?;
            for (name, value) in variables {
                self.set_variable(&mut environment, "envFile", &name, &Secret::new(value))?;
            }
        }
        for (name, template) in &target.env {
            let field = format!("env.{name}");
            let value = self.lookup.secret(&field, template)?;
            self.set_variable(&mut environment, &field, name, &value)?;
        }
        for (name, value) in &self.overrides.env {
            environment.set(name, value);
        }
        Ok(environment)
    }

    fn set_variable(
        &self,
        environment: &mut Environment,
        field: &str,
        name: &str,
        value: &Secret,
    ) -> Result<(), ConfigError> {
        if value.expose().contains('\0') {
            return Err(self.lookup.wrong(field, Problem::Nul));
        }
        environment.set(name, value);
        Ok(())
    }

    fn http(&self, target: &HttpTarget) -> Result<HttpEndpoint, ConfigError> {
        let url = self.lookup.text("url", &target.url)?;
        let location =
            parse_url(&url).map_err(|error| self.lookup.wrong("url", Problem::Url(error)))?;
        let (url, socket) = match location {
            Location::Url(url) => (url.into(), None),
            Location::Socket(socket) => (
                format!("http://localhost{}", socket.target),
                Some(self.lookup.directory().join(socket.path)),
            ),
        };
        let mut headers = Vec::new();
        for (name, template) in &target.headers {
            let field = format!("headers.{name}");
            self.set_header(&mut headers, &field, name, self.lookup.secret(&field, template)?)?;
        }
        for (name, variable) in &target.env_headers {
            let field = format!("envHeaders.{name}");
            let value = Secret::new(self.lookup.variable(&field, variable, None)?);
            self.set_header(&mut headers, &field, name, value)?;
        }
        if let Some(variable) = &target.bearer_token_env {
            let token = self.lookup.variable("bearerTokenEnv", variable, None)?;
            let value = Secret::new(format!("Bearer {}", token.trim()));
            self.set_header(&mut headers, "bearerTokenEnv", "Authorization", value)?;
        }
        for (name, value) in &self.overrides.headers {
            self.set_header(&mut headers, &format!("-H {name}"), name, value.clone())?;
        }
        let binding = self.overrides.binding.unwrap_or(target.binding);
        let oauth = target.oauth.as_ref().map(|oauth| oauth.expand(self.lookup)).transpose()?;
        Ok(HttpEndpoint {
            binding,
            url,
            socket,
            headers,
            oauth: Box::new(oauth.unwrap_or_default()),
        })
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
        if !is_token(name) || !value.expose().bytes().all(fits) {
            return Err(self.lookup.wrong(field, Problem::Header));
        }
        headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        headers.push((name.to_owned(), value));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
