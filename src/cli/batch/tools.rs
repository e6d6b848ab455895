//! What a batch knows about the tools of its server, and each of their schemas read once.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::cli::catalog::Catalog;
use crate::protocol::arguments::{self, ArgError};
use crate::protocol::model::schema::InputSchema;
use crate::protocol::model::tool::Tool;

/// How many schemas are kept. A server may change its tools as often as it likes.
const SCHEMAS: usize = 1_000;

/// Where the texts of schemas stay while lines are judged by them: a list that only grows.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    text: OnceCell<Box<str>>,
    next: OnceCell<Box<Shelf>>,
}

impl Shelf {
    fn put(&self, text: &str) -> &str {
        let mut place = self;
        while place.text.get().is_some() {
            place = place.next.get_or_init(Box::default);
        }
        place.text.get_or_init(|| text.into())
    }
}

/// The tools of the server, as far as they are known.
#[derive(Debug)]
pub(super) struct Tools<'s> {
    shelf: &'s Shelf,
    list: Option<Catalog>,
    /// The tools of the list by their names.
    known: HashMap<String, Known<'s>>,
    /// Schemas that were read, by their texts.
    read: HashMap<&'s str, Rc<InputSchema<'s>>>,
}

/// A tool of the list.
#[derive(Debug)]
struct Known<'s> {
    /// Its place there.
    place: usize,
    /// Its schema, once that was needed.
    schema: Option<Rc<InputSchema<'s>>>,
}

impl<'s> Tools<'s> {
    /// Nothing is known yet.
    pub(super) fn new(shelf: &'s Shelf) -> Tools<'s> {
        Tools { shelf, list: None, known: HashMap::new(), read: HashMap::new() }
    }

    /// Takes in a list, which counts from now on.
    pub(super) fn learn(&mut self, list: Catalog) {
        self.known.clear();
        for (place, tool) in list.tools.iter().enumerate() {
            // Of tools with one name the first counts, as in a call.
            let known = Known { place, schema: None };
            self.known.entry(tool.name.clone()).or_insert(known);
        }
        self.list = Some(list);
    }

    /// The list that counts; `None` while there is none.
    pub(super) fn list(&self) -> Option<&Catalog> {
        self.list.as_ref()
    }

    /// The tool of that name; `None` while it is not known.
    pub(super) fn named(&self, name: &str) -> Option<&Tool> {
        self.list.as_ref()?.tools.get(self.known.get(name)?.place)
    }

    /// Whether the server must be asked before it is known that it has no tool of that name.
    pub(super) fn may_have(&self, name: &str) -> bool {
        self.list.as_ref().is_none_or(|list| list.remembered && !self.known.contains_key(name))
    }

    /// Whether arguments, the text of an object, fit the schema of a tool; one that is not known is
    /// left to the server.
    pub(super) fn check(&mut self, name: &str, arguments: &str) -> Result<(), ArgError> {
        let (Some(list), Some(known)) = (&self.list, self.known.get_mut(name)) else {
            return Ok(());
        };
        if known.schema.is_none() {
            let text = list.tools[known.place].input_schema().unwrap_or("true");
            let kept = self.read.get(text).cloned();
            if kept.is_none() && self.read.len() == SCHEMAS {
                return arguments::check(&InputSchema::read(text), arguments);
            }
            known.schema = Some(kept.unwrap_or_else(|| {
                let text = self.shelf.put(text);
                let schema = Rc::new(InputSchema::read(text));
                self.read.insert(text, schema.clone());
                schema
            }));
        }
        known.schema.as_ref().map_or(Ok(()), |schema| arguments::check(schema, arguments))
    }
}
