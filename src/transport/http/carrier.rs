//! Carries out what the client wants done, side by side where the order does not matter.
//!
//! ```text
//! outbox ──▶ queue ──▶ request   ──▶ an exchange of its own, at once
//!              │   ──▶ one-way   ──▶ what stands behind it waits until the server has it
//!              │   ──▶ listen    ──▶ the listener
//!           cancel ──▶ drops the exchange, which hangs up
//! ```

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::FutureExt;
use smol::{LocalExecutor, Task};

use super::endpoint::{Binding, Endpoint};
use super::events::EventReader;
use super::exchange::{self, Call};
use super::listen;
use super::outcome::Note;
use crate::protocol::message::{Delivery, Head, Listening};
use crate::protocol::method::INITIALIZE;
use crate::protocol::revision::{HttpCancel, Revision};
use crate::protocol::{Incoming, Outgoing};
use crate::reactor::queue::{self, Receiver, Sender};
use crate::reactor::{Timer, timeout};
use crate::transport::{OUTBOX, sse};

/// How long the rest of the queue waits for a server that does not acknowledge a message.
const TURN: Duration = Duration::from_secs(2);

/// How long the last messages and the end of the session may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Something that keeps its place in the order.
#[derive(Debug)]
enum Queued {
    Request(Call),
    /// A message without an answer, and the exchange to hang up when it is delivered.
    OneWay(Head, Arc<Vec<u8>>, Option<Task<()>>),
    Listen(&'static Revision),
}

/// What happens next.
#[derive(Debug)]
enum Step {
    Outgoing(Outgoing),
    Note(Note),
    Turn,
    Closed,
}

/// A request under way.
#[derive(Debug)]
struct Open {
    exchange: Task<()>,
    cancel: HttpCancel,
}

/// A one-way message under way: closed when the server has it.
#[derive(Debug)]
struct Turn {
    taken: Receiver<()>,
    patience: Timer,
}

/// Carries out what comes from the outbox.
pub(super) struct Carrier<'s, 'e> {
    endpoint: &'s Endpoint,
    // Exchanges run here, and none outlives the carrier's caller.
    exchanges: &'e LocalExecutor<'s>,
    end_session: bool,
    notes: (Sender<Note>, Receiver<Note>),
    queue: VecDeque<Queued>,
    open: HashMap<u64, Open>,
    turn: Option<Turn>,
    listener: Option<Task<()>>,
    stream: Option<Task<()>>,
}

impl<'s, 'e> Carrier<'s, 'e> {
    pub(super) fn new(
        endpoint: &'s Endpoint,
        exchanges: &'e LocalExecutor<'s>,
        end_session: bool,
    ) -> Carrier<'s, 'e> {
        Carrier {
            endpoint,
            exchanges,
            end_session,
            notes: queue::unbounded(),
            queue: VecDeque::new(),
            open: HashMap::new(),
            turn: None,
            listener: None,
            stream: None,
        }
    }

    /// Runs until the outbox is closed, and then says farewell to the server unless the calm is
    /// over.
    pub(super) async fn carry(mut self, outbox: &Receiver<Outgoing>, calm: &Receiver<Infallible>) {
        loop {
            self.start_what_may_go();
            match self.next_step(outbox).await {
                Step::Outgoing(outgoing) => self.take(outgoing),
                Step::Note(Note::Finished(id)) => drop(self.open.remove(&id)),
                Step::Note(Note::Opened(stream)) => self.read_stream(*stream),
                Step::Note(Note::Closed(fault)) => {
                    return self.endpoint.report(Incoming::Closed(fault)).await;
                }
                Step::Turn => self.turn = None,
                Step::Closed => return self.say_farewell(calm).await,
            }
        }
    }

    async fn next_step(&mut self, outbox: &Receiver<Outgoing>) -> Step {
        let turn = async {
            match &mut self.turn {
                Some(turn) => turn.pass().await,
                None => std::future::pending().await,
            }
            Step::Turn
        };
        let note = async { Step::Note(self.notes.1.recv().await.expect("we hold the sender")) };
        let is_crowded = OUTBOX <= self.queue.len();
        let outgoing = async {
            match is_crowded {
                // What comes stays where the client sees it, until the client has gone.
                true => {
                    self.endpoint.abandoned().await;
                    Step::Closed
                }
                false => outbox.recv().await.map_or(Step::Closed, Step::Outgoing),
            }
        };
        turn.or(note).or(outgoing).await
    }

    fn take(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Deliver(delivery) => self.queue.push_back(Queued::new(delivery, None)),
            Outgoing::Listen(revision) => self.queue.push_back(Queued::Listen(revision)),
            Outgoing::Cancel { id, notice } => self.cancel(id, notice),
        }
    }

    fn cancel(&mut self, id: u64, notice: Option<Delivery>) {
        let is_it = |queued: &Queued| matches!(queued, Queued::Request(call) if call.id == id);
        if let Some(at) = self.queue.iter().position(is_it) {
            // The server does not know of it.
            self.queue.remove(at);
            return;
        }
        let open = self.open.remove(&id);
        // On the one stream of HTTP+SSE nobody can hang up, and a request is not over when its
        // exchange is.
        let by_notice = match &open {
            _ if self.endpoint.binding.get() == Binding::SseOpen => true,
            Some(open) => open.cancel == HttpCancel::Notice,
            None => false,
        };
        // To drop an exchange is to hang up.
        let exchange = open.map(|open| open.exchange);
        if let Some(notice) = notice.filter(|_| by_notice) {
            self.queue.push_back(Queued::new(notice, exchange));
        }
    }

    /// Starts what stands in the queue, up to the first message that others have to wait for.
    fn start_what_may_go(&mut self) {
        while self.turn.is_none() {
            match self.queue.pop_front() {
                Some(Queued::Request(call)) => self.start_request(call),
                Some(Queued::OneWay(head, body, then)) => self.start_one_way(head, body, then),
                Some(Queued::Listen(revision)) => self.start_listening(revision),
                None => return,
            }
        }
    }

    fn start_request(&mut self, call: Call) {
        if call.head.method == INITIALIZE {
            // The old session is over, and so is what it had to say.
            self.listener = None;
        }
        let (endpoint, notes) = (self.endpoint, self.notes.0.clone());
        let (id, cancel) = (call.id, call.head.revision.http_cancel);
        let exchange = self.exchanges.spawn(async move {
            exchange::request(endpoint, &call, &notes).await;
            let _ = notes.send(Note::Finished(call.id)).await;
        });
        self.open.insert(id, Open { exchange, cancel });
    }

    fn start_one_way(&mut self, head: Head, body: Arc<Vec<u8>>, then: Option<Task<()>>) {
        let endpoint = self.endpoint;
        let (taking, taken) = queue::bounded(1);
        let delivering = async move {
            exchange::one_way(endpoint, &head, &body, taking).await;
            drop(then);
        };
        self.exchanges.spawn(delivering).detach();
        self.turn = Some(Turn { taken, patience: Timer::after(TURN) });
    }

    fn start_listening(&mut self, revision: &'static Revision) {
        let endpoint = self.endpoint;
        self.listener = Some(self.exchanges.spawn(async move {
            match endpoint.binding.get() {
                Binding::Streamable => listen::listen(endpoint, revision).await,
                // The one stream carries everything.
                _ => endpoint.report(Incoming::Listening(Listening::Open)).await,
            }
        }));
    }

    fn read_stream(&mut self, stream: EventReader) {
        let (endpoint, notes) = (self.endpoint, self.notes.0.clone());
        self.stream = Some(self.exchanges.spawn(async move {
            let fault = sse::read(endpoint, stream).await;
            let _ = notes.send(Note::Closed(fault)).await;
        }));
    }

    /// Hangs up everything, delivers the one-way messages that are left and ends the session.
    async fn say_farewell(mut self, calm: &Receiver<Infallible>) {
        self.open.clear();
        self.listener = None;
        self.queue.retain(|queued| matches!(queued, Queued::OneWay(..)));
        let farewell = async {
            loop {
                self.start_what_may_go();
                match &mut self.turn {
                    Some(turn) => turn.pass().await,
                    None => break,
                }
                self.turn = None;
            }
            if self.end_session {
                self.endpoint.end_session().await;
            }
        };
        let hurry = async {
            // Nothing is sent on the channel; it closes.
            let _ = calm.recv().await;
        };
        timeout(FAREWELL, farewell.or(hurry)).await;
    }
}

impl Turn {
    async fn pass(&mut self) {
        let taken = async {
            // Nothing is sent on the channel; it closes.
            let _ = self.taken.recv().await;
        };
        let too_late = async {
            (&mut self.patience).await;
        };
        taken.or(too_late).await;
    }
}

impl Queued {
    fn new(delivery: Delivery, then: Option<Task<()>>) -> Queued {
        let Delivery { id, head, body } = delivery;
        let body = Arc::new(body.into_bytes());
        match id {
            Some(id) => Queued::Request(Call { id, head, body }),
            None => Queued::OneWay(head, body, then),
        }
    }
}
