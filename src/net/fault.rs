//! What to say about a transfer that failed.

use std::time::Duration;

use isahc::error::ErrorKind;

use super::reasons;
use crate::protocol::message::{Fault, FaultKind, Sent};

/// What stands in the text of a fault, after the server, when its certificate is not trusted.
const UNTRUSTED: &str = " has no certificate that is trusted: ";

/// Whether a fault is that the certificate of the server is not trusted.
pub fn is_untrusted(fault: &Fault) -> bool {
    fault.text.contains(UNTRUSTED)
}

/// What is known about the transfer.
#[derive(Debug)]
pub(super) struct Circumstances<'a> {
    /// The server: `example.com:443`.
    pub server: &'a str,
    /// The proxy on the way.
    pub proxy: Option<String>,
    /// What libcurl said about this transfer.
    pub records: Vec<String>,
    /// Whether the request may have reached the server.
    pub sent: Sent,
    /// How long connecting may take.
    pub connect_timeout: Duration,
}

/// The fault that an error of the HTTP library stands for.
pub(super) fn fault(error: &isahc::Error, of: &Circumstances<'_>) -> Fault {
    let told = reasons::reason(&of.records);
    let why = told.unwrap_or_else(|| described(error));
    let (kind, text) = match of.sent {
        Sent::No => (FaultKind::Unreachable, unreachable(error.kind(), of, &why)),
        Sent::Maybe | Sent::Yes => broken(error, of, &why),
    };
    Fault { kind, text, sent: of.sent }
}

/// The description in the error itself. The source is libcurl's error, `[7] Could not connect`.
fn described(error: &isahc::Error) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    let text = source.unwrap_or_else(|| error.to_string());
    match text.split_once("] ") {
        Some((_, description)) => description.to_owned(),
        None => text,
    }
}

fn unreachable(kind: &ErrorKind, of: &Circumstances<'_>, why: &str) -> String {
    let server = of.server;
    let through = match &of.proxy {
        Some(proxy) => format!(" through the proxy {proxy}"),
        None => String::new(),
    };
    match kind {
        ErrorKind::NameResolution => format!("cannot find {server}{through}: {why}"),
        ErrorKind::Timeout => {
            format!("cannot reach {server}{through}: no connection within {:?}", of.connect_timeout)
        }
        ErrorKind::BadServerCertificate => {
            format!("{server}{UNTRUSTED}{why}; name its authority with --cacert, or use --insecure")
        }
        ErrorKind::BadClientCertificate => {
            format!("the client certificate for {server} cannot be used: {why}")
        }
        ErrorKind::InvalidTlsConfiguration => {
            format!("no encrypted connection to {server}: {why}; check --cacert and SSL_CERT_FILE")
        }
        ErrorKind::ConnectionFailed if why.contains("corrupt message") => {
            format!("no encrypted connection to {server}: {why}; is it an http:// server?")
        }
        _ => format!("cannot reach {server}{through}: {why}"),
    }
}

fn broken(error: &isahc::Error, of: &Circumstances<'_>, why: &str) -> (FaultKind, String) {
    let server = of.server;
    match error.kind() {
        ErrorKind::ProtocolViolation if !why.to_ascii_lowercase().contains("empty reply") => {
            (FaultKind::Protocol, format!("{server} does not answer in HTTP: {why}"))
        }
        ErrorKind::InvalidContentEncoding => {
            (FaultKind::Protocol, format!("the answer of {server} cannot be decoded: {why}"))
        }
        _ => (FaultKind::Lost, format!("the connection to {server} was lost: {why}")),
    }
}
