//! Questions that a server asks in the middle of a call, and their answers.
//!
//! A legacy server sends requests of its own. A modern one ends the request with
//! `input_required`, and the call is sent again with the answers (2026-07-28, Multi Round-Trip
//! Requests). The caller sees no difference.

use std::borrow::Cow;

use super::event::{Asker, Event, Failure, Question};
use super::{Session, Ticket};
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, Id, scan};
use crate::method;
use crate::params::Members;

/// How often a server may ask within one call.
const MAX_ROUNDS: u32 = 32;

/// How many requests of the server's own may wait for an answer.
const MAX_REQUESTS: usize = 64;

/// Requests of the server's own (legacy era).
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The ids of those that wait for an answer.
    open: Vec<Id>,
    /// Whether the last of them was answered since the calls were told.
    answered: bool,
}

impl Requests {
    /// Whether the server waits for an answer.
    pub(super) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether the server has just got the last answer that it waited for.
    pub(super) fn take_answered(&mut self) -> bool {
        std::mem::take(&mut self.answered)
    }

    /// Ends one of them; false when there is none of that id.
    pub(super) fn close(&mut self, id: &Id) -> bool {
        let Some(at) = self.open.iter().position(|open| open == id) else { return false };
        self.open.remove(at);
        self.answered = self.open.is_empty();
        true
    }
}

/// What one call was asked, and what it answers.
#[derive(Debug, Default)]
pub(super) struct Input {
    rounds: u32,
    /// The questions that are still to be answered.
    unanswered: Vec<Question>,
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
    /// Answers a question: with JSON text (`{"action":"decline"}`), or with the error that the
    /// client cannot or will not answer. In the modern era there is no way to send that error, and
    /// it ends the call. Whoever does not want the answer any more does not get it.
    pub fn answer(&mut self, to: Asker, answer: Result<String, ErrorObject>) {
        match to {
            Asker::Request(id) => {
                if self.requests.close(&id) {
                    self.respond(&id, &answer);
                }
            }
            Asker::Call(ticket, name) => self.answer_input(ticket, &name, answer),
            Asker::Task(_) => (),
        }
    }

    /// The server asks by a request of its own, perhaps for the sake of a call.
    pub(super) fn ask_by_request(
        &mut self,
        id: Id,
        method: Cow<'static, str>,
        params: Option<Json>,
        during: Option<Ticket>,
    ) {
        if self.requests.open.len() == MAX_REQUESTS {
            return self.respond(&id, &Err(ErrorObject::internal("too many requests at once")));
        }
        self.requests.open.push(id.clone());
        self.ask_caller(Question { from: Asker::Request(id), method, params, during });
    }

    /// The server cancels something: a question, or a subscription.
    pub(super) fn handle_cancelled(&mut self, params: &str) {
        let Some(id) = scan::member(params, "requestId").map(Id::from_json) else { return };
        if self.requests.close(&id) {
            self.emit(Event::Withdrawn(Asker::Request(id)));
        } else if let Some(ticket) = self.subscription(&id) {
            let request = self.calls.get(ticket.0).and_then(|open| open.request);
            request.map(|id| self.pending.complete(id));
            self.fail(ticket, Failure::Unsubscribed);
        }
    }

    pub(super) fn ask(&mut self, ticket: Ticket, result: &Json) {
        self.disarm(ticket);
        let Some(open) = self.calls.get_mut(ticket.0) else { return };
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
        open.input.unanswered = questions.clone();
        if questions.is_empty() {
            return self.ready.push_back(ticket);
        }
        questions.into_iter().for_each(|question| self.ask_caller(question));
    }

    fn answer_input(&mut self, ticket: Ticket, name: &str, answer: Result<String, ErrorObject>) {
        let Some(open) = self.calls.get_mut(ticket.0) else { return };
        let is_it =
            |question: &Question| matches!(&question.from, Asker::Call(_, of) if of == name);
        let Some(at) = open.input.unanswered.iter().position(is_it) else { return };
        let question = open.input.unanswered.remove(at);
        match answer {
            Ok(answer) => open.input.answers.push((name.to_owned(), answer)),
            Err(_) => return self.fail(ticket, Failure::Unanswered(Box::new(question))),
        }
        if open.input.unanswered.is_empty() && open.request.is_none() {
            self.ready.push_back(ticket);
        }
    }
}

fn question(ticket: Ticket, name: &str, request: &str) -> Question {
    let method = scan::member(request, "method").and_then(method::name_of_json);
    Question {
        from: Asker::Call(ticket, name.to_owned()),
        method: method.unwrap_or_default(),
        params: scan::member(request, "params").map(Json::from),
        during: Some(ticket),
    }
}
