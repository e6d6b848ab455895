//! Opening a page in the user's browser.

use std::fmt;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::env::Env;

/// The programs that open a page, the first that is there.
#[cfg(target_os = "macos")]
const OPENERS: &[&str] = &["open"];
#[cfg(not(target_os = "macos"))]
const OPENERS: &[&str] = &["xdg-open", "wslview", "sensible-browser"];

/// How a page is opened.
#[derive(Debug)]
pub(super) struct Browser {
    /// The words of `BROWSER`, if it is set.
    wanted: Vec<String>,
}

/// Why a page was not opened.
#[derive(Debug)]
pub(super) enum Unopened {
    /// There is no program for it.
    None,
    /// The program could not be started.
    Failed(String, io::Error),
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unopened::None => f.write_str("no browser was found; set BROWSER to one"),
            Unopened::Failed(program, error) => write!(f, "{program}: {error}"),
        }
    }
}

impl Browser {
    /// The browser of the user's choice. `BROWSER` is split at blanks; the URL stands in place of
    /// a `%s` in it, or at the end.
    pub(super) fn from_env(env: &Env) -> Browser {
        let wanted = env.setting("BROWSER").and_then(|words| words.into_string().ok());
        let words = wanted.iter().flat_map(|words| words.split_whitespace());
        Browser { wanted: words.map(str::to_owned).collect() }
    }

    /// Opens a page. Nothing waits for the browser: it is the user's, and stays when we end.
    pub(super) fn open(&self, url: &str) -> Result<(), Unopened> {
        if let Some((program, words)) = self.wanted.split_first() {
            let started = start(program, &with_url(words, url));
            return started.map_err(|error| Unopened::Failed(program.clone(), error));
        }
        for program in OPENERS {
            match start(program, &[url.to_owned()]) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => return Err(Unopened::Failed((*program).to_owned(), error)),
                Ok(()) => return Ok(()),
            }
        }
        Err(Unopened::None)
    }
}

fn with_url(words: &[String], url: &str) -> Vec<String> {
    let mut words: Vec<String> = words.iter().map(|word| word.replace("%s", url)).collect();
    if !words.iter().any(|word| word.contains(url)) {
        words.push(url.to_owned());
    }
    words
}

/// Starts a program that shares no stream and no signal with us.
fn start(program: &str, words: &[String]) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).spawn().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_put_where_it_belongs() {
        let check = |variable: &str, expected: &[&str]| {
            let env = Env { variables: [("BROWSER", variable)].into(), ..Env::default() };
            let words = Browser::from_env(&env).wanted;
            assert_eq!(with_url(&words, "https://x"), expected, "{variable}");
        };
        check("", &["https://x"]);
        check("firefox", &["firefox", "https://x"]);
        check("firefox --new-window %s", &["firefox", "--new-window", "https://x"]);
        check("app --url=%s", &["app", "--url=https://x"]);
    }
}
