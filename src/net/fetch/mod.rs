//! Fetching documents that somebody else has named.
//!
//! A card, a catalog or a metadata document tells where the next document is, and whoever wrote it
//! may want us to ask where only we can reach. So every such URL comes here:
//!
//! ```text
//! URL ── scheme ──▶ resolve, once ──▶ all addresses allowed? ──▶ connect to one of those ──▶ body
//!  ▲                                                                             │        (bounded)
//!  └───────────── redirect: three at most, from https only to https ◀────────────┘
//! ```
//!
//! Nothing of the user's goes along: no headers, no credentials, no client certificate, no cookies.

mod error;
mod route;

use std::net::IpAddr;
use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use http::header::{ACCEPT, HeaderMap, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use http::{HeaderValue, Method, StatusCode};

pub use self::error::FetchError;
use self::route::{Resolver, Route};
use super::reply::media_type;
use super::{
    Address, Authorization, Headers, HttpVersion, InvalidAddress, Lanes, Reply, Request, Resolve,
    Settings, Zone, header_value,
};
use crate::protocol::message::Sent;
use crate::reactor::Timer;

/// How many redirects are followed.
const REDIRECTS: usize = 3;

/// How long one request may take, its body included.
const PATIENCE: Duration = Duration::from_secs(15);

/// The longest wait that a busy server may ask for.
const RETRY_AFTER: u64 = 5;

/// Fetches documents.
#[derive(Debug)]
pub struct Fetcher {
    settings: Settings,
    policy: Policy,
    /// The server that is reached by a socket, if there is one.
    behind_socket: Option<Address>,
    /// How long one request may take, its body included.
    patience: Duration,
    /// When all requests must be over, and how long that was at the beginning.
    deadline: Option<(Instant, Duration)>,
    resolver: Resolver,
}

/// What is allowed beyond the rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// A document of the world may name an address nearby.
    pub allow_private: bool,
    /// Connections that are not encrypted may leave this machine.
    pub allow_http: bool,
}

/// Who has named a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The user, who may name any.
    User,
    /// A document that came from there.
    Document(Zone),
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Query {
    method: Method,
    headers: HeaderMap,
    limit: usize,
}

impl Query {
    /// A document of at most `limit` bytes.
    pub fn get(accept: &'static str, limit: usize) -> Query {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
        Query { method: Method::GET, headers, limit }
    }

    /// The header fields of a document, without it.
    pub fn head(accept: &'static str) -> Query {
        Query { method: Method::HEAD, ..Query::get(accept, 0) }
    }

    /// Only if it is not the version with these validators any more (RFC 9110, section 13.1). They
    /// are sent as they came; one that no header can carry is left out.
    #[must_use]
    pub fn unless_still(mut self, etag: Option<&str>, last_modified: Option<&str>) -> Query {
        let validators = [(IF_NONE_MATCH, etag), (IF_MODIFIED_SINCE, last_modified)];
        for (name, value) in validators {
            if let Some(Ok(value)) = value.map(|value| header_value(name.as_str(), value)) {
                self.headers.insert(name, value);
            }
        }
        self
    }
}

/// What was fetched.
#[derive(Debug)]
pub struct Fetched {
    /// The status.
    pub status: StatusCode,
    /// The header fields.
    pub headers: HeaderMap,
    /// Where it came from, after redirects.
    pub address: Address,
    /// How near that is.
    pub zone: Zone,
    /// The body.
    pub body: Vec<u8>,
}

impl Fetcher {
    /// A fetcher that reaches the world as these settings say. Its user's headers, credentials and
    /// certificate stay behind; a socket is used for the URLs of `server` alone.
    pub fn new(settings: &Settings, server: &Address, policy: Policy) -> Fetcher {
        let mut settings = settings.clone();
        settings.headers = Headers::default();
        settings.authorization = Authorization::none();
        settings.tls.certificate = None;
        settings.tls.key = None;
        settings.http_version = HttpVersion::Auto;
        let behind_socket = settings.unix_socket.as_ref().map(|_| server.clone());
        let resolver = Resolver::default();
        Fetcher { settings, policy, behind_socket, patience: PATIENCE, deadline: None, resolver }
    }

    /// The same with another limit for one request, its body included.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Fetcher {
        Fetcher { patience, ..self }
    }

    /// The same with a limit for all requests together, from the beginning on.
    #[must_use]
    pub fn within(self, budget: Duration, begun: Instant) -> Fetcher {
        Fetcher { deadline: Some((begun + budget, budget)), ..self }
    }

    /// The same with another way to find the addresses of a name than to ask the system.
    #[must_use]
    pub fn with_resolver(self, resolve: impl Fn(&str) -> Vec<IpAddr> + 'static) -> Fetcher {
        Fetcher { resolver: Resolver::Other(Box::new(resolve)), ..self }
    }

    /// Fetches a document of at most `limit` bytes. What came is told whatever its status is.
    pub async fn get(
        &self,
        address: &Address,
        source: Source,
        accept: &'static str,
        limit: usize,
    ) -> Result<Fetched, FetchError> {
        self.fetch(address, source, &Query::get(accept, limit)).await
    }

    /// Fetches what is asked for. What came is told whatever its status is.
    pub async fn fetch(
        &self,
        address: &Address,
        source: Source,
        query: &Query,
    ) -> Result<Fetched, FetchError> {
        let (mut address, mut source) = (address.clone(), source);
        for _ in 0..=REDIRECTS {
            let request = Request {
                method: query.method.clone(),
                headers: query.headers.clone(),
                ..Request::get(address.clone(), HeaderMap::new())
            };
            let fetched = self.patiently(&request, source, query.limit).await?;
            match redirect(&fetched)? {
                None => return Ok(fetched),
                Some(next) => (address, source) = (next, Source::Document(fetched.zone)),
            }
        }
        Err(FetchError::TooManyRedirects(address))
    }

    /// Sends one request. Redirects are not followed: what goes along is for this URL only. It may be
    /// a secret, so that even a URL of the user's own must be encrypted beyond this machine.
    pub async fn ask(
        &self,
        request: &Request,
        source: Source,
        limit: usize,
    ) -> Result<Fetched, FetchError> {
        let address = &request.address;
        let exposed = !address.is_tls() && !self.policy.allow_http;
        if exposed && self.zone(address).await? != Zone::Loopback {
            return Err(FetchError::NotEncrypted(address.clone()));
        }
        self.send(request, source, limit).await
    }

    /// Whether a person may be sent to an address that this source has named.
    pub async fn admits(&self, address: &Address, source: Source) -> Result<(), FetchError> {
        self.route(address, source).or(self.late(address)).await.map(drop)
    }

    /// How near the server of an address is.
    pub async fn zone(&self, address: &Address) -> Result<Zone, FetchError> {
        Ok(self.route(address, Source::User).or(self.late(address)).await?.zone)
    }

    /// Sends a request, and once more to a server that is busy for a moment.
    async fn patiently(
        &self,
        request: &Request,
        source: Source,
        limit: usize,
    ) -> Result<Fetched, FetchError> {
        let fetched = self.send(request, source, limit).await?;
        let busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        match fetched.retry_after().filter(|seconds| *seconds <= RETRY_AFTER) {
            Some(seconds) if busy.contains(&fetched.status) => {
                self.in_time(&request.address, Duration::from_secs(seconds)).await?;
                self.send(request, source, limit).await
            }
            _ => Ok(fetched),
        }
    }

    async fn send(
        &self,
        request: &Request,
        source: Source,
        limit: usize,
    ) -> Result<Fetched, FetchError> {
        self.exchange(request, source, limit).or(self.late(&request.address)).await
    }

    /// What is told when something takes longer than a request may.
    async fn late<T>(&self, address: &Address) -> Result<T, FetchError> {
        self.in_time(address, self.patience).await?;
        Err(FetchError::Late { address: address.clone(), after: self.patience })
    }

    /// Waits, unless all requests must be over before that.
    async fn in_time(&self, address: &Address, wait: Duration) -> Result<(), FetchError> {
        let Some((deadline, budget)) = self.deadline else {
            Timer::after(wait).await;
            return Ok(());
        };
        let left = deadline.saturating_duration_since(Instant::now());
        Timer::after(wait.min(left)).await;
        match left <= wait {
            true => Err(FetchError::Late { address: address.clone(), after: budget }),
            false => Ok(()),
        }
    }

    async fn exchange(
        &self,
        request: &Request,
        source: Source,
        limit: usize,
    ) -> Result<Fetched, FetchError> {
        let address = &request.address;
        let route = self.route(address, source).await?;
        let mut reply = self.connect(request, &route).await?;
        let mut body = Vec::new();
        let mut block = vec![0; 16 << 10];
        loop {
            match reply.body.read(&mut block).await.map_err(FetchError::Failed)? {
                0 => break,
                length if limit < body.len() + length => {
                    return Err(FetchError::TooLong { address: address.clone(), limit });
                }
                length => body.extend_from_slice(&block[..length]),
            }
        }
        let Reply { status, headers, .. } = reply;
        Ok(Fetched { status, headers, address: address.clone(), zone: route.zone, body })
    }

    /// Sends the request to the first of the addresses that can be reached.
    async fn connect(&self, request: &Request, route: &Route) -> Result<Reply, FetchError> {
        let address = &request.address;
        let mut settings = self.settings.clone();
        if !self.is_behind_socket(address) {
            settings.unix_socket = None;
        }
        if route.ips.is_empty() {
            let lanes = Lanes::new(address, settings).map_err(FetchError::Settings)?;
            return lanes.send_once(request).await.map_err(FetchError::Failed);
        }
        let mut failed = None;
        for ip in &route.ips {
            let (host, port) = (address.host().to_owned(), address.port());
            settings.resolve = vec![Resolve { host, port, ip: *ip }];
            let lanes = Lanes::new(address, settings.clone()).map_err(FetchError::Settings)?;
            match lanes.send_once(request).await {
                Ok(reply) => return Ok(reply),
                // Nothing was sent, so the next address may be tried.
                Err(fault) if fault.sent == Sent::No => failed = failed.or(Some(fault)),
                Err(fault) => return Err(FetchError::Failed(fault)),
            }
        }
        Err(failed.map_or_else(|| FetchError::Unknown(address.clone()), FetchError::Failed))
    }
}

/// Where a redirect leads; `None` when the answer is none.
fn redirect(fetched: &Fetched) -> Result<Option<Address>, FetchError> {
    let location = fetched.headers.get(http::header::LOCATION);
    let followed = matches!(fetched.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = location.filter(|_| followed) else { return Ok(None) };
    let from = &fetched.address;
    // Browsers read it as UTF-8, too.
    let next = match std::str::from_utf8(location.as_bytes()) {
        Ok(location) => from.join(location),
        Err(_) => Err(InvalidAddress::Syntax("it is not UTF-8".to_owned())),
    };
    match next {
        Ok(next) if from.is_tls() && !next.is_tls() => {
            Err(FetchError::BadRedirect { from: from.clone(), why: None })
        }
        Ok(next) => Ok(Some(next)),
        Err(why) => Err(FetchError::BadRedirect { from: from.clone(), why: Some(why) }),
    }
}

impl Fetched {
    /// Whether the body is JSON, as far as can be told without reading it. Applications in one page
    /// answer every path with HTML and 200.
    pub fn is_json(&self) -> bool {
        match media_type(&self.headers).as_str() {
            "application/json" | "text/json" => true,
            "" | "text/plain" => self.body.trim_ascii_start().starts_with(b"{"),
            other => other.ends_with("+json"),
        }
    }

    fn retry_after(&self) -> Option<u64> {
        self.headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetcher(policy: Policy, settings: &Settings) -> Fetcher {
        Fetcher::new(settings, &Address::parse("https://server.example/mcp").unwrap(), policy)
    }

    /// Whether a source may name a URL, with nothing but addresses in URLs: nobody is asked.
    #[track_caller]
    fn check(policy: Policy, source: Source, url: &str, expected: &str) {
        let address = Address::parse(url).unwrap();
        let admitted = fetcher(policy, &Settings::default());
        let told = match crate::reactor::block_on(admitted.admits(&address, source)) {
            Ok(()) => "ok",
            Err(FetchError::Inwards { .. }) => "inwards",
            Err(FetchError::NotEncrypted(_)) => "http",
            Err(FetchError::Forbidden(_)) => "forbidden",
            Err(other) => panic!("{other}"),
        };
        assert_eq!(told, expected, "{source:?} {url}");
    }

    #[test]
    fn documents_lead_outwards_only() {
        let none = Policy::default();
        let from = Source::Document;
        for url in [
            "https://127.0.0.1/",
            "https://[::1]:8443/",
            "https://0.0.0.0/",
            "https://[::ffff:7f00:1]/",
        ] {
            check(none, Source::User, url, "ok");
            check(none, from(Zone::Loopback), url, "ok");
            check(none, from(Zone::Private), url, "inwards");
            check(none, from(Zone::Public), url, "inwards");
        }
        // All the ways to write an address that a browser understands.
        for url in [
            "https://10.0.0.1/",
            "https://192.168.1.1/",
            "https://172.16.0.1/",
            "https://169.254.1.1/",
            "https://100.64.0.1/",
            "https://0x0a000001/",
            "https://167772161/",
            "https://012.0.0.1/",
            "https://10.1/",
            "https://10.0.0.1./",
            "https://[fd00::1]/",
            "https://[fe80::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[2002:a00:1::]/",
            "https://[64:ff9b::a00:1]/",
        ] {
            check(none, Source::User, url, "ok");
            check(none, from(Zone::Loopback), url, "ok");
            check(none, from(Zone::Private), url, "ok");
            check(none, from(Zone::Public), url, "inwards");
        }
        check(none, from(Zone::Public), "https://8.8.8.8/", "ok");
        let allowed = Policy { allow_private: true, ..none };
        check(allowed, from(Zone::Public), "https://10.0.0.1/", "ok");
    }

    #[test]
    fn only_this_machine_does_without_encryption() {
        let none = Policy::default();
        check(none, Source::Document(Zone::Loopback), "http://127.0.0.1/", "ok");
        check(none, Source::Document(Zone::Public), "http://8.8.8.8/", "http");
        check(none, Source::Document(Zone::Private), "http://10.0.0.1/", "http");
        check(none, Source::User, "http://10.0.0.1/", "ok");
        let allowed = Policy { allow_http: true, ..none };
        check(allowed, Source::Document(Zone::Public), "http://8.8.8.8/", "ok");
    }

    #[test]
    fn clouds_keep_their_secrets() {
        let all = Policy { allow_private: true, allow_http: true };
        for url in [
            "http://169.254.169.254/",
            "http://0xa9fea9fe/",
            "http://2852039166/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[fd00:ec2::254]/",
            "http://[64:ff9b::a9fe:a9fe]/",
        ] {
            check(all, Source::User, url, "forbidden");
            check(all, Source::Document(Zone::Loopback), url, "forbidden");
        }
    }

    #[test]
    fn a_name_is_where_it_resolves_to() {
        let resolve = |ip: &str| {
            let (host, port) = ("as.example".to_owned(), 443);
            let resolve = vec![Resolve { host, port, ip: ip.parse().unwrap() }];
            Settings { resolve, ..Settings::default() }
        };
        let check = |ip: &str, expected: Result<Zone, ()>| {
            let address = Address::parse("https://as.example/").unwrap();
            let found =
                crate::reactor::block_on(fetcher(Policy::default(), &resolve(ip)).zone(&address));
            assert_eq!(found.map_err(|_| ()), expected, "{ip}");
        };
        check("8.8.8.8", Ok(Zone::Public));
        check("10.0.0.1", Ok(Zone::Private));
        check("169.254.169.254", Err(()));
    }
}
