//! What the server lets out by mistake, in everything that it has said during the examination.

use super::probe::NO_METHOD;
use super::refusal::untold;
use super::site::Site;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, excerpt};

pub(super) const CHECKS: &[Check<Site>] = &[Check {
    id: "leak",
    title: "errors tell nothing of the inside: no stack, no path, no secret",
    clause: "CWE-209",
    fix: "Answer errors with a short text, and write stacks and paths into your own log.",
    run: |site| Box::pin(leak(site)),
}];

/// What only the inside of a program looks like.
const INSIDE: [(&str, &str); 9] = [
    ("Traceback (most recent call last)", "a Python stack"),
    ("File \\\"/", "a path of Python source"),
    ("File \"/", "a path of Python source"),
    ("node_modules/", "a path of JavaScript source"),
    ("at Object.<anonymous>", "a JavaScript stack"),
    ("panicked at ", "a Rust panic"),
    ("goroutine ", "a Go stack"),
    ("\tat java.", "a Java stack"),
    ("/site-packages/", "a path of Python source"),
];

/// How much is shown of what stands before it, in characters.
const BEFORE: usize = 40;

async fn leak(site: &Site) -> Finding {
    // Errors of each kind, in case that no other check has made them.
    for probe in [site.greeting().bare(), site.ping().saying("{"), site.routine(NO_METHOD)] {
        // One without an answer says nothing that could be looked at.
        let _ = site.ask(&probe).await;
    }
    let heard = site.heard();
    let failed = heard.iter().filter(|it| !it.is_taken() || it.code().is_some());
    let mut looked_at = 0;
    for answer in failed {
        looked_at += 1;
        if let Some((what, at)) = inside(&answer.body) {
            let status = answer.status.as_u16();
            let shown = excerpt(around(&answer.body, at));
            return Finding::warn(format!("{what} (HTTP {status}): … {shown}"));
        }
        let secrets = site.options.secrets.iter().map(crate::env::Secret::expose);
        if secrets.filter(|it| 8 <= it.len()).any(|secret| answer.body.contains(secret)) {
            return Finding::fail("an error repeats the credentials that were sent");
        }
    }
    match looked_at {
        0 => untold(site, "the server made no errors to look at"),
        count => Finding::pass(format!("nothing of it in {count} errors")),
    }
}

/// What of the inside a text shows, and where.
fn inside(text: &str) -> Option<(&'static str, usize)> {
    let shown = INSIDE.iter().find_map(|(sign, what)| Some((*what, text.find(sign)?)));
    shown.or_else(|| script_line(text).map(|at| ("a JavaScript stack", at)))
}

/// Where a line of a JavaScript stack is: `at f (file:///app/index.js:10:5)`.
fn script_line(text: &str) -> Option<usize> {
    let lines = text.match_indices("    at ");
    let is_script = |(at, _): &(usize, &str)| {
        let line = text[*at..].split(['\n', '\\']).next().unwrap_or_default();
        line.contains(".js:") || line.contains(".ts:") || line.contains("node:internal")
    };
    lines.into_iter().find(is_script).map(|(at, _)| at)
}

/// A text from a little before that place on.
fn around(text: &str, at: usize) -> &str {
    let before = text[..at].char_indices().rev().nth(BEFORE).map_or(0, |(start, _)| start);
    &text[before..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inside_is_known_by_its_looks() {
        let check =
            |text: &str, expected: bool| assert_eq!(inside(text).is_some(), expected, "{text}");
        check("Traceback (most recent call last):\n  File \"/app/s.py\", line 3", true);
        check("Error: x\n    at handle (file:///app/dist/index.js:10:5)", true);
        check("<pre>SyntaxError<br> &nbsp; &nbsp;at JSON.parse</pre>", false);
        check("thread 'main' panicked at src/main.rs:3", true);
        check("{\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}", false);
        check("look at the manual", false);
    }
}
