//! Sets of scopes (RFC 6749, section 3.3).

use std::fmt;

/// Scopes, each once, in the order in which they were named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scopes(Vec<String>);

/// Asks for a refresh token (OpenID Connect Core, section 11).
pub const OFFLINE_ACCESS: &str = "offline_access";

impl Scopes {
    /// Reads scopes that are separated by blanks.
    pub fn parse(text: &str) -> Scopes {
        Scopes::default().and(text.split_ascii_whitespace())
    }

    /// These and more.
    #[must_use]
    pub fn and<'a>(mut self, more: impl IntoIterator<Item = &'a str>) -> Scopes {
        for scope in more {
            if !self.contains(scope) {
                self.0.push(scope.to_owned());
            }
        }
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this scope is among them.
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|known| known == scope)
    }

    /// Whether all the others are among them.
    pub fn cover(&self, others: &Scopes) -> bool {
        others.iter().all(|scope| self.contains(scope))
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// The scopes to ask for at first: those that were chosen, else those that the request needs, else
/// all that the server knows, else none at all (2026-07-28, Scope Selection Strategy).
pub fn initial(chosen: &Scopes, challenged: &Scopes, supported: Option<&[String]>) -> Scopes {
    match (chosen.is_empty(), challenged.is_empty()) {
        (false, _) => chosen.clone(),
        (true, false) => challenged.clone(),
        (true, true) => {
            Scopes::default().and(supported.unwrap_or_default().iter().map(String::as_str))
        }
    }
}

/// Adds the wish for a refresh token where it can be understood. No scope at all means the
/// server's own choice, and stays that.
pub fn with_refresh(scopes: Scopes, supported: Option<&[String]>) -> Scopes {
    let known = supported.unwrap_or_default().iter().any(|scope| scope == OFFLINE_ACCESS);
    if known && !scopes.is_empty() { scopes.and([OFFLINE_ACCESS]) } else { scopes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_keeps_the_order_and_no_doubles() {
        let check = |one: &str, other: &str, expected: &str| {
            let union = Scopes::parse(one).and(Scopes::parse(other).iter());
            assert_eq!(union.to_string(), expected);
        };
        check("", "", "");
        check("a b a", "", "a b");
        check("b  a", "a c", "b a c");
    }

    #[test]
    fn scopes_cover_their_subsets() {
        let check = |one: &str, other: &str, expected: bool| {
            assert_eq!(Scopes::parse(one).cover(&Scopes::parse(other)), expected, "{one} {other}");
        };
        check("a b", "b", true);
        check("a b", "", true);
        check("a", "a b", false);
        check("ab", "a", false);
    }

    #[test]
    fn the_first_scopes_are_the_fewest_that_may_do() {
        let supported = ["x".to_owned(), "y".to_owned()];
        let check = |chosen: &str, challenged: &str, supported, expected: &str| {
            let scopes = initial(&Scopes::parse(chosen), &Scopes::parse(challenged), supported);
            assert_eq!(scopes.to_string(), expected);
        };
        check("c", "a b", Some(&supported[..]), "c");
        check("", "a b", Some(&supported[..]), "a b");
        check("", "", Some(&supported[..]), "x y");
        check("", "", None, "");
    }

    #[test]
    fn a_refresh_token_is_asked_for_where_that_is_known() {
        let supported = ["a".to_owned(), OFFLINE_ACCESS.to_owned()];
        let check = |scopes: &str, supported, expected: &str| {
            assert_eq!(with_refresh(Scopes::parse(scopes), supported).to_string(), expected);
        };
        check("a", Some(&supported[..]), "a offline_access");
        check("a", Some(&supported[..1]), "a");
        check("a", None, "a");
        check("", Some(&supported[..]), "");
    }
}
