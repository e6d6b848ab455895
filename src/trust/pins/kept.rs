//! Texts of a server as they are kept: short, and without the secrets that the server was given.
//!
//! A server may say anything, as its name or as the name of a tool, also the token that it got. What
//! is kept of it is read by others: a lock file is committed. So what is left out is told by the hash
//! of the whole, which keeps two texts apart that look the same without it.

use crate::config::Digest;

/// How many characters of a text are kept.
const LONGEST: usize = 200;

/// What comes before the hash, and after it.
const HASH: (&str, &str) = (" (", ")");

/// A text as it is kept; `shown` is what may be shown of it. One that ends as if something had been
/// left out of it is kept with its hash, too: nobody can say that he is what another hides.
pub fn kept(text: &str, shown: &str) -> String {
    let is_long = text.chars().nth(LONGEST).is_some();
    if shown == text && !is_long && !has_hash(text) {
        return text.to_owned();
    }
    let beginning: String = shown.chars().take(LONGEST).collect();
    let rest = if beginning.len() < shown.len() { "…" } else { "" };
    format!("{beginning}{rest}{}", hash(text))
}

/// Whether a text that is kept stands for this one.
pub fn stands_for(kept: &str, text: &str) -> bool {
    match has_hash(kept) {
        true => kept.ends_with(&hash(text)),
        false => kept == text,
    }
}

/// The hash of a text as it ends what is kept of that.
fn hash(text: &str) -> String {
    format!("{}{}{}", HASH.0, Digest::of(text.as_bytes()), HASH.1)
}

/// Whether a text ends with a hash.
fn has_hash(text: &str) -> bool {
    let digest = text.strip_suffix(HASH.1).and_then(|text| text.rsplit_once(HASH.0));
    digest.is_some_and(|(_, digest)| digest.parse::<Digest>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_told_by_the_hash_of_the_whole() {
        let check = |text: &str, shown: &str, expected: &str| {
            let hash = Digest::of(text.as_bytes()).to_string();
            let kept = kept(text, shown);
            assert_eq!(kept, expected.replace("HASH", &hash));
            assert!(stands_for(&kept, text) && !stands_for(&kept, "another"), "{kept}");
        };
        check("weather", "weather", "weather");
        check("key s3cret", "key ***", "key *** (HASH)");
        check(&"x".repeat(200), &"x".repeat(200), &"x".repeat(200));
        check(&"ü".repeat(201), &"ü".repeat(201), &format!("{}… (HASH)", "ü".repeat(200)));
        let hidden = kept("s3cret", "***");
        check(&hidden, &hidden, &format!("{hidden} (HASH)"));
        assert!(!stands_for(&hidden, &hidden));
        check("a (b)", "a (b)", "a (b)");
    }
}
