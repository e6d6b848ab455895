//! Options that every command takes. Their comments are the help texts.

use std::path::PathBuf;
use std::time::Duration;

use argh::{ArgsInfo, FromArgs};

use super::choices::{
    BearerFile, Color, Elicit, Format, Http, IdFormat, Progress, Protocol, Sample, ServerStderr,
    Transport, log_level,
};
use super::readers::{count, duration, path, size};
use super::trace_file::TraceFile;
use super::values::{Assignment, Header, Private, Variable, private};
use crate::cli::duration::Limit;
use crate::net::Resolve;
use crate::protocol::model::log::Level;

/// options of every command
#[derive(Debug, Clone, Default, PartialEq, FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
pub struct Globals {
    /// print the answer as text, json, content, structured, raw or events (default text)
    #[argh(option, short = 'o', arg_name = "FORM")]
    pub output: Option<Format>,

    /// the same as -o json; errors become one line of JSON as well
    #[argh(switch, short = 'j')]
    json: bool,

    /// write the answer to FILE, whole or not at all, instead of standard output
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub out: Option<PathBuf>,

    /// print errors and warnings as JSON, one per line on standard error
    #[argh(switch)]
    pub json_errors: bool,

    /// print what the server notifies about as JSON, one per line on standard error
    #[argh(switch)]
    pub notifications: bool,

    /// show progress: auto (a bar on a terminal), none or json, one line per report on standard
    /// error (default auto)
    #[argh(option, arg_name = "HOW")]
    pub progress: Option<Progress>,

    /// print the server's log messages of this level and above on standard error: debug, info,
    /// notice, warning, error, critical, alert or emergency
    #[argh(option, arg_name = "LEVEL", from_str_fn(level))]
    pub log_level: Option<Level>,

    /// do not print warnings
    #[argh(switch, short = 'q')]
    pub quiet: bool,

    /// print more on standard error; twice also what the server prints there
    #[argh(switch, short = 'v')]
    pub verbose: u8,

    /// colour messages: auto, always or never (default auto)
    #[argh(option, arg_name = "WHEN")]
    pub color: Option<Color>,

    /// give up after DUR without a sign of life (default 30s; 0 is never; units ms, s, m, h)
    #[argh(option, short = 't', arg_name = "DUR")]
    pub timeout: Option<Limit>,

    /// give up after DUR in any case (default: no limit)
    #[argh(option, short = 'T', arg_name = "DUR")]
    pub max_time: Option<Limit>,

    /// give up when the server has not started or connected within DUR (default 30s)
    #[argh(option, arg_name = "DUR")]
    pub start_timeout: Option<Limit>,

    /// wait DUR for a started server to end by itself before ending it (default 500ms)
    #[argh(option, arg_name = "DUR", from_str_fn(duration))]
    pub shutdown_timeout: Option<Duration>,

    /// send a request up to N times more when it was not carried out, or when it was lost and may
    /// run twice; 0 is never (default 0; in batch and session 4 for what may run twice)
    #[argh(option, arg_name = "N", from_str_fn(times))]
    pub retry: Option<u32>,

    /// wait DUR before the first time more, and twice as long each further time (default 500ms)
    #[argh(option, arg_name = "DUR", from_str_fn(duration))]
    pub retry_delay: Option<Duration>,

    /// set a variable for the started server (repeatable)
    #[argh(option, arg_name = "NAME=VALUE")]
    pub env: Vec<Variable>,

    /// give the started server all variables of this process, not only the usual few
    #[argh(switch)]
    pub inherit_env: bool,

    /// start the server in DIR
    #[argh(option, arg_name = "DIR", from_str_fn(path))]
    pub cwd: Option<PathBuf>,

    /// add one argument to the server's command line, exactly as it is (repeatable)
    #[argh(option, arg_name = "WORD")]
    pub arg: Vec<String>,

    /// what the server prints on standard error: quiet, inherit, tail (shown when something
    /// fails) or a FILE, without your secrets (default tail)
    #[argh(option, arg_name = "WHERE")]
    pub stderr: Option<ServerStderr>,

    /// send an HTTP header (repeatable)
    #[argh(option, short = 'H', arg_name = "'NAME: VALUE'")]
    pub header: Vec<Header>,

    /// send the HTTP headers in FILE, one per line
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub header_file: Option<PathBuf>,

    /// send the token in FILE, or read from file descriptor N, as Authorization: Bearer
    #[argh(option, arg_name = "FILE|fd:N")]
    pub bearer_file: Option<BearerFile>,

    /// send the token that CMD prints as Authorization: Bearer
    #[argh(option, arg_name = "CMD", from_str_fn(secret))]
    pub bearer_command: Option<Private>,

    /// trust the certificate authorities in FILE (PEM) instead of the system's
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub cacert: Option<PathBuf>,

    /// show the client certificate in FILE (PEM)
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub cert: Option<PathBuf>,

    /// use the key in FILE (PEM, not encrypted) for the client certificate
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub key: Option<PathBuf>,

    /// accept any certificate; for tests only
    #[argh(switch)]
    pub insecure: bool,

    /// go through this proxy instead of the one in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY
    #[argh(option, arg_name = "URL", from_str_fn(secret))]
    pub proxy: Option<Private>,

    /// use ADDR for HOST and PORT instead of asking the name service (repeatable)
    #[argh(option, arg_name = "HOST:PORT:ADDR")]
    pub resolve: Vec<Resolve>,

    /// version of HTTP: auto, 1.1 or 2 (default auto)
    #[argh(option, arg_name = "VERSION")]
    pub http: Option<Http>,

    /// leave the session on the server open at the end
    #[argh(switch)]
    pub no_delete: bool,

    /// revision of MCP to speak: auto or a date such as 2025-11-25 (default auto)
    #[argh(option, arg_name = "VERSION")]
    pub protocol: Option<Protocol>,

    /// how to reach the server: auto, http, sse or stdio (default auto)
    #[argh(option, arg_name = "KIND")]
    pub transport: Option<Transport>,

    /// tell the server, if it asks, that it may work in DIR (repeatable)
    #[argh(option, arg_name = "DIR", from_str_fn(path))]
    pub root: Vec<PathBuf>,

    /// add a member to the request's _meta, KEY=TEXT or KEY:=JSON (repeatable)
    #[argh(option, arg_name = "KEY:=JSON")]
    pub meta: Vec<Assignment>,

    /// send request ids as number or string (default number)
    #[argh(option, arg_name = "TYPE")]
    pub id_format: Option<IdFormat>,

    /// make an error of what is otherwise tolerated with a warning
    #[argh(switch)]
    pub strict: bool,

    /// refuse messages longer than SIZE, such as 64MiB (default 128MiB)
    #[argh(option, arg_name = "SIZE", from_str_fn(size))]
    pub max_message: Option<usize>,

    /// refuse messages nested deeper than N (default 512)
    #[argh(option, arg_name = "N", from_str_fn(count))]
    pub max_depth: Option<usize>,

    /// what to answer: decline, cancel, fail (end with an error), defaults, answers:FILE, ask
    /// (at the terminal; off a terminal the same as fail) or cmd:PROG, a program that reads the
    /// request as JSON and prints the result (default decline)
    #[argh(option, arg_name = "HOW")]
    pub elicit: Option<Elicit>,

    /// the answer for one field, KEY=TEXT or KEY:=JSON (repeatable)
    #[argh(option, arg_name = "KEY=TEXT")]
    pub answer: Vec<Assignment>,

    /// the answers for the fields that FILE names (a JSON object)
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub answers: Option<PathBuf>,

    /// the same as --elicit defaults
    #[argh(switch)]
    accept_defaults: bool,

    /// the same as --elicit decline
    #[argh(switch)]
    decline: bool,

    /// the same as --elicit ask
    #[argh(switch)]
    interactive: bool,

    /// who answers for a language model: fail (nobody) or cmd:PROG, a program that reads the
    /// request as JSON and prints the result, or just a text (default fail)
    #[argh(option, arg_name = "WHO")]
    pub sample: Option<Sample>,

    /// the same as --sample cmd:CMD
    #[argh(option, arg_name = "CMD", from_str_fn(line))]
    pub sampling_command: Option<String>,

    /// write every message, as JSON Lines, to a new FILE or to file descriptor N
    #[argh(option, arg_name = "FILE|fd:N")]
    pub trace: Option<TraceFile>,

    /// read this configuration file and no other
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub config: Option<PathBuf>,

    /// use servers only as they are locked in FILE (see `mcpmini lock`); anything else fails
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub lock: Option<PathBuf>,

    /// ask the server even where a stored answer is still fresh
    #[argh(switch)]
    pub refresh: bool,

    /// neither read nor store answers
    #[argh(switch)]
    pub no_cache: bool,

    /// print the version and exit; with --json also what is built in
    #[argh(switch, short = 'V')]
    pub(super) version: bool,
}

/// Switches that are a short way to write an option. The normaliser writes the option in their
/// place, so that the last one on the command line wins whichever way it is written; their fields
/// above only declare them.
pub(super) const SHORTHANDS: &[(&str, &str, &str)] = &[
    ("--json", "--output", "json"),
    ("--accept-defaults", "--elicit", "defaults"),
    ("--decline", "--elicit", "decline"),
    ("--interactive", "--elicit", "ask"),
];

/// Other spellings of an option.
pub(super) const SPELLINGS: &[(&str, &str)] = &[
    ("--roots", "--root"),
    ("--colour", "--color"),
    ("--validate-output", "--check-output"),
    ("--detach", "--task"),
];

// argh wants errors as text.

fn level(text: &str) -> Result<Level, String> {
    log_level(text).map_err(|invalid| invalid.to_string())
}

fn line(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("the command is empty".to_owned()) } else { Ok(text.into()) }
}

fn times(text: &str) -> Result<u32, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let times = text.parse().ok().filter(|_| digits);
    times.ok_or_else(|| format!("{text:?} is no number of times"))
}

fn secret(text: &str) -> Result<Private, String> {
    private(text).map_err(|invalid| invalid.to_string())
}
