//! What happens beside the answer: notifications, oddities, questions.

use std::time::Instant;

use super::answers::{Answers, DECLINE};
use super::args::Format;
use super::changes::Changes;
use super::consent::Consent;
use super::errors::Error;
use super::explain::oddity_text;
use super::output::events;
use super::progress::Progress;
use super::run::Run;
use super::server_log;
use crate::client::{Observer, Reply};
use crate::protocol::Revision;
use crate::protocol::json;
use crate::protocol::jsonrpc::{ErrorObject, Notification};
use crate::protocol::method;
use crate::protocol::params::Members;
use crate::protocol::session::{Abilities, Asker, Oddity, Question, Session};

/// Deals with what happens beside the answer.
#[derive(Debug)]
pub(super) struct Watcher<'a> {
    run: &'a Run<'a>,
    /// The server, as the command line names it.
    server: String,
    answers: Answers,
    progress: Progress,
    opened: Option<&'static Revision>,
    /// What the server said to have changed.
    pub(super) changes: Changes,
    /// What the server is held to.
    pub(super) consent: Box<Consent<'a>>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(
        run: &'a Run<'a>,
        server: &str,
        consent: Box<Consent<'a>>,
    ) -> Result<Watcher<'a>, Error> {
        Ok(Watcher {
            answers: Answers::read(run, server)?,
            progress: Progress::new(run),
            server: server.to_owned(),
            run,
            opened: None,
            changes: Changes::default(),
            consent,
        })
    }

    /// What the server may ask for: what the command line has answers to, and no more.
    pub(super) fn abilities(&self) -> Abilities {
        self.answers.abilities()
    }

    /// The revision, once it is certain.
    pub(super) fn opened(&self) -> Option<&'static Revision> {
        self.opened
    }

    /// Tells of answers that nothing was asked for.
    pub(super) fn note_unused_answers(&self) {
        for key in self.answers.unused(self.run) {
            self.run.warn(&format!("--answer {key}: the server has asked for no such field"));
        }
    }

    /// The first question that got no answer.
    pub(super) fn refused(&self) -> Option<Question> {
        self.answers.refusal().question()
    }

    /// Why that question got no answer, if there is more to say than that nothing was given.
    pub(super) fn why_refused(&self) -> Option<String> {
        self.answers.refusal().why()
    }

    /// Shows what notifications are for, where it is wanted.
    fn show(&mut self, notification: &Notification) {
        let params = notification.params.as_ref().map_or("{}", json::Json::as_str);
        match &*notification.method {
            method::PROGRESS => self.progress.show(self.run, params, Instant::now()),
            method::LOG_MESSAGE => {
                let Some(wanted) = self.run.globals.log_level else { return };
                let as_json = self.run.settings.json_errors;
                let line = server_log::line(params, &self.server, wanted, as_json);
                let _ = line.map(|line| self.run.say_foreign(&line));
            }
            method::ELICITED => self.run.remark("the page that was opened has reported back"),
            _ => (),
        }
    }

    /// Prints a notification as JSON, where it is wanted.
    fn print(&self, notification: &Notification) {
        let text = text_of(notification);
        if json::validate(&text).is_err() {
            return self.run.warn("left out a notification that is not JSON");
        }
        if self.run.settings.output == Format::Events {
            let name = match &*notification.method {
                method::PROGRESS => "progress",
                method::LOG_MESSAGE => "log",
                _ => "notification",
            };
            events::write(self.run, name, &[("notification", &text)]);
        }
        if self.run.globals.notifications {
            self.run.say_foreign(&format!("{text}\n"));
        }
    }
}

impl Observer for Watcher<'_> {
    fn opened(&mut self, session: &Session) -> bool {
        self.opened = session.about().map(|about| about.revision);
        if let Some(revision) = self.opened {
            self.run.remark(&format!("the server speaks revision {}", revision.date));
        }
        self.consent.introduced(session)
    }

    fn notified(&mut self, notification: &Notification) {
        self.changes.note(&notification.method);
        if method::changed_lists(&notification.method).contains(&method::LIST_TOOLS) {
            self.consent.note_changed_list();
        }
        if self.run.settings.output == Format::Events || self.run.globals.notifications {
            self.print(notification);
        }
        self.show(notification);
    }

    fn odd(&mut self, oddity: &Oddity) -> bool {
        if self.run.globals.strict {
            return false;
        }
        match oddity {
            // They may be many, and they harm nobody: `-v` counts them at the end.
            Oddity::Stranger { .. } => self.run.remark(&oddity_text(oddity)),
            Oddity::Skipped(_)
            | Oddity::Unusual(_)
            | Oddity::RetypedId(_)
            | Oddity::RequestInModernEra(_)
            | Oddity::NoLogLevel(_)
            | Oddity::Undelivered(_) => self.run.warn(&oddity_text(oddity)),
        }
        true
    }

    fn asked(&mut self, question: &Question) -> Reply {
        match self.answers.to(question) {
            Some(reply) => reply,
            None if self.answers.must_suffice() => Reply::End,
            // The call can go on without an answer only where the server asked by a request.
            None if !matches!(question.from, Asker::Request(_)) => Reply::End,
            None => {
                self.answers.refusal().note(question, None);
                if &*question.method == method::ELICIT {
                    // The call may succeed all the same, but perhaps not as it was meant.
                    let text = "a question of the server was declined; see --elicit and --answer";
                    self.run.warn(text);
                }
                Reply::Answer(match &*question.method {
                    method::ELICIT => Ok(DECLINE.to_owned()),
                    _ => Err(ErrorObject::method_not_found()),
                })
            }
        }
    }
}

/// A notification as one line of JSON.
pub(super) fn text_of(notification: &Notification) -> String {
    let mut members = Members::new();
    members.push("method", &json::string(&notification.method));
    if let Some(params) = &notification.params {
        members.push("params", &super::output::one_line(params.as_str()));
    }
    members.finish()
}
