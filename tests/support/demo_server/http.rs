//! The Streamable HTTP binding, as little of it as a client needs: one endpoint, one session.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};

use crate::Options;
use crate::protocol::{Client, Incoming, MODERN, respond};

const SESSION: &str = "demo-session";
const BODY_LIMIT: u64 = 64 << 20;

/// Serves until the program is ended, a thread per connection. Prints the URL first.
pub(crate) fn serve(port: u16, options: &Options) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("http://{}/mcp", listener.local_addr()?);
    thread::scope(|scope| {
        for stream in listener.incoming() {
            let stream = stream?;
            scope.spawn(move || {
                // A client that hangs up is no event.
                let _ = converse(stream, options);
            });
        }
        Ok(())
    })
}

/// One connection: a request after the other.
fn converse(stream: TcpStream, options: &Options) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(request) = Request::read(&mut reader)? {
        let open = exchange(&request, options, &mut stream)?;
        if !open {
            break;
        }
    }
    Ok(())
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
fn exchange(request: &Request, options: &Options, stream: &mut TcpStream) -> io::Result<bool> {
    if request.path != "/mcp" {
        return reply(stream, "404 Not Found", "", "no such path");
    }
    match request.verb.as_str() {
        "POST" => {}
        "DELETE" => return reply(stream, "200 OK", "", ""),
        _ => return reply(stream, "405 Method Not Allowed", "Allow: POST, DELETE\r\n", ""),
    }
    options.log(&request.body);
    let Ok(message) = serde_json::from_str::<Incoming<'_>>(&request.body) else {
        return refuse(stream, -32700, "Parse error");
    };
    if let Some(fault) = fault_of(request, &message) {
        return refuse(stream, fault.0, &fault.1);
    }
    let (Some(id), Some(method)) = (message.id, &message.method) else {
        return reply(stream, "202 Accepted", "", "");
    };
    let session = if method == "initialize" { SESSION_FIELD } else { "" };
    let mut client = Stream { stream: stream.try_clone()?, streaming: false };
    let response = respond(id, &message, options, &mut client);
    if client.streaming {
        client.event(&response);
        return Ok(false);
    }
    let fields = format!("Content-Type: application/json\r\n{session}");
    reply(stream, "200 OK", &fields, &response)
}

const SESSION_FIELD: &str = "Mcp-Session-Id: demo-session\r\n";

/// Why the fields of a request do not suit its message.
fn fault_of(request: &Request, message: &Incoming<'_>) -> Option<(i32, String)> {
    let method = message.method.as_deref().unwrap_or_default();
    let params = message.params();
    let Some(revision) = params.revision() else {
        let known = method == "initialize" || request.field("mcp-session-id") == Some(SESSION);
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
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
    reply(stream, "400 Bad Request", "Content-Type: application/json\r\n", &body)
}

fn reply(stream: &mut TcpStream, status: &str, fields: &str, body: &str) -> io::Result<bool> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n");
    stream.write_all((head + body).as_bytes())?;
    Ok(true)
}

/// The client at the other end of a response, which becomes an event stream with the first
/// notification.
struct Stream {
    stream: TcpStream,
    streaming: bool,
}

impl Stream {
    fn event(&mut self, message: &str) {
        let mut text = String::new();
        if !self.streaming {
            self.streaming = true;
            text +=
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        }
        text += &format!("event: message\ndata: {message}\n\n");
        // A client that hung up will be noticed by the next read of the connection.
        let _ = self.stream.write_all(text.as_bytes());
    }
}

impl Client for Stream {
    fn notify(&mut self, notification: &Value) {
        self.event(&notification.to_string());
    }

    fn ask(&mut self, _method: &str, _params: &Value) -> Option<Value> {
        None
    }
}
