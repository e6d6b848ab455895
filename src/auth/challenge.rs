//! What a server wants, as its `WWW-Authenticate` fields tell (RFC 9110, section 11.6.1).
//!
//! One field may hold several challenges and one challenge several parameters, all separated by
//! commas, so only the grammar tells where the next challenge begins:
//!
//! ```text
//! Newauth realm="apps, x", type=1, Bearer scope="a b", resource_metadata="https://h/m"
//! ╰─scheme   ╰─ parameters       ╰─scheme  ╰─ parameters
//! ```

use super::scope::Scopes;
use crate::protocol::headers::is_of_token;

/// A challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// The scheme.
    pub scheme: Scheme,
    /// Names, in lower case, and values.
    parameters: Vec<(String, String)>,
}

/// The scheme of a challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheme {
    /// Bearer tokens (RFC 6750).
    Bearer,
    /// Tokens that are bound to a key (RFC 9449).
    Dpop,
    /// Something else, of which this client knows nothing.
    Other(String),
}

/// More challenges than this are not read.
const LIMIT: usize = 32;

impl Challenge {
    /// Reads the challenges of all fields. What is not in the grammar is skipped: a server that
    /// cannot write the field as it should may still mean well.
    pub fn parse_all<'a>(fields: impl IntoIterator<Item = &'a String>) -> Vec<Challenge> {
        let read = |field: &'a String| Reader { rest: field, read: Vec::new() }.challenges();
        fields.into_iter().flat_map(read).take(LIMIT).collect()
    }

    /// The challenge to answer: the first that asks for tokens, one that says where to get them
    /// before one that does not.
    pub fn choose(challenges: &[Challenge]) -> Option<&Challenge> {
        let known = || challenges.iter().filter(|one| !matches!(one.scheme, Scheme::Other(_)));
        let helpful = known().find(|one| one.resource_metadata().is_some());
        helpful.or_else(|| known().next())
    }

    /// The value of a parameter. Of two of that name the first counts.
    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Where the metadata of the server is (RFC 9728, section 5.1).
    pub fn resource_metadata(&self) -> Option<&str> {
        self.parameter("resource_metadata").filter(|url| !url.is_empty())
    }

    /// The scopes that the request needs; empty when the server does not say.
    pub fn scopes(&self) -> Scopes {
        Scopes::parse(self.parameter("scope").unwrap_or_default())
    }

    /// What was wrong with the token, if there was one.
    pub fn error(&self) -> Option<&str> {
        self.parameter("error")
    }

    /// The same for people.
    pub fn error_description(&self) -> Option<&str> {
        self.parameter("error_description")
    }
}

impl Scheme {
    fn named(name: &str) -> Scheme {
        match name.to_ascii_lowercase().as_str() {
            "bearer" => Scheme::Bearer,
            "dpop" => Scheme::Dpop,
            other => Scheme::Other(other.to_owned()),
        }
    }
}

/// Reads one field.
struct Reader<'a> {
    rest: &'a str,
    read: Vec<Challenge>,
}

impl<'a> Reader<'a> {
    fn challenges(mut self) -> Vec<Challenge> {
        loop {
            self.rest = self.rest.trim_start_matches([',', ' ', '\t']);
            if self.rest.is_empty() || LIMIT < self.read.len() {
                return self.read;
            }
            let word = self.take_while(is_of_token);
            if word.is_empty() {
                // No character of the grammar: on to the next comma.
                self.take_while(|byte| byte != b',');
            } else {
                self.challenge_or_parameter(word);
            }
        }
    }

    /// A word is the name of a parameter when an equals sign follows, and else a scheme.
    fn challenge_or_parameter(&mut self, word: &str) {
        let after = self.rest.trim_start_matches([' ', '\t']);
        match (after.strip_prefix('='), self.read.last_mut()) {
            (Some(value), Some(challenge)) => {
                let (value, rest) = read_value(value.trim_start_matches([' ', '\t']));
                challenge.parameters.push((word.to_ascii_lowercase(), value));
                self.rest = rest;
            }
            (Some(_), None) => {
                self.take_while(|byte| byte != b',');
            }
            (None, _) => {
                let scheme = Scheme::named(word);
                if matches!(scheme, Scheme::Other(_)) {
                    self.skip_token68();
                }
                self.read.push(Challenge { scheme, parameters: Vec::new() });
            }
        }
    }

    /// Skips what some schemes have in place of parameters: `Negotiate oYG3MIG0oAMK==`.
    fn skip_token68(&mut self) {
        let text = self.rest.trim_start_matches([' ', '\t']);
        let letters =
            text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-._~+/".contains(c));
        let after = letters.trim_start_matches('=');
        let ends = after.trim_start_matches([' ', '\t']);
        if text.len() != letters.len() && (ends.is_empty() || ends.starts_with(',')) {
            self.rest = after;
        }
    }

    fn take_while(&mut self, fits: impl Fn(u8) -> bool) -> &'a str {
        let end = self.rest.bytes().position(|byte| !fits(byte)).unwrap_or(self.rest.len());
        // A byte of the grammar is ASCII, and so is the comma: both ends are character boundaries.
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

/// A value, quoted or not, and what follows it. Bare URLs are no tokens, and servers send them.
fn read_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The challenges of the fields, each as `scheme name=value name=value`.
    #[track_caller]
    fn check(fields: &[&str], expected: &[&str]) {
        let fields: Vec<String> = fields.iter().map(|&field| field.to_owned()).collect();
        let shown: Vec<String> = Challenge::parse_all(&fields)
            .iter()
            .map(|challenge| {
                let mut shown = match &challenge.scheme {
                    Scheme::Bearer => "Bearer".to_owned(),
                    Scheme::Dpop => "DPoP".to_owned(),
                    Scheme::Other(name) => name.clone(),
                };
                for (name, value) in &challenge.parameters {
                    shown += &format!(" {name}=<{value}>");
                }
                shown
            })
            .collect();
        assert_eq!(shown, expected, "{fields:?}");
    }

    #[test]
    fn all_forms_are_read() {
        check(&[], &[]);
        check(&["Bearer"], &["Bearer"]);
        check(&["bearer realm=\"x\""], &["Bearer realm=<x>"]);
        check(
            &["DPoP algs=\"ES256\", error=use_dpop_nonce"],
            &["DPoP algs=<ES256> error=<use_dpop_nonce>"],
        );
        check(&["Bearer scope=\"a b\" , realm = \"r\""], &["Bearer scope=<a b> realm=<r>"]);
        check(&["Bearer SCOPE=a"], &["Bearer scope=<a>"]);
        check(
            &["Bearer error_description=\"a \\\"b\\\", c\\\\d\""],
            &["Bearer error_description=<a \"b\", c\\d>"],
        );
        check(
            &["Bearer resource_metadata=https://h/m?a=b, scope=x"],
            &["Bearer resource_metadata=<https://h/m?a=b> scope=<x>"],
        );
    }

    #[test]
    fn several_challenges_are_told_apart() {
        check(&["Basic realm=\"a\"", "Bearer scope=s"], &["basic realm=<a>", "Bearer scope=<s>"]);
        check(
            &["Basic realm=\"a, Bearer x\", Bearer scope=s"],
            &["basic realm=<a, Bearer x>", "Bearer scope=<s>"],
        );
        check(&["Negotiate, Bearer"], &["negotiate", "Bearer"]);
        check(&["Negotiate oYG3MIG0oAMK==, Bearer scope=s"], &["negotiate", "Bearer scope=<s>"]);
        check(&["Bearer, DPoP algs=\"ES256\""], &["Bearer", "DPoP algs=<ES256>"]);
        check(&[", ,Bearer realm=r,,scope=s,"], &["Bearer realm=<r> scope=<s>"]);
    }

    #[test]
    fn what_makes_no_sense_is_skipped() {
        check(&["realm=x, Bearer scope=s"], &["Bearer scope=<s>"]);
        check(&["Bearer \"x\", scope=s"], &["Bearer scope=<s>"]);
        check(&["Bearer scope=\"open"], &["Bearer scope=<open>"]);
        check(&["Bearer scope=\"open\\"], &["Bearer scope=<open>"]);
        check(&["Bearer scope="], &["Bearer scope=<>"]);
        check(&["\u{e4}\u{f6}, Bearer \u{e4}=1, scope=s"], &["Bearer scope=<s>"]);
        let many = "Bearer, ".repeat(1000);
        assert_eq!(Challenge::parse_all(&[many]).len(), LIMIT);
    }

    #[test]
    fn the_most_helpful_challenge_is_answered() {
        let check = |field: &str, expected: Option<&str>| {
            let challenges = Challenge::parse_all(&[field.to_owned()]);
            let chosen = Challenge::choose(&challenges);
            assert_eq!(chosen.map(|one| one.parameter("n").unwrap()), expected, "{field}");
        };
        check("Basic n=1", None);
        check("Basic n=1, Bearer n=2, DPoP n=3", Some("2"));
        check("DPoP n=1, Bearer n=2, resource_metadata=\"https://h/\"", Some("2"));
        check("Bearer n=1, resource_metadata=\"\", DPoP n=2", Some("1"));
    }
}
