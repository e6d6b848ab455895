//! Whoever sits in front of this command, when a login needs somebody.

use std::rc::Rc;

use super::run::Run;
use super::terminal::Stream;
use crate::auth::{How, Notice, Person};
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::protocol::visible::for_terminal;

/// Whoever sits in front of this command, for a login that it may ask for.
pub(super) fn person(run: &Run<'_>, how: How) -> Person {
    let as_json = run.settings.json_errors;
    let quiet = run.globals.quiet;
    Person {
        how,
        tell: Rc::new(move |notice| {
            // What one must know to go on is said even to those who want to hear nothing.
            let needless = matches!(notice, Notice::Browser { .. });
            if !(quiet && needless) {
                let text = if as_json { notice_json(notice) } else { notice_text(notice) };
                let _ = Stream::Stderr.write_text(&text, &|| true);
            }
        }),
    }
}

fn notice_text(notice: &Notice<'_>) -> String {
    match notice {
        Notice::Browser { url } => {
            format!("mcpmini: to log in, use the browser that opens, or open this page:\n{url}\n")
        }
        Notice::Open { url } => format!(
            "mcpmini: to log in, open this page:\n{url}\n\
             mcpmini: if the browser is on another machine, it will end at an address that it \
             cannot open: paste that address here\n"
        ),
        Notice::NotTheAnswer => {
            "mcpmini: that is not the address that the login ends at; paste it whole\n".to_owned()
        }
        Notice::Device { url, code } => {
            let code = for_terminal(code);
            format!("mcpmini: to log in, open this page on any device:\n{url}\nand type {code}\n")
        }
    }
}

fn notice_json(notice: &Notice<'_>) -> String {
    let mut members = Members::new();
    let (url, code) = match notice {
        Notice::Browser { url } | Notice::Open { url } => (url, None),
        Notice::Device { url, code } => (url, Some(code)),
        Notice::NotTheAnswer => return notice_text(notice),
    };
    members.push("url", &json::string(url));
    if let Some(code) = code {
        members.push("code", &json::string(code));
    }
    format!("{{\"login\":{}}}\n", members.finish())
}
