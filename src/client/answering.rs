//! Answers that take time: a person is asked, or a program. Meanwhile the conversation goes on.

use std::fmt;
use std::future::{self, Future};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::session::{Asker, Event};

/// An answer to come, JSON text, or why there will be none. To drop it is to ask no further.
pub struct Pondered(Pin<Box<dyn Future<Output = Answer>>>);

type Answer = Result<String, ErrorObject>;

impl Pondered {
    /// What a future comes up with.
    pub fn new(answer: impl Future<Output = Result<String, ErrorObject>> + 'static) -> Pondered {
        Pondered(Box::pin(answer))
    }
}

impl Future for Pondered {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        self.0.as_mut().poll(context)
    }
}

impl fmt::Debug for Pondered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pondered(…)")
    }
}

/// Questions whose answers are being found. The session bounds their number.
#[derive(Debug, Default)]
pub(super) struct Answering(Vec<(Asker, Pondered)>);

impl Answering {
    /// Begins to find an answer.
    pub(super) fn begin(&mut self, to: Asker, answer: Pondered) {
        self.0.push((to, answer));
    }

    /// Stops finding the answers that nobody wants after an event.
    pub(super) fn heed(&mut self, event: &Event) {
        self.0.retain(|(asker, _)| match (event, asker) {
            (Event::Withdrawn(unwanted), asker) => asker != unwanted,
            (Event::Answered(over, _) | Event::Failed(over, _), Asker::Call(ticket, _)) => {
                ticket != over
            }
            _ => true,
        });
    }

    /// The next answer that is found. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> (Asker, Answer) {
        future::poll_fn(|context| {
            for at in 0..self.0.len() {
                if let Poll::Ready(answer) = Pin::new(&mut self.0[at].1).poll(context) {
                    return Poll::Ready((self.0.remove(at).0, answer));
                }
            }
            Poll::Pending
        })
        .await
    }
}
