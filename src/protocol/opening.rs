//! Finding out which revision the server speaks.
//!
//! ```text
//! Probe        server/discover   an unknown server: a legacy one refuses it or stays silent
//! Initialize   initialize        every legacy server
//! Modern       (nothing)         a server known to be modern: the first request opens it
//! ```
//!
//! A probe costs one exchange and gives a certain answer: some legacy servers would run a modern
//! `tools/call` under legacy rules (2026-07-28, Compatibility Matrix). What it finds is remembered
//! for the next run.

use super::jsonrpc::{ErrorObject, scan};
use super::revision::{Era, Revision};

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Ask with `server/discover` before anything else.
    Probe,
    /// Open a legacy session, proposing this revision.
    Initialize(&'static Revision),
    /// Speak this modern revision at once.
    Modern(&'static Revision),
}

/// What is known before a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// Nothing: find out.
    Unknown,
    /// An earlier run found this; find out anew when it proves wrong.
    Remembered(&'static Revision),
    /// The user demands it; never try anything else.
    Pinned(&'static Revision),
}

impl Certainty {
    /// How to begin.
    pub fn opening(self) -> Opening {
        match self {
            Certainty::Unknown => Opening::Probe,
            Certainty::Remembered(revision) | Certainty::Pinned(revision) => match revision.era {
                Era::Modern => Opening::Modern(revision),
                // The server chooses: a newer one than last time may know a newer revision.
                Era::Legacy if matches!(self, Certainty::Remembered(_)) => {
                    Opening::Initialize(Revision::newest(Era::Legacy))
                }
                Era::Legacy => Opening::Initialize(revision),
            },
        }
    }
}

/// What a server's error says about its era (2026-07-28, stdio and Streamable HTTP, Backward
/// Compatibility).
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It speaks this revision: a modern one, or else the newest legacy one that it lists.
    Speaks(&'static Revision),
    /// Modern, but no revision of ours; its own list, as it came.
    NoCommonRevision(Vec<String>),
    /// Modern, and the error is about something else.
    Modern,
    /// Legacy, or nothing is known.
    Legacy,
}

/// Reads the era of a server from an error it sent to a modern request.
pub fn judge(error: &ErrorObject) -> Verdict {
    match error.code {
        ErrorObject::UNSUPPORTED_VERSION => {
            let supported = supported(error);
            match choose(&supported) {
                Some(revision) => Verdict::Speaks(revision),
                None => Verdict::NoCommonRevision(supported),
            }
        }
        ErrorObject::HEADER_MISMATCH | ErrorObject::MISSING_CAPABILITY => Verdict::Modern,
        _ => Verdict::Legacy,
    }
}

/// The best of the revisions that a server lists: the newest modern one, else the newest legacy one.
pub fn choose(supported: &[String]) -> Option<&'static Revision> {
    let common = |era| Revision::common(era, supported.iter().map(String::as_str));
    common(Era::Modern).or_else(|| common(Era::Legacy))
}

/// The revisions that an error says the server supports: from `data.supported`, else every known
/// date that its message mentions.
pub fn supported(error: &ErrorObject) -> Vec<String> {
    let list = error.data.as_ref().and_then(|data| {
        let mut members = scan::members(data.as_str());
        let (_, list) = members.find(|(name, _)| name.starts_with("supported"))?;
        serde_json::from_str::<Vec<String>>(list).ok()
    });
    list.unwrap_or_else(|| {
        let mentioned = |revision: &&Revision| error.message.contains(revision.date);
        Revision::all().iter().filter(mentioned).map(|revision| revision.date.to_owned()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: i64, message: &str, data: Option<&str>) -> ErrorObject {
        ErrorObject { code, message: message.into(), data: data.map(Into::into), source: None }
    }

    #[test]
    fn only_modern_errors_mean_a_modern_server() {
        let modern = Revision::newest(Era::Modern);
        let check = |code, data, expected| assert_eq!(judge(&error(code, "no", data)), expected);
        check(
            -32022,
            Some(r#"{"supported":["2026-07-28","2025-11-25"]}"#),
            Verdict::Speaks(modern),
        );
        check(
            -32022,
            Some(r#"{"supported":["2027-03-01"]}"#),
            Verdict::NoCommonRevision(vec!["2027-03-01".into()]),
        );
        check(-32022, None, Verdict::NoCommonRevision(vec![]));
        check(
            -32022,
            Some(r#"{"supported":["2025-06-18"]}"#),
            Verdict::Speaks(Revision::named("2025-06-18").unwrap()),
        );
        check(-32020, None, Verdict::Modern);
        check(-32021, None, Verdict::Modern);
        for code in [-32601, -32602, -32600, -32000, 0] {
            check(code, None, Verdict::Legacy);
        }
    }

    #[test]
    fn supported_revisions_are_found_in_data_or_in_the_message() {
        let listed = error(-32602, "no", Some(r#"{"supported":["2025-06-18"],"requested":"x"}"#));
        assert_eq!(supported(&listed), ["2025-06-18"]);
        let told = error(-32000, "Bad Request: supported: 2025-06-18, 2025-03-26", None);
        assert_eq!(supported(&told), ["2025-03-26", "2025-06-18"]);
    }
}
