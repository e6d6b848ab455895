//! Message ids.

use std::fmt;

/// A JSON-RPC id, kept as the JSON text it came in so that it can be sent back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id(Box<str>);

/// How an id of ours can come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// As it was sent.
    Exact(u64),
    /// As the other JSON type, or as a float: `"2"` or `2.0` for `2`, `2` for `"2"`.
    Retyped(u64),
}

impl Id {
    /// An id from its JSON text.
    pub fn from_json(text: &str) -> Id {
        Id(text.into())
    }

    /// The JSON text.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// Which of our request numbers this is, if any. `text_ids` says that we send ids as strings.
    pub fn echo(&self, text_ids: bool) -> Option<Echo> {
        let (body, quoted) = match self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
        {
            Some(body) => (body, true),
            None => (&*self.0, false),
        };
        // A float with a zero fraction is the same number; encoders of some languages write it so.
        let (digits, retyped) = match body.split_once('.') {
            Some((digits, fraction)) if fraction.bytes().all(|byte| byte == b'0') => (digits, true),
            Some(_) => return None,
            None => (body, quoted != text_ids),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number = digits.parse().ok()?;
        Some(if retyped { Echo::Retyped(number) } else { Echo::Exact(number) })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_in_many_forms() {
        let check = |json: &str, text_ids, expected| {
            assert_eq!(Id::from_json(json).echo(text_ids), expected, "{json}");
        };
        check("2", false, Some(Echo::Exact(2)));
        check("\"2\"", false, Some(Echo::Retyped(2)));
        check("2.0", false, Some(Echo::Retyped(2)));
        check("\"2\"", true, Some(Echo::Exact(2)));
        check("2", true, Some(Echo::Retyped(2)));
        check("2.5", false, None);
        check("-2", false, None);
        check("\"zzz\"", false, None);
        check("99999999999999999999", false, None);
        check("\"\"", false, None);
        check(".0", false, None);
    }
}
