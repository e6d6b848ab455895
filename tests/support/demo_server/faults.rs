//! What the server does wrong on stdio when it is asked to, for those who look for it.

use std::io::Write;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Options;

/// Does what it should not do at the start.
pub(crate) fn begin(options: &Options) {
    match options.fault.as_str() {
        "noise" => println!("Loading the models ..."),
        "port" => {
            // It stays open as long as the server runs.
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            Box::leak(Box::new(listener));
        }
        "blab" => {
            let token = std::env::var("API_TOKEN").unwrap_or_default();
            // Nobody may read it, which is no reason to end.
            let _ = writeln!(std::io::stderr(), "connecting with {token}");
        }
        "chatty" => {
            let line = "x".repeat(1023);
            for _ in 0..100 {
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        }
        "curious" => {
            println!(r#"{{"jsonrpc":"2.0","id":"mine","method":"roots/list","params":{{}}}}"#);
        }
        _ => {}
    }
}

/// The answer to what needs none, if there is one nevertheless.
pub(crate) fn to_notification(options: &Options) -> Option<String> {
    let answer =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32601, "message": "?" } });
    options.has_fault("talkative").then(|| answer.to_string())
}

/// An answer as it is with the fault.
pub(crate) fn spoil(request: &str, answer: String, options: &Options) -> String {
    if request.contains("\"tools/list\"") {
        match options.fault.as_str() {
            // The end of the input ends the program meanwhile.
            "dawdle" => thread::sleep(Duration::from_secs(60)),
            // The first half of an emoji, as programs leave it that cut texts by their length.
            "half" => return answer.replacen(r#""description":""#, r#""description":"\ud83d "#, 1),
            _ => (),
        }
    }
    let Ok(mut spoilt) = serde_json::from_str::<Value>(&answer) else { return answer };
    let is_unknown = spoilt["error"]["code"] == -32601;
    match options.fault.as_str() {
        "text-ids" if spoilt["id"].is_number() => spoilt["id"] = spoilt["id"].to_string().into(),
        "no-session" if request.contains("\"initialize\"") => {
            let error = json!({ "code": -32602, "message": "not today" });
            spoilt = json!({ "jsonrpc": "2.0", "id": spoilt["id"], "error": error });
        }
        "own-code" if is_unknown => spoilt["error"]["code"] = (-32602).into(),
        "any-method" if is_unknown => {
            spoilt = json!({ "jsonrpc": "2.0", "id": spoilt["id"], "result": {} });
        }
        "any-version" if request.contains("1900-01-01") => {
            let result = json!({ "supportedVersions": ["1900-01-01"], "capabilities": {} });
            spoilt = json!({ "jsonrpc": "2.0", "id": spoilt["id"], "result": result });
        }
        _ => return answer,
    }
    spoilt.to_string()
}
