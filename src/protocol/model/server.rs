//! Who a server says it is.

use crate::jsonrpc::scan;

/// Where a modern server says who it is, in every result (2026-07-28, Basic Protocol).
const KEY: &str = "io.modelcontextprotocol/serverInfo";

/// What the server says about itself in a result, JSON text: by the handshake, or in `_meta`.
pub fn info(result: &str) -> Option<&str> {
    let [greeting, meta] = scan::members_named(result, ["serverInfo", "_meta"]);
    meta.and_then(|meta| scan::member(meta, KEY)).or(greeting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_eras_have_their_place_for_it() {
        let check = |result: &str, expected: Option<&str>| assert_eq!(info(result), expected);
        check(r#"{"serverInfo":{"name":"a"}}"#, Some(r#"{"name":"a"}"#));
        check(
            r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"b"}},"content":[]}"#,
            Some(r#"{"name":"b"}"#),
        );
        check(r#"{"_meta":{}}"#, None);
        check("7", None);
    }
}
