//! How long a document may be used without asking again (RFC 9111).

use std::time::Duration;

use http::header::{AGE, CACHE_CONTROL, EXPIRES, HeaderMap};

/// The longest time, whatever the host says.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// What a host says about keeping its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keeping {
    /// Whether it may be kept at all.
    pub(super) may_store: bool,
    /// How long it is good from now on.
    pub(super) fresh_for: Duration,
    /// Whether it must not be used after that without asking, even where nobody answers.
    pub(super) must_ask: bool,
}

/// Whether the header fields say anything about keeping.
pub(super) fn is_said(headers: &HeaderMap) -> bool {
    [CACHE_CONTROL, EXPIRES].iter().any(|name| headers.contains_key(name))
}

/// Reads what the header fields of an answer say. `unsaid` is how long it is good when they say
/// nothing.
pub(super) fn keeping(headers: &HeaderMap, unsaid: Duration) -> Keeping {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let directives: Vec<String> = values
        .flat_map(|value| value.split(','))
        .map(|directive| directive.trim().to_ascii_lowercase())
        .collect();
    let has = |name: &str| {
        directives
            .iter()
            .any(|it| it == name || it.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
    };
    let said = directives.iter().find_map(|directive| {
        let seconds = directive.strip_prefix("max-age=")?.trim_matches('"');
        // What cannot be understood is good for no time (section 4.2.1).
        Some(Duration::from_secs(seconds.parse().unwrap_or(0)))
    });
    let age = headers.get(AGE).and_then(|age| age.to_str().ok()?.trim().parse().ok());
    let age = Duration::from_secs(age.unwrap_or(0));
    let fresh_for = match said {
        _ if has("no-cache") => Duration::ZERO,
        Some(said) => said.saturating_sub(age).min(LONGEST),
        // A date is not read: to ask earlier than one must is always right.
        None if headers.contains_key(EXPIRES) => Duration::ZERO,
        None => unsaid,
    };
    let must_ask = has("no-cache") || has("must-revalidate");
    Keeping { may_store: !has("no-store"), fresh_for, must_ask }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_says_how_long_its_answer_is_good() {
        let check = |fields: &[(&'static str, &str)], expected: Option<u64>| {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.append(*name, value.parse().unwrap());
            }
            let Keeping { may_store, fresh_for, .. } = keeping(&headers, Duration::from_secs(300));
            assert_eq!(may_store.then_some(fresh_for.as_secs()), expected, "{fields:?}");
        };
        let control = "cache-control";
        check(&[], Some(300));
        check(&[(control, "public, max-age=3600")], Some(3600));
        check(&[(control, "Max-Age=60"), (control, "public")], Some(60));
        check(&[(control, "max-age=\"60\"")], Some(60));
        check(&[(control, "max-age=60"), ("age", "50")], Some(10));
        check(&[(control, "max-age=60"), ("age", "70")], Some(0));
        check(&[(control, "max-age=60"), ("age", "x")], Some(60));
        check(&[(control, "max-age=999999999")], Some(24 * 3600));
        check(&[(control, "max-age=99999999999999999999999")], Some(0));
        check(&[(control, "max-age=-1")], Some(0));
        check(&[(control, "no-cache, max-age=60")], Some(0));
        check(&[(control, "no-cache=\"x\"")], Some(0));
        check(&[(control, "no-store")], None);
        check(&[(control, "private, NO-STORE")], None);
        check(&[(control, "must-revalidate")], Some(300));
        check(&[("expires", "0")], Some(0));
        check(&[("expires", "Sun, 06 Nov 2094 08:49:37 GMT"), (control, "max-age=60")], Some(60));
    }
}
