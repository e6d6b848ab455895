//! What the benches of a session have in common: the client, and the call that it makes.

use std::time::Duration;

use mcpmini::protocol::params::Params;
use mcpmini::protocol::session::{Abilities, Call, Profile};

/// A client that calls tools and can do nothing else.
pub(crate) fn profile() -> Profile {
    Profile {
        client: ("bench", "1"),
        abilities: Abilities::default(),
        tasks: false,
        probe_timeout: Duration::from_secs(1),
        start_timeout: None,
        greets: false,
        text_ids: false,
        relays: false,
        listen: false,
        log_level: None,
        authorizes: false,
        extensions: Vec::new(),
    }
}

/// A call of the tool `log`: its answer is a text of so many bytes.
#[allow(dead_code, reason = "not every bench makes it")]
pub(crate) fn log(bytes: u64) -> Call {
    let arguments = format!(r#"{{"bytes":{bytes}}}"#);
    Call { params: Params::new().with("name", "\"log\"").with("arguments", &arguments), ..echo() }
}

/// A call of the tool `echo`.
pub(crate) fn echo() -> Call {
    Call {
        method: "tools/call".into(),
        params: Params::new().with("name", "\"echo\"").with("arguments", r#"{"text":"hello"}"#),
        idle: Some(Duration::from_secs(30)),
        ..Call::default()
    }
}
