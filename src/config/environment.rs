//! What a server that is started gets of our own environment.
//!
//! It gets what programs need to run, and not what else is in the shell of its user: tokens of
//! other services are none of its business.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// What every server gets, if it is set.
const NAMES: [&str; 21] = [
    // Who and where the user is, and in which language.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "TZ",
    "TMPDIR",
    // Which certificates to trust, for OpenSSL, Node and Python.
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    // How to get out.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

/// The same for families of names: the language, and how npx and uvx fetch servers.
const PREFIXES: [&str; 4] = ["LC_", "NPM_CONFIG_", "npm_config_", "UV_"];

/// Whether every server gets a variable.
pub(super) fn is_for_everyone(name: &OsStr) -> bool {
    NAMES.iter().any(|known| name == *known)
        || PREFIXES.iter().any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
}

/// Whether a variable has a credential that is for us to use, and for no server that we start: it
/// may open another one.
pub(super) fn is_for_us(name: &OsStr) -> bool {
    ["MCPMINI_TOKEN", "MCPMINI_CLIENT_SECRET"].iter().any(|known| name == *known)
        || name.as_bytes().starts_with(b"MCPMINI_TOKEN_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_never_get_what_is_for_us() {
        let check = |name: &str, expected| assert_eq!(is_for_us(name.as_ref()), expected, "{name}");
        check("MCPMINI_TOKEN", true);
        check("MCPMINI_TOKEN_GITHUB", true);
        check("MCPMINI_CLIENT_SECRET", true);
        check("MCPMINI_TOKENS", false);
        check("MCPMINI_SESSION", false);
        check("GITHUB_TOKEN", false);
    }

    #[test]
    fn servers_get_what_they_need_to_run() {
        for name in [
            "PATH",
            "HOME",
            "LANG",
            "LC_ALL",
            "TZ",
            "https_proxy",
            "HTTPS_PROXY",
            "UV_CACHE_DIR",
            "NPM_CONFIG_REGISTRY",
            "npm_config_cache",
            "SSL_CERT_FILE",
            "NODE_EXTRA_CA_CERTS",
        ] {
            assert!(is_for_everyone(name.as_ref()), "{name}");
        }
        for name in [
            "",
            "LC",
            "LCX",
            "path",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "MCPMINI_TOKEN",
            "LD_PRELOAD",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "XUV_A",
        ] {
            assert!(!is_for_everyone(name.as_ref()), "{name}");
        }
    }
}
