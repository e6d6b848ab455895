//! Who a server says it is.

use crate::json::Json;
use crate::jsonrpc::scan;

/// Where a modern server says who it is, in every result (2026-07-28, Basic Protocol).
const KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Where it stands in a result: by the handshake, or in `_meta`.
const PLACES: [&str; 2] = ["serverInfo", "_meta"];

/// What the server says about itself in a greeting, as JSON text.
pub fn info(greeting: &str) -> Option<&str> {
    chosen(scan::members_named(greeting, PLACES))
}

/// What it says about itself in any result, which may be long.
pub fn info_beside(result: &Json) -> Option<&str> {
    chosen(result.members_named(PLACES))
}

fn chosen([greeting, meta]: [Option<&str>; 2]) -> Option<&str> {
    meta.and_then(|meta| scan::member(meta, KEY)).or(greeting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_eras_have_their_place_for_it() {
        let check = |result: &str, expected: Option<&str>| {
            assert_eq!(info(result), expected);
            assert_eq!(info_beside(&Json::from(result)), expected);
        };
        check(r#"{"serverInfo":{"name":"a"}}"#, Some(r#"{"name":"a"}"#));
        check(
            r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"b"}},"content":[]}"#,
            Some(r#"{"name":"b"}"#),
        );
        check(r#"{"_meta":{}}"#, None);
        check("7", None);
    }
}
