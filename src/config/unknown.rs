//! Fields of a configuration that this program does not know. Other programs may: they are left alone,
//! and told where somebody looks for mistakes.

use std::fmt;

use jsonc_parser::ast::{Object, ObjectProp};
use jsonc_parser::common::Ranged;

use super::quoting::printable;
use super::{definition, document, oauth};
use crate::protocol::similar::closest;

/// A field that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Its name: `comand`, `oauth.scope`.
    pub field: String,
    /// The field that it may be a misspelling of.
    pub near: Option<&'static str>,
}

/// Fields at the top of a file beside the lists of servers that this program knows of, and has no use
/// for.
const FOREIGN: [&str; 2] = ["$schema", "inputs"];

/// The fields at the top of a file that are not known, each with its offset. Servers there are a
/// mistake of another kind.
pub(super) fn at_the_top(whole: &Object<'_>) -> Vec<(usize, Unknown)> {
    let known: Vec<&str> = document::LISTS.into_iter().chain(FOREIGN).collect();
    let others = whole.properties.iter().filter(|property| !document::is_server(property));
    among(others, "", &known)
}

/// The same of a definition.
pub(super) fn in_definition(object: &Object<'_>) -> Vec<(usize, Unknown)> {
    let mut unknown = among(object.properties.iter(), "", definition::FIELDS);
    if let Some(oauth) = object.get_object("oauth") {
        unknown.extend(among(oauth.properties.iter(), "oauth.", &oauth::fields()));
    }
    unknown
}

fn among<'p, 'a: 'p>(
    properties: impl Iterator<Item = &'p ObjectProp<'a>>,
    prefix: &str,
    known: &[&'static str],
) -> Vec<(usize, Unknown)> {
    let unknown = properties.filter(|property| !known.contains(&property.name.as_str()));
    let unknown = unknown.map(|property| {
        let name = property.name.as_str();
        let near = closest(name, known.iter().copied());
        (property.start(), Unknown { field: format!("{prefix}{name}"), near })
    });
    unknown.collect()
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = printable(&self.field);
        match self.near {
            Some(near) => write!(f, "\"{field}\" is not known; did you mean \"{near}\"?"),
            None => write!(f, "\"{field}\" is not known, and left alone"),
        }
    }
}
