//! How a program that shares a session talks to the one that holds it.
//!
//! ```text
//!   call ──▶ socket ──▶ session ──▶ server        JSON-RPC messages, one per line
//! ```
//!
//! What passes is what would pass between the program and the server, and three messages of our
//! own: a request that says which server is meant, a notification that goes before a request whose
//! arguments are mirrored into headers, and one that stands for an answer when there is none. Both
//! ends are this program, so the protocol has a number in place of a negotiation.

use super::json::{self, Json};
use super::jsonrpc::id::Echo;
use super::jsonrpc::{Id, encode, scan};
use super::params::Members;
use super::revision::Revision;
use super::session::{Abilities, About, Fate, SUBSCRIPTION};

/// The request that comes first, with [`OPENING_ID`].
pub const OPEN: &str = "session/open";
/// The notification of the headers of the next request.
pub const HEADERS: &str = "session/headers";
/// The notification that a request has no answer.
pub const FAILED: &str = "session/failed";

/// The id of the request that comes first. Sessions count their requests from 1.
pub const OPENING_ID: u64 = 0;

/// The number of this protocol.
const VERSION: &str = "3";

/// What a program wants to share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The word that means the server.
    pub server: String,
    /// The hash of what the word means where the program runs.
    pub identity: String,
    /// Whether the server must be as it is defined, with nothing added when it was started.
    pub as_defined: bool,
    /// What the server may ask the program for.
    pub abilities: Abilities,
}

impl Opening {
    /// The request, as a line without its end.
    pub fn to_line(&self) -> String {
        let mut params = Members::new();
        params.push("version", VERSION);
        params.push("server", &json::string(&self.server));
        params.push("identity", &json::string(&self.identity));
        params.push("asDefined", if self.as_defined { "true" } else { "false" });
        for (name, able) in self.abilities.named() {
            params.push(name, if able { "true" } else { "false" });
        }
        encode::request(OPENING_ID, false, OPEN, &params.finish())
    }

    /// Reads the parameters of the request; `None` when they are of another version.
    pub fn read(params: &str) -> Option<Opening> {
        if scan::member(params, "version") != Some(VERSION) {
            return None;
        }
        let string = |name| Some(scan::unescape(scan::member(params, name)?)?.into_owned());
        let able = |name| scan::member(params, name) == Some("true");
        Some(Opening {
            server: string("server")?,
            identity: string("identity")?,
            as_defined: able("asDefined"),
            abilities: Abilities {
                forms: able("forms"),
                urls: able("urls"),
                sampling: able("sampling"),
                roots: able("roots"),
            },
        })
    }
}

impl Abilities {
    fn named(self) -> [(&'static str, bool); 4] {
        let Abilities { forms, urls, sampling, roots } = self;
        [("forms", forms), ("urls", urls), ("sampling", sampling), ("roots", roots)]
    }
}

/// The result that says that the session is shared. `tools` stands for the list of tools that was
/// seen to pass through it last, if that is still good.
pub fn opened(revision: &Revision, greeting: Option<&Json>, tools: Option<&str>) -> String {
    let mut result = Members::new();
    result.push("revision", &json::string(revision.date));
    if let Some(greeting) = greeting {
        result.push("greeting", greeting.as_str());
    }
    if let Some(tools) = tools {
        result.push("tools", &json::string(tools));
    }
    result.finish()
}

/// Reads that result.
pub fn read_opened(result: &str) -> Option<About> {
    let text = |name| scan::member(result, name).and_then(scan::unescape);
    Some(About {
        revision: Revision::named(&text("revision")?)?,
        greeting: scan::member(result, "greeting").map(Json::from),
        tools: text("tools").map(Box::from),
    })
}

/// The headers of the request with that number, as a line without its end.
pub fn headers(id: u64, mirrored: &[(String, String)]) -> String {
    let mut headers = Members::new();
    for (name, value) in mirrored {
        headers.push(name, &json::string(value));
    }
    let mut params = Members::new();
    params.push("id", &id.to_string());
    params.push("headers", &headers.finish());
    encode::notification(HEADERS, Some(&params.finish()))
}

/// Reads headers: the id of the request, JSON text, and the headers.
pub fn read_headers(params: &str) -> Option<(Id, Vec<(String, String)>)> {
    let id = Id::from_json(scan::member(params, "id")?);
    let text = |value| Some(scan::unescape(value)?.into_owned());
    let headers = scan::members(scan::member(params, "headers")?);
    let headers = headers.map(|(name, value)| Some((name.into_owned(), text(value)?)));
    Some((id, headers.collect::<Option<Vec<_>>>()?))
}

/// The parameters of a notification about one call, as they are for the caller: with the token
/// that it chose, and the id that it gave to its request. All else stays as it came.
pub fn readdress(params: &str, token: Option<&str>, id: &Id) -> String {
    let mut members = Members::new();
    for (name, value) in scan::members(params) {
        match &*name {
            "progressToken" => members.push(&name, token.unwrap_or(value)),
            "_meta" => {
                let mut meta = Members::new();
                for (key, value) in scan::members(value) {
                    meta.push(&key, if key == SUBSCRIPTION { id.as_json() } else { value });
                }
                members.push(&name, &meta.finish());
            }
            _ => members.push(&name, value),
        }
    }
    members.finish()
}

/// How far requests came, by the words for it.
const FATES: [(&str, Fate); 3] =
    [("\"not run\"", Fate::NotRun), ("\"unknown\"", Fate::Unknown), ("\"settled\"", Fate::Settled)];

/// That a request has no answer, as a line without its end. `report` is JSON text.
pub fn failed(id: &Id, report: &str, fate: Fate) -> String {
    let word = FATES.iter().find(|(_, named)| *named == fate).map_or("null", |(word, _)| word);
    let mut params = Members::new();
    params.push("id", id.as_json());
    params.push("fate", word);
    params.push("report", report);
    encode::notification(FAILED, Some(&params.finish()))
}

/// Reads that: the number of the request, `None` for the one that comes first, the report, and how
/// far the request came.
pub fn read_failed(params: &str) -> Option<(Option<u64>, Json, Fate)> {
    let id = Id::from_json(scan::member(params, "id")?);
    // Ids may be sent as strings.
    let (Echo::Exact(number) | Echo::Retyped(number)) = id.echo(false)?;
    let report = Json::from(scan::member(params, "report")?);
    let fate = scan::member(params, "fate")?;
    let (_, fate) = FATES.iter().find(|(word, _)| *word == fate)?;
    Some((Some(number).filter(|number| *number != OPENING_ID), report, *fate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(line: &str) -> &str {
        scan::member(line, "params").unwrap()
    }

    #[test]
    fn an_opening_reads_back() {
        let opening = Opening {
            server: "exec:'a \"b'".to_owned(),
            identity: "sha256:00".to_owned(),
            as_defined: true,
            abilities: Abilities { forms: true, urls: false, sampling: false, roots: true },
        };
        let line = opening.to_line();
        assert_eq!(Opening::read(params(&line)), Some(opening));
        assert!(line.starts_with(r#"{"jsonrpc":"2.0","id":0,"method":"session/open","#), "{line}");
        let other = line.replace("\"version\":3", "\"version\":2");
        assert_eq!(Opening::read(params(&other)), None);
    }

    #[test]
    fn what_was_opened_reads_back() {
        let revision = &Revision::all()[0];
        let greeting = Json::from(r#"{"n":1.0}"#);
        for greeting in [None, Some(greeting)] {
            for tools in [None, Some("sha256:x")] {
                let result = opened(revision, greeting.as_ref(), tools);
                let (greeting, tools) = (greeting.clone(), tools.map(Box::from));
                assert_eq!(read_opened(&result), Some(About { revision, greeting, tools }));
            }
        }
        assert_eq!(read_opened(r#"{"revision":"1"}"#), None);
    }

    #[test]
    fn a_notification_is_readdressed() {
        let check = |params: &str, expected: &str| {
            assert_eq!(readdress(params, Some("\"t\""), &Id::from_json("7")), expected);
        };
        check(
            r#"{"progressToken":3,"progress":1.0,"total": 12345678901234567890}"#,
            r#"{"progressToken":"t","progress":1.0,"total":12345678901234567890}"#,
        );
        check(
            r#"{"_meta":{"a":1,"io.modelcontextprotocol/subscriptionId":3},"uri":"x"}"#,
            r#"{"_meta":{"a":1,"io.modelcontextprotocol/subscriptionId":7},"uri":"x"}"#,
        );
        assert_eq!(
            readdress(r#"{"progressToken":3}"#, None, &Id::from_json("7")),
            r#"{"progressToken":3}"#
        );
    }

    #[test]
    fn headers_and_failures_read_back() {
        let mirrored = vec![("A".to_owned(), "é\"".to_owned()), ("B".to_owned(), String::new())];
        let line = headers(7, &mirrored);
        assert_eq!(read_headers(params(&line)), Some((Id::from_json("7"), mirrored)));
        let check = |id: &str, fate, expected| {
            let line = failed(&Id::from_json(id), r#"{"exit":5}"#, fate);
            let report = Json::from(r#"{"exit":5}"#);
            assert_eq!(read_failed(params(&line)), Some((expected, report, fate)));
        };
        check("7", Fate::NotRun, Some(7));
        check("\"7\"", Fate::Unknown, Some(7));
        check("0", Fate::Settled, None);
    }
}
