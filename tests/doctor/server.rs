//! An MCP server over HTTP that does everything right, with one fault at a time.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::scripted::{Peer, Request, Server, Stream};

pub(crate) const LEGACY: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

/// The token that opens a guarded server.
pub(crate) const TOKEN: &str = "T-of-the-tests";

/// What kind of server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Sessions, opened by `initialize`.
    Legacy,
    /// Requests with a context of their own.
    Modern,
    /// Sessions, for those who have a token.
    Guarded,
    /// The binding of 2024-11-05.
    Sse,
}

/// A server. It lives as long as the test program.
pub(crate) struct Site {
    /// Where it is.
    pub(crate) url: String,
    server: Server,
    state: Arc<State>,
}

struct State {
    kind: Kind,
    fault: &'static str,
    port: u16,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    count: u64,
    open: Vec<String>,
    /// Whether somebody has to wait.
    waits: bool,
}

struct Response {
    status: u16,
    fields: Vec<(&'static str, String)>,
    body: String,
}

impl Site {
    pub(crate) fn start(kind: Kind, fault: &'static str) -> Site {
        let host = if fault == "bound to everything" { "0.0.0.0" } else { "127.0.0.1" };
        let listener = TcpListener::bind((host, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State { kind, fault, port, sessions: Mutex::default() });
        let accept = move || Box::new(listener.accept().unwrap().0) as Box<dyn Stream>;
        let shared = state.clone();
        let script = move |request: &Request, peer: &mut Peer| shared.exchange(request, peer);
        let server = Server::over(format!("http://127.0.0.1:{port}"), accept, script);
        Site { url: server.url(), server, state }
    }

    /// The sessions that nobody has ended.
    pub(crate) fn open_sessions(&self) -> usize {
        self.state.sessions.lock().unwrap().open.len()
    }

    /// Whether the server lets somebody wait, or has.
    pub(crate) fn waits(&self) -> bool {
        self.state.sessions.lock().unwrap().waits
    }

    /// Every request so far: the verb, and the method of the message in it.
    pub(crate) fn seen(&self) -> Vec<String> {
        let seen = |it: &Request| format!("{} {}", it.method, method_of(&parsed(it)));
        self.server.requests().iter().map(seen).collect()
    }
}

impl State {
    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// Answers a request; false when the connection ends with it.
    fn exchange(&self, request: &Request, peer: &mut Peer) -> bool {
        if self.has("drops what is not JSON") && request.body == "{" {
            return false;
        }
        if self.has("silent to who takes JSON alone")
            && field(request, "accept") == "application/json"
            && request.method == "POST"
        {
            self.sessions.lock().unwrap().waits = true;
            thread::sleep(Duration::from_secs(5));
        }
        if request.method == "GET" && request.path == "/mcp" {
            match self.fault {
                "opens a silent stream" => {
                    peer.write("HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\n\r\n");
                    thread::sleep(Duration::from_secs(5));
                }
                "never answers GET" => thread::sleep(Duration::from_secs(5)),
                _ => (),
            }
        }
        if self.has("silent to who takes anything") && !accepts(request).contains("json") {
            thread::sleep(Duration::from_secs(5));
        }
        let mut response = self.respond(request);
        self.dress(request, &mut response);
        let fields = response.fields.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let fields: String = fields.collect();
        peer.answer(&format!("{} -", response.status), &fields, &response.body);
        true
    }

    /// Adds the fields that every answer has.
    fn dress(&self, request: &Request, response: &mut Response) {
        let origin = field(request, "origin");
        let lists = request.body.contains("tools/list");
        let mut add = |name, value: &str| response.fields.push((name, value.to_owned()));
        match self.fault {
            "reflects the origin" if !origin.is_empty() => {
                add("Access-Control-Allow-Origin", origin);
            }
            "lets every origin in" | "lets every origin in but refuses it" => {
                add("Access-Control-Allow-Origin", "*");
            }
            "lets every origin in with credentials" => {
                add("Access-Control-Allow-Origin", "*");
                add("Access-Control-Allow-Credentials", "true");
            }
            "reflects the origin at tools/list" if lists && !origin.is_empty() => {
                add("Access-Control-Allow-Origin", origin);
                add("Access-Control-Allow-Credentials", "true");
            }
            "lets in what begins like localhost" if origin.starts_with("http://localhost") => {
                add("Access-Control-Allow-Origin", origin);
            }
            "lets in what ends like localhost" if origin.ends_with("localhost") => {
                add("Access-Control-Allow-Origin", origin);
            }
            "reflects the origin at GET" if request.method == "GET" && !origin.is_empty() => {
                add("Access-Control-Allow-Origin", origin);
                add("Access-Control-Allow-Credentials", "true");
            }
            "weak cookie" => add("Set-Cookie", "sid=1; Path=/"),
            "weak cookie in Latin" => add("Set-Cookie", "s\u{ed}d=1; Path=/"),
            "strong cookie" => add("Set-Cookie", "sid=1; HttpOnly; SameSite=Strict"),
            "cacheable" => add("Cache-Control", "public, max-age=60"),
            "out of a cache" => add("Age", "17"),
            _ => (),
        }
        if !self.has("may be sniffed") {
            add("X-Content-Type-Options", "nosniff");
        }
    }

    fn respond(&self, request: &Request) -> Response {
        match self.fault {
            "fails at everything" => return plain(500, "oops"),
            "leads everything elsewhere" => {
                let elsewhere = "https://elsewhere.example/".to_owned();
                return Response { fields: vec![("Location", elsewhere)], ..empty(307) };
            }
            _ => (),
        }
        if let Some(refusal) = self.refuse_stranger(request) {
            return refusal;
        }
        let (path, _) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if let Some(signed) = self.signed(path) {
            return signed;
        }
        if path == "/message" && self.kind == Kind::Sse {
            return empty(202);
        }
        if path != "/mcp" {
            return self.document(path, request);
        }
        let message = parsed(request);
        if let Some(refusal) = self.refuse_unknown_caller(request) {
            return refusal;
        }
        match (&*request.method, self.kind) {
            ("GET", Kind::Sse) => Response {
                status: 200,
                fields: vec![("Content-Type", "text/event-stream".to_owned())],
                body: format!("event: endpoint\ndata: /message?session={}\n\n", self.stream_id()),
            },
            ("GET", _) if self.has("answers GET") => json_of(200, &json!({})),
            ("DELETE", Kind::Legacy | Kind::Guarded) => self.end_session(request),
            ("POST", Kind::Legacy | Kind::Guarded | Kind::Modern) => match message {
                Ok(message) => self.post(request, &message),
                Err(_) if self.has("takes what is not JSON") => empty(202),
                Err(_) if self.has("shows its inside") => plain(
                    400,
                    "Traceback (most recent call last):\n  File \"/srv/app.py\", line 3, in main",
                ),
                Err(_) => error(400, &Value::Null, -32700, "Parse error"),
            },
            _ => empty(405),
        }
    }

    /// The id in the endpoint of a stream.
    fn stream_id(&self) -> String {
        let mut sessions = self.sessions.lock().unwrap();
        sessions.count += 1;
        match self.fault {
            "one stream for all" => "1".to_owned(),
            "numbered streams" => format!("{:032}", sessions.count),
            "short streams" => random(sessions.count)[..8].to_owned(),
            _ => random(sessions.count),
        }
    }

    /// The refusal of what a browser sends in the name of another site.
    fn refuse_stranger(&self, request: &Request) -> Option<Response> {
        let names = ["localhost", "127.0.0.1", "mcp.test"].map(|it| format!("{it}:{}", self.port));
        let is_document =
            request.path.contains("/server-card") || request.path.contains(".well-known");
        if request.method == "OPTIONS" || is_document {
            return (request.method == "OPTIONS").then(|| empty(204));
        }
        if self.has("takes every message") && request.path.starts_with("/message") {
            return None;
        }
        let origin = field(request, "origin");
        let is_own = names.iter().any(|name| origin == format!("http://{name}"));
        let let_in = self.takes_origin(request);
        if !origin.is_empty() && !is_own && !let_in {
            let status = match self.fault {
                fault if fault.ends_with("refuses origins by 400") => 400,
                "refuses by 200" => 200,
                _ => 403,
            };
            return Some(error(status, &Value::Null, -32000, "this origin is not welcome"));
        }
        if origin.is_empty() && self.has("wants an origin") {
            return Some(error(403, &Value::Null, -32000, "no origin"));
        }
        let host = field(request, "host");
        if self.has("knows itself by name only") && !host.starts_with("localhost") {
            return Some(plain(403, "only as localhost"));
        }
        if self.has("knows itself by number only") && host.starts_with("localhost") {
            return Some(error(421, &Value::Null, -32000, "another host"));
        }
        let any_host = match self.fault {
            "takes every host" | "takes every origin" => true,
            "takes hosts that begin like its address" => host.starts_with("127.0.0.1"),
            "takes hosts that end like localhost" => {
                host.split(':').next().is_some_and(|name| name.ends_with("localhost"))
            }
            _ => false,
        };
        if !any_host && !names.iter().any(|name| name == host) {
            let status = if self.has("refuses by 200") { 200 } else { 421 };
            return Some(error(status, &Value::Null, -32000, "this is another host"));
        }
        let is_json = field(request, "content-type") == "application/json";
        let media_status = if self.has("refuses by 200") { 200 } else { 415 };
        let takes_text = self.has("takes text") || self.has("takes every origin");
        (request.method == "POST" && !is_json && !takes_text)
            .then(|| error(media_status, &Value::Null, -32000, "send JSON"))
    }

    /// Whether the fault is that a page of that origin is let in.
    fn takes_origin(&self, request: &Request) -> bool {
        let origin = field(request, "origin");
        match self.fault {
            "takes every origin"
            | "reflects the origin"
            | "lets every origin in"
            | "lets every origin in with credentials" => true,
            "takes the origin null" => origin == "null",
            "lists tools for every origin" | "reflects the origin at tools/list" => {
                request.body.contains("tools/list")
            }
            "takes what begins like localhost" | "lets in what begins like localhost" => {
                origin.starts_with("http://localhost")
            }
            "takes what begins like its address" => origin.starts_with("http://127.0.0.1"),
            "takes what has its address in it" => origin.contains("127.0.0.1"),
            "takes what ends like localhost" | "lets in what ends like localhost" => {
                origin.ends_with("localhost")
            }
            "takes what ends like localhost and its port" => {
                origin.ends_with(&format!("localhost:{}", self.port))
            }
            _ => false,
        }
    }

    /// The refusal of who does not prove who they are.
    fn refuse_unknown_caller(&self, request: &Request) -> Option<Response> {
        if self.kind != Kind::Guarded {
            return None;
        }
        let sent = field(request, "authorization");
        let is_right = sent == format!("Bearer {TOKEN}");
        let let_in = match self.fault {
            "takes any token" => sent.starts_with("Bearer "),
            "takes any token in a session" => {
                sent.starts_with("Bearer ") && !field(request, "mcp-session-id").is_empty()
            }
            "takes tokens in the URL" => request.path.contains("access_token="),
            "lists tools for everybody" | "lists tools for everybody, outside a session" => {
                request.body.contains("tools/list")
            }
            "begins with everybody" => request.body.contains("initialize"),
            "ends sessions for everybody" => request.method == "DELETE",
            _ => false,
        };
        if is_right || let_in {
            return None;
        }
        let status = match self.fault {
            "fails on bad tokens" if !sent.is_empty() => 500,
            "refuses strangers by 403" => 403,
            _ => 401,
        };
        let mut refusal = plain(status, "who are you?");
        if self.has("repeats the token") {
            refusal.body = format!("not good enough: {TOKEN}");
        }
        let challenge = match self.fault {
            "no challenge" => return Some(refusal),
            "challenge without metadata" | "no metadata at all" => r#"Bearer realm="x""#.to_owned(),
            _ => format!(
                "Bearer resource_metadata=\"http://127.0.0.1:{}/.well-known/oauth-protected-resource/mcp\"",
                self.port
            ),
        };
        refusal.fields.push(("WWW-Authenticate", challenge));
        Some(refusal)
    }

    fn post(&self, request: &Request, message: &Value) -> Response {
        if message.is_array() {
            return match self.fault {
                "takes batches" => json_of(200, &json!([])),
                _ => error(400, &Value::Null, -32600, "one message at a time"),
            };
        }
        match self.kind {
            Kind::Modern => self.post_modern(request, message),
            _ => self.post_legacy(request, message),
        }
    }

    fn post_legacy(&self, request: &Request, message: &Value) -> Response {
        let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
        if method == "server/discover" {
            return error(400, id, -32600, "no session");
        }
        if method == "initialize" {
            return self.open_session(id, message);
        }
        let session = field(request, "mcp-session-id");
        let version = field(request, "mcp-protocol-version");
        if !self.has("keeps no sessions") {
            let is_open = self.sessions.lock().unwrap().open.iter().any(|open| open == session);
            match session {
                "" if !["needs no session", "lists tools for everybody, outside a session"]
                    .contains(&self.fault) =>
                {
                    return error(400, id, -32000, "which session?");
                }
                _ if is_open || self.has("takes any session") || session.is_empty() => (),
                _ if self.has("says 400 of a session that is gone") => {
                    return error(400, id, -32000, "no such session");
                }
                _ => return error(404, id, -32001, "no such session"),
            }
        }
        if version == "1900-01-01" && !self.has("takes any version") {
            return error(400, id, -32000, "no such version");
        }
        if id.is_null() {
            let status = if self.has("answers notifications by 200") { 200 } else { 202 };
            return match self.has("answers notifications with a body") {
                true => json_of(202, &Value::Null),
                false => empty(status),
            };
        }
        self.answer(id, method, &request.body)
    }

    fn open_session(&self, id: &Value, message: &Value) -> Response {
        let offered = message["params"]["protocolVersion"].as_str().unwrap_or_default();
        let settled = match self.fault {
            "speaks every version" => offered,
            "opens sessions in a revision to come" => "2099-01-01",
            "opens sessions in no revision" => "latest",
            "is of June and refuses origins by 400" => "2025-06-18",
            _ => LEGACY,
        };
        if self.has("refuses unknown versions") && offered != LEGACY {
            return error(200, id, -32602, "Unsupported protocol version");
        }
        let result = json!({
            "protocolVersion": settled, "capabilities": { "tools": {} },
            "serverInfo": { "name": "test", "version": "1.0.0" },
        });
        let mut response = result_of(id, &result);
        if !self.has("keeps no sessions") {
            let mut sessions = self.sessions.lock().unwrap();
            sessions.count += 1;
            let count = sessions.count;
            let session = match self.fault {
                "counts sessions" => format!("2f1c5b0e-6f0a-4a53-9a53-{count:012x}"),
                "much in common between session ids" => {
                    format!("{count:04}{}{}", "a".repeat(28), &random(count)[..4])
                }
                "short session ids" => format!("{:04x}", count.wrapping_mul(0x9e37) & 0xffff),
                "one session for all" => "2f1c5b0e-6f0a-4a53-9a53-0d6c7a1b2c3d".to_owned(),
                _ => random(count),
            };
            sessions.open.push(session.clone());
            response.fields.push(("Mcp-Session-Id", session));
        }
        response
    }

    fn end_session(&self, request: &Request) -> Response {
        if self.has("sessions cannot be ended") {
            return empty(405);
        }
        if self.has("fails to end sessions") {
            return plain(500, "oh no");
        }
        let session = field(request, "mcp-session-id");
        let mut sessions = self.sessions.lock().unwrap();
        let before = sessions.open.len();
        if !self.has("sessions go on") {
            sessions.open.retain(|open| open != session);
        }
        empty(if before == 0 { 404 } else { 200 })
    }

    fn post_modern(&self, request: &Request, message: &Value) -> Response {
        let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
        let version = field(request, "mcp-protocol-version");
        let said = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        if method == "initialize" {
            let text = match self.fault {
                "does not say what it speaks" => "no",
                _ => "this server speaks 2026-07-28 only",
            };
            return error(400, id, -32020, text);
        }
        if said.is_null() && !self.has("needs no context") {
            return error(400, id, -32602, "the request has no _meta");
        }
        let mirrored = field(request, "mcp-method");
        let fits = match self.fault {
            "does not read Mcp-Method" => *said == version,
            "does not miss Mcp-Method" => {
                (mirrored.is_empty() || mirrored == method) && *said == version
            }
            "does not compare versions" => mirrored == method,
            "needs no context" => mirrored == method && (said.is_null() || *said == version),
            _ => mirrored == method && *said == version,
        };
        if !fits {
            return error(400, id, -32020, "header and body differ");
        }
        if version == "1900-01-01" && !self.has("takes any version") {
            let code = if self.has("has its own code for versions") { -32000 } else { -32022 };
            let data = match self.fault {
                "does not list versions" => json!({}),
                _ => json!({ "supported": [MODERN], "requested": version }),
            };
            let fault = json!({ "code": code, "message": "unsupported", "data": data });
            return json_of(400, &json!({ "jsonrpc": "2.0", "id": id, "error": fault }));
        }
        self.answer(id, method, &request.body)
    }

    /// The answer to a request that is in order.
    fn answer(&self, id: &Value, method: &str, body: &str) -> Response {
        let texts = self.has("answers with text ids");
        let text = json!(id.to_string());
        let id = if texts && id.is_number() { &text } else { id };
        let result = match method {
            "ping" if self.has("does not know ping") => return error(200, id, -32601, "no"),
            "ping" => json!({}),
            "server/discover" if self.has("speaks a revision to come") => json!({
                "supportedVersions": ["2099-01-01"], "capabilities": {},
            }),
            "server/discover" if self.kind == Kind::Modern => json!({
                "supportedVersions": [MODERN], "capabilities": { "tools": {} },
            }),
            "tools/list" if self.has("another cache scope on another page") => {
                let is_second = body.contains("\"cursor\":\"2\"");
                let scope = if is_second { "public" } else { "private" };
                let mut page = json!({
                    "tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": scope,
                });
                if !is_second {
                    page["nextCursor"] = "2".into();
                }
                return result_of(id, &page);
            }
            "tools/list" => json!({ "tools": [] }),
            "resources/list" if self.fault.starts_with("card as a resource") => {
                let card = json!({ "uri": "mcp://server-card.json", "name": "card" });
                json!({ "resources": [card] })
            }
            "resources/read" if self.fault.starts_with("card as a resource") => {
                let card = self.card(&format!("http://127.0.0.1:{}", self.port)).to_string();
                let content = json!({ "uri": "mcp://server-card.json", "text": card });
                json!({ "contents": [content] })
            }
            _ => {
                let status = match (self.kind, self.fault) {
                    (Kind::Modern, "says 200 of unknown methods") => 200,
                    (Kind::Modern, _) => 404,
                    _ => 200,
                };
                return match self.fault {
                    "knows every method" => result_of(id, &json!({})),
                    "has its own code for methods" => error(200, id, -32602, "no such method"),
                    "forgets sessions" if !method.starts_with("doctor/") => {
                        plain(404, "which session?")
                    }
                    _ => error(status, id, -32601, "Method not found"),
                };
            }
        };
        if self.has("forgets sessions") && method == "tools/list" {
            return plain(404, "which session?");
        }
        self.hinted(id, result)
    }

    /// A result, with what the modern era wants in each.
    fn hinted(&self, id: &Value, mut result: Value) -> Response {
        if self.kind == Kind::Modern {
            let info = json!({ "name": "test", "version": "1.0.0" });
            result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": info });
            result["resultType"] = "complete".into();
            result["ttlMs"] = if self.has("negative life") { json!(-1) } else { json!(0) };
            if !self.has("no cache scope") {
                result["cacheScope"] = "private".into();
            }
        }
        let mut response = result_of(id, &result);
        if self.fault.starts_with("streams") {
            response.body = format!("data: {}\n\n", response.body);
            response.fields[0].1 = "text/event-stream".to_owned();
            if !self.has("streams that proxies hold back") {
                response.fields.push(("X-Accel-Buffering", "no".to_owned()));
            }
        }
        if self.has("cuts a character in half") {
            response.body = response.body.replace("[]", r#"[{"name":"\ud83d"}]"#);
        }
        if self.has("calls JSON text") {
            response.fields[0].1 = "text/plain".to_owned();
        }
        if self.has("hands out sessions") {
            response.fields.push(("Mcp-Session-Id", random(1)));
        }
        response
    }

    /// The card, the catalog, and the metadata of a guarded server.
    fn document(&self, path: &str, request: &Request) -> Response {
        let origin = format!("http://127.0.0.1:{}", self.port);
        let (kind, mut document) = match path {
            "/mcp/server-card" => ("application/mcp-server-card+json", self.card(&origin)),
            "/.well-known/ai-catalog.json" if self.has("empty catalog") => {
                ("application/ai-catalog+json", json!({ "specVersion": "1.0", "entries": [] }))
            }
            "/.well-known/ai-catalog.json" => {
                let url = format!("{origin}/mcp/server-card");
                let entry = json!({
                    "identifier": "urn:x", "type": "application/mcp-server-card+json", "url": url,
                });
                let document = json!({ "specVersion": "1.0", "entries": [entry] });
                ("application/ai-catalog+json", document)
            }
            _ => match self.login_document(path, origin) {
                Some(document) => ("application/json", document),
                None => return empty(404),
            },
        };
        if self.has("no documents") || self.fault.starts_with("card as a resource") {
            return empty(404);
        }
        if self.has("card without a version") && path == "/mcp/server-card" {
            document["version"] = Value::Null;
        }
        let is_fresh = field(request, "if-none-match") == "\"v1\"" && !self.has("no 304");
        let mut response = json_of(if is_fresh { 304 } else { 200 }, &document);
        if is_fresh {
            response.body.clear();
        }
        response.fields[0].1 = match self.fault {
            "documents called JSON" => "application/json",
            "documents called text" => "text/plain",
            _ => kind,
        }
        .to_owned();
        if !self.has("documents for nobody") {
            response.fields.push(("Access-Control-Allow-Origin", "*".to_owned()));
        }
        if !self.has("no ETag") {
            response.fields.push(("ETag", "\"v1\"".to_owned()));
            response.fields.push(("Cache-Control", "public, max-age=3600".to_owned()));
        }
        response
    }

    /// What is published about who gives out tokens.
    fn login_document(&self, path: &str, origin: String) -> Option<Value> {
        if self.kind != Kind::Guarded || self.has("no metadata at all") {
            return None;
        }
        match path {
            "/.well-known/oauth-protected-resource/mcp" => {
                let resource = match self.fault {
                    "metadata of another" => "https://other.example/mcp".to_owned(),
                    _ => format!("{origin}/mcp"),
                };
                let servers = match self.fault {
                    "no issuer" => json!([]),
                    "an issuer with a slash more" => json!([format!("{origin}/tenant")]),
                    _ => json!([origin]),
                };
                Some(json!({ "resource": resource, "authorization_servers": servers }))
            }
            "/.well-known/oauth-authorization-server"
            | "/.well-known/oauth-authorization-server/tenant" => {
                let methods = if self.has("no S256") { json!(["plain"]) } else { json!(["S256"]) };
                let issuer = match self.fault {
                    "another issuer" => "https://x.example".to_owned(),
                    "an issuer with a slash more" => format!("{origin}/tenant/"),
                    "an issuer with the slash of the root" => format!("{origin}/"),
                    _ => origin,
                };
                Some(json!({ "issuer": issuer, "code_challenge_methods_supported": methods }))
            }
            _ => None,
        }
    }

    /// A card that is signed, and what is beside it.
    fn signed(&self, path: &str) -> Option<Response> {
        let bundle = match self.fault.strip_prefix("signed card")? {
            "" | " that has changed" => "card.json.sigstore.json",
            " by a key" => "key.sigstore.json",
            " with a broken signature" => "swapped-signature.sigstore.json",
            " by its catalog"
            | " by its catalog with another hash"
            | " by its catalog alone"
            | " by its catalog badly" => "",
            " and a page instead of a bundle" => "",
            other => panic!("there is no such fault: {other}"),
        };
        let file = |name: &str| {
            let path = format!("{}/tests/vectors/own/{name}", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        };
        let body = match path {
            "/mcp/server-card" if self.has("signed card that has changed") => {
                file("card.json").replacen(' ', "  ", 1)
            }
            "/mcp/server-card" => file("card.json"),
            "/mcp/server-card.sigstore.json" if bundle.is_empty() => "<html></html>".to_owned(),
            "/.well-known/ai-catalog.json" => {
                match self.fault.strip_prefix("signed card by its catalog")? {
                    " alone" => file("catalog.json"),
                    " badly" => file("catalog.json").replace("..", ".e30."),
                    hash => {
                        let bundle = STANDARD.encode(file("card.json.sigstore.json"));
                        let mut attestation = json!({
                            "type": "sigstore-bundle", "uri": format!("data:;base64,{bundle}"),
                        });
                        if !hash.is_empty() {
                            attestation["digest"] = json!("sha256:00");
                        }
                        let entry = json!({
                            "identifier": "urn:x", "type": "application/mcp-server-card+json",
                            "url": "/mcp/server-card",
                            "trustManifests": [{ "attestations": [attestation] }],
                        });
                        json!({ "specVersion": "1.0", "entries": [entry] }).to_string()
                    }
                }
            }
            "/mcp/server-card.sigstore.json" => file(bundle),
            _ => return None,
        };
        Some(plain(200, &body))
    }

    fn card(&self, origin: &str) -> Value {
        let url = match self.fault {
            "card of another URL" => "https://other.example/mcp".to_owned(),
            _ => format!("{origin}/mcp"),
        };
        let spoken = match self.kind {
            _ if self.has("card of another revision") => "2024-11-05",
            Kind::Modern => MODERN,
            _ => LEGACY,
        };
        let name = if self.has("card of another name") { "a" } else { "test" };
        let is_of_other_version = self.fault.ends_with("of another version");
        json!({
            "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
            "name": format!("com.example/{name}"),
            "version": if is_of_other_version { "2.0.0" } else { "1.0.0" },
            "description": "a test",
            "remotes": [{
                "type": "streamable-http", "url": url, "supportedProtocolVersions": [spoken],
            }],
        })
    }
}

/// What the client takes, if it is the sender of a message.
fn accepts(request: &Request) -> &str {
    if request.method == "POST" { field(request, "accept") } else { "json" }
}

/// The value of a field; empty when there is none.
fn field<'r>(request: &'r Request, name: &str) -> &'r str {
    request.header(name).unwrap_or_default()
}

/// The message in a request.
fn parsed(request: &Request) -> serde_json::Result<Value> {
    serde_json::from_str(&request.body)
}

/// The method of a message; empty when there is none.
fn method_of(message: &serde_json::Result<Value>) -> &str {
    message.as_ref().ok().and_then(|it| it["method"].as_str()).unwrap_or_default()
}

/// Text that looks random, and is another for each number.
fn random(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut word = || {
        state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(seed);
        state
    };
    format!("{:016x}{:016x}", word(), word())
}

fn result_of(id: &Value, result: &Value) -> Response {
    json_of(200, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn error(status: u16, id: &Value, code: i32, message: &str) -> Response {
    let error = json!({ "code": code, "message": message });
    json_of(status, &json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

fn json_of(status: u16, body: &Value) -> Response {
    let fields = vec![("Content-Type", "application/json".to_owned())];
    Response { status, fields, body: body.to_string() }
}

fn plain(status: u16, body: &str) -> Response {
    let fields = vec![("Content-Type", "text/plain".to_owned())];
    Response { status, fields, body: body.to_owned() }
}

fn empty(status: u16) -> Response {
    Response { status, fields: Vec::new(), body: String::new() }
}
