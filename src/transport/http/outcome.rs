//! What becomes of exchanges.

use super::events::EventReader;
use crate::protocol::message::{Ending, Fault, Refused};

/// How an exchange ended that did not bring the response.
#[derive(Debug)]
pub(in crate::transport) enum Unanswered {
    /// It came to its end.
    Ended(Ending),
    /// It broke.
    Broken(Fault),
    /// The server would not take the request.
    Refused(Box<Refused>),
}

/// What an exchange tells the carrier.
#[derive(Debug)]
pub(super) enum Note {
    /// The exchange of this request is over.
    Finished(u64),
    /// The server speaks HTTP+SSE, and this is its stream.
    Opened(Box<EventReader>),
    /// The stream of HTTP+SSE is gone, and with it the connection.
    Closed(Fault),
}
