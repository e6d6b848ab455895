//! Whom to trust on an encrypted connection, and who we are.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use isahc::tls::{Identity, PrivateKey, TlsConfig, TrustStore};

/// Settings of encrypted connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// A PEM file with the only certificate authorities to trust.
    pub cacert: Option<PathBuf>,
    /// `SSL_CERT_FILE`: a PEM file that replaces those of the system.
    pub ssl_cert_file: Option<PathBuf>,
    /// Whether `SSL_CERT_DIR` is set.
    pub ssl_cert_dir: bool,
    /// A PEM file with our certificate, for servers that ask for one.
    pub certificate: Option<PathBuf>,
    /// A PEM file with its private key, not encrypted; `None` when it stands in the same file.
    pub key: Option<PathBuf>,
    /// Whether any certificate is accepted. Anyone on the way can then read and change everything.
    pub insecure: bool,
}

/// What is wrong with the files that encrypted connections need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidTls {
    /// A file cannot be read.
    Unreadable {
        /// What the file is for.
        what: &'static str,
        /// Its path.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The private key is encrypted. The TLS library cannot decrypt it.
    EncryptedKey(PathBuf),
}

/// Where distributions keep the certificate authorities of the system.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
];

/// Where the certificate authorities come from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Roots {
    File(PathBuf),
    /// What the TLS library finds, `SSL_CERT_DIR` included. Slow, so only when that is set.
    Library,
    /// Those that are built in, for images without any.
    BuiltIn,
}

impl Tls {
    /// The settings of the environment.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Tls {
        let set = |name| env(name).filter(|value: &String| !value.is_empty());
        Tls {
            ssl_cert_file: set("SSL_CERT_FILE").map(PathBuf::from),
            ssl_cert_dir: set("SSL_CERT_DIR").is_some(),
            ..Tls::default()
        }
    }

    /// The same for the HTTP library. Reads the files that are named, to tell early what is wrong
    /// with them.
    pub(super) fn config(&self) -> Result<TlsConfig, InvalidTls> {
        // In the static binary it does not find out before `main` what the processor can do.
        aws_lc_rs::init();
        let mut config = TlsConfig::builder();
        if self.insecure {
            config = config.danger_accept_invalid_certs(true);
        } else {
            config = config.trust_store(match self.roots(&|path| path.exists()) {
                Roots::File(path) => TrustStore::from_file(self.readable_roots(path)?),
                Roots::Library => TrustStore::native(),
                Roots::BuiltIn => TrustStore::webpki_roots(),
            });
        }
        if let Some(certificate) = &self.certificate {
            read("client certificate", certificate)?;
            let key = self.key.as_ref().unwrap_or(certificate);
            if read("private key", key)?.contains("ENCRYPTED") {
                return Err(InvalidTls::EncryptedKey(key.clone()));
            }
            // Paths and not their contents: an identity from memory is silently not used.
            let key = PrivateKey::from_pem_file(key, None);
            config = config.identity(Identity::from_pem_file(certificate, Some(key)));
        }
        Ok(config.build())
    }

    fn roots(&self, exists: &dyn Fn(&Path) -> bool) -> Roots {
        if let Some(path) = self.cacert.as_ref().or(self.ssl_cert_file.as_ref()) {
            return Roots::File(path.clone());
        }
        if self.ssl_cert_dir {
            return Roots::Library;
        }
        let bundle = BUNDLES.iter().map(Path::new).find(|path| exists(path));
        bundle.map_or(Roots::BuiltIn, |path| Roots::File(path.to_owned()))
    }

    fn readable_roots(&self, path: PathBuf) -> Result<PathBuf, InvalidTls> {
        let what = match &self.cacert {
            Some(_) => "CA certificate file",
            None if self.ssl_cert_file.is_some() => "CA certificate file of SSL_CERT_FILE",
            None => "CA certificate file of the system",
        };
        match regular(&path).and_then(|()| File::open(&path)) {
            Ok(_) => Ok(path),
            Err(error) => Err(InvalidTls::Unreadable { what, path, reason: error.to_string() }),
        }
    }
}

/// The longest certificate or key that is read, in bytes. They are a few kilobytes.
const LIMIT: u64 = 1 << 20;

fn read(what: &'static str, path: &Path) -> Result<String, InvalidTls> {
    let unreadable = |reason| InvalidTls::Unreadable { what, path: path.to_owned(), reason };
    let mut text = Vec::new();
    let read = regular(path)
        .and_then(|()| File::open(path))
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut text));
    match read {
        Ok(length) if length as u64 <= LIMIT => Ok(String::from_utf8_lossy(&text).into_owned()),
        Ok(_) => Err(unreadable(format!("it is longer than {LIMIT} bytes"))),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// Refuses a pipe: the TLS library reads the file again for each connection, and who opens a pipe that
/// nobody writes to waits for ever.
fn regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path)?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is no regular file, and is read more than once")),
    }
}

impl fmt::Display for InvalidTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidTls::Unreadable { what, path, reason } => {
                write!(f, "cannot read the {what} {}: {reason}", path.display())
            }
            InvalidTls::EncryptedKey(path) => write!(
                f,
                "the private key {} is encrypted; decrypt it with 'openssl pkey' first",
                path.display()
            ),
        }
    }
}

impl std::error::Error for InvalidTls {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_sought_in_order() {
        let check = |pairs: &[(&str, &str)], cacert: Option<&str>, exists, expected| {
            let env = |name: &str| {
                let pair = pairs.iter().find(|(key, _)| *key == name);
                pair.map(|(_, value)| (*value).to_owned())
            };
            let tls = Tls { cacert: cacert.map(PathBuf::from), ..Tls::from_env(&env) };
            let exists = |path: &Path| path == Path::new(exists);
            assert_eq!(tls.roots(&exists), expected, "{pairs:?} {cacert:?}");
        };
        let file = |path: &str| Roots::File(path.into());
        check(&[("SSL_CERT_FILE", "/b")], Some("/a"), BUNDLES[0], file("/a"));
        check(&[("SSL_CERT_FILE", "/b"), ("SSL_CERT_DIR", "/d")], None, BUNDLES[0], file("/b"));
        check(&[("SSL_CERT_DIR", "/d")], None, BUNDLES[0], Roots::Library);
        check(&[("SSL_CERT_FILE", "")], None, BUNDLES[0], file(BUNDLES[0]));
        check(&[], None, BUNDLES[2], file(BUNDLES[2]));
        check(&[], None, "", Roots::BuiltIn);
    }

    #[test]
    fn missing_files_and_encrypted_keys_are_told_early() {
        let missing = Tls { cacert: Some("/no/such/ca.pem".into()), ..Tls::default() };
        let error = missing.config().unwrap_err().to_string();
        assert!(error.starts_with("cannot read the CA certificate file /no/such/ca.pem: "));

        let endless = Tls { certificate: Some("/dev/zero".into()), ..Tls::default() };
        let error = endless.config().unwrap_err().to_string();
        assert!(error.contains("/dev/zero: it is no regular file"), "{error}");

        let directory = std::env::temp_dir();
        let long = directory.join(format!("mcpmini-long-{}.pem", std::process::id()));
        File::create(&long).unwrap().set_len(LIMIT + 1).unwrap();
        let error = Tls { certificate: Some(long.clone()), ..Tls::default() }.config().unwrap_err();
        fs::remove_file(&long).unwrap();
        assert!(error.to_string().ends_with("it is longer than 1048576 bytes"), "{error}");

        let key = directory.join(format!("mcpmini-encrypted-key-{}.pem", std::process::id()));
        std::fs::write(&key, "-----BEGIN ENCRYPTED PRIVATE KEY-----\n").unwrap();
        let encrypted = Tls {
            insecure: true,
            certificate: Some(key.clone()),
            key: Some(key.clone()),
            ..Tls::default()
        };
        let error = encrypted.config().unwrap_err();
        std::fs::remove_file(&key).unwrap();
        assert_eq!(error, InvalidTls::EncryptedKey(key));
    }
}
