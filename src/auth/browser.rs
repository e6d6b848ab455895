//! Opening a page in the browser of the person: by running a program, and never a shell.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};

use super::error::AuthError;
use crate::config::quoting;
use crate::env::Env;

/// What opens a page when `BROWSER` does not say.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Starts the browser with a URL, and returns what waits for the program to end. The program may
/// live on after us.
pub fn open(
    env: &Env,
    url: &str,
) -> Result<impl Future<Output = Option<ExitStatus>> + use<>, AuthError> {
    let mut tried = Vec::new();
    for words in commands(env, url) {
        let Some((program, arguments)) = words.split_first() else { continue };
        let mut command = Command::new(program);
        // A key that interrupts us must not close the browser.
        command.args(arguments).process_group(0);
        let mut command = async_process::Command::from(command);
        // What it prints is not ours to print.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(mut child) => return Ok(async move { child.status().await.ok() }),
            Err(error) => tried.push(format!("\"{program}\": {error}")),
        }
    }
    Err(AuthError::Browser(tried.join("; ")))
}

/// The command lines to try. `BROWSER` holds several with colons between them; `%s` stands for the
/// URL, which else comes last.
fn commands(env: &Env, url: &str) -> Vec<Vec<String>> {
    let said = env.setting("BROWSER").and_then(|value| value.into_string().ok());
    let Some(said) = said else { return vec![vec![OPENER.to_owned(), url.to_owned()]] };
    let lines = said.split(':').filter_map(|line| quoting::split(line).ok());
    let filled = lines.filter(|words| !words.is_empty()).map(|mut words| {
        if words.iter().any(|word| word.contains("%s")) {
            words.iter_mut().for_each(|word| *word = word.replace("%s", url));
        } else {
            words.push(url.to_owned());
        }
        words
    });
    filled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_is_a_command_line_without_a_shell() {
        let check = |browser: &str, expected: &[&[&str]]| {
            let env = Env { variables: [("BROWSER", browser)].into(), ..Env::default() };
            assert_eq!(commands(&env, "https://h/?a=1&b=$(x)"), expected, "{browser}");
        };
        let url = "https://h/?a=1&b=$(x)";
        check("", &[&[OPENER, url]]);
        check("firefox", &[&["firefox", url]]);
        check("curl -sL -o /dev/null", &[&["curl", "-sL", "-o", "/dev/null", url]]);
        check("'my browser' --new '%s' x", &[&["my browser", "--new", url, "x"]]);
        check("w3m:links", &[&["w3m", url], &["links", url]]);
        check(":", &[]);
    }
}
