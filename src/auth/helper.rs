//! Tokens in the keeping of another program: a credential helper.
//!
//! The helper speaks the protocol of Docker's credential helpers, so that those for the key rings
//! of all systems can be used: it is called with `get`, `store` or `erase`, has its input on
//! standard input, and answers in JSON.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::AuthError;
use crate::config::quoting;
use crate::env::Env;

/// The variable that names the helper.
pub(super) const VARIABLE: &str = "MCPMINI_CREDENTIAL_HELPER";

/// What the helper keeps a record under: this and the key of the record.
const PREFIX: &str = "https://mcpmini.invalid/";

/// How long the helper may take; it may ask its user for a password.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long its output may stay open after it has ended.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// How much it may print, in bytes.
const LIMIT: u64 = 1 << 20;

/// A program that keeps secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Helper {
    /// The program and its first arguments.
    words: Vec<String>,
    /// When everything must be over.
    until: Option<Instant>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Kept {
    #[serde(rename = "ServerURL")]
    server_url: String,
    username: String,
    secret: String,
}

impl Helper {
    /// The helper that the environment names, if it names one.
    pub(super) fn of(env: &Env) -> Result<Option<Helper>, AuthError> {
        let Some(line) = env.setting(VARIABLE) else { return Ok(None) };
        let words = line.to_str().and_then(|line| quoting::split(line).ok());
        match words.filter(|words| !words.is_empty()) {
            Some(words) => Ok(Some(Helper { words, until: env.deadline() })),
            None => Err(AuthError::Helper(format!("of {VARIABLE} is no command line"))),
        }
    }

    /// The record of that key; `None` when the helper has none.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, AuthError> {
        let (succeeded, printed) = self.run("get", &url(key))?;
        if !succeeded {
            // The text is the protocol's: there is no other sign.
            return match printed.contains("credentials not found") || printed.is_empty() {
                true => Ok(None),
                false => Err(AuthError::Helper(format!("fails: {}", first_line(&printed)))),
            };
        }
        let kept = serde_json::from_str::<Kept>(&printed);
        let record = kept.and_then(|kept| serde_json::from_str(&kept.secret));
        record.map(Some).map_err(|_| AuthError::Helper("does not give back what was stored".into()))
    }

    /// Keeps a record.
    pub(super) fn store<T: Serialize>(&self, key: &str, record: &T) -> Result<(), AuthError> {
        let secret = serde_json::to_string(record).expect("records are texts and numbers");
        let username = env!("CARGO_PKG_NAME").to_owned();
        let kept = Kept { server_url: url(key), username, secret };
        let kept = serde_json::to_string(&kept).expect("texts can be written");
        match self.run("store", &kept)? {
            (true, _) => Ok(()),
            // What it prints may be what it was given.
            (false, _) => Err(AuthError::Helper("cannot store the token".into())),
        }
    }

    /// Forgets a record. One that is not there is forgotten already.
    pub(super) fn erase(&self, key: &str) -> Result<(), AuthError> {
        let url = url(key);
        // How a helper says that there was nothing to erase differs from one to the next.
        match self.run("erase", &url)?.0 || !self.run("get", &url)?.0 {
            true => Ok(()),
            false => Err(AuthError::Helper("cannot erase the token".into())),
        }
    }

    /// Runs the helper; tells whether it succeeded and what it printed.
    fn run(&self, action: &str, input: &str) -> Result<(bool, String), AuthError> {
        let fails = |why: String| AuthError::Helper(why);
        let (program, arguments) = self.words.split_first().expect("a helper has a program");
        let mut command = Command::new(program);
        command.args(arguments).arg(action);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command
            .spawn()
            .map_err(|error| fails(format!("\"{program}\" cannot start: {error}")))?;
        let mut stdin = child.stdin.take().expect("its input is a pipe");
        let stdout = child.stdout.take().expect("its output is a pipe");
        let input = input.to_owned();
        // It may end without reading; both threads end with the pipes.
        thread::spawn(move || stdin.write_all(input.as_bytes()));
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let (mut stdout, mut block) = (stdout.take(LIMIT), [0; 4096]);
            while let Ok(length @ 1..) = stdout.read(&mut block) {
                let _ = sender.send(block[..length].to_vec());
            }
        });
        let deadline = Instant::now() + PATIENCE;
        let deadline = self.until.map_or(deadline, |until| until.min(deadline));
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(fails(format!("did not end within {} s", PATIENCE.as_secs())));
                }
            }
        };
        // What it leaves behind, such as an agent, may keep its output open.
        let deadline = Instant::now() + AFTERWARDS;
        let left = || deadline.saturating_duration_since(Instant::now());
        let printed: Vec<u8> =
            std::iter::from_fn(|| receiver.recv_timeout(left()).ok()).flatten().collect();
        Ok((status.success(), String::from_utf8_lossy(&printed).trim().to_owned()))
    }
}

/// Helpers want URLs, and some look at their parts.
fn url(key: &str) -> String {
    let key: String = url::form_urlencoded::byte_serialize(key.as_bytes()).collect();
    format!("{PREFIX}{key}")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
