//! Log messages of a server (`notifications/message`).

use std::borrow::Cow;
use std::fmt;

use crate::jsonrpc::scan;

/// How serious a message is (RFC 5424, section 6.2.1), the least serious first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For who looks for a fault.
    Debug,
    /// What goes on.
    Info,
    /// Normal, but worth to be noted.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A part has failed.
    Critical,
    /// Somebody must do something at once.
    Alert,
    /// Nothing works any more.
    Emergency,
}

impl Level {
    /// Every level and its name on the wire.
    pub const NAMES: [(Level, &'static str); 8] = [
        (Level::Debug, "debug"),
        (Level::Info, "info"),
        (Level::Notice, "notice"),
        (Level::Warning, "warning"),
        (Level::Error, "error"),
        (Level::Critical, "critical"),
        (Level::Alert, "alert"),
        (Level::Emergency, "emergency"),
    ];

    /// The level of that name.
    pub fn named(name: &str) -> Option<Level> {
        Level::NAMES.iter().find(|(_, known)| *known == name).map(|(level, _)| *level)
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        Level::NAMES[self as usize].1
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogMessage<'a> {
    /// Its level; [`Level::Info`] when it names none that exists.
    pub level: Level,
    /// Which part of the server speaks, if it says so.
    pub logger: Option<Cow<'a, str>>,
    /// What it says: JSON text.
    pub data: &'a str,
}

impl<'a> LogMessage<'a> {
    /// Reads the parameters of a `notifications/message`.
    ///
    /// ```
    /// use mcpmini_protocol::model::log::{Level, LogMessage};
    /// let message = LogMessage::read(r#"{"level":"error","logger":"db","data":"gone"}"#);
    /// assert_eq!(message.level, Level::Error);
    /// assert_eq!(message.text(), "gone");
    /// ```
    pub fn read(params: &'a str) -> LogMessage<'a> {
        let text = |name| scan::member(params, name).and_then(scan::unescape);
        LogMessage {
            level: text("level").and_then(|name| Level::named(&name)).unwrap_or(Level::Info),
            logger: text("logger").filter(|logger| !logger.is_empty()),
            data: scan::member(params, "data").unwrap_or("null"),
        }
    }

    /// What it says, for people: a text as it is, anything else as JSON.
    pub fn text(&self) -> Cow<'a, str> {
        scan::unescape(self.data).unwrap_or(Cow::Borrowed(self.data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_in_order_and_have_names() {
        assert!(Level::NAMES.is_sorted_by(|a, b| a.0 < b.0));
        for (level, name) in Level::NAMES {
            assert_eq!((level.name(), Level::named(name)), (name, Some(level)));
        }
        assert_eq!(Level::named("warn"), None);
    }

    #[test]
    fn what_a_message_lacks_is_made_up_for() {
        let check = |params, level, logger: Option<&str>, text: &str| {
            let message = LogMessage::read(params);
            assert_eq!((message.level, message.logger.as_deref()), (level, logger), "{params}");
            assert_eq!(message.text(), text, "{params}");
        };
        check(r#"{"level":"debug","data":"a\nb"}"#, Level::Debug, None, "a\nb");
        check(
            r#"{"level":"alert","logger":"x","data":{"n":1.50}}"#,
            Level::Alert,
            Some("x"),
            r#"{"n":1.50}"#,
        );
        check(r#"{"level":"loud","logger":"","data":7}"#, Level::Info, None, "7");
        check("{}", Level::Info, None, "null");
    }
}
