//! The HTTP bindings, as little of them as a client needs: one endpoint, one session.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::protocol::{Incoming, MODERN, respond};
use crate::streams::{self, Stream};
use crate::{Options, changes};

const SESSION: &str = "demo-session";
const BODY_LIMIT: u64 = 64 << 20;

/// Serves until the program is ended, a thread per connection. Prints the URL first.
pub(crate) fn serve(port: u16, path: &str, options: &'static Options) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("http://{}{path}", listener.local_addr()?);
    for stream in listener.incoming() {
        let stream = stream?;
        thread::spawn(move || {
            // A client that hangs up is no event.
            let _ = converse(stream, options);
        });
    }
    Ok(())
}

/// One connection: a request after the other.
fn converse(stream: TcpStream, options: &'static Options) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(request) = Request::read(&mut reader)? {
        let open = exchange(&request, options, &mut stream)?;
        if !open {
            break;
        }
    }
    // Other threads may still have it.
    stream.shutdown(Shutdown::Both)
}

/// A request as it came.
struct Request {
    verb: String,
    path: String,
    fields: Vec<(String, String)>,
    body: String,
}

impl Request {
    /// Reads a request; none at the end of the connection.
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (verb, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut request = Self { verb, path, fields: Vec::new(), body: String::new() };
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            request.fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = request.field("content-length").and_then(|text| text.parse().ok());
        reader.take(length.unwrap_or(0).min(BODY_LIMIT)).read_to_string(&mut request.body)?;
        Ok(Some(request))
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Answers a request; false when the connection cannot be used again.
fn exchange(
    request: &Request,
    options: &'static Options,
    stream: &mut TcpStream,
) -> io::Result<bool> {
    let path = request.path.split('?').next().unwrap_or_default();
    match (request.verb.as_str(), path, options.sse) {
        ("POST", "/mcp", None) | ("POST", "/message", Some(_)) => {}
        ("GET", "/sse", Some(_)) => return streams::serve_sse(stream),
        ("GET", "/mcp", None) if options.tick.is_some() => {
            return streams::tell_changes(stream, options);
        }
        ("DELETE", "/mcp", None) => return reply(stream, "200 OK", "", ""),
        (_, "/mcp" | "/sse" | "/message", _) => {
            return reply(stream, "405 Method Not Allowed", "Allow: POST, DELETE\r\n", "");
        }
        _ => return reply(stream, "404 Not Found", "", "no such path"),
    }
    options.log(&request.body);
    let Ok(message) = serde_json::from_str::<Incoming<'_>>(&request.body) else {
        return refuse(stream, -32700, "Parse error");
    };
    if let Some(fault) = fault_of(request, &message, options) {
        return refuse(stream, fault.0, &fault.1);
    }
    let (Some(id), Some(method)) = (message.id, &message.method) else {
        streams::take_answer(&message);
        if options.sse.is_some() {
            changes::take(&message, options, streams::send_on_sse);
        }
        return reply(stream, "202 Accepted", "", "");
    };
    if options.sse.is_some() {
        reply(stream, "202 Accepted", "", "")?;
        streams::answer_on_sse(id, &message, options);
        return Ok(true);
    }
    let params = message.params();
    if let (true, "subscriptions/listen", Some(_)) =
        (params.revision().is_some(), method.as_str(), options.tick)
    {
        return streams::serve_subscription(stream, id, &params, options);
    }
    let session = if method == "initialize" { SESSION_FIELD } else { "" };
    let mut client = Stream::new(stream.try_clone()?);
    let waited_for = notice_hang_up(stream, options)?;
    let response = respond(id, &message, options, &mut client);
    waited_for.store(false, Ordering::SeqCst);
    if client.is_streaming() {
        client.event(&response);
        return Ok(false);
    }
    let fields = format!("Content-Type: application/json\r\n{session}");
    reply(stream, "200 OK", &fields, &response)
}

/// Logs it when the client hangs up as long as the returned value is true.
fn notice_hang_up(stream: &TcpStream, options: &'static Options) -> io::Result<Arc<AtomicBool>> {
    let waits = Arc::new(AtomicBool::new(true));
    let (stream, still_waits) = (stream.try_clone()?, waits.clone());
    thread::spawn(move || {
        let gone = stream.peek(&mut [0]).map_or(true, |length| length == 0);
        if gone && still_waits.load(Ordering::SeqCst) {
            options.log("HANGUP");
        }
    });
    Ok(waits)
}

const SESSION_FIELD: &str = "Mcp-Session-Id: demo-session\r\n";

/// Why the fields of a request do not suit its message.
fn fault_of(request: &Request, message: &Incoming<'_>, options: &Options) -> Option<(i32, String)> {
    let method = message.method.as_deref().unwrap_or_default();
    let params = message.params();
    let Some(revision) = params.revision() else {
        let known = method == "initialize"
            || request.field("mcp-session-id") == Some(SESSION)
            || options.sse.is_some();
        return (!known).then(|| (-32000, "Bad Request: Mcp-Session-Id is required".into()));
    };
    let mut wanted = vec![("mcp-protocol-version", revision), ("mcp-method", method)];
    let name = match method {
        "tools/call" | "prompts/get" => params.name.as_deref(),
        "resources/read" => params.uri.as_deref(),
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.task_id.as_deref(),
        _ => None,
    };
    if let (MODERN, Some(name)) = (revision, name) {
        wanted.push(("mcp-name", name));
    }
    let (name, _) = wanted.into_iter().find(|(name, value)| request.field(name) != Some(value))?;
    Some((-32020, format!("Header mismatch: {name}")))
}

fn refuse(stream: &mut TcpStream, code: i32, message: &str) -> io::Result<bool> {
    let error = json!({ "code": code, "message": message });
    let body: Value = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    let fields = "Content-Type: application/json\r\n";
    reply(stream, "400 Bad Request", fields, &body.to_string())
}

fn reply(stream: &mut TcpStream, status: &str, fields: &str, body: &str) -> io::Result<bool> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n");
    stream.write_all((head + body).as_bytes())?;
    Ok(true)
}
