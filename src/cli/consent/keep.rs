//! What a server says, as it is kept: without the secrets that it was given, and so that it is known
//! again also when other secrets are known.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Consent;
use crate::trust::pins::{Facets, Identity, Texts, kept, stands_for};

impl Consent<'_> {
    /// Who a server says it is, as it is kept.
    pub(super) fn identity_in(&self, info: &str) -> Identity {
        let identity = Identity::read(info);
        let known = || self.known().filter_map(|facets| facets.identity.as_ref());
        Identity {
            name: self.kept(&identity.name, known().map(|it| &*it.name)).into_owned(),
            version: self.kept(&identity.version, known().map(|it| &*it.version)).into_owned(),
        }
    }

    /// What a server says it can do, as it is kept.
    pub(super) fn kept_capabilities(&self, said: BTreeSet<String>) -> BTreeSet<String> {
        let known = || self.known().filter_map(|facets| facets.capabilities.as_ref());
        if known().any(|known| *known == said) {
            return said;
        }
        let known = || known().flatten().map(String::as_str);
        said.iter().map(|text| self.kept(text, known()).into_owned()).collect()
    }

    /// The name of a tool, as it is kept.
    pub(super) fn kept_tool<'t>(&self, name: &'t str) -> Cow<'t, str> {
        let tools = || self.known().filter_map(|facets| facets.tools.as_ref());
        match tools().any(|tools| tools.contains_key(name)) {
            true => Cow::Borrowed(name),
            false => self.kept(name, tools().flat_map(|tools| tools.keys()).map(String::as_str)),
        }
    }

    /// A tool as it is called among those that are known. Hardly ever it is another name.
    pub(super) fn named<'t>(&'t self, tool: &'t str) -> &'t str {
        let tools = || self.accepted_tools().into_iter().chain(self.observed.tools.as_ref());
        if tools().all(|tools| tools.contains_key(tool)) {
            return tool;
        }
        let mut names = tools().flat_map(|tools| tools.keys());
        names.find(|name| stands_for(name, tool)).map_or(tool, String::as_str)
    }

    /// The texts that may be kept: in those with a secret nothing can be left out, as their hashes
    /// tell which texts they are.
    pub(in crate::cli) fn kept_texts(&self, texts: Texts) -> Texts {
        let is_free = |text: &str| self.run.redaction.apply(text) == text;
        let Texts { instructions, mut tools, parts } = texts;
        tools.retain(|_, text| is_free(text));
        Texts { instructions: instructions.filter(|text| is_free(text)), tools, parts }
    }

    /// A text as it is kept. What is known stays as it is spelled there: which secrets are known
    /// differs from run to run.
    fn kept<'t, 'k>(
        &self,
        text: &'t str,
        mut known: impl Iterator<Item = &'k str>,
    ) -> Cow<'t, str> {
        if let Some(known) = known.find(|known| stands_for(known, text)) {
            return match known == text {
                true => Cow::Borrowed(text),
                false => Cow::Owned(known.to_owned()),
            };
        }
        Cow::Owned(kept(text, &self.run.redaction.apply(text)))
    }

    /// All that is known of the server.
    fn known(&self) -> impl Iterator<Item = &Facets> {
        let record = self.record.iter().flat_map(|it| [Some(&it.accepted), it.seen.as_ref()]);
        self.locked.iter().chain(record.flatten())
    }
}
