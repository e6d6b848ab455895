//! The client's end: a connection, and what a test does with it.

use std::time::Duration;

use futures_lite::FutureExt;
use futures_lite::future::zip;
use mcpmini::net::{Address, Settings};
use mcpmini::protocol::jsonrpc::{Limits, Message};
use mcpmini::protocol::message::{Delivery, Ending, Head, Listening};
use mcpmini::protocol::{Incoming, Outgoing, Revision};
use mcpmini::transport::http::Target;
use mcpmini::transport::{Connection, http, sse};

/// A target with nothing special about it.
pub(crate) fn target(url: &str) -> Target {
    Target {
        address: Address::parse(url).unwrap(),
        settings: Settings::default(),
        sse_fallback: false,
        end_session: true,
    }
}

/// Runs a conversation over the binding of the target's server, and closes the connection.
pub(crate) fn converse<T>(target: Target, script: impl AsyncFnOnce(&Connection) -> T) -> T {
    run(target, Limits::default(), false, script)
}

/// The same with HTTP+SSE.
pub(crate) fn converse_over_sse<T>(
    target: Target,
    script: impl AsyncFnOnce(&Connection) -> T,
) -> T {
    run(target, Limits::default(), true, script)
}

/// The same with limits.
pub(crate) fn run<T>(
    target: Target,
    limits: Limits,
    over_sse: bool,
    script: impl AsyncFnOnce(&Connection) -> T,
) -> T {
    let (connection, port) = Connection::new();
    let transport = async {
        match over_sse {
            false => http::run(target, limits, port).await,
            true => sse::run(target, limits, port).await,
        }
    };
    let client = async {
        let result = script(&connection).await;
        connection.close();
        result
    };
    let both = async { zip(transport, client).await.1 };
    let too_long = async {
        mcpmini::reactor::Timer::after(Duration::from_secs(30)).await;
        panic!("the conversation has not ended")
    };
    mcpmini::reactor::block_on(both.or(too_long))
}

/// A request.
pub(crate) fn request(id: u64, method: &'static str, revision: &str) -> Outgoing {
    Outgoing::Deliver(Delivery {
        id: Some(id),
        head: head(method, revision),
        body: format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#),
    })
}

/// A notification.
pub(crate) fn notification(method: &'static str, revision: &str) -> Outgoing {
    Outgoing::Deliver(Delivery {
        id: None,
        head: head(method, revision),
        body: format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#),
    })
}

/// A response to a request of the server.
pub(crate) fn response(id: &str, revision: &str) -> Outgoing {
    Outgoing::Deliver(Delivery {
        id: None,
        head: head("", revision),
        body: format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
    })
}

pub(crate) fn cancel(id: u64, revision: &str) -> Outgoing {
    let notice = Delivery {
        id: None,
        head: head("notifications/cancelled", revision),
        body: r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#.into(),
    };
    Outgoing::Cancel { id, notice: Some(notice) }
}

pub(crate) fn revision(date: &str) -> &'static Revision {
    Revision::named(date).unwrap()
}

fn head(method: &'static str, date: &str) -> Head {
    Head { revision: revision(date), method: method.into(), name: None, mirrored: Vec::new() }
}

/// The next report, in short.
pub(crate) async fn next(connection: &Connection) -> String {
    let too_late = async || {
        mcpmini::reactor::Timer::after(Duration::from_secs(10)).await;
        panic!("nothing is reported")
    };
    loop {
        match connection.receive().or(too_late()).await {
            // It comes before every answer that is a stream; one test asks for it.
            Some(Incoming::Responding(_)) => (),
            Some(incoming) => return short(&incoming),
            None => return "gone".to_owned(),
        }
    }
}

/// Nothing is reported for so long.
pub(crate) async fn nothing(connection: &Connection, time: Duration) {
    let waited = async {
        mcpmini::reactor::Timer::after(time).await;
        None
    };
    let reports = async {
        loop {
            match connection.receive().await {
                Some(Incoming::Responding(_)) => (),
                report => return report,
            }
        }
    };
    let report = reports.or(waited).await;
    assert!(report.is_none(), "{report:?}");
}

/// A report in short, for comparisons.
pub(crate) fn short(incoming: &Incoming) -> String {
    match incoming {
        Incoming::Message(Message::Response(response)) => {
            let id = response.id.as_ref().map_or("none", |id| id.as_json());
            match &response.outcome {
                Ok(answer) => format!("response {id} {:?}", answer.result),
                Err(error) => format!("error {id} {}", error.code),
            }
        }
        Incoming::Message(Message::Request(request)) => {
            format!("request {} {}", request.id, request.method)
        }
        Incoming::Asked { during, request } => {
            format!("request {} {} during {during}", request.id, request.method)
        }
        Incoming::Message(Message::Notification(n)) => format!("notification {}", n.method),
        Incoming::Refused(refused) => format!("refused {:?} {}", refused.id, refused.status),
        Incoming::Ended { id, how } => format!("ended {id}: {}", text_of(how)),
        Incoming::Broken { id, fault } => {
            let hint = fault.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("broken {id:?} {:?} {:?}: {}{hint}", fault.kind, fault.sent, fault.text)
        }
        Incoming::Closed(fault) => format!("closed {:?}: {}", fault.kind, fault.text),
        Incoming::Listening(listening) => match listening {
            Listening::Open => "listening".to_owned(),
            Listening::Broken { again_in } => format!("again in {again_in:?}"),
            Listening::Refused { status } => format!("not listening: {status}"),
            Listening::Lost => "not listening".to_owned(),
        },
        Incoming::Responding(id) => format!("responding {id}"),
        Incoming::Skipped(_) => "skipped".to_owned(),
        Incoming::Unusual(unusual) => format!("unusual {unusual:?}"),
        Incoming::Joined { .. } | Incoming::Reported { .. } => "not over HTTP".to_owned(),
    }
}

fn text_of(how: &Ending) -> &str {
    match how {
        Ending::Early(why) | Ending::NoAnswer(why) => why,
    }
}
