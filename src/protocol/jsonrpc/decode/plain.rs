//! The short way for notifications, which come by the thousand.

use super::super::scan::{self, Span};
use crate::method;

/// The method and the parameters of the notification that `text` is, if it is written as nearly all
/// are: without blanks, the version first or last, of a method that is known. `depth` is as in
/// [`scan::envelope`], which finds the same and more.
pub(super) fn notification(text: &str, depth: usize) -> Option<(&'static str, Span)> {
    let (rest, end) = match text.strip_prefix(r#"{"jsonrpc":"2.0","method":""#) {
        Some(rest) => (rest, "}"),
        None => (text.strip_prefix(r#"{"method":""#)?, r#","jsonrpc":"2.0"}"#),
    };
    let method = method::known_before_quote(rest)?;
    let params = rest[method.len()..].strip_prefix(r#"","params":"#)?;
    let length = scan::object_end(params, depth.checked_sub(1)?)?;
    let start = text.len() - params.len();
    (&params[length..] == end).then_some((method, start..start + length))
}

#[cfg(test)]
mod tests {
    use super::super::super::scan::random::Random;
    use super::super::{Decoded, Message, Notification, deliver};
    use super::*;

    const DEPTH: usize = 5;

    /// Both ways must find the same, if the short one is taken; tells whether it is.
    #[track_caller]
    fn check(text: &str) -> bool {
        let Some((method, params)) = notification(text, DEPTH) else { return false };
        let envelope = scan::envelope(text, DEPTH).expect("it has an envelope");
        assert_eq!(envelope.end, text.len(), "{text}");
        let mut count = 0;
        deliver(text.to_owned(), &envelope, &mut |decoded| {
            let Decoded::Message(Message::Notification(Notification {
                method: name,
                params: json,
            })) = decoded
            else {
                panic!("{text}: {decoded:?}");
            };
            assert_eq!((&*name, json.unwrap().as_str()), (method, &text[params.clone()]), "{text}");
            count += 1;
        });
        assert_eq!(count, 1, "{text}");
        true
    }

    #[test]
    fn only_what_is_plain_goes_the_short_way() {
        let first = |rest: &str| check(&format!(r#"{{"jsonrpc":"2.0",{rest}"#));
        assert!(first(r#""method":"notifications/progress","params":{}}"#));
        assert!(first(r#""method":"notifications/message","params":{"a":[[[]]],"b":"}"}}"#));
        assert!(!first(r#""method":"notifications/message","params":{"a":[[[[]]]]}}"#));
        assert!(!first(r#""method":"notifications/progress"}"#));
        assert!(!first(r#""method":"notifications/progressed","params":{}}"#));
        assert!(!first(r#""method":"notifications/x","params":{}}"#));
        assert!(!first(r#""method":"notifications/progress","params":[]}"#));
        assert!(!first(r#""method":"notifications/progress","params":{]}"#));
        assert!(!first(r#""method":"notifications/progress","params":{}"#));
        assert!(!first(r#""method":"notifications/progress","params":{}} "#));
        assert!(!first(r#""method":"notifications/progress","params":{},"id":1}"#));
        assert!(!first(r#""method":"notifications/progress","params":{},"jsonrpc":"2.0"}"#));
        assert!(!first(r#""id":1,"method":"notifications/progress","params":{}}"#));
        let last = |rest: &str| check(&format!(r#"{{"method":"notifications/progress",{rest}"#));
        assert!(last(r#""params":{"a":1},"jsonrpc":"2.0"}"#));
        assert!(!last(r#""params":{"a":1}}"#));
        assert!(!last(r#""params":{"a":1},"jsonrpc":"1.0"}"#));
    }

    #[test]
    fn both_ways_find_the_same_in_random_notifications() {
        let (mut random, mut plain) = (Random::new(12), 0);
        for _ in 0..50_000 {
            let method = random.one_of(&["notifications/progress", "notifications/message", "a"]);
            let mut params = String::new();
            random.value(&mut params, 5);
            let mut text = match random.below(2) {
                0 => format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#),
                _ => format!(r#"{{"method":"{method}","params":{params},"jsonrpc":"2.0"}}"#),
            };
            if random.below(2) == 0 {
                text = random.damage(&text);
            }
            plain += usize::from(check(&text));
        }
        assert!(plain > 2_000, "{plain} are plain");
    }
}
