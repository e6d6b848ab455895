//! The authorizer, at work or not.
//!
//! What it does can take long, and must not be broken off: a refresh token that was sent and whose
//! answer nobody reads is lost, and a person should see one page and not two. So its work is kept
//! here as a future of its own, and goes on whoever waits for it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::auth::{AuthError, Authorizer, Brake, TokenRecord};
use crate::env::Secret;
use crate::protocol::session::Challenged;

/// What the authorizer does.
type Work = Pin<Box<dyn Future<Output = (Box<Authorizer>, Result<(), AuthError>)>>>;

/// The authorizer of a connection, if it has one.
#[derive(Default)]
pub(super) struct Guard {
    state: State,
    denial: Option<AuthError>,
    brake: Brake,
}

#[derive(Default)]
enum State {
    /// There is none.
    #[default]
    Absent,
    /// It has nothing to do.
    Idle(Box<Authorizer>),
    /// It renews the token, which the next request needs.
    Renewing(Work),
    /// It answers a challenge.
    Answering(Work),
}

impl Guard {
    pub(super) fn new(authorizer: Option<Box<Authorizer>>) -> Guard {
        let brake = authorizer.as_deref().map(Authorizer::brake).unwrap_or_default();
        let state = authorizer.map_or(State::Absent, State::Idle);
        Guard { state, denial: None, brake }
    }

    /// The authorizer, unless it is at work.
    pub(super) fn authorizer(&mut self) -> Option<&mut Authorizer> {
        match &mut self.state {
            State::Idle(authorizer) => Some(authorizer),
            _ => None,
        }
    }

    /// What must not be shown in a message.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        match &self.state {
            State::Idle(authorizer) => authorizer.secrets(),
            _ => Vec::new(),
        }
    }

    /// Who the server sees; `None` when it sees nobody, or somebody else in a moment.
    pub(super) fn account(&self) -> Option<String> {
        match &self.state {
            State::Idle(authorizer) => authorizer.record().map(TokenRecord::account),
            _ => None,
        }
    }

    /// Why the last challenge had no answer.
    pub(super) fn denial(&self) -> Option<&AuthError> {
        self.denial.as_ref()
    }

    /// Renews the token if the next request should not be sent without that.
    pub(super) async fn prepare(&mut self) {
        if let State::Idle(authorizer) = &mut self.state
            && authorizer.is_due()
            && let State::Idle(mut authorizer) = std::mem::take(&mut self.state)
        {
            self.state = State::Renewing(Box::pin(async move {
                let renewed = authorizer.prepare().await;
                (authorizer, renewed)
            }));
        }
        if let State::Renewing(work) = &mut self.state {
            // Whether it succeeded or not, the server will tell.
            let (authorizer, _) = work.await;
            self.state = State::Idle(authorizer);
        }
    }

    /// Begins to answer a challenge.
    pub(super) fn challenge(&mut self, challenged: Challenged) {
        if let State::Idle(mut authorizer) = std::mem::take(&mut self.state) {
            self.state = State::Answering(Box::pin(async move {
                let answer = authorizer.answer(&challenged.refused, challenged.round).await;
                (authorizer, answer)
            }));
        }
    }

    /// Whether a challenge is being answered.
    pub(super) fn is_answering(&self) -> bool {
        matches!(self.state, State::Answering(_))
    }

    /// Waits for the answer to a challenge: whether there are other credentials now. Never ready
    /// when there is no challenge.
    pub(super) async fn answered(&mut self) -> bool {
        let State::Answering(work) = &mut self.state else {
            return futures_lite::future::pending().await;
        };
        let (authorizer, answer) = work.await;
        self.state = State::Idle(authorizer);
        self.denial = answer.err();
        self.denial.is_none()
    }

    /// Waits for a renewal that is under way, but not for long, and for nothing else.
    pub(super) async fn finish(&mut self) {
        if let State::Renewing(work) | State::Answering(work) = &mut self.state {
            self.brake.stop(work).await;
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Absent => "Guard(absent)",
            State::Idle(_) => "Guard(idle)",
            State::Renewing(_) => "Guard(renewing)",
            State::Answering(_) => "Guard(answering)",
        })
    }
}
