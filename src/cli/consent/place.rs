//! What a server is apart from its name: what is revoked with it, and what tells it from others that are
//! called the same.

use std::path::Path;

use super::Consent;
use crate::config::{Endpoint, Overrides, Target, quoting};
use crate::protocol::mask;
use crate::trust::pins::{Key, Record, of_definition};

impl Consent<'_> {
    /// What the trust in it is taken back for: where it is, or the command that starts it, with what the
    /// command line adds, and then without, if it adds anything.
    pub(in crate::cli) fn places(&self, endpoint: &Endpoint) -> Vec<Key> {
        if let Endpoint::Http(endpoint) = endpoint {
            return vec![Key::of_place(endpoint)];
        }
        let Overrides { args, env, .. } = &self.overrides;
        let whole = self.definition.command.filter(|_| self.lock.is_none());
        let adds = !args.is_empty() || !env.is_empty();
        let of = |overrides: &Overrides| {
            of_definition(&self.resolved, overrides, self.run.env, None).command
        };
        let whole = whole.or_else(|| of(&self.overrides));
        let plain = || Overrides { args: vec![], env: vec![], ..self.overrides.clone() };
        let plain = adds.then(|| of(&plain())).flatten();
        whole.into_iter().chain(plain).map(|command| Key::of_command(&command)).collect()
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
