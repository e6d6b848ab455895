//! One message, and what the server says in reply.

use std::sync::Arc;
use std::time::Duration;

use super::endpoint::{Binding, Endpoint};
use super::events::{BLOCK, FIRST, too_long};
use super::messages::{Asked, Found};
use super::outcome::{Note, Unanswered};
use super::{follow, refusal};
use crate::net::{Body, Reply};
use crate::protocol::Incoming;
use crate::protocol::framing;
use crate::protocol::jsonrpc::{Malformed, Unusual};
use crate::protocol::message::{Ending, Fault, FaultKind, Head, Refused, Sent};
use crate::protocol::method::INITIALIZE;
use crate::protocol::trace::Direction;
use crate::reactor::queue::Sender;
use crate::reactor::timeout;
use crate::transport::sse;

/// How long a one-way message may wait for its acknowledgement.
const ONE_WAY_PATIENCE: Duration = Duration::from_secs(30);

/// How long a server of 2024-11-05 may take to name its endpoint, when it was only a guess that it
/// is one.
const SSE_PATIENCE: Duration = Duration::from_secs(5);

/// How much of a body that is no JSON is read, in bytes, and for how long.
const LONGEST_OTHER: usize = 64 << 10;
const OTHER_PATIENCE: Duration = Duration::from_secs(1);

/// A request to deliver.
#[derive(Debug)]
pub(super) struct Call {
    pub id: u64,
    pub head: Head,
    pub body: Arc<Vec<u8>>,
}

/// Delivers a request and reports all that comes in reply, its failure included.
pub(super) async fn request(endpoint: &Endpoint, call: &Call, notes: &Sender<Note>) {
    let Err(unanswered) = deliver(endpoint, call, notes).await else { return };
    endpoint
        .report(match unanswered {
            Unanswered::Ended(how) => Incoming::Ended { id: call.id, how },
            Unanswered::Broken(fault) => Incoming::Broken { id: Some(call.id), fault },
            Unanswered::Refused(refused) => Incoming::Refused(refused),
        })
        .await;
}

async fn deliver(endpoint: &Endpoint, call: &Call, notes: &Sender<Note>) -> Result<(), Unanswered> {
    open_if_closed(endpoint, call, notes).await?;
    match post(endpoint, call).await {
        Err(Unanswered::Refused(first)) if may_fall_back(endpoint, call, &first) => {
            fall_back(endpoint, call, notes, first).await?;
            post(endpoint, call).await
        }
        result => result,
    }
}

/// Opens the stream of HTTP+SSE if that is the binding.
async fn open_if_closed(
    endpoint: &Endpoint,
    call: &Call,
    notes: &Sender<Note>,
) -> Result<(), Unanswered> {
    let _one_at_a_time = endpoint.opening.lock().await;
    if endpoint.binding.get() == Binding::SseClosed {
        let stream = sse::open(endpoint, call.id).await?;
        let _ = notes.send(Note::Opened(Box::new(stream))).await;
    }
    Ok(())
}

/// Turns to the binding of 2024-11-05 after a first refusal.
async fn fall_back(
    endpoint: &Endpoint,
    call: &Call,
    notes: &Sender<Note>,
    first: Box<Refused>,
) -> Result<(), Unanswered> {
    match timeout(SSE_PATIENCE, sse::open(endpoint, call.id)).await {
        Some(Ok(stream)) => {
            let _ = notes.send(Note::Opened(Box::new(stream))).await;
            Ok(())
        }
        // It is such a server, and breaks the rules.
        Some(Err(Unanswered::Broken(fault))) if fault.kind == FaultKind::Protocol => {
            Err(Unanswered::Broken(fault))
        }
        // It is none: the first refusal tells more than the failure of a guess.
        _ => Err(Unanswered::Refused(first)),
    }
}

/// Whether the server may speak the binding of 2024-11-05 instead.
fn may_fall_back(endpoint: &Endpoint, call: &Call, refused: &Refused) -> bool {
    endpoint.sse_fallback
        && endpoint.binding.get() == Binding::Streamable
        && call.head.method == INITIALIZE
        && refusal::may_speak_sse(refused)
}

/// One POST.
async fn post(endpoint: &Endpoint, call: &Call) -> Result<(), Unanswered> {
    let in_session = endpoint.in_session(&call.head);
    let reply = endpoint.post(&call.head, &call.body).await.map_err(Unanswered::Broken)?;
    if !reply.status.is_success() {
        let refused = refusal::read(endpoint, reply, Some(call.id), in_session).await;
        return Err(Unanswered::Refused(Box::new(refused)));
    }
    let asked = Asked { id: call.id, body: &call.body };
    let content_type = reply.content_type();
    if endpoint.binding.get() == Binding::SseOpen {
        return acknowledged(endpoint, reply, &content_type, asked).await;
    }
    if content_type == "text/event-stream" {
        endpoint.report(Incoming::Responding(call.id)).await;
        return follow::answer(endpoint, reply.body, call.head.revision, asked).await;
    }
    answered(endpoint, reply, &content_type, asked).await
}

/// The answer that is one body.
async fn answered(
    endpoint: &Endpoint,
    mut reply: Reply,
    content_type: &str,
    asked: Asked<'_>,
) -> Result<(), Unanswered> {
    let form = form_of(content_type);
    let body = match form {
        Form::Other => reply.body.read_up_to(LONGEST_OTHER, OTHER_PATIENCE).await,
        Form::Json | Form::Odd => {
            let whole = read_whole(&mut reply.body, endpoint.limits.message);
            whole.await.map_err(Unanswered::Broken)?
        }
    };
    if body.trim_ascii().is_empty() {
        let status = reply.status.as_u16();
        return Err(no_answer(format!("the server answered HTTP {status} without a body")));
    }
    match form {
        Form::Json => (),
        Form::Odd => endpoint.report(Incoming::Unusual(Unusual::ContentType)).await,
        Form::Other => {
            endpoint.trace.frame(Direction::In, &body);
            let why = format!("the server answered with {content_type}, which is not MCP");
            return Err(no_answer(why));
        }
    }
    let found = endpoint.deliver(body, Some(asked)).await;
    if found.answered { Ok(()) } else { Err(no_answer(why_no_answer(&found, asked.id))) }
}

fn no_answer(why: String) -> Unanswered {
    Unanswered::Ended(Ending::NoAnswer(why))
}

fn why_no_answer(found: &Found, asked: u64) -> String {
    match (&found.malformed, &found.other_id) {
        (Some(Malformed::Json { excerpt }), _) => format!("the answer is not JSON: {excerpt}"),
        (Some(Malformed::TooDeep { limit, .. }), _) => {
            format!("the answer is nested deeper than {limit} levels")
        }
        (Some(Malformed::Shape { excerpt, .. }), _) => {
            format!("the answer is no JSON-RPC message: {excerpt}")
        }
        (None, Some(id)) => format!("the answer is for request {id}, not {asked}"),
        (None, None) => "the answer holds no response".to_owned(),
    }
}

/// What a content type promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// JSON.
    Json,
    /// Something else, which servers that send JSON are known to say.
    Odd,
    /// Something else.
    Other,
}

fn form_of(content_type: &str) -> Form {
    match content_type {
        "application/json" => Form::Json,
        "" | "text/plain" | "text/json" | "application/octet-stream" => Form::Odd,
        _ if content_type.ends_with("+json") => Form::Json,
        _ => Form::Other,
    }
}

/// In HTTP+SSE the answer comes on the stream. Some servers also send it here.
async fn acknowledged(
    endpoint: &Endpoint,
    mut reply: Reply,
    content_type: &str,
    asked: Asked<'_>,
) -> Result<(), Unanswered> {
    if content_type != "application/json" {
        reply.body.discard().await;
        return Ok(());
    }
    let limit = endpoint.limits.message;
    let body = read_whole(&mut reply.body, limit).await.map_err(Unanswered::Broken)?;
    if body.starts_with(b"{") {
        endpoint.deliver(body, Some(asked)).await;
    }
    Ok(())
}

async fn read_whole(body: &mut Body, limit: usize) -> Result<Vec<u8>, Fault> {
    let mut whole = Vec::new();
    loop {
        let end = whole.len();
        // Most bodies are short, and memory that is not used need not be had.
        let block = if end < FIRST { FIRST } else { BLOCK };
        if whole.capacity() - end < FIRST / 2 {
            framing::make_room(&mut whole, block, limit);
        }
        whole.resize(whole.capacity().min(end + block), 0);
        let length = body.read(&mut whole[end..]).await?;
        whole.truncate(end + length);
        match length {
            0 => return Ok(whole),
            _ if whole.len() > limit => return Err(too_long(limit)),
            _ => (),
        }
    }
}

/// Delivers a message that has no answer. `taken` is told as soon as the server has it.
pub(super) async fn one_way(
    endpoint: &Endpoint,
    head: &Head,
    body: &Arc<Vec<u8>>,
    taken: Sender<()>,
) {
    let in_session = endpoint.in_session(head);
    let delivering = async {
        let mut reply = endpoint.post(head, body).await?;
        if reply.status.is_success() {
            taken.close();
            // Whatever the body says, nobody has asked.
            reply.body.discard().await;
            return Ok(None);
        }
        Ok(Some(refusal::read(endpoint, reply, None, in_session).await))
    };
    let too_late =
        || Fault::new(FaultKind::Lost, "the server did not acknowledge a message", Sent::Maybe);
    match timeout(ONE_WAY_PATIENCE, delivering).await.unwrap_or_else(|| Err(too_late())) {
        Ok(None) => (),
        Ok(Some(refused)) => endpoint.report(Incoming::Refused(Box::new(refused))).await,
        Err(fault) => endpoint.report(Incoming::Broken { id: None, fault }).await,
    }
}
