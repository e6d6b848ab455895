//! Secrets that the command line refers to: they are read here and go into headers, nowhere else.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::args::choices::BearerFile;
use super::args::values::Header;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use super::sources;
use crate::env::Secret;
use crate::net::Authorization;
use crate::protocol::mask::MASK;

/// How long a command that prints a token may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(10);

/// The longest token, in bytes.
const TOKEN_LIMIT: usize = 64 << 10;

/// The headers of `-H` and `--header-file`.
pub(super) fn headers(run: &Run<'_>) -> Result<Vec<(String, Secret)>, Error> {
    let mut headers = Vec::new();
    if let Some(path) = &run.globals.header_file {
        let text = sources::text_file(run, path, "--header-file")?;
        let lines = text.lines().enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let header: Header = line.parse().map_err(|error| {
                let text = format!("--header-file {}:{}: {error}", path.display(), number + 1);
                Error::new(Exit::Config, text).phase(Phase::Config)
            })?;
            headers.push((header.name, Secret::new(header.value.as_str().to_owned())));
        }
    }
    for header in &run.globals.header {
        headers.push((header.name.clone(), Secret::new(header.value.as_str().to_owned())));
    }
    Ok(headers)
}

/// The token of `--bearer-file` or `--bearer-command`.
pub(super) fn authorization(run: &Run<'_>) -> Result<Authorization, Error> {
    let (flag, token) = match (&run.globals.bearer_file, &run.globals.bearer_command) {
        (None, None) => return Ok(Authorization::none()),
        (Some(_), Some(_)) => {
            let text = "--bearer-file and --bearer-command exclude each other";
            return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
        }
        (Some(BearerFile::Path(path)), None) => {
            ("--bearer-file", sources::text_file(run, path, "--bearer-file")?)
        }
        (Some(BearerFile::Descriptor(number)), None) => {
            let path = format!("/dev/fd/{number}");
            ("--bearer-file", sources::text_file(run, path.as_ref(), "--bearer-file")?)
        }
        (None, Some(_)) if run.command().is_dry_run() => ("--bearer-command", MASK.to_owned()),
        (None, Some(command)) => ("--bearer-command", output_of(command.as_str(), run)?),
    };
    // Editors and `echo` end a file with a line feed that is no part of the token.
    let token = token.trim();
    if token.is_empty() {
        return Err(
            Error::new(Exit::Auth, format!("{flag}: the token is empty")).phase(Phase::Config)
        );
    }
    Authorization::bearer(token).map_err(|_| {
        let text = format!("{flag}: the token has characters that no header can carry");
        Error::new(Exit::Auth, text).phase(Phase::Config)
    })
}

/// What a command prints. It gets neither our standard input nor more time than it should need.
fn output_of(command: &str, run: &Run<'_>) -> Result<String, Error> {
    let fail = |text: String| {
        Error::new(Exit::Auth, format!("--bearer-command: {text}")).phase(Phase::Config)
    };
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::piped());
    if let Some(cwd) = &run.env.cwd {
        shell.current_dir(cwd);
    }
    let mut child = shell.spawn().map_err(|error| fail(format!("cannot run sh: {error}")))?;
    let pipe = child.stdout.take().expect("the output was asked for as a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        pipe.take(TOKEN_LIMIT as u64 + 1).read_to_string(&mut text).map(|_| text)
    });
    let deadline = Instant::now() + COMMAND_LIMIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(fail(format!("it took longer than {} s", COMMAND_LIMIT.as_secs())));
            }
        }
    };
    if !status.success() {
        return Err(fail(format!("it failed with {status}")));
    }
    match reader.join() {
        Ok(Ok(text)) if text.len() <= TOKEN_LIMIT => Ok(text),
        Ok(Ok(_)) => Err(fail("it printed more than a token".to_owned())),
        _ => Err(fail("it did not print text".to_owned())),
    }
}
