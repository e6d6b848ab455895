//! Who keeps a server open, and carries requests to it for all visitors.

use std::convert::Infallible;
use std::rc::Rc;

use async_channel::Receiver;
use futures_lite::FutureExt;

use super::listed::{Listed, Page};
use super::order::{Order, Request};
use super::visitor::Visitor;
use crate::cli::contact::Contact;
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::client::retry::Policy;
use crate::client::{Flights, Happening, Landed, NoResult, Observer, Reply, Terms};
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, Id, Notification};
use crate::protocol::method;
use crate::protocol::params::Params;
use crate::protocol::relay;
use crate::protocol::revision::Revision;
use crate::protocol::session::{Abilities, Asker, Call, Fate, Question};

/// A request under way.
#[derive(Debug)]
struct Errand {
    visitor: Rc<Visitor>,
    id: Id,
    /// The token under which the visitor wants to hear of progress, JSON text.
    token: Option<String>,
    /// The page of the list of tools that it asks for, if it does.
    page: Option<Page>,
}

/// A question that a visitor has been asked.
#[derive(Debug)]
struct Asked {
    /// Its id, as the visitor knows it.
    number: u64,
    visitor: u64,
    asker: Asker,
}

/// Whose request a question is about.
enum Caller {
    /// No request is under way.
    Nobody,
    /// This visitor's.
    Known(Rc<Visitor>),
    /// That of one of several visitors.
    OneOfSeveral,
}

/// What a server is told whose question cannot be handed on.
const UNKNOWN_CALLER: &str =
    "several calls are under way, and nothing tells which of them the question is about";

/// Keeps one server.
pub(super) struct Keeper<'a> {
    contact: Contact<'a>,
    flights: Flights<Errand>,
    visitors: Vec<Rc<Visitor>>,
    /// Questions of the server that a visitor has been asked.
    questions: Vec<Asked>,
    /// How many there were so far.
    asked: u64,
    /// What the server said about itself.
    greeting: Option<Json>,
    listed: Listed,
    starts: u32,
}

/// What happened next.
enum Step {
    End,
    Order(Order),
    Happened(Box<Happening<Errand>>),
}

impl<'a> Keeper<'a> {
    /// A keeper of a server that is not open yet.
    pub(super) fn new(mut contact: Contact<'a>) -> Keeper<'a> {
        // A visitor may want to watch, or to be asked.
        contact.listen();
        Keeper {
            contact,
            // Whoever asks knows best what may be sent again.
            flights: Flights::new(Policy::ONCE),
            visitors: Vec::new(),
            questions: Vec::new(),
            asked: 0,
            greeting: None,
            listed: Listed::default(),
            starts: 0,
        }
    }

    /// Keeps the server until the session ends, and hands it back to be closed.
    pub(super) async fn keep(
        mut self,
        orders: Receiver<Order>,
        end: Receiver<Infallible>,
    ) -> Contact<'a> {
        loop {
            match self.step(&orders, &end).await {
                Step::End => return self.contact,
                Step::Happened(happening) => self.heed(*happening),
                Step::Order(Order::Open(reply)) => {
                    let opened = self.open().or(ended(&end)).await;
                    let _ = reply.send(opened.map(drop).map_err(|(error, _)| error)).await;
                }
                Step::Order(Order::Join(visitor)) => {
                    let opened = self.open().or(ended(&end)).await;
                    self.welcome(visitor, opened);
                }
                Step::Order(order) => self.obey(order),
            }
        }
    }

    async fn step(&mut self, orders: &Receiver<Order>, end: &Receiver<Infallible>) -> Step {
        let ended = async {
            let _ = end.recv().await;
            Step::End
        };
        let order = async {
            match orders.recv().await {
                Ok(order) => Step::Order(order),
                Err(_) => Step::End,
            }
        };
        let happened = async {
            match self.contact.link() {
                Ok((link, _)) => Step::Happened(Box::new(self.flights.next(link).await)),
                // It is told to whoever wants to open the server.
                Err(_) => futures_lite::future::pending().await,
            }
        };
        ended.or(happened).or(order).await
    }

    /// Opens the server, if it is not open, and makes sure that it answers.
    async fn open(&mut self) -> Result<&'static Revision, (Error, Fate)> {
        let link = self.contact.link().map_err(|error| (error, Fate::Settled));
        let (link, watcher) = link?;
        let settled = link.settle(&Policy::ONCE, watcher).await;
        let revision = match settled {
            Ok(revision) => revision,
            Err(no_result) => return Err(self.explain(no_result)),
        };
        self.note_start();
        if self.greeting.is_none() {
            let greeting = self.greet().await?;
            let consent = &mut self.contact.watcher.consent;
            consent.greet(greeting.as_str()).map_err(|error| (error, Fate::Settled))?;
            self.greeting = Some(greeting);
        }
        Ok(revision)
    }

    /// What the server says about itself: when the session was opened, or now.
    async fn greet(&mut self) -> Result<Json, (Error, Fate)> {
        if let Some(greeting) = self.contact.about().and_then(|about| about.greeting.clone()) {
            return Ok(greeting);
        }
        let mut call = self.contact.prepare(method::DISCOVER, Params::new(), Vec::new());
        call.deadline = None;
        let mut flights = Flights::new(Policy::ONCE);
        flights.begin((), call, false);
        let landed = self.contact.landed(&mut flights).await;
        let landed = landed.map_err(|error| (error, Fate::Settled))?;
        landed.result.map_err(|no_result| self.explain(no_result))
    }

    fn explain(&self, no_result: NoResult) -> (Error, Fate) {
        let fate = no_result.fate();
        (self.contact.explain(no_result), fate)
    }

    /// Says so when the server has been started anew: what it kept in memory is gone.
    fn note_start(&mut self) {
        let starts = self.contact.starts();
        if 0 < self.starts && self.starts < starts {
            let name = &self.contact.server.name;
            let text = format!(
                "{name}: the server had ended and was started anew ({starts} times now); what it kept in memory is gone"
            );
            self.contact.run.warn(&text);
            self.forget();
        }
        self.starts = starts;
    }

    /// What was learnt of the server counts no more: it is another session, perhaps with another server.
    fn forget(&mut self) {
        self.greeting = None;
        self.listed.forget();
    }

    fn welcome(&mut self, visitor: Rc<Visitor>, opened: Result<&'static Revision, (Error, Fate)>) {
        let id = Id::from_json(&relay::OPENING_ID.to_string());
        match opened {
            Ok(revision) => {
                let (greeting, tools) = (self.greeting.as_ref(), self.listed.digest());
                visitor.looked_on.set(tools.is_some().then_some(self.starts));
                visitor.answer(&id, Ok(&relay::opened(revision, greeting, tools.as_deref())));
                self.visitors.push(visitor);
            }
            Err((error, fate)) => visitor.fail(&id, &error, fate),
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Open(_) | Order::Join(_) => (),
            Order::Request(request) => self.carry(request),
            Order::Cancel { visitor, id, reason } => {
                self.cancel(&reason, |errand| errand.visitor.number == visitor && errand.id == id);
            }
            Order::Answer { visitor, question, outcome } => {
                let answered = |asked: &mut Asked| {
                    asked.visitor == visitor && question.as_json() == asked.number.to_string()
                };
                let asked = self.questions.extract_if(.., answered).next();
                if let Some(asked) = asked {
                    self.answer(asked.asker, outcome);
                }
            }
            Order::Leave(visitor) => {
                self.visitors.retain(|other| other.number != visitor);
                self.cancel("the caller has gone", |errand| errand.visitor.number == visitor);
                let unanswered = self.questions.extract_if(.., |asked| asked.visitor == visitor);
                for asked in unanswered.collect::<Vec<_>>() {
                    self.answer(asked.asker, Err(ErrorObject::method_not_found()));
                }
            }
        }
    }

    /// Sends a request. Its limits are the visitor's, who takes it back when they have passed.
    fn carry(&mut self, request: Request) {
        let Request { visitor, id, method, params, mirrored } = request;
        // Tokens of several visitors may be the same, so the session gives out its own.
        let (params, token) = params.without_meta("progressToken");
        let page = (*method == *method::LIST_TOOLS).then(|| self.listed.begin(&params));
        if page.is_some() {
            visitor.looked_on.set(Some(self.contact.connection()));
        }
        // Who has looked at the tools of a server does not call those of the next.
        let connection = visitor.looked_on.get().filter(|_| *method == *method::CALL_TOOL);
        let terms = Terms { connection, ..Terms::default() };
        let call = Call { method, params, mirrored, ..Call::default() };
        self.flights.begin_on(Errand { visitor, id, token, page }, call, terms);
    }

    fn cancel(&mut self, reason: &str, chosen: impl FnMut(&Errand) -> bool) {
        if let Ok((link, _)) = self.contact.link() {
            self.flights.cancel(link, reason, chosen);
        }
    }

    fn answer(&mut self, to: Asker, outcome: Result<String, ErrorObject>) {
        if let Ok((link, _)) = self.contact.link() {
            self.flights.answer(link, to, outcome);
        }
    }

    fn heed(&mut self, happening: Happening<Errand>) {
        self.note_start();
        match happening {
            Happening::Landed(landed) => self.deliver(landed),
            Happening::Notified(notification) => {
                self.contact.watcher.changes.note(&notification.method);
                if self.contact.watcher.changes.contain(method::LIST_TOOLS) {
                    self.listed.forget();
                }
                self.contact.heed_changes(None);
                self.spread(&notification);
            }
            Happening::Asked(question) => self.ask(question),
            Happening::Withdrawn(asker) => self.withdraw(&asker),
            // Subscriptions are the visitors' own.
            Happening::Subscribed(_) | Happening::Listening(_) => (),
            // Calls have told what became of them.
            Happening::Closed(_) => self.part(),
            Happening::Opened(_) => {
                self.forget();
                if let Ok((link, watcher)) = self.contact.link() {
                    link.introduce(watcher);
                }
            }
            Happening::Odd(oddity) => {
                if let Ok((link, watcher)) = self.contact.link()
                    && !watcher.odd(&oddity)
                {
                    self.flights.reject(link, &oddity);
                }
            }
        }
    }

    /// Gives a visitor the answer to its request.
    fn deliver(&mut self, landed: Landed<Errand>) {
        let Landed { tag: Errand { visitor, id, page, .. }, result } = landed;
        if let (Some(page), Ok(result)) = (page, &result) {
            self.listed.take(page, result);
        }
        match result {
            Ok(result) => visitor.answer(&id, Ok(result.as_str())),
            Err(NoResult::Error(error)) => visitor.answer(&id, Err(&error)),
            Err(no_result) => {
                let is_moved = matches!(no_result, NoResult::Moved { .. });
                let (error, fate) = self.explain(no_result);
                visitor.fail(&id, &error, fate);
                if is_moved {
                    // The visitor looks at the tools again, and then calls again.
                    self.listed.forget();
                }
            }
        }
    }

    /// Parts with those who have looked at the tools of a server that is lost: they come back on a new
    /// connection, as they would to the server itself, and look again.
    fn part(&mut self) {
        let has_looked = |visitor: &mut Rc<Visitor>| visitor.looked_on.get().is_some();
        self.visitors.extract_if(.., has_looked).for_each(|visitor| visitor.hang_up());
    }

    /// Tells the visitor that a notification is for, or all when that is not known.
    fn spread(&mut self, notification: &Notification) {
        let (method, params) = (&*notification.method, notification.params.as_ref());
        let ticket = self.contact.session().zip(params);
        let ticket = ticket.and_then(|(session, it)| session.call_of_notification(it.as_str()));
        if let Some((errand, params)) = ticket.and_then(|it| self.flights.tag(it)).zip(params) {
            let Errand { visitor, id, token, .. } = errand;
            let params = relay::readdress(params.as_str(), token.as_deref(), id);
            return visitor.notify(method, Some(&params));
        }
        // Progress of a call that is over concerns nobody. What is cancelled has another id here,
        // see `withdraw`.
        if !matches!(method, method::PROGRESS | method::CANCELLED) {
            let params = params.map(Json::as_str);
            self.visitors.iter().for_each(|visitor| visitor.notify(method, params));
        }
    }

    /// Takes a question back from the visitor that was asked it.
    fn withdraw(&mut self, asker: &Asker) {
        let Some(asked) = self.questions.extract_if(.., |asked| asked.asker == *asker).next()
        else {
            return;
        };
        if let Some(visitor) = self.visitors.iter().find(|other| other.number == asked.visitor) {
            let params = format!("{{\"requestId\":{}}}", asked.number);
            visitor.notify(method::CANCELLED, Some(&params));
        }
    }

    /// Whose request a question is about: that on whose stream it came, or any, if all that are under
    /// way are of one visitor.
    fn caller(&self, question: &Question) -> Caller {
        if let Some(errand) = question.during.and_then(|ticket| self.flights.tag(ticket)) {
            return Caller::Known(errand.visitor.clone());
        }
        let mut callers = self.flights.flying().map(|errand| &errand.visitor);
        match callers.next() {
            None => Caller::Nobody,
            Some(first) if callers.all(|other| other.number == first.number) => {
                Caller::Known(first.clone())
            }
            Some(_) => Caller::OneOfSeveral,
        }
    }

    /// Asks the visitor whose request the server works on, if that is known and it can answer; else
    /// answers as the session's own command line says. When that has no answer either, the visitor
    /// should know of the question that its call may fail for. Who is not known is not asked: the
    /// question of one call must not be answered by another.
    fn ask(&mut self, question: Question) {
        let answerable = can_answer(self.contact.watcher.abilities(), &question);
        let fits = |caller: &Rc<Visitor>| !answerable || can_answer(caller.abilities, &question);
        match self.caller(&question) {
            Caller::OneOfSeveral if !answerable => {
                let (name, method) = (&self.contact.server.name, &question.method);
                self.contact.run.warn(&format!(
                    "{name}: a question of the server ({method}) was refused: several calls are under \
                     way, and nothing tells which of them it is about; give its answer to `session`"
                ));
                self.answer(question.from, Err(ErrorObject::internal(UNKNOWN_CALLER)));
            }
            Caller::Known(caller) if fits(&caller) => {
                self.asked += 1;
                caller.ask(self.asked, &question.method, question.params.as_ref());
                let (number, visitor) = (self.asked, caller.number);
                self.questions.push(Asked { number, visitor, asker: question.from });
            }
            _ => {
                let Ok((link, watcher)) = self.contact.link() else { return };
                let answer = match watcher.asked(&question) {
                    Reply::Answer(answer) => answer,
                    Reply::Later(answer) => return link.ponder(question.from, answer),
                    Reply::End => Err(ErrorObject::method_not_found()),
                };
                self.answer(question.from, answer);
            }
        }
    }
}

/// Ready when the session ends.
async fn ended<T>(end: &Receiver<Infallible>) -> Result<T, (Error, Fate)> {
    let _ = end.recv().await;
    Err((Error::new(Exit::Unreachable, "the session is over"), Fate::NotRun))
}

fn can_answer(abilities: Abilities, question: &Question) -> bool {
    match &*question.method {
        method::ELICIT if question.mode() == "url" => abilities.urls,
        method::ELICIT => abilities.forms,
        method::SAMPLE => abilities.sampling,
        method::LIST_ROOTS => abilities.roots,
        _ => false,
    }
}
