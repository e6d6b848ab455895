//! A look at the certificate of a server.
//!
//! The HTTP library checks certificates and keeps them to itself. So this makes a connection of its
//! own, says nothing on it, and only looks: what is seen here is trusted by nobody.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};

use super::{Address, Settings};
use crate::protocol::rfc3339;
use crate::reactor;

/// What can be seen of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// From when on it is good, in seconds since 1970.
    pub not_before: i64,
    /// Until when it is good, in seconds since 1970.
    pub not_after: i64,
    /// The version of TLS that server and client have agreed on.
    pub version: String,
}

/// Why a certificate could not be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unseen {
    /// The way there leads through a proxy or a socket.
    NotDirect,
    /// There was no connection; what the system or the library says.
    Failed(String),
    /// There was none within that time.
    Late(Duration),
    /// It is not as certificates are.
    Malformed,
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unseen::NotDirect => f.write_str("the connection is not a direct one"),
            Unseen::Failed(why) => f.write_str(why),
            Unseen::Late(patience) => write!(f, "no certificate within {patience:?}"),
            Unseen::Malformed => f.write_str("the certificate cannot be read"),
        }
    }
}

impl Certificate {
    /// Connects to the server of an address and looks at its certificate, all within that time.
    pub async fn of(
        address: &Address,
        settings: &Settings,
        patience: Duration,
    ) -> Result<Certificate, Unseen> {
        let proxy = settings.proxy.choose(address).ok().flatten();
        if proxy.is_some() || settings.unix_socket.is_some() {
            return Err(Unseen::NotDirect);
        }
        let host = address.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = address.port();
        let known = settings.known(address).map(|ip| SocketAddr::new(ip, port));
        let looking = smol::unblock(move || look(host, port, known, patience));
        reactor::timeout(patience, looking).await.unwrap_or(Err(Unseen::Late(patience)))
    }
}

/// Connects, and waits for the whole handshake.
fn look(
    host: String,
    port: u16,
    known: Option<SocketAddr>,
    patience: Duration,
) -> Result<Certificate, Unseen> {
    let mut stream = connect(&host, port, known, patience).map_err(failed)?;
    let name = ServerName::try_from(host).map_err(failed)?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone());
    let config = config.with_safe_default_protocol_versions().map_err(failed)?;
    let config = config.dangerous().with_custom_certificate_verifier(Arc::new(Onlooker(provider)));
    let config = config.with_no_client_auth();
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(failed)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).map_err(failed)?;
    }
    let leaf = connection.peer_certificates().and_then(<[_]>::first).ok_or(Unseen::Malformed)?;
    let version = match connection.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLS 1.2".to_owned(),
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLS 1.3".to_owned(),
        other => format!("{other:?}"),
    };
    let (not_before, not_after) = validity(leaf).ok_or(Unseen::Malformed)?;
    Ok(Certificate { not_before, not_after, version })
}

fn failed(error: impl fmt::Display) -> Unseen {
    Unseen::Failed(error.to_string())
}

/// A connection to the first address that takes one.
pub(super) fn connect(
    host: &str,
    port: u16,
    known: Option<SocketAddr>,
    patience: Duration,
) -> io::Result<TcpStream> {
    let addresses = match known {
        Some(known) => vec![known],
        None => (host, port).to_socket_addrs()?.collect(),
    };
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Takes any certificate, as long as the server proves that it is its own.
#[derive(Debug)]
struct Onlooker(Arc<CryptoProvider>);

impl ServerCertVerifier for Onlooker {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

// The tags of DER (X.690) that stand in a certificate before its validity (RFC 5280, section 4.1).
const SEQUENCE: u8 = 0x30;
const EXPLICIT_VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// From when on and until when a certificate is good (RFC 5280, section 4.1.2.5).
fn validity(certificate: &[u8]) -> Option<(i64, i64)> {
    let inside = |(tag, content, _)| (tag == SEQUENCE).then_some(content);
    let to_be_signed = element(element(certificate).and_then(inside)?).and_then(inside)?;
    let (tag, _, rest) = element(to_be_signed)?;
    // The version is left out of the oldest certificates; then this was the serial number.
    let rest = if tag == EXPLICIT_VERSION { element(rest)?.2 } else { rest };
    let (_algorithm, _, rest) = element(rest)?;
    let (_issuer, _, rest) = element(rest)?;
    let validity = element(rest).and_then(inside)?;
    let (tag, not_before, rest) = element(validity)?;
    let not_before = time(tag, std::str::from_utf8(not_before).ok()?)?;
    let (tag, not_after, _) = element(rest)?;
    Some((not_before, time(tag, std::str::from_utf8(not_after).ok()?)?))
}

/// The first element of some DER: its tag, its content, and what comes after it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(*first) {
        length @ ..=0x7f => (length, rest),
        bytes @ 0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(bytes - 0x80)?;
            (length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// A time in Greenwich: `YYMMDDhhmmssZ` or, with another tag, `YYYYMMDDhhmmssZ`.
fn time(tag: u8, text: &str) -> Option<i64> {
    let digits =
        text.strip_suffix('Z').filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()))?;
    let (year, rest) = match (tag, digits.len()) {
        (UTC_TIME, 12) => {
            let year: i64 = digits[..2].parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, &digits[2..])
        }
        (GENERALIZED_TIME, 14) => (digits[..4].parse().ok()?, &digits[4..]),
        _ => return None,
    };
    let part = |at: usize| rest[at..at + 2].parse().ok();
    let (date, time) = ([year, part(0)?, part(2)?], [part(4)?, part(6)?, part(8)?]);
    rfc3339::seconds(date, time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let check = |tag, text: &str, expected: Option<i64>| {
            assert_eq!(time(tag, text), expected, "{text}");
        };
        check(UTC_TIME, "700101000000Z", Some(0));
        check(UTC_TIME, "261130115959Z", Some(1_796_039_999));
        check(UTC_TIME, "490101000000Z", Some(2_493_072_000));
        check(GENERALIZED_TIME, "20000229120000Z", Some(951_825_600));
        check(GENERALIZED_TIME, "20000301000000Z", Some(951_868_800));
        check(GENERALIZED_TIME, "99991231235959Z", Some(253_402_300_799));
        check(UTC_TIME, "261330115959Z", None);
        check(UTC_TIME, "26+130115959Z", None);
        check(UTC_TIME, "261130115959", None);
        check(UTC_TIME, "26113011595\u{e9}Z", None);
        check(GENERALIZED_TIME, "19000101000000Z", Some(-2_208_988_800));
        check(0x02, "261130115959Z", None);
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        for der in [&[][..], &[0x30], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[0x30, 0x02, 0x30, 0]]
        {
            assert_eq!(validity(der), None, "{der:?}");
        }
    }
}
