//! Questions that a server asks in the middle of a call, and their answers.
//!
//! A legacy server sends requests of its own. A modern one ends the request with
//! `input_required`, and the call is sent again with the answers (2026-07-28, Multi Round-Trip
//! Requests). The caller sees no difference.

use super::event::{Asker, Failure, Question};
use super::{Session, Ticket};
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::params::Members;

/// How often a server may ask within one call.
const MAX_ROUNDS: u32 = 32;

/// What one call was asked, and what it answers.
#[derive(Debug, Default)]
pub(super) struct Input {
    rounds: u32,
    /// Names of the inputs that are still to be answered.
    unanswered: Vec<String>,
    /// Names and answers, JSON text.
    answers: Vec<(String, String)>,
    /// Whether the server asked for inputs, so that the retry must carry answers.
    asked: bool,
    /// The server's `requestState`, the JSON text as it came: it goes back byte by byte.
    state: Option<String>,
}

impl Input {
    /// The members that a retry adds to the parameters. They go into that one request only.
    pub(super) fn take_retry(&mut self) -> Vec<(&'static str, String)> {
        let mut members = Vec::new();
        if std::mem::take(&mut self.asked) {
            let mut responses = Members::new();
            for (name, answer) in self.answers.drain(..) {
                responses.push(&name, &answer);
            }
            members.push(("inputResponses", responses.finish()));
        }
        members.extend(self.state.take().map(|state| ("requestState", state)));
        members
    }
}

impl Session {
    /// Answers a question. An error means that the client cannot or will not answer; the answer of
    /// a question itself is JSON text (`{"action":"decline"}`).
    pub fn answer(&mut self, to: Asker, answer: Result<String, ErrorObject>) {
        match to {
            Asker::Request(id) => self.respond(&id, &answer),
            Asker::Call(ticket, name) => self.answer_input(ticket, &name, answer),
            Asker::Task(_) => (),
        }
    }

    pub(super) fn ask(&mut self, ticket: Ticket, result: &Json) {
        self.disarm(ticket);
        let Some(open) = self.calls.get_mut(&ticket) else { return };
        open.request = None;
        open.input.rounds += 1;
        if open.input.rounds > MAX_ROUNDS {
            return self.fail(ticket, Failure::TooManyRounds);
        }
        let result = result.as_str();
        open.input.state = scan::member(result, "requestState").map(str::to_owned);
        let requests = scan::member(result, "inputRequests").filter(|text| text.starts_with('{'));
        let requests: Vec<_> = requests.into_iter().flat_map(scan::members).collect();
        let questions: Vec<Question> =
            requests.iter().map(|(name, request)| question(ticket, name, request)).collect();
        open.input.asked = !requests.is_empty();
        open.input.unanswered = requests.into_iter().map(|(name, _)| name.into_owned()).collect();
        if questions.is_empty() {
            return self.ready.push_back(ticket);
        }
        questions.into_iter().for_each(|question| self.ask_caller(question));
    }

    fn answer_input(&mut self, ticket: Ticket, name: &str, answer: Result<String, ErrorObject>) {
        let Some(open) = self.calls.get_mut(&ticket) else { return };
        open.input.unanswered.retain(|unanswered| unanswered != name);
        // An input that cannot be given is left out; the server may ask again or fail.
        open.input.answers.extend(answer.ok().map(|answer| (name.to_owned(), answer)));
        if open.input.unanswered.is_empty() && open.request.is_none() {
            self.ready.push_back(ticket);
        }
    }
}

fn question(ticket: Ticket, name: &str, request: &str) -> Question {
    let method = scan::member(request, "method").and_then(scan::unescape);
    Question {
        from: Asker::Call(ticket, name.to_owned()),
        method: method.unwrap_or_default().into(),
        params: scan::member(request, "params").map(Json::from),
    }
}
