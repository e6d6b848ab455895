//! Log messages of the server (`--log-level`), one per line.

use crate::protocol::json;
use crate::protocol::model::log::{Level, LogMessage};
use crate::protocol::params::Members;
use crate::protocol::visible::for_terminal;

/// The line for the parameters of a `notifications/message`, for people or as JSON; `None` when
/// the message is of a lower level than is wanted. Some servers send more than they are asked for.
pub(super) fn line(params: &str, server: &str, wanted: Level, as_json: bool) -> Option<String> {
    let message = LogMessage::read(params);
    if message.level < wanted {
        return None;
    }
    Some(if as_json { json_line(&message, server) } else { text_line(&message, server) })
}

fn text_line(message: &LogMessage<'_>, server: &str) -> String {
    let logger = message.logger.as_ref().map(|logger| format!(" {logger}")).unwrap_or_default();
    let text = format!("{server}: {}{logger}: {}", message.level, message.text().trim_end());
    // What is on a line of its own could pass for a message of ours.
    let text = text.replace("\r\n", "\n").replace('\n', "\\n");
    format!("mcpmini: {}\n", for_terminal(&text))
}

fn json_line(message: &LogMessage<'_>, server: &str) -> String {
    let mut log = Members::new();
    log.push("server", &json::string(server));
    log.push("level", &json::string(message.level.name()));
    if let Some(logger) = &message.logger {
        log.push("logger", &json::string(logger));
    }
    log.push("data", &super::output::one_line(message.data));
    format!("{{\"log\":{}}}\n", log.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(params: &str, as_json: bool, expected: Option<&str>) {
        let line = line(params, "demo", Level::Notice, as_json);
        assert_eq!(line.as_deref(), expected, "{params}");
    }

    #[test]
    fn people_read_a_line_for_each_message() {
        check(
            r#"{"level":"error","logger":"db","data":"gone\nand\u001b[2J back\r\n"}"#,
            false,
            Some("mcpmini: demo: error db: gone\\nand[2J back\n"),
        );
        check(
            r#"{"level":"notice","data":{"a":1.50}}"#,
            false,
            Some("mcpmini: demo: notice: {\"a\":1.50}\n"),
        );
        check(r#"{"level":"info","data":"x"}"#, false, None);
    }

    #[test]
    fn programs_read_json() {
        check(
            r#"{"level":"alert","logger":"db","data":{"a": [1.50,
 2]}}"#,
            true,
            Some(
                "{\"log\":{\"server\":\"demo\",\"level\":\"alert\",\"logger\":\"db\",\"data\":{\"a\": [1.50,  2]}}}\n",
            ),
        );
        check(r#"{"level":"debug","data":"x"}"#, true, None);
    }
}
