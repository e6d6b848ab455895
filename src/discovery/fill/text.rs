//! Texts for a configuration file, made of a stranger's words and the user's references.
//!
//! In the file `${NAME}` is looked up at each use. What a document says must stay as it is said, so
//! a `${` in it is written `$${`; a reference of the user's stays a reference.

/// A text that grows piece by piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    done: String,
    /// Words as they are said, not yet written down: a `$` at their end and a `{` after it would
    /// make a reference.
    words: String,
    /// Whether two pieces would be read as something else than they are.
    is_spoilt: bool,
}

impl Text {
    /// Adds words as they are said.
    pub(super) fn say(&mut self, words: &str) {
        if self.words.is_empty() && self.done.ends_with('$') && words.starts_with('{') {
            self.is_spoilt = true;
        }
        self.words.push_str(words);
    }

    /// Adds a reference of the user's, such as `${NAME}`.
    pub(super) fn refer(&mut self, reference: &str) {
        // They would take the reference for one that is to stay as it is.
        self.is_spoilt |= self.words.ends_with(['$', '\\']);
        self.flush();
        self.done.push_str(reference);
    }

    fn flush(&mut self) {
        self.done.push_str(&std::mem::take(&mut self.words).replace("${", "$${"));
    }

    /// The text as it is written down; `None` when it would be read as something else.
    pub(super) fn finish(mut self) -> Option<String> {
        self.flush();
        (!self.is_spoilt).then_some(self.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::variables;

    #[test]
    fn words_stay_words_and_references_stay_references() {
        /// Pieces: those that begin with `=` are the user's.
        #[track_caller]
        fn check(pieces: &[&str], expected: Option<&str>, referred: &[&str]) {
            let mut text = Text::default();
            for piece in pieces {
                match piece.strip_prefix('=') {
                    Some(reference) => text.refer(reference),
                    None => text.say(piece),
                }
            }
            let text = text.finish();
            assert_eq!(text.as_deref(), expected, "{pieces:?}");
            assert_eq!(variables(&text.unwrap_or_default()), referred, "{pieces:?}");
        }
        check(&["Bearer ", "=${T}"], Some("Bearer ${T}"), &["T"]);
        check(&["${HOME}"], Some("$${HOME}"), &[]);
        check(&["$", "{HOME}"], Some("$${HOME}"), &[]);
        check(&["$${HOME}"], Some("$$${HOME}"), &[]);
        check(&["a$", "=${T}"], None, &[]);
        check(&["a\\", "=${T}"], None, &[]);
        check(&["=${T}$", "{HOME}"], None, &[]);
        check(&["=${T}", "{HOME}"], Some("${T}{HOME}"), &["T"]);
        check(&[], Some(""), &[]);
    }
}
