//! What other programs say about logging in to a server.

use serde_json::Value;

use super::translate::{Obstacle, Translation, Use, is_empty};
use super::{Kind, Note};
use crate::config::Entry;

impl Translation<'_> {
    /// What is said about logging in.
    pub(super) fn oauth(&mut self) -> Result<(), Obstacle> {
        let (field, names): (&'static str, &[(&str, &str)]) = match self.kind {
            Kind::Cursor => {
                ("auth", &[("CLIENT_ID", "clientId"), ("CLIENT_SECRET", "clientSecret")])
            }
            Kind::Codex => ("oauth", &[("client_id", "clientId")]),
            _ => ("oauth", &[("clientId", "clientId"), ("clientSecret", "clientSecret")]),
        };
        let Some(Value::Object(said)) = self.take(field).cloned() else { return Ok(()) };
        let mut oauth = Entry::new();
        for (theirs, ours) in names {
            if let Some(text) = said.get(*theirs).and_then(Value::as_str) {
                let text = self.translated(&format!("{field}.{theirs}"), text, Use::Secret)?;
                oauth.insert((*ours).to_owned(), text.into());
            }
        }
        if let Some(port) = said.get("callbackPort").filter(|port| port.is_u64()) {
            oauth.insert("callbackPort".to_owned(), port.clone());
        }
        let scopes = said.get("scopes").or(said.get("scope")).or(self.take("scopes"));
        if let Some(scopes) = scopes.cloned().filter(|scopes| !is_empty(scopes)) {
            oauth.insert("scopes".to_owned(), scopes);
        }
        let known = ["callbackPort", "scopes", "scope", "enabled"];
        let left = said.keys().filter(|name| {
            !known.contains(&name.as_str()) && names.iter().all(|(theirs, _)| *name != theirs)
        });
        let left: Vec<_> = left.map(|name| format!("{field}.{name}")).collect();
        if !left.is_empty() {
            self.notes.push(Note::LeftOut(left));
        }
        if !oauth.is_empty() {
            self.entry.insert("oauth".to_owned(), oauth.into());
        }
        Ok(())
    }
}
