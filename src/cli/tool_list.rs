//! Lists of tools: which of them are wanted, and what is shown of each.

use super::errors::{Error, Phase};
use super::exit::Exit;
use super::lines::first_line;
use super::pattern::{self, Pattern};
use crate::protocol::message::Sent;
use crate::protocol::model::tool::Tool;

/// The error of a search that found nothing, though all who were to be asked have answered.
pub(super) fn no_match(text: String) -> Error {
    Error::new(Exit::Mismatch, text).phase(Phase::Request).sent(Sent::No)
}

/// Which tools are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'w> {
    /// Those whose name fits this.
    pub(super) pattern: Option<&'w str>,
    /// Those that mention this.
    pub(super) grep: Option<&'w Pattern>,
}

impl Wanted<'_> {
    /// Whether a tool is one of them.
    pub(super) fn are(&self, tool: &Tool) -> bool {
        self.pattern.is_none_or(|pattern| pattern::fits(pattern, &tool.name))
            && self.grep.is_none_or(|grep| mentions(tool, grep))
    }
}

/// Name, signature, and the first line of the description.
pub(super) fn columns(tool: &Tool) -> Vec<String> {
    let description = first_line([tool.description.as_deref(), tool.title.as_deref()]);
    vec![tool.name.clone(), tool.signature(), description]
}

/// Whether the name or the description of a tool has something.
pub(super) fn mentions(tool: &Tool, pattern: &Pattern) -> bool {
    let texts = [Some(&tool.name), tool.title.as_ref(), tool.description.as_ref()];
    texts.into_iter().flatten().any(|text| pattern.is_in(text))
}
