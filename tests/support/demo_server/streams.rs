//! Event streams: answers that come with other messages, changes, and the one stream of 2024-11-05.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::protocol::{Client, Incoming, Params, respond};
use crate::{Options, asking, changes};

/// How long a question may stay unanswered.
const PATIENCE: Duration = Duration::from_secs(60);

const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// Who waits for the answers to the server's own requests, by their ids.
static WAITING: Mutex<Option<HashMap<String, Sender<Value>>>> = Mutex::new(None);

/// The one stream of 2024-11-05.
static SSE: Mutex<Option<TcpStream>> = Mutex::new(None);

/// The client at the other end of a response, which becomes an event stream with the first message
/// that is not the response.
pub(crate) struct Stream {
    stream: TcpStream,
    streaming: bool,
}

impl Stream {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, streaming: false }
    }

    pub(crate) fn is_streaming(&self) -> bool {
        self.streaming
    }

    /// Sends a message; false when the client has gone.
    pub(crate) fn event(&mut self, message: &str) -> bool {
        let head = if self.streaming { "" } else { HEAD };
        self.streaming = true;
        let text = format!("{head}event: message\ndata: {message}\n\n");
        self.stream.write_all(text.as_bytes()).is_ok()
    }
}

impl Client for Stream {
    fn notify(&mut self, notification: &Value) {
        self.event(&notification.to_string());
    }

    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        let id = asking::next_id();
        let (sender, answer) = channel();
        waiting(|waiting| waiting.insert(id.clone(), sender));
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.event(&request.to_string());
        let answer = answer.recv_timeout(PATIENCE).ok();
        waiting(|waiting| waiting.remove(&id));
        answer.filter(|answer| !answer.is_null())
    }
}

fn waiting<T>(with: impl FnOnce(&mut HashMap<String, Sender<Value>>) -> T) -> T {
    let mut waiting = WAITING.lock().expect("no thread panics with it");
    with(waiting.get_or_insert_default())
}

/// Hands the answer to a request of the server's own to whoever waits for it; an error as null.
pub(crate) fn take_answer(message: &Incoming<'_>) {
    let Some(id) = message.id.and_then(|id| serde_json::from_str::<String>(id.get()).ok()) else {
        return;
    };
    let result = message.result.clone().unwrap_or_default();
    waiting(|waiting| waiting.get(&id).map(|sender| sender.send(result)));
}

/// Tells a legacy client about changes, on the stream that no request asked for.
pub(crate) fn tell_changes(stream: &mut TcpStream, options: &Options) -> io::Result<bool> {
    // A client tells the end of such a stream from one that never was by its first bytes.
    stream.write_all(format!("{HEAD}retry: 100\n: here it comes\n\n").as_bytes())?;
    let mut events = Stream { stream: stream.try_clone()?, streaming: true };
    let events = Mutex::new(&mut events);
    changes::tell_session(options, |line| events.lock().expect("one thread").event(line));
    Ok(false)
}

/// Serves `subscriptions/listen`: the response is a stream that stays open.
pub(crate) fn serve_subscription(
    stream: &mut TcpStream,
    id: &RawValue,
    params: &Params<'_>,
    options: &Options,
) -> io::Result<bool> {
    let id: Value = serde_json::from_str(id.get())?;
    let events = Mutex::new(Stream::new(stream.try_clone()?));
    let send = |line: &str| events.lock().expect("one thread").event(line);
    changes::tell_subscriber(&id, &changes::filter(params), options, send);
    Ok(false)
}

/// Opens the one stream of 2024-11-05, and keeps it open.
pub(crate) fn serve_sse(stream: &mut TcpStream) -> io::Result<bool> {
    stream.write_all(format!("{HEAD}event: endpoint\ndata: /message\n\n").as_bytes())?;
    *SSE.lock().expect("no thread panics with it") = Some(stream.try_clone()?);
    // The connection is the stream's as long as the client wants it.
    let _ = stream.peek(&mut [0]);
    Ok(false)
}

/// Sends a message on the one stream; false when it is not open.
pub(crate) fn send_on_sse(message: &str) -> bool {
    let open = SSE.lock().expect("no thread panics with it");
    let stream = open.as_ref().and_then(|stream| stream.try_clone().ok());
    stream.is_some_and(|stream| Stream { stream, streaming: true }.event(message))
}

/// Answers a request on the one stream, in a thread of its own: another may come meanwhile.
pub(crate) fn answer_on_sse(id: &RawValue, message: &Incoming<'_>, options: &'static Options) {
    let open = SSE.lock().expect("no thread panics with it");
    let Some(stream) = open.as_ref().and_then(|stream| stream.try_clone().ok()) else { return };
    let text = message.as_text(id);
    thread::spawn(move || {
        let mut stream = Stream { stream, streaming: true };
        let Ok(message) = serde_json::from_str::<Incoming<'_>>(&text) else { return };
        let Some(id) = message.id else { return };
        let response = respond(id, &message, options, &mut stream);
        stream.event(&response);
    });
}
