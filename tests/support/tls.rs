//! Encrypted servers for tests.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::support::{Scratch, run};

/// Makes a certificate for this machine that is good for so many days, and its key; none, with a
/// printed reason, where there is no openssl.
pub(crate) fn certificate(scratch: &Scratch, days: u32) -> Option<(String, String)> {
    let script = format!(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days {days} \
         -keyout key.pem -out cert.pem -subj /CN=localhost \
         -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE"
    );
    let made = run(&mut scratch.shell(&script));
    if made.code != 0 {
        #[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
        {
            println!("skipped: no certificate: {}", made.err);
        }
        return None;
    }
    let path = |name: &str| scratch.path(name).into_os_string().into_string().unwrap();
    Some((path("cert.pem"), path("key.pem")))
}

/// What a server says with that certificate and key.
pub(crate) fn config(certificate: &str, key: &str) -> Arc<ServerConfig> {
    let chain = CertificateDer::pem_reader_iter(BufReader::new(File::open(certificate).unwrap()));
    let chain = chain.map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    Arc::new(config.with_single_cert(chain, key).unwrap())
}
