//! A scripted HTTP server on loopback.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The number of the connection it came on, from 0.
    pub(crate) connection: usize,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) at: Instant,
}

impl Request {
    /// The value of a header field, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let field = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }

    /// Whether the message in the body has this method.
    pub(crate) fn is(&self, method: &str) -> bool {
        self.body.contains(&format!("\"method\":\"{method}\""))
    }

    /// The id of the message in the body, as JSON.
    pub(crate) fn id(&self) -> String {
        let rest = self.body.split_once("\"id\":").map_or("null", |(_, rest)| rest);
        rest.chars().take_while(|letter| !matches!(letter, ',' | '}')).collect()
    }
}

/// The server's end of a connection.
pub(crate) struct Peer {
    pub(crate) stream: Box<dyn Stream>,
    pub(crate) origin: String,
}

/// TCP, Unix and TLS.
pub(crate) trait Stream: Read + Write + Send {
    fn set_patience(&self, patience: Option<Duration>);
}

impl Stream for TcpStream {
    fn set_patience(&self, patience: Option<Duration>) {
        self.set_read_timeout(patience).unwrap();
    }
}

impl Stream for std::os::unix::net::UnixStream {
    fn set_patience(&self, patience: Option<Duration>) {
        self.set_read_timeout(patience).unwrap();
    }
}

impl Peer {
    /// Writes text as it is. A client that has gone is no error of the server's.
    pub(crate) fn write(&mut self, text: &str) {
        let _ = self.stream.write_all(text.as_bytes());
        let _ = self.stream.flush();
    }

    /// Answers with a status line and a body; `fields` end with line ends of their own.
    pub(crate) fn answer(&mut self, status: &str, fields: &str, body: &str) {
        let length = body.len();
        self.write(&format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n{body}"));
    }

    pub(crate) fn json(&mut self, body: &str) {
        self.answer("200 OK", "Content-Type: application/json\r\n", body);
    }

    /// Answers a request with a result.
    pub(crate) fn result(&mut self, request: &Request, result: &str) {
        self.json(&result_of(request, result));
    }

    pub(crate) fn accepted(&mut self) {
        self.answer("202 Accepted", "", "");
    }

    /// Begins an event stream.
    pub(crate) fn stream_events(&mut self) {
        self.write(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
             Transfer-Encoding: chunked\r\n\r\n",
        );
    }

    /// Writes a chunk of an event stream.
    pub(crate) fn chunk(&mut self, text: &str) {
        self.write(&format!("{:x}\r\n{text}\r\n", text.len()));
    }

    /// Writes an event with this data.
    pub(crate) fn event(&mut self, data: &str) {
        self.chunk(&format!("data: {data}\n\n"));
    }

    /// Ends an event stream and keeps the connection.
    pub(crate) fn end_events(&mut self) {
        self.write("0\r\n\r\n");
    }

    /// How long it takes the client to hang up; `None` when it does not within five seconds.
    pub(crate) fn wait_for_hang_up(&mut self) -> Option<Duration> {
        let begun = Instant::now();
        self.stream.set_patience(Some(Duration::from_secs(5)));
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(0) => Some(begun.elapsed()),
            Ok(_) => None,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                None
            }
            Err(_) => Some(begun.elapsed()),
        }
    }
}

/// A response with a result.
pub(crate) fn result_of(request: &Request, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request.id())
}

/// What a server does with a request: `false` closes the connection.
pub(crate) type Script = dyn Fn(&Request, &mut Peer) -> bool + Send + Sync;

/// A server. Its threads end when the clients hang up.
pub(crate) struct Server {
    pub(crate) origin: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// A server that carries out the script for every request, on any number of connections.
    pub(crate) fn start(
        script: impl Fn(&Request, &mut Peer) -> bool + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let accept = move || Box::new(listener.accept().unwrap().0) as Box<dyn Stream>;
        Server::over(origin, accept, script)
    }

    /// A server on any kind of socket.
    pub(crate) fn over(
        origin: String,
        accept: impl Fn() -> Box<dyn Stream> + Send + 'static,
        script: impl Fn(&Request, &mut Peer) -> bool + Send + Sync + 'static,
    ) -> Server {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let server = Server { origin: origin.clone(), requests: requests.clone() };
        let script: Arc<Script> = Arc::new(script);
        thread::spawn(move || {
            for connection in 0.. {
                let peer = Peer { stream: accept(), origin: origin.clone() };
                let (script, requests) = (script.clone(), requests.clone());
                thread::spawn(move || serve(connection, peer, &*script, &requests));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// What has arrived so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The requests with this HTTP method.
    pub(crate) fn with_method(&self, method: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.method == method).collect()
    }

    /// The messages with this method.
    pub(crate) fn messages(&self, method: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.is(method)).collect()
    }
}

fn serve(connection: usize, mut peer: Peer, script: &Script, requests: &Mutex<Vec<Request>>) {
    while let Some(request) = read_request(connection, &mut peer) {
        requests.lock().unwrap().push(request.clone());
        if !script(&request, &mut peer) {
            return;
        }
    }
}

fn read_request(connection: usize, peer: &mut Peer) -> Option<Request> {
    peer.stream.set_patience(None);
    // Unbuffered, so that nothing is read that belongs to whoever reads next.
    let mut reader = BufReader::with_capacity(1, &mut peer.stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) if line.trim().is_empty() => break,
            Ok(_) => lines.push(line.trim().to_owned()),
        }
    }
    let mut words = lines.first()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let field = |line: &String| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.trim().to_owned()))
    };
    let headers: Vec<_> = lines[1..].iter().filter_map(field).collect();
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).unwrap();
    Some(Request { connection, method, path, headers, body, at: Instant::now() })
}
