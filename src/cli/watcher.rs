//! What happens beside the answer: notifications, oddities, questions.

use super::answers::Answers;
use super::args::Format;
use super::changes::Changes;
use super::errors::Error;
use super::explain::oddity_text;
use super::output::events;
use super::run::Run;
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
    answers: Answers,
    opened: Option<&'static Revision>,
    refused: Option<Question>,
    /// What the server said to have changed.
    pub(super) changes: Changes,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(run: &'a Run<'a>) -> Result<Watcher<'a>, Error> {
        let changes = Changes::default();
        Ok(Watcher { answers: Answers::read(run)?, run, opened: None, refused: None, changes })
    }

    /// What the server may ask for: what the command line has answers to, and no more.
    pub(super) fn abilities(&self) -> Abilities {
        self.answers.abilities()
    }

    /// The revision, once it is certain.
    pub(super) fn opened(&self) -> Option<&'static Revision> {
        self.opened
    }

    /// The first question that was refused because nothing answers it.
    pub(super) fn refused(&self) -> Option<&Question> {
        self.refused.as_ref()
    }
}

impl Observer for Watcher<'_> {
    fn opened(&mut self, session: &Session) {
        self.opened = session.about().map(|about| about.revision);
        if let Some(revision) = self.opened {
            self.run.remark(&format!("the server speaks revision {}", revision.date));
        }
    }

    fn notified(&mut self, notification: &Notification) {
        self.changes.note(&notification.method);
        let is_shown = self.run.settings.output == Format::Events || self.run.globals.notifications;
        if !is_shown {
            return;
        }
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
            | Oddity::Undelivered(_) => self.run.warn(&oddity_text(oddity)),
        }
        true
    }

    fn asked(&mut self, question: &Question) -> Reply {
        match self.answers.to(question) {
            Some(answer) => Reply::Answer(Ok(answer)),
            None if self.answers.must_suffice() => Reply::End,
            // The call can go on without an answer only where the server asked by a request.
            None if !matches!(question.from, Asker::Request(_)) => Reply::End,
            None => {
                self.refused.get_or_insert_with(|| question.clone());
                Reply::Answer(match &*question.method {
                    method::ELICIT => Ok("{\"action\":\"decline\"}".to_owned()),
                    _ => Err(ErrorObject::method_not_found()),
                })
            }
        }
    }
}

/// A notification as one line of JSON.
fn text_of(notification: &Notification) -> String {
    let mut members = Members::new();
    members.push("method", &json::string(&notification.method));
    if let Some(params) = &notification.params {
        members.push("params", &super::output::one_line(params.as_str()));
    }
    members.finish()
}
