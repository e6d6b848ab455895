//! The requests that would carry messages, without sending them (`--dry-run`).

use std::sync::Arc;

use http::header::HeaderValue;

use super::{Target, head};
use crate::net::{InvalidHeader, InvalidSettings, Lanes, Request};
use crate::protocol::Outgoing;
use crate::protocol::method::INITIALIZE;
use crate::protocol::trace::Record;

/// Why a request cannot be made.
#[derive(Debug)]
pub enum Impossible {
    /// A setting cannot be carried out.
    Settings(InvalidSettings),
    /// A part of the message cannot stand in a header.
    Header(InvalidHeader),
}

/// A request as it would go out, with all header fields but those that the HTTP library adds:
/// `Host`, `Content-Length` and `Accept-Encoding`.
#[derive(Debug)]
pub struct Preview {
    request: Request,
    headers: http::HeaderMap,
}

/// The requests that would carry these messages, in order. With `sse`, the binding of 2024-11-05,
/// one that opens the stream goes before them; where the others go to, only the server knows.
pub fn preview(
    target: &Target,
    outgoing: &[Outgoing],
    sse: bool,
) -> Result<Vec<Preview>, Impossible> {
    let lanes = Lanes::new(&target.address, target.settings.clone());
    let lanes = lanes.map_err(Impossible::Settings)?;
    // What a server would hand out; nobody knows it yet.
    let unknown = HeaderValue::from_static("unknown");
    let mut session = None;
    let mut requests = Vec::new();
    if sse {
        requests.push(Request::get(target.address.clone(), head::event_stream()));
    }
    for outgoing in outgoing {
        let address = target.address.clone();
        let request = match outgoing {
            Outgoing::Deliver(delivery) => {
                let headers = head::post(&delivery.head, session).map_err(Impossible::Header)?;
                if delivery.head.method == INITIALIZE && !sse {
                    session = Some(&unknown);
                }
                Request::post(address, headers, Arc::new(delivery.body.clone().into_bytes()))
            }
            Outgoing::Listen(revision) if !sse => {
                let headers = head::get(revision, session, None).map_err(Impossible::Header)?;
                Request::get(address, headers)
            }
            Outgoing::Listen(_) | Outgoing::Cancel { .. } => continue,
        };
        requests.push(request);
    }
    let preview = |request| Preview { headers: lanes.headers(&request), request };
    Ok(requests.into_iter().map(preview).collect())
}

impl Preview {
    /// Shows the request as a record of a trace.
    pub fn show<T>(&self, show: impl FnOnce(&Record<'_>) -> T) -> T {
        let headers = self.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()))
            .collect();
        show(&Record::Request {
            method: self.request.method.as_str(),
            url: self.request.address.as_str(),
            headers: &headers,
            body: self.request.body.as_ref().map(|body| body.as_slice()),
        })
    }
}
