//! What to say about a transfer that failed.

use std::time::Duration;

use isahc::error::ErrorKind;

use super::reasons;
use crate::protocol::message::{Fault, FaultKind, Sent};

/// What stands in the text of a fault, after the server, when its certificate is not trusted.
const UNTRUSTED: &str = " has no certificate that is trusted: ";

/// What to do about a name without an address.
pub(super) const NAMELESS: &str = "is the name spelled right, and does a name server answer here?";

/// Whether a fault is that the certificate of the server is not trusted.
pub fn is_untrusted(fault: &Fault) -> bool {
    fault.text.contains(UNTRUSTED)
}

/// What libcurl says when the other side does not speak TLS.
const NOT_TLS: &str = "corrupt message";

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
    match of.sent {
        Sent::No => {
            let (text, hint) = unreachable(error.kind(), of, &why);
            let fault = Fault::new(FaultKind::Unreachable, text, of.sent).hint(hint);
            if lasts(error.kind(), &why) { fault.lasting() } else { fault }
        }
        Sent::Maybe | Sent::Yes => broken(error, of, &why),
    }
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

/// Whether no connection can be made until somebody has mended something. A name that is not known may
/// be known to the next name server, or in a minute.
fn lasts(kind: &ErrorKind, why: &str) -> bool {
    match kind {
        ErrorKind::BadServerCertificate
        | ErrorKind::BadClientCertificate
        | ErrorKind::InvalidTlsConfiguration => true,
        ErrorKind::ConnectionFailed => why.contains(NOT_TLS),
        _ => false,
    }
}

/// What happened to a request that was not sent, and what to do about it.
fn unreachable(kind: &ErrorKind, of: &Circumstances<'_>, why: &str) -> (String, &'static str) {
    let server = of.server;
    let through = match &of.proxy {
        Some(proxy) => format!(" through the proxy {proxy}"),
        None => String::new(),
    };
    match kind {
        ErrorKind::NameResolution => {
            let why = match why.split_once(": ") {
                // It would only say the name again. That of a proxy is one that was not said yet.
                Some(("could not resolve" | "could not resolve host", _)) => {
                    "no address is known for that name"
                }
                _ => why,
            };
            (format!("cannot find {server}{through}: {why}"), NAMELESS)
        }
        ErrorKind::Timeout => (
            format!(
                "cannot reach {server}{through}: no connection within {:?}",
                of.connect_timeout
            ),
            "is the address right, and no firewall in between? --start-timeout gives it more time",
        ),
        ErrorKind::BadServerCertificate => (
            format!("{server}{UNTRUSTED}{why}"),
            "name its authority with --cacert, or use --insecure",
        ),
        ErrorKind::BadClientCertificate => (
            format!("the client certificate for {server} cannot be used: {why}"),
            "check --cert and --key",
        ),
        ErrorKind::InvalidTlsConfiguration => (
            format!("no encrypted connection to {server}: {why}"),
            "check --cacert and SSL_CERT_FILE",
        ),
        ErrorKind::ConnectionFailed if why.contains(NOT_TLS) => {
            (format!("no encrypted connection to {server}: {why}"), "is it an http:// server?")
        }
        _ => {
            let hint = match (&of.proxy, why) {
                (Some(_), _) => "check the proxy: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY",
                (None, "connection refused") => {
                    "nothing listens there: is the server running, and its port the right one?"
                }
                _ => "is the server running, and its address the right one?",
            };
            (format!("cannot reach {server}{through}: {why}"), hint)
        }
    }
}

/// The fault of a request that may have been received.
fn broken(error: &isahc::Error, of: &Circumstances<'_>, why: &str) -> Fault {
    let server = of.server;
    match error.kind() {
        ErrorKind::ProtocolViolation if !why.to_ascii_lowercase().contains("empty reply") => {
            let text = format!("{server} does not answer in HTTP: {why}");
            Fault::new(FaultKind::Protocol, text, of.sent).hint("is another service on that port?")
        }
        ErrorKind::InvalidContentEncoding => {
            let text = format!("the answer of {server} cannot be decoded: {why}");
            Fault::new(FaultKind::Protocol, text, of.sent)
                .hint("the server, or a proxy before it, mislabels what it sends")
        }
        _ => {
            let text = format!("the connection to {server} was lost: {why}");
            Fault::new(FaultKind::Lost, text, of.sent)
        }
    }
}
