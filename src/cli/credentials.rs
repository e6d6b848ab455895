//! Secrets that the command line refers to: they are read here and go into headers, nowhere else.

use super::args::choices::BearerFile;
use super::args::values::Header;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use super::sources;
use crate::config::{self, HttpEndpoint};
use crate::env::Secret;
use crate::net;
use crate::protocol::mask::MASK;
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

/// The token that was given: by `--bearer-file` or `--bearer-command`, else by a variable.
pub(super) fn token(
    run: &Run<'_>,
    server: &str,
    endpoint: &HttpEndpoint,
) -> Result<Option<Secret>, Error> {
    let (what, token) = match (&run.globals.bearer_file, &run.globals.bearer_command) {
        (None, None) => match from_variable(run, server, endpoint)? {
            Some((name, token)) => (name, token),
            None => return Ok(None),
        },
        (Some(_), Some(_)) => {
            let text = "--bearer-file and --bearer-command exclude each other";
            return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
        }
        (Some(BearerFile::Path(path)), None) => {
            ("--bearer-file".to_owned(), sources::text_file(run, path, "--bearer-file")?)
        }
        (Some(BearerFile::Descriptor(number)), None) => {
            let path = format!("/dev/fd/{number}");
            let token = sources::text_file(run, path.as_ref(), "--bearer-file")?;
            ("--bearer-file".to_owned(), token)
        }
        (None, Some(_)) if run.command().is_dry_run() => {
            ("--bearer-command".to_owned(), MASK.to_owned())
        }
        (None, Some(command)) => ("--bearer-command".to_owned(), output_of(command.as_str(), run)?),
    };
    let fail = |text: &str| Error::new(Exit::Auth, format!("{what}: {text}")).phase(Phase::Config);
    // Editors and `echo` end a file with a line feed that is no part of the token.
    let token = token.trim();
    if token.is_empty() {
        return Err(fail("the token is empty"));
    }
    match net::header_value("Authorization", token) {
        Ok(_) => Ok(Some(Secret::from(token))),
        Err(_) => Err(fail("the token has characters that no header can carry")),
    }
}

/// The token in `MCPMINI_TOKEN_NAME`, or in `MCPMINI_TOKEN`, which is for the one server that the
/// command names, and never for several. What the command line says about tokens counts more.
fn from_variable(
    run: &Run<'_>,
    server: &str,
    endpoint: &HttpEndpoint,
) -> Result<Option<(String, String)>, Error> {
    let is_authorization = |name: &str| name.eq_ignore_ascii_case("authorization");
    let in_file = run.globals.header_file.is_some()
        && endpoint.headers.iter().any(|(name, _)| is_authorization(name));
    let on_line = run.globals.header.iter().any(|header| is_authorization(&header.name));
    if in_file || on_line || run.access.given().is_some_and(|flag| flag != "--login") {
        return Ok(None);
    }
    let of_server = config::is_name(server).then(|| format!("MCPMINI_TOKEN_{}", variable(server)));
    let of_one = run.command().several().is_none().then(|| "MCPMINI_TOKEN".to_owned());
    for name in of_server.into_iter().chain(of_one) {
        if let Some(value) = run.env.setting(&name) {
            let token = value.into_string().map_err(|_| {
                Error::new(Exit::Auth, format!("{name}: the token is not UTF-8"))
                    .phase(Phase::Config)
            })?;
            return Ok(Some((name, token)));
        }
    }
    Ok(None)
}

/// A name as it stands in a variable: `my-server.io` becomes `MY_SERVER_IO`.
fn variable(name: &str) -> String {
    let letter = |letter: char| match letter.is_ascii_alphanumeric() {
        true => letter.to_ascii_uppercase(),
        false => '_',
    };
    name.chars().map(letter).collect()
}

/// What a command prints. It gets neither our standard input nor more time than it should need.
fn output_of(command: &str, run: &Run<'_>) -> Result<String, Error> {
    let printed = config::run_secret_command(command, run.env);
    printed.map(|secret| secret.expose().to_owned()).map_err(|fault| {
        let failed = || Error::new(Exit::Auth, format!("--bearer-command: {fault}"));
        run.over().unwrap_or_else(failed).phase(Phase::Config).sent(Sent::No)
    })
}
