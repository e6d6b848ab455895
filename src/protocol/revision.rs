//! The revisions of MCP and every way in which they differ for a client.
//!
//! The rest of the program asks a revision what it does and never compares dates. To add a
//! revision, add a row; to add a difference, add a column, and the compiler lists the rows to fill.

/// How a revision begins and keeps a conversation (2026-07-28, Versioning and Compatibility).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// A session, opened by `initialize`.
    Legacy,
    /// Every request carries its own context.
    Modern,
}

/// How a server asks the client for input in the middle of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Questions {
    /// It sends requests of its own.
    Requests,
    /// It ends the request with `input_required`.
    InputRequired,
}

/// How a client gives up a request over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpCancel {
    /// By a `notifications/cancelled` message; a disconnect means nothing.
    Notice,
    /// By closing the response stream; no message.
    HangUp,
}

/// How a client says which log messages it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevelBy {
    /// By `logging/setLevel`, for the session.
    Request,
    /// By a member of `_meta`, request by request.
    Meta,
}

/// How a client subscribes to changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscribeBy {
    /// To resources one by one, by `resources/subscribe`; changes of lists come unasked.
    Resource,
    /// By `subscriptions/listen`, a request that stays open and says what is wanted.
    Listen,
}

/// How a long call becomes a task, which outlives the request that began it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    /// There are none.
    None,
    /// The client asks for one with the call (`task`), and fetches the result by `tasks/result`
    /// (2025-11-25, Tasks).
    Asked,
    /// The client declares the extension and the server decides; the result is in the answer to
    /// `tasks/get` (Tasks Extension).
    Extension,
}

/// One revision of the protocol. All differences between revisions that a client can see.
#[derive(Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a table of facts, not a state")]
pub struct Revision {
    /// Its name on the wire.
    pub date: &'static str,
    /// How a conversation begins.
    pub era: Era,
    /// How the server asks back.
    pub questions: Questions,
    /// How a request is given up over HTTP.
    pub http_cancel: HttpCancel,
    /// Whether the peer may put several messages into one array.
    pub batches: bool,
    /// Whether requests carry `_meta` with version, client and capabilities.
    pub request_meta: bool,
    /// Whether HTTP requests carry `MCP-Protocol-Version`.
    pub version_header: bool,
    /// Whether HTTP requests mirror method, name and parameters into headers.
    pub mirrored_headers: bool,
    /// Whether a broken event stream can be resumed by its last event ID.
    pub resumable: bool,
    /// Whether a request with a wrong `Origin` must be refused by 403, and not just by any status.
    pub origin_forbidden: bool,
    /// Whether there is a stream for what no request asked for, opened by GET.
    pub listen_stream: bool,
    /// How log messages are asked for.
    pub log_level: LogLevelBy,
    /// How changes are subscribed to.
    pub subscribe: SubscribeBy,
    /// Whether list and read results carry `ttlMs` and `cacheScope`.
    pub cacheable: bool,
    /// Whether the client may declare `elicitation`.
    pub elicitation: bool,
    /// Whether elicitation has modes (`form`, `url`) that are declared one by one.
    pub elicitation_modes: bool,
    /// How a call becomes a task.
    pub tasks: Tasks,
}

static TABLE: [Revision; 5] = [
    Revision {
        date: "2024-11-05",
        era: Era::Legacy,
        questions: Questions::Requests,
        http_cancel: HttpCancel::Notice,
        batches: false,
        request_meta: false,
        version_header: false,
        mirrored_headers: false,
        resumable: false,
        origin_forbidden: false,
        listen_stream: true,
        log_level: LogLevelBy::Request,
        subscribe: SubscribeBy::Resource,
        cacheable: false,
        elicitation: false,
        elicitation_modes: false,
        tasks: Tasks::None,
    },
    Revision {
        date: "2025-03-26",
        era: Era::Legacy,
        questions: Questions::Requests,
        http_cancel: HttpCancel::Notice,
        batches: true,
        request_meta: false,
        version_header: false,
        mirrored_headers: false,
        resumable: true,
        origin_forbidden: false,
        listen_stream: true,
        log_level: LogLevelBy::Request,
        subscribe: SubscribeBy::Resource,
        cacheable: false,
        elicitation: false,
        elicitation_modes: false,
        tasks: Tasks::None,
    },
    Revision {
        date: "2025-06-18",
        era: Era::Legacy,
        questions: Questions::Requests,
        http_cancel: HttpCancel::Notice,
        batches: false,
        request_meta: false,
        version_header: true,
        mirrored_headers: false,
        resumable: true,
        origin_forbidden: false,
        listen_stream: true,
        log_level: LogLevelBy::Request,
        subscribe: SubscribeBy::Resource,
        cacheable: false,
        elicitation: true,
        elicitation_modes: false,
        tasks: Tasks::None,
    },
    Revision {
        date: "2025-11-25",
        era: Era::Legacy,
        questions: Questions::Requests,
        http_cancel: HttpCancel::Notice,
        batches: false,
        request_meta: false,
        version_header: true,
        mirrored_headers: false,
        resumable: true,
        origin_forbidden: true,
        listen_stream: true,
        log_level: LogLevelBy::Request,
        subscribe: SubscribeBy::Resource,
        cacheable: false,
        elicitation: true,
        elicitation_modes: true,
        tasks: Tasks::Asked,
    },
    Revision {
        date: "2026-07-28",
        era: Era::Modern,
        questions: Questions::InputRequired,
        http_cancel: HttpCancel::HangUp,
        batches: false,
        request_meta: true,
        version_header: true,
        mirrored_headers: true,
        resumable: false,
        origin_forbidden: true,
        listen_stream: false,
        log_level: LogLevelBy::Meta,
        subscribe: SubscribeBy::Listen,
        cacheable: true,
        elicitation: true,
        elicitation_modes: true,
        tasks: Tasks::Extension,
    },
];

impl Revision {
    /// The date of a revision that there never was, to see what a server makes of it. The
    /// specification uses it so itself (2026-07-28, Versioning).
    pub const NEVER: &'static str = "1900-01-01";

    /// All revisions, oldest first.
    pub fn all() -> &'static [Revision] {
        &TABLE
    }

    /// The revision of that date; `None` when this client does not know it.
    pub fn named(date: &str) -> Option<&'static Revision> {
        TABLE.iter().find(|revision| revision.date == date)
    }

    /// The newest revision of an era.
    pub fn newest(era: Era) -> &'static Revision {
        let of_era = |revision: &&Revision| revision.era == era;
        TABLE.iter().rev().find(of_era).expect("the table has both eras")
    }

    /// The newest revision of `era` among `dates`; `None` when there is none.
    pub fn common<'a>(era: Era, dates: impl Iterator<Item = &'a str>) -> Option<&'static Revision> {
        let known = dates.filter_map(Revision::named).filter(|revision| revision.era == era);
        known.max_by_key(|revision| revision.date)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_dates_are_unique() {
        let dates: Vec<_> = Revision::all().iter().map(|revision| revision.date).collect();
        assert!(dates.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn the_newest_common_revision_of_an_era_is_chosen() {
        let common = |era, dates: &[&str]| {
            Revision::common(era, dates.iter().copied()).map(|revision| revision.date)
        };
        assert_eq!(
            common(Era::Legacy, &["2024-11-05", "2025-06-18", "2026-07-28"]),
            Some("2025-06-18")
        );
        assert_eq!(common(Era::Modern, &["2025-06-18", "2026-07-28"]), Some("2026-07-28"));
        assert_eq!(common(Era::Modern, &["2027-03-01"]), None);
        assert_eq!(common(Era::Modern, &[]), None);
    }
}
