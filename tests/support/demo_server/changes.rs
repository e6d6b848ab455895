//! Changes, and who is notified about them: a thread for each who wants to know.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Options;
use crate::protocol::{Incoming, Params};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// How many changes are told before a `drop` or `finish` fault.
const FEW: usize = 2;

/// The resources that a legacy client has subscribed to.
static SUBSCRIBED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The subscriptions of modern clients that are over, by their ids.
static CANCELLED: Mutex<Vec<Value>> = Mutex::new(Vec::new());

/// Subscribes a legacy client to a resource.
pub(crate) fn subscribe(uri: &str) {
    SUBSCRIBED.lock().expect("no thread panics with it").push(uri.to_owned());
}

/// Takes a message that begins or ends notifications over one channel; `send` writes a line, and
/// says whether that makes sense any more. Tells whether it was such a message.
pub(crate) fn take(
    message: &Incoming<'_>,
    options: &'static Options,
    send: impl Fn(&str) -> bool + Send + 'static,
) -> bool {
    let params = message.params();
    match (message.method.as_deref(), options.tick) {
        (Some("subscriptions/listen"), Some(_)) if options.speaks("modern") => {
            let id = message.id.and_then(|id| serde_json::from_str(id.get()).ok());
            let (id, filter) = (id.unwrap_or_default(), filter(&params));
            thread::spawn(move || {
                if tell_subscriber(&id, &filter, options, send) {
                    std::process::exit(3);
                }
            });
            true
        }
        (Some("notifications/cancelled"), _) => {
            let mut cancelled = CANCELLED.lock().expect("no thread panics with it");
            cancelled.extend(params.request_id.clone());
            false
        }
        (Some("notifications/initialized"), Some(_)) => {
            thread::spawn(move || {
                if tell_session(options, send) {
                    std::process::exit(3);
                }
            });
            true
        }
        _ => false,
    }
}

/// What a modern client wants to know and the server tells: no prompts, there are none.
pub(crate) fn filter(params: &Params<'_>) -> Value {
    let mut filter = params.notifications.clone().unwrap_or_default();
    if let Some(filter) = filter.as_object_mut() {
        filter.retain(|name, _| ["toolsListChanged", "resourceSubscriptions"].contains(&&**name));
    }
    filter
}

/// Tells a modern client about changes until it has gone; true when that breaks off.
pub(crate) fn tell_subscriber(
    id: &Value,
    filter: &Value,
    options: &Options,
    send: impl Fn(&str) -> bool,
) -> bool {
    let meta = json!({ SUBSCRIPTION: id });
    let line = |method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
    };
    let acknowledged = json!({ "notifications": filter });
    send(&line("notifications/subscriptions/acknowledged", acknowledged));
    for count in 0.. {
        pause(options);
        if CANCELLED.lock().expect("no thread panics with it").contains(id) {
            return false;
        }
        if count == FEW && options.has_fault("drop") {
            return true;
        }
        if count == FEW && options.has_fault("finish") {
            let result = json!({ "resultType": "complete", "_meta": meta });
            send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
            return false;
        }
        let mut goes_on = true;
        if filter["toolsListChanged"] == true {
            goes_on &= send(&line("notifications/tools/list_changed", json!({})));
        }
        for uri in filter["resourceSubscriptions"].as_array().into_iter().flatten() {
            goes_on &= send(&line("notifications/resources/updated", json!({ "uri": uri })));
        }
        if !goes_on {
            options.log("HANGUP");
            return false;
        }
    }
    false
}

/// Tells a legacy client about changes until it has gone; true when that breaks off.
pub(crate) fn tell_session(options: &Options, send: impl Fn(&str) -> bool) -> bool {
    let line = |method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
    };
    for count in 0.. {
        pause(options);
        if count == FEW && options.has_fault("drop") {
            return true;
        }
        let mut goes_on = send(&line("notifications/tools/list_changed", json!({})));
        let uris = SUBSCRIBED.lock().expect("no thread panics with it").clone();
        for uri in uris {
            goes_on &= send(&line("notifications/resources/updated", json!({ "uri": uri })));
        }
        if !goes_on {
            return false;
        }
    }
    false
}

fn pause(options: &Options) {
    thread::sleep(Duration::from_millis(options.tick.unwrap_or_default()));
}
