//! A visit: what a program that shares the session says, from its first line to its last.

use std::cell::Cell;
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use async_channel::{Receiver, Sender};
use async_io::Async;
use futures_lite::{AsyncReadExt, AsyncWriteExt, FutureExt};

use super::order::{Order, Request};
use super::visitor::Visitor;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::protocol::framing::jsonl::Lines;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::decode::Decoded;
use crate::protocol::jsonrpc::{Id, Limits, Message, decode, scan};
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::params::Params;
use crate::protocol::relay::{self, Opening};
use crate::protocol::session::Fate;

/// A visitor that waits for the server it wants.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The server.
    pub(super) opening: Opening,
    /// Where to say who keeps it, or why nobody does.
    pub(super) reply: Sender<Result<Sender<Order>, Error>>,
}

/// Serves one visitor until it goes.
pub(super) async fn serve(
    stream: Async<UnixStream>,
    number: u64,
    wanted: Sender<Wanted>,
    limits: Limits,
) {
    let (lines, outgoing) = async_channel::unbounded();
    let mut reader = Reader { stream: &stream, lines: Lines::new(limits.message), limits };
    let conversation = async {
        let Some(opening) = reader.opening().await else { return };
        let (abilities, looked_on) = (opening.abilities, Cell::default());
        let visitor = Rc::new(Visitor { number, abilities, looked_on, lines });
        let (reply, found) = async_channel::bounded(1);
        let _ = wanted.send(Wanted { opening, reply }).await;
        // Nobody answers any more when the session ends.
        let Ok(found) = found.recv().await else { return };
        match found {
            Ok(keeper) => {
                let _ = keeper.send(Order::Join(visitor.clone())).await;
                reader.orders(&visitor, &keeper).await;
                let _ = keeper.send(Order::Leave(number)).await;
            }
            Err(error) => {
                visitor.fail(&Id::from_json(&relay::OPENING_ID.to_string()), &error, Fate::NotRun);
                // It hangs up when it has heard.
                reader.read().await;
            }
        }
    };
    conversation.or(write(&stream, &outgoing)).await;
}

/// Writes lines until there are no more to come.
async fn write(mut stream: &Async<UnixStream>, outgoing: &Receiver<String>) {
    while let Ok(mut line) = outgoing.recv().await {
        line.push('\n');
        if stream.write_all(line.as_bytes()).await.is_err() {
            // What it still says is to be read.
            return futures_lite::future::pending().await;
        }
    }
}

struct Reader<'s> {
    stream: &'s Async<UnixStream>,
    lines: Lines,
    limits: Limits,
}

impl Reader<'_> {
    /// The next messages; none at the end.
    async fn read(&mut self) -> Vec<Message> {
        loop {
            let Ok(line) = self.lines.next_line() else { return Vec::new() };
            if let Some(line) = line {
                let mut found = Vec::new();
                decode(line, &self.limits, &mut |decoded| {
                    if let Decoded::Message(message) = decoded {
                        found.push(message);
                    }
                });
                return found;
            }
            match self.stream.read(self.lines.spare()).await {
                Ok(length @ 1..) => self.lines.filled(length),
                Ok(0) | Err(_) => return Vec::new(),
            }
        }
    }

    /// What it wants, which it must say first.
    async fn opening(&mut self) -> Option<Opening> {
        match self.read().await.pop()? {
            Message::Request(request) if &*request.method == relay::OPEN => {
                Opening::read(request.params?.as_str())
            }
            _ => None,
        }
    }

    /// Hands on what it wants until it goes.
    async fn orders(&mut self, visitor: &Rc<Visitor>, keeper: &Sender<Order>) {
        // Headers go before the request that they belong to.
        let mut headers = None;
        loop {
            let messages = self.read().await;
            if messages.is_empty() {
                return;
            }
            for message in messages {
                if let Message::Notification(notification) = &message
                    && &*notification.method == relay::HEADERS
                {
                    let params = notification.params.as_ref().map_or("{}", Json::as_str);
                    headers = relay::read_headers(params);
                    continue;
                }
                if let Some(order) = order(visitor, message, &mut headers) {
                    let _ = keeper.send(order).await;
                }
            }
        }
    }
}

type Headers = (Id, Vec<(String, String)>);

/// What a message asks the keeper for; `None` when nothing.
fn order(visitor: &Rc<Visitor>, message: Message, headers: &mut Option<Headers>) -> Option<Order> {
    match message {
        Message::Request(request) => {
            let params = request.params.as_ref().map_or("{}", Json::as_str);
            let Ok(params) = Params::from_object(params) else {
                let error = Error::new(Exit::Usage, "the parameters are no JSON object");
                let error = error.phase(Phase::Request).sent(Sent::No);
                visitor.fail(&request.id, &error, Fate::Settled);
                return None;
            };
            let headers = headers.take().filter(|(id, _)| *id == request.id);
            let mirrored = headers.map(|(_, headers)| headers).unwrap_or_default();
            Some(Order::Request(Request {
                visitor: visitor.clone(),
                id: request.id,
                method: request.method,
                params,
                mirrored,
            }))
        }
        Message::Notification(notification) if &*notification.method == method::CANCELLED => {
            let params = notification.params?;
            let id = Id::from_json(scan::member(params.as_str(), "requestId")?);
            let reason = scan::member(params.as_str(), "reason").and_then(scan::unescape);
            let reason = reason.unwrap_or_default().into_owned();
            Some(Order::Cancel { visitor: visitor.number, id, reason })
        }
        // Nothing else of what clients notify about concerns one call alone.
        Message::Notification(_) => None,
        Message::Response(response) => {
            let outcome = response.outcome.map(|answer| answer.result.as_str().to_owned());
            let outcome = outcome.map_err(|error| *error);
            Some(Order::Answer { visitor: visitor.number, question: response.id?, outcome })
        }
    }
}
