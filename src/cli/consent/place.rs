//! What a server is apart from its name: what is revoked with it, and what tells it from others that are
//! called the same.

use std::path::Path;

use super::Consent;
use crate::config::{Endpoint, Target, quoting};
use crate::protocol::mask;
use crate::trust::pins::{Key, Record};

impl Consent<'_> {
    /// What the trust in it is taken back for: where it is, or what its command starts. It is taken back
    /// for the first; the others are what the command may start in turn.
    pub(in crate::cli) fn places(&self, endpoint: &Endpoint) -> Vec<Key> {
        match endpoint {
            Endpoint::Http(endpoint) => vec![Key::of_place(endpoint)],
            Endpoint::Stdio(endpoint) => Key::of_command(endpoint),
        }
    }

    /// The same without what the command line adds to the command, if it adds anything.
    pub(super) fn plain_places(&self, endpoint: &Endpoint) -> Vec<Key> {
        let added = self.overrides.args.len();
        match endpoint {
            Endpoint::Stdio(endpoint) if 0 < added => {
                let mut plain = endpoint.clone();
                plain.args.truncate(plain.args.len().saturating_sub(added));
                Key::of_command(&plain)
            }
            _ => Vec::new(),
        }
    }

    /// What a place of it is called. A command is called as a server of the command line is.
    pub(in crate::cli) fn place_name(&self, place: &Key) -> String {
        match (&*place.name, self.resolved.is_stored) {
            ("", true) => format!("exec:{}", self.command_line().unwrap_or_default()),
            ("", false) => self.key.name.clone(),
            (name, _) => name.to_owned(),
        }
    }

    /// The command that starts it, without what is likely a secret.
    fn command_line(&self) -> Option<String> {
        let Target::Stdio(target) = &self.resolved.definition.target else { return None };
        let args = target.args.iter().chain(&self.overrides.args).map(String::as_str);
        let words = mask::command([&*target.command].into_iter().chain(args));
        Some(quoting::join(words.iter().map(|word| &**word)))
    }

    /// Writes into its record what tells it from others of its name.
    pub(in crate::cli) fn tell_apart(&self, record: &mut Record) {
        record.command_line = self.command_line();
        let path = self.resolved.origin.path().filter(|_| self.resolved.is_stored);
        record.file = path.map(Path::to_string_lossy).map(Into::into);
    }
}
