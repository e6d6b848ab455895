//! Connections to one server, each of which can be hung up.
//!
//! A client of the HTTP library cannot drop a single transfer at once: the socket stays open until
//! the server sends its next byte. Only dropping the client closes it. So every exchange has a
//! *lane*, a client of its own, and a lane whose exchange has come to its end is used again:
//!
//! ```text
//! idle ──▶ Lane ──▶ Reply { body } ──▶ read to its end ──▶ idle
//!                        └── dropped before ──▶ client dropped: the socket closes
//! ```

use std::cell::RefCell;
use std::mem::{self, ManuallyDrop};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::header::{HeaderMap, LOCATION, USER_AGENT};
use http::{HeaderValue, StatusCode};
use isahc::config::{Configurable, RedirectPolicy};
use isahc::net::Dialer;
use isahc::tls::TlsConfig;
use isahc::{HttpClient, ResponseExt};

use super::fault::{self, Circumstances};
use super::proxy::ProxyAddress;
use super::reasons::{self, Agent, Mark};
use super::reply::{Body, Reply};
use super::request::Request;
use super::{Address, InvalidSettings, Settings};
use crate::protocol::message::{Fault, FaultKind, Sent};
use crate::protocol::trace::Record;
use crate::reactor::is_room_for;

/// How long an idle connection is trusted. Many servers close theirs after five seconds, and a
/// request that is sent at that moment is lost with an unknown outcome.
const IDLE: Duration = Duration::from_secs(4);

/// How often the system checks that a silent peer is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// What we call ourselves.
const PRODUCT: &str = concat!("mcpmini/", env!("CARGO_PKG_VERSION"));

/// Connections to one server.
#[derive(Debug)]
pub struct Lanes(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    address: Address,
    settings: Settings,
    proxy: Option<ProxyAddress>,
    tls: Option<TlsConfig>,
    idle: RefCell<Vec<Client>>,
}

/// A client of the HTTP library, and the thread that works for it.
#[derive(Debug)]
struct Client {
    http: HttpClient,
    agent: Option<Agent>,
}

/// A client in use. To drop it is to close its connection.
#[derive(Debug)]
pub(super) struct Lane {
    client: Option<Client>,
    shared: Rc<Shared>,
}

impl Lanes {
    /// Lanes to the server of `address`; no connection is made yet. Errors when a setting cannot
    /// be carried out, for example because a certificate file is missing.
    pub fn new(address: &Address, settings: Settings) -> Result<Lanes, InvalidSettings> {
        reasons::install();
        let proxy = match settings.unix_socket {
            Some(_) => None,
            None => settings.proxy.choose(address).map_err(InvalidSettings::Proxy)?,
        };
        // Certificates take milliseconds to load, so none are for `http` URLs.
        let tls = address.is_tls().then(|| settings.tls.config()).transpose();
        let tls = tls.map_err(InvalidSettings::Tls)?;
        let idle = RefCell::default();
        Ok(Lanes(Rc::new(Shared { address: address.clone(), settings, proxy, tls, idle })))
    }

    /// Sends a request and waits for the head of the answer. To drop the future is to hang up.
    ///
    /// The library reports the head together with the first byte of the body, or with its end: on a
    /// silent event stream this waits until the server says something.
    ///
    /// Redirects that keep the method (307, 308) are followed within the origin: that the server
    /// sends us elsewhere proves that it did not act on the request. Any other answer is handed out
    /// as it is. A request to another origin is not sent, because it would take the credentials
    /// there.
    pub async fn send(&self, mut request: Request) -> Result<Reply, Fault> {
        let mut reply = self.send_once(&request).await?;
        let mut permanent = None;
        for _ in 0..REDIRECTS {
            let Some(next) = self.redirected(&reply) else { break };
            let is_permanent = reply.status == StatusCode::PERMANENT_REDIRECT;
            permanent = Some(is_permanent && permanent.unwrap_or(true));
            reply.body.discard().await;
            request.address = next;
            reply = self.send_once(&request).await?;
        }
        reply.moved = permanent == Some(true);
        Ok(reply)
    }

    /// Where a redirect leads, if it may be followed.
    fn redirected(&self, reply: &Reply) -> Option<Address> {
        let keeps_method = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT];
        if !keeps_method.contains(&reply.status) {
            return None;
        }
        let next = reply.address.join(reply.header(LOCATION.as_str())?).ok()?;
        next.same_origin(&self.0.address).then_some(next)
    }

    /// Sends a request and follows no redirect.
    pub(super) async fn send_once(&self, request: &Request) -> Result<Reply, Fault> {
        if !request.address.same_origin(&self.0.address) {
            return Err(unsent(format!("{} is not on {}", request.address, self.0.server())));
        }
        let lane = self.lane()?;
        let headers = self.headers(request);
        self.trace_request(request, &headers);
        let (sending, touched) = request.prepare(headers);
        let mark = reasons::mark();
        match lane.client().http.send_async(sending).await {
            Ok(response) => {
                if let Some(took) = response.metrics() {
                    let (connect, tls) = (took.connect_time(), took.secure_connect_time());
                    self.0.settings.meter.connected(took.name_lookup_time(), connect, tls);
                }
                let (head, reader) = response.into_parts();
                self.trace_reply(head.status, &head.headers);
                self.0.settings.authorization.learn(&request.address, &head.headers);
                let body = Body::new(reader, lane, mark, head.version, &head.headers);
                Ok(Reply {
                    status: head.status,
                    headers: head.headers,
                    address: request.address.clone(),
                    moved: false,
                    body,
                })
            }
            Err(error) => {
                let maybe = match request.body {
                    Some(_) => touched.get(),
                    None => error.remote_addr().is_some(),
                };
                Err(lane.fault(&error, mark, if maybe { Sent::Maybe } else { Sent::No }))
            }
        }
    }

    /// All header fields of a request: ours, those of the user, the credentials, and those of the
    /// protocol, each replacing those before.
    pub fn headers(&self, request: &Request) -> HeaderMap {
        let mut headers = self.0.settings.headers.as_map().clone();
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(PRODUCT));
        for (name, value) in self.0.settings.authorization.sign(&request.method, &request.address) {
            headers.insert(name, value);
        }
        for (name, value) in &request.headers {
            headers.insert(name, value.clone());
        }
        headers
    }

    fn trace_request(&self, request: &Request, headers: &HeaderMap) {
        if self.0.settings.trace.is_on() {
            self.0.settings.trace.record(&Record::Request {
                method: request.method.as_str(),
                url: request.address.as_str(),
                headers: &texts(headers),
                body: request.body.as_ref().map(|body| body.as_slice()),
            });
        }
    }

    fn trace_reply(&self, status: StatusCode, headers: &HeaderMap) {
        if self.0.settings.trace.is_on() {
            let record = Record::Reply { status: status.as_u16(), headers: &texts(headers) };
            self.0.settings.trace.record(&record);
        }
    }

    /// An idle lane, or a new one.
    fn lane(&self) -> Result<Lane, Fault> {
        // The one that was used last: its connection is the least likely to have been closed.
        let idle = self.0.idle.borrow_mut().pop();
        let client = match idle {
            Some(client) => client,
            None if !is_room_for(CLIENT_FILES) => {
                let text = format!("cannot reach {}: too many open files", self.0.server());
                return Err(unsent(text).hint("ulimit -n says how many files may be open"));
            }
            None => self.0.build().map_err(|error| {
                unsent(format!("the HTTP client for {} cannot start: {error}", self.0.server()))
                    .hint("ulimit says how many threads (-u) and open files (-n) there may be")
            })?,
        };
        Ok(Lane { client: Some(client), shared: self.0.clone() })
    }
}

/// How many files a client opens: what wakes its thread, its connection, certificates.
const CLIENT_FILES: u64 = 12;

/// Header fields as text; what is no text is left out.
fn texts(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let texts = headers.iter().map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    texts.flatten().collect()
}

/// The fault of a request that was not sent.
fn unsent(text: String) -> Fault {
    Fault::new(FaultKind::Unreachable, text, Sent::No)
}

impl Shared {
    fn build(&self) -> Result<Client, isahc::Error> {
        let settings = &self.settings;
        let mut builder = HttpClient::builder()
            .redirect_policy(RedirectPolicy::None)
            .connect_timeout(settings.connect_timeout)
            .connection_cache_ttl(IDLE)
            .tcp_keepalive(KEEP_ALIVE)
            // Else a second passes before every body over 1 MiB.
            .expect_continue(false)
            .title_case_headers(true)
            .metrics(settings.meter.is_on())
            .version_negotiation(settings.http_version.negotiation())
            // Always set, or libcurl reads the environment by itself.
            .proxy(self.proxy.as_ref().map(|proxy| proxy.uri().clone()))
            .proxy_blacklist(std::iter::empty::<String>())
            .dns_resolve(settings.resolve_map());
        if let Some(tls) = &self.tls {
            builder = builder.tls_config(tls.clone());
        }
        if let Some(path) = &settings.unix_socket {
            builder = builder.dial(Dialer::unix_socket(path.clone()));
        }
        reasons::take_announced();
        let http = builder.build()?;
        Ok(Client { http, agent: reasons::take_announced() })
    }

    /// The server, as faults name it.
    fn server(&self) -> String {
        match &self.settings.unix_socket {
            Some(path) => format!("unix:{}", path.display()),
            None => self.address.host_and_port(),
        }
    }
}

/// So many clients without work are kept after the end of their lanes.
const RETIRED: usize = 4;

/// Clients without work that nobody will use again. Most often the process ends now, which takes less time
/// than to start a thread that drops them.
static RETIREES: Mutex<Vec<Client>> = Mutex::new(Vec::new());

impl Drop for Shared {
    fn drop(&mut self) {
        // A thread that has panicked has left the list as it was.
        let mut retirees = RETIREES.lock().unwrap_or_else(PoisonError::into_inner);
        retirees.append(self.idle.get_mut());
        if retirees.len() > RETIRED {
            drop_aside(mem::take(&mut *retirees));
        }
    }
}

impl Lane {
    fn client(&self) -> &Client {
        self.client.as_ref().expect("a lane has its client until it is released")
    }

    /// What the failure of the exchange on this lane means. Closes the connection.
    pub(super) fn fault(self, error: &isahc::Error, mark: Mark, sent: Sent) -> Fault {
        let agent = self.client().agent;
        fault::fault(
            error,
            &Circumstances {
                server: &self.shared.server(),
                proxy: self.shared.proxy.as_ref().map(ToString::to_string),
                records: agent.map(|agent| reasons::since(mark, agent)).unwrap_or_default(),
                sent,
                connect_timeout: self.shared.settings.connect_timeout,
            },
        )
    }

    /// Ends the exchange; its connection can be used again.
    pub(super) fn release(mut self) {
        self.shared.idle.borrow_mut().extend(self.client.take());
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        drop_aside(self.client.take().into_iter().collect());
    }
}

/// Drops clients on a thread of its own: dropping one waits for its name server to answer.
fn drop_aside(clients: Vec<Client>) {
    if clients.is_empty() {
        return;
    }
    // When no thread can be had, the clients are leaked: better an open socket than a wait.
    let clients = ManuallyDrop::new(clients);
    let thread = std::thread::Builder::new().name("mcpmini-hang-up".into());
    let _ = thread.spawn(move || drop(ManuallyDrop::into_inner(clients)));
}
