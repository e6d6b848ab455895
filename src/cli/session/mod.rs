//! `mcpmini session`: servers that stay open for the life of a command.
//!
//! ```text
//!   command ── call ──▶ socket ──▶ visitor ──▶ keeper ──▶ server      one keeper per server,
//!         └─── call ──▶        ──▶ visitor ──▶                        one visitor per call
//! ```

mod command;
mod door;
pub(super) mod join;
mod keeper;
mod listed;
mod order;
mod visit;
mod visitor;

use std::convert::Infallible;

use async_channel::{Receiver, Sender};
use futures_lite::{FutureExt, future};
use smol::{LocalExecutor, Task};

use self::command::Command;
use self::door::Door;
use self::join::VARIABLE;
use self::keeper::Keeper;
use self::order::Order;
use self::visit::Wanted;
use super::args::many::Session;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain;
use super::run::Run;
use crate::net::together;
use crate::protocol::message::Sent;
use crate::protocol::relay::Opening;
use crate::reactor::Timer;

/// Runs a command with servers open.
pub(super) async fn run(
    run: &Run<'_>,
    session: &Session,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    if run.tail.is_empty() {
        let error = Error::usage("session needs a command");
        return Err(error.hint("mcpmini session [SERVER...] -- COMMAND [ARG...]"));
    }
    if run.globals.out.is_some() {
        return Err(Error::usage("--out has no effect on session, which prints nothing itself"));
    }
    if run.globals.lock.is_some() {
        // It would hold the servers to it, and not the calls.
        return Err(Error::usage(
            "--lock is for the commands inside of the session: give it to each of them",
        ));
    }
    let (closing, end) = async_channel::bounded(1);
    let (wanted, wants) = async_channel::unbounded();
    let scope = LocalExecutor::new();
    let mut host = Host { run, executor, scope: &scope, end, wanted, wants, kept: Vec::new() };
    let outcome = scope.run(host.host(session)).await;
    // Nobody may come in any more, and then the servers are closed.
    drop(closing);
    let kept = std::mem::take(&mut host.kept);
    let mut contacts = scope.run(together(kept.into_iter().map(|kept| kept.task))).await;
    if let Err(error) = &outcome {
        // The servers may take their time to go.
        run.report(error);
    }
    together(contacts.iter_mut().map(Contact::close)).await;
    Ok(outcome.unwrap_or_else(|error| error.exit))
}

/// Who keeps which server.
struct Kept<'a> {
    identity: String,
    is_as_defined: bool,
    orders: Sender<Order>,
    task: Task<Contact<'a>>,
}

/// Holds the session.
struct Host<'s, 'a> {
    run: &'a Run<'a>,
    executor: &'a LocalExecutor<'static>,
    scope: &'s LocalExecutor<'a>,
    /// Ends when the session does.
    end: Receiver<Infallible>,
    wanted: Sender<Wanted>,
    wants: Receiver<Wanted>,
    kept: Vec<Kept<'a>>,
}

/// What happened next.
enum Step {
    Ended(Result<Exit, Error>),
    Signal(i32),
    Visitor(async_io::Async<std::os::unix::net::UnixStream>),
    Wanted(Wanted),
    Expired,
}

impl<'a> Host<'_, 'a> {
    /// Opens the servers, and runs the command to its end.
    async fn host(&mut self, session: &Session) -> Result<Exit, Error> {
        for word in &session.servers {
            let contact = Contact::find(self.run, word, self.executor)?;
            self.keep(contact);
        }
        self.open_all().await?;
        let door = Door::open(self.run.env)?;
        let mut command = Command::start(self.run.tail, door.path())?;
        let mut visitors = 0;
        let mut tasks: Vec<Task<()>> = Vec::new();
        loop {
            match self.step(&door, &mut command).await {
                Step::Ended(exit) => return exit,
                Step::Signal(signal) => command.signal(signal),
                Step::Visitor(stream) => {
                    visitors += 1;
                    let wanted = self.wanted.clone();
                    let limits = self.run.limits();
                    tasks.retain(|task| !task.is_finished());
                    tasks.push(self.scope.spawn(visit::serve(stream, visitors, wanted, limits)));
                }
                Step::Wanted(Wanted { opening, reply }) => {
                    let _ = reply.try_send(self.find(&opening));
                }
                Step::Expired => {
                    command.end().await;
                    return Err(explain::expired(self.run.settings.max_time));
                }
            }
        }
    }

    async fn step(&self, door: &Door, command: &mut Command) -> Step {
        let ended = async { Step::Ended(command.ended().await) };
        let signal = async { Step::Signal(self.run.interrupted().await) };
        let visitor = async { Step::Visitor(door.visitor().await) };
        let wanted = async {
            match self.wants.recv().await {
                Ok(wanted) => Step::Wanted(wanted),
                Err(_) => future::pending().await,
            }
        };
        let expired = async {
            Timer::at(self.run.deadline).await;
            Step::Expired
        };
        ended.or(signal).or(wanted).or(visitor).or(expired).await
    }

    /// Opens all servers side by side. The first that cannot be opened, in the order of the command
    /// line, ends the session.
    async fn open_all(&self) -> Result<(), Error> {
        let opened = self.kept.iter().map(|kept| async {
            let (reply, opened) = async_channel::bounded(1);
            let _ = kept.orders.send(Order::Open(reply)).await;
            opened.recv().await.unwrap_or(Ok(()))
        });
        let opened = async { together(opened).await.into_iter().collect() };
        let interrupted = async { Err(explain::interrupted(self.run.interrupted().await)) };
        let expired = async {
            Timer::at(self.run.deadline).await;
            Err(explain::expired(self.run.settings.max_time))
        };
        opened.or(interrupted).or(expired).await
    }

    /// Who keeps the server that a visitor wants. One that is not kept yet is from now on, if the
    /// word means the same to us as to the visitor.
    fn find(&mut self, opening: &Opening) -> Result<Sender<Order>, Error> {
        let Opening { server: word, identity, as_defined, .. } = opening;
        let refused = |exit, phase, text: String| {
            let error = Error::new(exit, text).phase(phase).sent(Sent::No);
            Err(error.hint(format!("{VARIABLE}= mcpmini … calls it apart from the session")))
        };
        if let Some(kept) = self.kept.iter().find(|kept| kept.identity == *identity) {
            return match kept.is_as_defined || !as_defined {
                true => Ok(kept.orders.clone()),
                false => {
                    let text = "the session has started it with more than its definition says \
                                (options, or all variables), and only what was accepted is to be used";
                    refused(Exit::Trust, Phase::Trust, text.to_owned())
                }
            };
        }
        let contact = Contact::find(self.run, word, self.executor)?;
        if contact.watcher.consent.identity().to_string() != *identity {
            let text = format!("\"{word}\" means another server here than where the session began");
            return refused(Exit::Config, Phase::Config, text);
        }
        self.keep(contact);
        self.find(opening)
    }

    fn keep(&mut self, contact: Contact<'a>) {
        let consent = &contact.watcher.consent;
        let (identity, is_as_defined) = (consent.identity().to_string(), consent.is_as_defined());
        let (orders, receiver) = async_channel::unbounded();
        let task = self.scope.spawn(Keeper::new(contact).keep(receiver, self.end.clone()));
        self.kept.push(Kept { identity, is_as_defined, orders, task });
    }
}
