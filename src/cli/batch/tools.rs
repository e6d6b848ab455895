//! What a batch knows about the tools of its server: asked for once, each schema read once.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use crate::cli::catalog::Catalog;
use crate::protocol::arguments::{self, ArgError};
use crate::protocol::model::schema::InputSchema;
use crate::protocol::model::tool::Tool;

/// Where the lists of tools stay while lines are judged by them.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The first that was needed; it may be remembered from an earlier run.
    first: OnceCell<Catalog>,
    /// Another, because the first was remembered and lacked a tool.
    second: OnceCell<Catalog>,
}

/// The tools of the server, as far as they are known.
#[derive(Debug)]
pub(super) struct Tools<'l> {
    lists: &'l Lists,
    by_name: HashMap<&'l str, Known<'l>>,
}

/// A tool that a list has.
#[derive(Debug)]
pub(super) struct Known<'l> {
    pub(super) tool: &'l Tool,
    /// Whether it was held against what the user has accepted.
    pub(super) is_admitted: Cell<bool>,
    /// Its schema, once that was needed.
    schema: OnceCell<InputSchema<'l>>,
}

impl Known<'_> {
    /// Whether arguments, the text of an object, fit its schema.
    pub(super) fn check(&self, arguments: &str) -> Result<(), ArgError> {
        arguments::check(self.schema.get_or_init(|| self.tool.schema()), arguments)
    }
}

impl<'l> Tools<'l> {
    /// Nothing is known yet.
    pub(super) fn new(lists: &'l Lists) -> Tools<'l> {
        Tools { lists, by_name: HashMap::new() }
    }

    /// Takes in a list, which counts from now on. There are two at most: whoever has a list that
    /// was asked for needs no other.
    pub(super) fn learn(&mut self, list: Catalog) {
        let place = match self.lists.first.get() {
            None => &self.lists.first,
            Some(_) => &self.lists.second,
        };
        let list = place.get_or_init(|| list);
        self.by_name.clear();
        for tool in &list.tools {
            // Of tools with one name the first counts, as in a call.
            self.by_name.entry(&tool.name).or_insert_with(|| Known {
                tool,
                is_admitted: Cell::new(false),
                schema: OnceCell::new(),
            });
        }
    }

    /// The list that counts; `None` while there is none.
    pub(super) fn list(&self) -> Option<&'l Catalog> {
        self.lists.second.get().or_else(|| self.lists.first.get())
    }

    /// Whether the server must be asked before it is known that it has no tool of that name.
    pub(super) fn may_have(&self, name: &str) -> bool {
        self.list().is_none_or(|list| list.remembered && !self.by_name.contains_key(name))
    }

    /// The tool of that name; `None` while it is not known.
    pub(super) fn named(&self, name: &str) -> Option<&Known<'l>> {
        self.by_name.get(name)
    }
}
