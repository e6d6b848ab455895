//! How to judge the answer to a question that should be refused.

use http::StatusCode;

use super::probe::Answer;
use super::site::Site;
use super::speech::Speech;
use crate::doctor::finding::{Finding, Need};

/// The finding for an answer to what should be refused with one of these statuses.
pub(super) fn of(site: &Site, answer: &Answer, wanted: &[StatusCode]) -> Finding {
    let summary = answer.summary();
    let names: Vec<String> = wanted.iter().map(|status| status.as_u16().to_string()).collect();
    let names = names.join(" or ");
    match () {
        () if wanted.contains(&answer.status) => Finding::pass(summary),
        () if is_usual(site, answer) && !answer.is_taken() => {
            untold(site, &format!("the server refuses everything alike: {summary}"))
        }
        () if answer.is_taken() && answer.code().is_some() => {
            Finding::warn(format!("refused, but not by the status {names}: {summary}"))
        }
        () if answer.is_taken() => Finding::fail(format!("taken: {summary}")),
        () if answer.status.is_client_error() || answer.status.is_server_error() => {
            Finding::warn(format!("refused, but not by the status {names}: {summary}"))
        }
        () => untold(site, &summary),
    }
}

/// The finding where the server takes nothing and answers everything so, which tells nothing of what
/// it was asked. A want of credentials is something else: it says why.
pub(super) fn alike(site: &Site, answer: &Answer) -> Option<Finding> {
    let is_told = answer.is_taken() || answer.status == StatusCode::UNAUTHORIZED;
    (!is_told && is_usual(site, answer)).then(|| {
        untold(site, &format!("the server answers everything alike: {}", answer.summary()))
    })
}

/// The same, and where the server failed or led elsewhere: that neither takes nor refuses anything.
pub(super) fn no_answer(site: &Site, answer: &Answer) -> Option<Finding> {
    let is_answer = answer.is_taken() || answer.status.is_client_error();
    alike(site, answer).or_else(|| {
        (!is_answer).then(|| untold(site, &format!("no answer to that: {}", answer.summary())))
    })
}

/// Whether an answer has the status that the server gives to what it should take.
pub(super) fn is_usual(site: &Site, answer: &Answer) -> bool {
    matches!(site.greeted(), Ok(usual) if usual.status == answer.status)
}

/// The finding of what cannot be told, by what the server does when it is greeted: where it did not
/// answer that, this is why.
pub(super) fn untold(site: &Site, why: &str) -> Finding {
    let need = match site.greeted() {
        Ok(_) if site.other_host.is_some() => Need::Host,
        Ok(answer) if is_refusal(answer) => Need::Credentials,
        Ok(_) if site.speech() == Speech::Nothing => Need::Endpoint,
        Ok(_) => Need::Person,
        Err(no_answer) => return no_answer.clone().into(),
    };
    Finding::unknown(why, need)
}

/// The finding where something answers that is no MCP server: a page for people may be for everybody.
/// What wants credentials may be one.
pub(super) fn no_server(site: &Site) -> Option<Finding> {
    match site.greeted() {
        Ok(answer) if site.speech() == Speech::Nothing && !is_refusal(answer) => {
            let why = format!("no MCP server answers here: {}", answer.summary());
            Some(Finding::unknown(why, Need::Endpoint))
        }
        _ => None,
    }
}

/// Whether an answer refuses somebody, and does not ask for credentials.
pub(super) fn is_closed(answer: &Answer) -> bool {
    answer.status == StatusCode::FORBIDDEN && !answer.headers.contains_key("www-authenticate")
}

/// Whether an answer says that credentials are wanted, or better ones.
pub(super) fn is_refusal(answer: &Answer) -> bool {
    matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}
