//! What `--version` prints.

use crate::protocol::{Revision, json};

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The optional parts that were built in, by the names of the cargo features.
const FEATURES: &[&str] = &[
    #[cfg(feature = "import-codex")]
    "import-codex",
    #[cfg(feature = "policy")]
    "policy",
    #[cfg(feature = "schema")]
    "schema",
    #[cfg(feature = "sigstore")]
    "sigstore",
];

/// `mcpmini 0.1.0`, and on further lines what is built in.
pub fn version() -> String {
    let protocols: Vec<_> = Revision::all().iter().rev().map(|revision| revision.date).collect();
    let (protocols, features) = (protocols.join(" "), FEATURES.join(" "));
    let target = target();
    format!("mcpmini {VERSION}\nprotocols {protocols}\ntarget {target}\nfeatures {features}\n")
}

/// One line of JSON: version, protocol revisions with the newest first, target, features.
pub fn version_json() -> String {
    let protocols = json::strings(Revision::all().iter().rev().map(|revision| revision.date));
    let features = json::strings(FEATURES);
    let (version, target) = (json::string(VERSION), json::string(&target()));
    format!(
        "{{\"version\":{version},\"protocols\":{protocols},\"target\":{target},\
         \"features\":{features}}}\n"
    )
}

/// The machine the program was built for, such as `x86_64-linux-musl`.
fn target() -> String {
    let environment = if cfg!(target_env = "musl") {
        "-musl"
    } else if cfg!(target_env = "gnu") {
        "-gnu"
    } else {
        ""
    };
    format!("{}-{}{environment}", std::env::consts::ARCH, std::env::consts::OS)
}
