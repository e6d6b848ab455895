//! Secrets that the command line refers to: they are read here and go into headers, nowhere else.

use super::args::choices::BearerFile;
use super::args::values::Header;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use super::sources;
use crate::config;
use crate::env::Secret;
use crate::net::Authorization;
use crate::protocol::message::Sent;

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
    let fail = |flag: &str, text: &str| {
        Error::new(Exit::Auth, format!("{flag}: {text}")).phase(Phase::Config).sent(Sent::No)
    };
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
        (None, Some(command)) => {
            let flag = "--bearer-command";
            let printed = config::run_secret_command(command.as_str(), run.env);
            let printed = printed.map_err(|fault| fail(flag, &fault.to_string()))?;
            (flag, printed.expose().to_owned())
        }
    };
    // Editors and `echo` end a file with a line feed that is no part of the token.
    let token = token.trim();
    if token.is_empty() {
        return Err(fail(flag, "the token is empty"));
    }
    Authorization::bearer(token)
        .map_err(|_| fail(flag, "the token has characters that no header can carry"))
}
