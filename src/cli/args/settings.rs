//! What the options and the environment say together.
//!
//! A flag wins over the environment, the environment over the configuration file, the file over
//! the default. Files are read later and by others, so what they may decide stays open here.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::choices::{Color, Elicit, Format, Protocol};
use super::keyword::keywords;
use super::trace_file::TraceFile;
use super::usage::UsageError;
use super::values::Assignment;
use super::{Command, Globals, Invocation};
use crate::cli::duration::Limit;
use crate::cli::terminal::ColorRule;

/// How the environment is asked for a variable.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The variables that are read, and what each is for.
pub const VARIABLES: &[(&str, &str)] = &[
    ("MCPMINI_CONFIG", "FILE as for --config"),
    ("MCPMINI_OUTPUT", "FORM as for --output, for commands that have it"),
    ("MCPMINI_TIMEOUT", "DUR as for --timeout"),
    ("MCPMINI_MAX_TIME", "DUR as for --max-time"),
    ("MCPMINI_START_TIMEOUT", "DUR as for --start-timeout"),
    ("MCPMINI_PROTOCOL", "VERSION as for --protocol"),
    ("MCPMINI_ERRORS", "json as --json-errors, or text"),
    ("MCPMINI_CACHE", "off as --no-cache, or on"),
    ("MCPMINI_LOGIN", "auto as --login, or never"),
    ("MCPMINI_TRUST", "tofu (accept a server as it is first used), strict, or off"),
    ("MCPMINI_SESSION", "the socket of the session whose servers are used"),
    ("MCPMINI_TRACE", "FILE|fd:N as for --trace, but appends to FILE"),
    ("NO_COLOR", "if not empty, no colours"),
    ("CLICOLOR_FORCE", "if neither empty nor 0, colours even without a terminal"),
    ("TERM", "if dumb, no colours and no line that shows progress; which pictures it shows"),
];

/// The variables that are read where they are needed, and what each is for.
pub const MORE_VARIABLES: &[(&str, &str)] = &[
    ("MCPMINI_TOKEN", "the token for the server that the command names"),
    ("MCPMINI_TOKEN_NAME", "the token for the server NAME (in capitals, _ for other signs)"),
    ("MCPMINI_CLIENT_ID", "ID as for --client-id"),
    ("MCPMINI_CLIENT_SECRET", "the secret of that client"),
    ("MCPMINI_STATE_DIR", "DIR for tokens, approvals and pins (default XDG_STATE_HOME/mcpmini)"),
    ("MCPMINI_CREDENTIAL_HELPER", "CMD that keeps tokens, a Docker credential helper"),
    ("MCPMINI_NO_PROJECT", "if neither empty nor 0, the files of the project are not read"),
    ("MCPMINI_POLICY", "FILE with the user's policy (default: policy.toml beside config.json)"),
    ("MCPMINI_TRUSTED_ROOT", "FILE as for --trusted-root"),
    ("MCPMINI_REGISTRY", "URL as for --registry of add"),
    ("MCPMINI_VAR_NAME", "VALUE as for --var NAME=VALUE (in capitals, _ for other signs)"),
    ("BROWSER", "CMD that opens a page"),
    ("HTTPS_PROXY", "URL of the proxy for https:// (or https_proxy, which counts first)"),
    ("http_proxy", "URL of the proxy for http://; HTTP_PROXY is not read, as in curl"),
    ("ALL_PROXY", "URL of the proxy for both (or all_proxy)"),
    ("NO_PROXY", "hosts that are reached without a proxy (or no_proxy)"),
    ("SSL_CERT_FILE", "FILE with the certificate authorities to trust, as for --cacert"),
    ("SSL_CERT_DIR", "DIR with the certificate authorities to trust"),
    ("XDG_CONFIG_HOME", "DIR of your configuration (default ~/.config), see mcpmini help files"),
    ("XDG_STATE_HOME", "DIR of approvals and tokens (default ~/.local/state)"),
    ("XDG_CACHE_HOME", "DIR of stored answers (default ~/.cache)"),
    ("XDG_RUNTIME_DIR", "DIR of the sockets of sessions (default TMPDIR or /tmp)"),
    ("TMPDIR", "DIR of the sockets of sessions without XDG_RUNTIME_DIR"),
    ("RUST_BACKTRACE", "if neither empty nor 0, tells where an internal error came from"),
    ("PATH", "where programs are looked for; servers that are started get it as well"),
    ("HOME", "your home directory; without it nothing is stored"),
    ("TERM_PROGRAM", "which pictures the terminal shows"),
    ("KITTY_WINDOW_ID", "if not empty, the terminal shows the pictures of kitty"),
    ("TMUX", "if not empty, no pictures"),
    ("CLAUDE_CONFIG_DIR", "DIR from which `mcpmini config import claude-code` takes servers"),
    ("CODEX_HOME", "DIR from which `mcpmini config import codex` takes servers"),
    ("COPILOT_HOME", "DIR from which `mcpmini config import vscode` takes servers"),
    ("OPENCODE_CONFIG", "FILE from which `mcpmini config import opencode` takes servers"),
];

/// All variables, and what each is for.
pub fn variables() -> Vec<(&'static str, &'static str)> {
    [VARIABLES, MORE_VARIABLES].concat()
}

/// How long a server may be silent.
pub const TIMEOUT: Limit = Limit::after(Duration::from_secs(30));
/// How long everything may take.
pub const MAX_TIME: Limit = Limit::NONE;
/// How long a server may take to start. `npx` fetches packages in that time.
pub const START_TIMEOUT: Limit = Limit::after(Duration::from_secs(30));
/// How long a started server may take to end by itself.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// What to do with stored answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// Use them and store new ones.
    On,
    /// Neither use nor store any.
    Off,
    /// Ask the server, and store what it says.
    Refresh,
}

keywords! {
    /// Whether answers are stored (`MCPMINI_CACHE`).
    pub enum Switch {
        /// They are.
        On = "on",
        /// They are not.
        Off = "off",
    }
}

keywords! {
    /// What to do when a server wants a login (`MCPMINI_LOGIN`).
    pub enum Login {
        /// Open the browser.
        Auto = "auto",
        /// Fail.
        Never = "never",
    }
}

keywords! {
    /// What a server must be to be trusted (`MCPMINI_TRUST`).
    pub enum Trust {
        /// Nothing in particular.
        Off = "off",
        /// What it was when it was first used.
        FirstUse = "tofu",
        /// What the user has accepted.
        Strict = "strict",
    }
}

keywords! {
    /// How errors are printed (`MCPMINI_ERRORS`).
    pub enum Errors {
        /// For people.
        Text = "text",
        /// As one line of JSON.
        Json = "json",
    }
}

/// What the options and the environment say together.
///
/// What is `None` may be set by the configuration of a server; if that does not, the constant of
/// the same name counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The form of the answer.
    pub output: Format,
    /// Whether errors are printed as JSON.
    pub json_errors: bool,
    /// When to use colours.
    pub color: ColorRule,
    /// The only configuration file to read.
    pub config: Option<PathBuf>,
    /// The socket of the session whose servers are used.
    pub session: Option<PathBuf>,
    /// What to do with stored answers.
    pub cache: Cache,
    /// What a server must be to be trusted.
    pub trust: Option<Trust>,
    /// How long the server may be silent.
    pub timeout: Option<Limit>,
    /// How long everything may take.
    pub max_time: Option<Limit>,
    /// How long the server may take to start.
    pub start_timeout: Option<Limit>,
    /// How long a started server may take to end by itself; zero ends it at once.
    pub shutdown_timeout: Duration,
    /// The revision to speak.
    pub protocol: Option<Protocol>,
    /// What to do when the server asks back.
    pub elicitation: Elicitation,
    /// Whether a command may open the browser when the server wants a login.
    pub login: bool,
    /// Where every message is written to.
    pub trace: Option<TraceFile>,
}

/// What to do when the server asks for input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elicitation {
    /// Answers from the command line, in their order; the last one for a key counts.
    pub answers: Vec<Assignment>,
    /// A file with more answers.
    pub file: Option<PathBuf>,
    /// What to do about a question that these do not answer; `None` when nothing was said about it.
    /// It is never [`Elicit::Answers`].
    pub otherwise: Option<Elicit>,
}

impl Settings {
    /// Merges options and environment.
    ///
    /// # Errors
    /// When a variable that counts has a value that makes no sense. The error names the variable.
    pub fn resolve(globals: &Globals, env: Environment<'_>) -> Result<Settings, UsageError> {
        let output = output(globals.output, env)?;
        Ok(Settings {
            output,
            json_errors: json_errors(globals.json_errors, output, env)?,
            color: color(globals.color, env),
            config: globals
                .config
                .clone()
                .or_else(|| variable("MCPMINI_CONFIG", env).map(PathBuf::from)),
            session: variable("MCPMINI_SESSION", env).map(PathBuf::from),
            cache: cache(globals, env)?,
            trust: or_variable(None, "MCPMINI_TRUST", env)?,
            timeout: or_variable(globals.timeout, "MCPMINI_TIMEOUT", env)?,
            max_time: or_variable(globals.max_time, "MCPMINI_MAX_TIME", env)?,
            start_timeout: or_variable(globals.start_timeout, "MCPMINI_START_TIMEOUT", env)?,
            shutdown_timeout: globals.shutdown_timeout.unwrap_or(SHUTDOWN_TIMEOUT),
            protocol: or_variable(globals.protocol, "MCPMINI_PROTOCOL", env)?,
            elicitation: elicitation(globals),
            login: or_variable(None, "MCPMINI_LOGIN", env)? == Some(Login::Auto),
            trace: or_variable(globals.trace.clone(), "MCPMINI_TRACE", env)?,
        })
    }
}

impl Invocation {
    /// The settings for its command.
    ///
    /// A form that the environment asks for is a wish for the commands that have it; an option
    /// that asks for one that the command lacks was refused when it was read.
    pub fn settings(&self, env: Environment<'_>) -> Result<Settings, UsageError> {
        let mut settings = Settings::resolve(&self.globals, env)?;
        settings.login |= self.access.login;
        let formats = Command::formats(&self.command);
        if !formats.contains(&settings.output) {
            settings.output = formats[0];
        }
        Ok(settings)
    }
}

/// The form of the answer.
pub(super) fn output(option: Option<Format>, env: Environment<'_>) -> Result<Format, UsageError> {
    Ok(or_variable(option, "MCPMINI_OUTPUT", env)?.unwrap_or(Format::Text))
}

/// Whether errors are printed as JSON: because an option says so, because the answer would be
/// JSON, or because the environment says so.
pub(super) fn json_errors(
    option: bool,
    output: Format,
    env: Environment<'_>,
) -> Result<bool, UsageError> {
    let asked = (option || output == Format::Json).then_some(Errors::Json);
    Ok(or_variable(asked, "MCPMINI_ERRORS", env)? == Some(Errors::Json))
}

/// When to use colours (no-color.org, bixense.com/clicolors).
pub(super) fn color(option: Option<Color>, env: Environment<'_>) -> ColorRule {
    match option.unwrap_or(Color::Auto) {
        Color::Always => ColorRule::Always,
        Color::Never => ColorRule::Never,
        Color::Auto if variable("NO_COLOR", env).is_some() => ColorRule::Never,
        Color::Auto if variable("TERM", env).is_some_and(|term| term == "dumb") => ColorRule::Never,
        Color::Auto if variable("CLICOLOR_FORCE", env).is_some_and(|value| value != "0") => {
            ColorRule::Always
        }
        Color::Auto => ColorRule::OnTerminals,
    }
}

fn cache(globals: &Globals, env: Environment<'_>) -> Result<Cache, UsageError> {
    if globals.no_cache {
        return Ok(Cache::Off);
    }
    if globals.refresh {
        return Ok(Cache::Refresh);
    }
    Ok(match or_variable(None, "MCPMINI_CACHE", env)? {
        None | Some(Switch::On) => Cache::On,
        Some(Switch::Off) => Cache::Off,
    })
}

fn elicitation(globals: &Globals) -> Elicitation {
    let (file, otherwise) = match &globals.elicit {
        Some(Elicit::Answers(file)) => (Some(file), None),
        otherwise => (None, otherwise.clone()),
    };
    Elicitation {
        answers: globals.answer.clone(),
        file: globals.answers.as_ref().or(file).cloned(),
        otherwise,
    }
}

/// The option, or else what a variable says.
fn or_variable<T>(
    option: Option<T>,
    name: &'static str,
    env: Environment<'_>,
) -> Result<Option<T>, UsageError>
where
    T: std::str::FromStr<Err: fmt::Display>,
{
    if option.is_some() {
        return Ok(option);
    }
    let Some(value) = variable(name, env) else { return Ok(None) };
    match value.parse() {
        Ok(value) => Ok(Some(value)),
        Err(reason) => Err(UsageError::Variable { name, reason: reason.to_string() }),
    }
}

/// A variable that is set to more than nothing.
fn variable(name: &str, env: Environment<'_>) -> Option<String> {
    env(name).filter(|value| !value.is_empty())
}
