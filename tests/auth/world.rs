//! A guarded MCP server and its authorization server, both in this process: as little of each as a
//! client can tell from a real one, with knobs for what a bad one does.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::support::Scratch;

/// What the servers do, and what they saw.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Members that replace those of the metadata of the server; null removes one.
    pub(crate) resource: Map<String, Value>,
    /// The same for the authorization server.
    pub(crate) server: Map<String, Value>,
    /// How long access tokens live, in seconds.
    pub(crate) life: u64,
    /// How long the list of tools may be kept, in milliseconds.
    pub(crate) ttl: u64,
    /// The scope that `tools/call` needs.
    pub(crate) needs_scope: Option<&'static str>,
    /// Whether a new access token takes the place of the old one, which then opens nothing.
    pub(crate) single: bool,
    /// Holds token requests back while it is true.
    pub(crate) hold: bool,
    /// The path of requests that are taken and never answered.
    pub(crate) mute: Option<&'static str>,
    /// The number of the token request, counted from one, that the server does not act on.
    pub(crate) lost: Option<usize>,
    /// Answers of the token endpoint in place of the usual ones.
    pub(crate) answers: Vec<(u16, Value)>,
    /// Bodies and statuses in place of the usual ones, by their paths.
    pub(crate) pages: HashMap<&'static str, (u16, Value)>,
    /// The scope that tokens are given for, whatever is asked for.
    pub(crate) grants: Option<&'static str>,
    /// Whether the server wants another nonce in each proof.
    pub(crate) restless: bool,
    /// The client that the authorization server has forgotten.
    pub(crate) forgotten: Option<&'static str>,
    /// The text that the server refuses a token with.
    pub(crate) refusal: Option<String>,
    /// Every request: `GET /path`, `POST /token grant_type`, `mcp method`.
    pub(crate) seen: Vec<String>,
    /// The credentials that the MCP server was shown.
    pub(crate) given: Vec<String>,
    /// The forms of token requests, of revocations and of device logins.
    pub(crate) forms: Vec<HashMap<String, String>>,
    /// The bodies of registrations.
    pub(crate) registrations: Vec<Value>,
    /// Access tokens and their scopes.
    tokens: HashMap<String, String>,
    /// Refresh tokens that are still good.
    refresh: Vec<String>,
    codes: HashMap<String, HashMap<String, String>>,
    count: u32,
}

/// A guarded server. It lives as long as the test program.
#[derive(Clone)]
pub(crate) struct World {
    /// `http://127.0.0.1:PORT`
    pub(crate) origin: String,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl World {
    pub(crate) fn new() -> World {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let state = State { life: 3600, ..State::default() };
        let world = World { origin, state: Arc::new((Mutex::new(state), Condvar::new())) };
        let serving = world.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let world = serving.clone();
                // A client that hangs up is no event.
                thread::spawn(move || drop(world.serve(stream)));
            }
        });
        world
    }

    /// The URL of the MCP server.
    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap()
    }

    /// Lets token requests that were held back go on.
    pub(crate) fn release(&self) {
        self.state().hold = false;
        self.state.1.notify_all();
    }

    /// How often a request was seen that begins so.
    pub(crate) fn count(&self, request: &str) -> usize {
        self.state().seen.iter().filter(|seen| seen.starts_with(request)).count()
    }

    /// Makes every access token that was issued so far open nothing.
    pub(crate) fn forget_tokens(&self) {
        self.state().tokens.clear();
    }

    /// Logs in as a person who agrees: goes to the page and follows it back.
    pub(crate) fn visit(url: &str) -> u16 {
        let (status, location) = get(url);
        match location {
            Some(location) if (300..400).contains(&status) => get(&location).0,
            _ => status,
        }
    }

    /// A login by `mcpmini login`; the test fails when it does not succeed.
    #[track_caller]
    pub(crate) fn log_in(&self, scratch: &Scratch, words: &[&str]) {
        let url = self.url();
        let login = ["login", &url].into_iter().chain(words.iter().copied());
        let outcome = crate::support::run(with_browser(scratch, &mut scratch.mcpmini(login)));
        assert_eq!(outcome.code, 0, "{outcome:?}");
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        while let Some(request) = Request::read(&mut reader)? {
            let (status, fields, body) = self.answer(&request);
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: {length}\r\n\r\n");
            stream.write_all((head + &body).as_bytes())?;
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> (u16, String, String) {
        let path = request.path.split('?').next().unwrap_or_default();
        let form = request.form();
        let json = "Content-Type: application/json\r\n".to_owned();
        self.state().seen.push(match path {
            "/mcp" => format!("mcp {}", request.method()),
            "/token" => format!("POST /token {}", form.get("grant_type").map_or("", |s| s)),
            _ => format!("{} {path}", request.verb),
        });
        if self.state().mute == Some(path) {
            thread::sleep(Duration::from_secs(60));
        }
        if let Some((status, page)) = self.state().pages.get(path) {
            return (*status, json, page.to_string());
        }
        match path {
            "/mcp" => self.mcp(request),
            "/.well-known/oauth-protected-resource/mcp" => {
                let document = json!({
                    "resource": self.url(),
                    "authorization_servers": [self.origin],
                });
                (200, json, replaced(document, &self.state().resource))
            }
            "/.well-known/oauth-authorization-server" => {
                (200, json, replaced(self.metadata(), &self.state().server))
            }
            "/register" => {
                let mut state = self.state();
                state.registrations.push(serde_json::from_str(&request.body).unwrap());
                let id = format!("client-{}", state.registrations.len());
                let answer = json!({ "client_id": id, "token_endpoint_auth_method": "none" });
                (201, json, answer.to_string())
            }
            "/authorize" => {
                (302, format!("Location: {}\r\n", self.authorize(request)), String::new())
            }
            "/token" => self.token(form),
            "/device" => {
                self.state().forms.push(form);
                let page = format!("{}/activate", self.origin);
                let answer = json!({
                    "device_code": "device-code", "user_code": "AB-12", "verification_uri": page,
                    "interval": 1,
                });
                (200, json, answer.to_string())
            }
            "/revoke" => {
                self.state().forms.push(form);
                (200, String::new(), String::new())
            }
            "/oidc" => {
                let audience = request.path.split_once("audience=").map_or("", |(_, to)| to);
                let asked = request.fields.get("authorization").cloned().unwrap_or_default();
                (200, json, json!({ "value": format!("jwt:{asked}:{audience}") }).to_string())
            }
            _ => (404, String::new(), "not here".to_owned()),
        }
    }

    /// Where the page sends a person who agrees.
    fn authorize(&self, request: &Request) -> String {
        let query = parse(request.path.split_once('?').map_or("", |(_, query)| query));
        let mut state = self.state();
        state.count += 1;
        let code = format!("code-{}", state.count);
        let issuer = encode(&self.origin);
        let location =
            format!("{}?code={code}&state={}&iss={issuer}", query["redirect_uri"], query["state"]);
        state.codes.insert(code, query);
        location
    }

    fn metadata(&self) -> Value {
        let origin = &self.origin;
        json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "revocation_endpoint": format!("{origin}/revoke"),
            "device_authorization_endpoint": format!("{origin}/device"),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported":
                ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
            "authorization_response_iss_parameter_supported": true,
        })
    }

    fn token(&self, form: HashMap<String, String>) -> (u16, String, String) {
        let mut state = self.state();
        state.forms.push(form.clone());
        let number = state.forms.len();
        while state.hold {
            state = self.state.1.wait_timeout(state, Duration::from_secs(60)).unwrap().0;
        }
        let json = "Content-Type: application/json\r\n".to_owned();
        if state.lost == Some(number) {
            return (503, json, String::new());
        }
        if !state.answers.is_empty() {
            let (status, answer) = state.answers.remove(0);
            return (status, json, answer.to_string());
        }
        let refused = |error: &str| (400, json.clone(), json!({ "error": error }).to_string());
        if state.forgotten.is_some() && state.forgotten == form.get("client_id").map(String::as_str)
        {
            return refused("invalid_client");
        }
        let asked = match form.get("grant_type").map(String::as_str) {
            Some("authorization_code") => {
                let Some(asked) = form.get("code").and_then(|code| state.codes.remove(code)) else {
                    return refused("invalid_grant");
                };
                // The whole point of PKCE and of resource indicators.
                if !is_verifier_of(&form["code_verifier"], &asked["code_challenge"])
                    || form.get("resource") != asked.get("resource")
                {
                    return refused("invalid_grant");
                }
                asked.get("scope").cloned().unwrap_or_default()
            }
            Some("refresh_token") => {
                let token = form.get("refresh_token").cloned().unwrap_or_default();
                let Some(at) = state.refresh.iter().position(|good| *good == token) else {
                    // A token that is used twice was stolen: the whole family ends.
                    state.refresh.clear();
                    return refused("invalid_grant");
                };
                state.refresh.remove(at);
                String::new()
            }
            _ => form.get("scope").cloned().unwrap_or_default(),
        };
        let scope = state.grants.map_or(asked, str::to_owned);
        (200, json, state.issue(&form, scope).to_string())
    }
}

impl State {
    /// New tokens, as the answer to a form.
    fn issue(&mut self, form: &HashMap<String, String>, scope: String) -> Value {
        self.count += 1;
        let count = self.count;
        let (access, refresh) = (format!("access-token-{count}"), format!("refresh-token-{count}"));
        if self.single {
            self.tokens.clear();
        }
        self.tokens.insert(access.clone(), scope.clone());
        let mut answer = json!({
            "access_token": access, "token_type": "Bearer", "expires_in": self.life,
        });
        if !scope.is_empty() {
            answer["scope"] = scope.into();
        }
        if form.contains_key("code") || form.contains_key("refresh_token") {
            self.refresh.push(refresh.clone());
            answer["refresh_token"] = refresh.into();
        }
        answer
    }
}

impl World {
    fn mcp(&self, request: &Request) -> (u16, String, String) {
        let mut state = self.state();
        state.given.extend(request.fields.get("authorization").cloned());
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", self.origin);
        let token = request.fields.get("authorization");
        if state.restless {
            let nonce = format!("DPoP-Nonce: {}\r\n", state.seen.len());
            let wanted = match token {
                Some(_) => "DPoP error=\"use_dpop_nonce\"".to_owned(),
                None => format!("DPoP resource_metadata=\"{metadata}\""),
            };
            return (401, format!("WWW-Authenticate: {wanted}\r\n{nonce}"), String::new());
        }
        let token = token.and_then(|value| value.strip_prefix("Bearer "));
        let Some(scope) = token.and_then(|token| state.tokens.get(token)) else {
            let field = format!("WWW-Authenticate: Bearer resource_metadata=\"{metadata}\"\r\n");
            return (401, field, state.refusal.clone().unwrap_or_default());
        };
        let method = request.method();
        if let Some(needed) = state.needs_scope.filter(|_| method == "tools/call")
            && !scope.split(' ').any(|has| has == needed)
        {
            let field = format!(
                "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"{needed}\", \
                 resource_metadata=\"{metadata}\"\r\n"
            );
            return (403, field, String::new());
        }
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let result = match method.as_str() {
            "tools/list" => json!({ "resultType": "complete", "tools":
                [{ "name": "echo", "inputSchema": { "type": "object" } }],
                "ttlMs": state.ttl, "cacheScope": "private" }),
            "tools/call" => json!({ "resultType": "complete",
                "content": [{ "type": "text", "text": "hello" }] }),
            _ => json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "private" }),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        (200, "Content-Type: application/json\r\n".to_owned(), answer.to_string())
    }
}

/// Gives a command a browser: a program that logs in as whoever sits there and agrees.
pub(crate) fn with_browser<'a>(scratch: &Scratch, command: &'a mut Command) -> &'a mut Command {
    let urls = scratch.path("urls");
    let script = scratch.write(
        "browser",
        "#!/bin/sh\necho noise; echo noise >&2\necho \"$1\" >>\"$(dirname \"$0\")/urls\"\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    thread::spawn(move || {
        let mut visited = 0;
        for _ in 0..3000 {
            let lines = std::fs::read_to_string(&urls).unwrap_or_default();
            for url in lines.split_inclusive('\n').filter(|line| line.ends_with('\n')).skip(visited)
            {
                visited += 1;
                World::visit(url.trim());
            }
            thread::sleep(Duration::from_millis(10));
        }
    });
    command.env("BROWSER", script)
}

/// A request as it came.
struct Request {
    verb: String,
    path: String,
    fields: HashMap<String, String>,
    body: String,
}

impl Request {
    fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (verb, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut request = Request { verb, path, fields: HashMap::new(), body: String::new() };
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            request.fields.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = request.fields.get("content-length").and_then(|text| text.parse().ok());
        reader.take(length.unwrap_or(0)).read_to_string(&mut request.body)?;
        Ok(Some(request))
    }

    /// The form in the body, and with it who says to have sent it.
    fn form(&self) -> HashMap<String, String> {
        let sender = self.fields.get("authorization").cloned();
        let sender = sender.map(|sender| ("authorization".to_owned(), sender));
        parse(&self.body).into_iter().chain(sender).collect()
    }

    fn method(&self) -> String {
        let message: Value = serde_json::from_str(&self.body).unwrap_or_default();
        message["method"].as_str().unwrap_or_default().to_owned()
    }
}

fn replaced(mut document: Value, members: &Map<String, Value>) -> String {
    for (name, value) in members {
        document[name] = value.clone();
    }
    let object = document.as_object_mut().unwrap();
    object.retain(|_, value| !value.is_null());
    document.to_string()
}

fn parse(query: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

fn encode(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn is_verifier_of(verifier: &str, challenge: &str) -> bool {
    use aws_lc_rs::digest::{SHA256, digest};
    use base64::Engine;
    let hash = digest(&SHA256, verifier.as_bytes());
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(hash.as_ref()) == challenge
}

/// A GET: the status, and where it redirects to.
pub(crate) fn get(url: &str) -> (u16, Option<String>) {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let Ok(mut stream) = TcpStream::connect(host) else { return (0, None) };
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let _ = reader.read_line(&mut line);
    let status = line.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut location = None;
    loop {
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("location") {
            location = Some(value.trim().to_owned());
        }
    }
    (status, location)
}
