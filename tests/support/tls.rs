//! Encrypted servers for tests.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::{Error, ErrorKind, Read, Result, Write, copy, sink};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::Scratch;

/// The file with the certificate of an authority.
pub(crate) const FILE: &str = "ca.pem";

/// An authority that nobody trusts who is not told to.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// What a server shows, and the key to it.
pub(crate) struct Served {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Served {
    /// What a server says with it.
    pub(crate) fn config(self) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        Arc::new(config.with_single_cert(vec![self.certificate], self.key).unwrap())
    }
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Writes its certificate where `--cacert` can read it.
    pub(crate) fn file(&self, scratch: &Scratch) -> String {
        let text = STANDARD.encode(self.0.der());
        let lines: Vec<&str> =
            text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----");
        scratch.write(FILE, format!("{begin}\n{}\n{end}\n", lines.join("\n")))
    }

    /// A certificate for a host.
    pub(crate) fn certify(&self, host: &str, times: Times) -> Served {
        let key = KeyPair::generate().unwrap();
        let certificate = params(host, times).signed_by(&key, &self.0).unwrap();
        Served { certificate: certificate.into(), key: key.into() }
    }
}

/// When a certificate is good.
#[derive(Clone, Copy)]
pub(crate) enum Times {
    /// For so many days from now.
    Days(u64),
    /// From the beginning of one year to that of another.
    Years(i32, i32),
}

fn params(host: &str, times: Times) -> CertificateParams {
    let mut params = CertificateParams::new([host.to_owned()]).unwrap();
    (params.not_before, params.not_after) = match times {
        Times::Days(days) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            let now = date_time_ymd(1970, 1, 1) + Duration::from_secs(now.as_secs());
            (now - Duration::from_secs(3600), now + Duration::from_secs(days * 86_400 - 3600))
        }
        Times::Years(from, to) => (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1)),
    };
    params
}

/// A certificate that the server has made for itself.
pub(crate) fn self_signed() -> Served {
    let key = KeyPair::generate().unwrap();
    let certificate = params("localhost", Times::Days(90)).self_signed(&key).unwrap();
    Served { certificate: certificate.into(), key: key.into() }
}

/// Answers the one request of a connection with what `answer` makes of its head, and hangs up.
pub(crate) fn answer_once(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    answer: impl FnOnce(&str) -> String,
) -> Result<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let head = read_head(&mut stream)?;
    stream.write_all(answer(&head).as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()?;
    // To close before all is read would be to say that the answer may be lost.
    stream.sock.shutdown(Shutdown::Write)?;
    copy(&mut stream.sock, &mut sink()).map(drop)
}

/// The head of a request, and nothing that comes after it.
pub(crate) fn read_head(stream: &mut impl Read) -> Result<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    String::from_utf8(head).map_err(|error| Error::new(ErrorKind::InvalidData, error))
}
