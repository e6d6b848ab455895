//! Lines that wait until the tools of the server are known, and what makes them wait.

use super::line::Request;
use super::verdict::Outcome;
use super::{Job, Work};
use crate::cli::catalog::{Catalog, unsent};
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::client::NoResult;
use crate::protocol::json::Json;

/// A line that waits until the tools of the server are known.
#[derive(Debug)]
pub(super) enum Held {
    /// It cannot be sent before: its arguments may not fit, or have to be mirrored into headers.
    Unsent(Job),
    /// It was lost, and can be sent again if its tool may run twice.
    Lost(Job, NoResult),
    /// Its tool failed, or is not there.
    Failed(Job, Json),
}

impl Work<'_, '_> {
    /// Whether more must be known about the tools before that one is called.
    pub(super) fn must_learn(&self, request: &Request, tool: &str) -> bool {
        self.mirrors.is_none() || self.doubts(tool) || self.lacks(request, tool)
    }

    /// Whether the list of tools is needed for a call, and is not there.
    fn lacks(&self, request: &Request, tool: &str) -> bool {
        self.mirrors == Some(true) && self.tools.list().is_none()
            || self.judges && request.is_judged && self.tools.may_have(tool)
    }

    /// Whether a tool must be looked at before it is called, and was not yet.
    fn doubts(&self, tool: &str) -> bool {
        let consent = &self.contact.watcher.consent;
        let holds = match self.flights.is_empty() {
            true => consent.holds(),
            false => consent.holds_meanwhile(),
        };
        self.tools.list().is_none() && consent.doubts(tool) || holds
    }

    /// Nothing is in flight, so that the server can be asked for its tools: then the held lines go
    /// on.
    pub(super) async fn release(&mut self) {
        let learned = self.learn().await;
        if let Err(error @ Error { exit: Exit::Rpc | Exit::Unreachable, code: Some(_), .. }) =
            &learned
            && self.judges
        {
            // A server that lists no tools judges by itself, unless they must be known all the same.
            let why = &error.message;
            self.run.remark(&format!("the server is left to check the arguments: {why}"));
            self.judges = false;
        }
        if let Err(Error { exit: Exit::Signal(signal), .. }) = learned {
            return self.interrupt(signal.into());
        }
        // One look at most is worth its while: who has not told its tools will not.
        self.tells_apart &= learned.is_ok();
        for held in std::mem::take(&mut self.held) {
            match (held, &learned) {
                (Held::Unsent(job), Ok(())) => self.send(job),
                (Held::Unsent(job), Err(_)) if !self.is_stuck(&job.request) => self.send(job),
                (Held::Unsent(job), Err(error)) => {
                    let outcome = Outcome::Failed(unsent(error.clone()));
                    self.note(&job.line, job.begun.elapsed(), &outcome);
                }
                (Held::Failed(job, result), _) => self.conclude(&job, Ok(result), true),
                (Held::Lost(job, lost), learned) => {
                    let tool = job.request.tool();
                    let call =
                        learned.as_ref().ok().map(|()| self.call(&job.request, tool.as_deref()));
                    match call {
                        Some(Ok((call, terms))) if terms.repeatable => {
                            self.flights.again(job, call, terms, lost);
                        }
                        _ => self.conclude(&job, Err(lost), true),
                    }
                }
            }
        }
    }

    /// Whether a request cannot be sent while nothing more is known about the tools.
    fn is_stuck(&self, request: &Request) -> bool {
        let must_learn = |tool: String| self.must_learn(request, &tool);
        self.contact.watcher.consent.is_locked() || request.tool().is_some_and(must_learn)
    }

    /// The held calls that were not sent, each with its tool.
    fn unsent(&self) -> impl Iterator<Item = (&Request, String)> {
        self.held.iter().filter_map(|held| match held {
            Held::Unsent(job) => Some((&job.request, job.request.tool()?)),
            Held::Lost(..) | Held::Failed(..) => None,
        })
    }

    /// Asks the server for what must be known about its tools.
    async fn learn(&mut self) -> Result<(), Error> {
        self.contact.hold_to_lock().await?;
        if self.mirrors.is_none() {
            self.mirrors = Some(self.contact.settle().await?.mirrored_headers);
        }
        let doubtful = self.unsent().map(|(_, tool)| tool).filter(|tool| self.doubts(tool));
        let doubtful: Vec<String> = doubtful.collect();
        let doubted = doubtful.iter().find(|tool| self.contact.watcher.consent.doubts(tool));
        if let Some(tool) = doubted {
            self.tools.learn(Catalog::look(&mut self.contact, tool).await?);
        }
        for tool in doubtful {
            match Catalog::glance(&mut self.contact, &tool).await {
                Ok(None) => {}
                Ok(Some(list)) => self.tools.learn(list),
                // What was seen may be about a tool of an earlier line. Each is judged by itself.
                Err(_) if !self.contact.watcher.consent.holds() => {}
                Err(error) => return Err(error),
            }
        }
        let lost = self.held.iter().any(|held| matches!(held, Held::Lost(..)));
        let lacks = self.unsent().any(|(request, tool)| self.lacks(request, &tool));
        let failed = self.held.iter().any(|held| matches!(held, Held::Failed(..)));
        let list = match self.tools.list() {
            list if failed && list.is_none_or(|list| list.remembered) => {
                Catalog::fetch(&mut self.contact).await?
            }
            None if lost || lacks => Catalog::get(&mut self.contact).await?,
            // It was remembered, and lacks a tool.
            Some(_) if lacks => Catalog::fetch(&mut self.contact).await?,
            _ => return Ok(()),
        };
        self.tools.learn(list);
        Ok(())
    }
}
