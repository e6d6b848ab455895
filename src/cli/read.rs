//! `mcpmini read`: what is in a resource.

use smol::LocalExecutor;

use super::answer::{Item, Printer, Wishes, contents_of};
use super::args::Format;
use super::args::primitives::Read;
use super::contact::Contact;
use super::errors::Error;
use super::exit::Exit;
use super::listing;
use super::output::Parts;
use super::run::Run;
use crate::client::NoResult;
use crate::protocol::json::{self, Json};
use crate::protocol::method;
use crate::protocol::model::document::Document;
use crate::protocol::model::resource::Listed;
use crate::protocol::model::result::{Block, Body, Kind, Resource, contents};
use crate::protocol::params::Params;
use crate::protocol::similar::closest;

/// Reads resources one after the other and prints what is in them.
pub(super) async fn run(
    run: &Run<'_>,
    read: &Read,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let wishes = Wishes::new(run, &read.select, &read.expect, read.save.as_deref())?;
    let mut contact = Contact::find(run, &read.server, executor)?;
    let read = read_all(run, read, &wishes, &mut contact).await;
    contact.finish(read).await
}

async fn read_all(
    run: &Run<'_>,
    read: &Read,
    wishes: &Wishes<'_>,
    contact: &mut Contact<'_>,
) -> Result<Exit, Error> {
    let mut output = Output::new(run, wishes);
    for uri in std::iter::once(&read.uri).chain(&read.more) {
        let params = Params::new().with("uri", json::string(uri));
        match contact.try_request(method::READ_RESOURCE, params, Vec::new()).await? {
            Ok(result) => output.add(&result)?,
            Err(no_result) => return Err(explain(contact, uri, no_result).await),
        }
    }
    output.finish()
}

/// Where the contents go.
pub(super) struct Output<'a> {
    wishes: &'a Wishes<'a>,
    /// The bytes, for pipes, files, and whoever wants them on a terminal; and JSON.
    parts: Parts<'a>,
    /// What a terminal can show, if there is one.
    printer: Option<Printer<'a>>,
    /// How many contents there were.
    count: usize,
}

impl<'a> Output<'a> {
    /// Where the command line wants them.
    pub(super) fn new(run: &'a Run<'a>, wishes: &'a Wishes<'a>) -> Output<'a> {
        let for_people = run.env.terminals.stdout && run.globals.out.is_none();
        let shows = for_people && run.settings.output == Format::Text;
        let printer = shows.then(|| Printer::new(run, wishes.folder.is_some()));
        Output { wishes, parts: Parts::new(run), printer, count: 0 }
    }

    /// Adds what is in a result.
    pub(super) fn add(&mut self, result: &Json) -> Result<(), Error> {
        let is_written = self.wishes.write(&mut self.parts, result.as_str())?;
        for resource in contents(result.as_str(), &mut Document::new()) {
            self.count += 1;
            if let Some(folder) = &self.wishes.folder {
                folder.put(&Item {
                    number: self.count,
                    mime_type: resource.mime_type.as_deref(),
                    is_text: matches!(resource.body, Body::Text(_)),
                    bytes: &contents_of(&resource)?,
                })?;
            } else if !is_written {
                self.print(resource)?;
            }
        }
        Ok(())
    }

    /// There is no more.
    pub(super) fn finish(self) -> Result<Exit, Error> {
        self.parts.finish()?;
        Ok(Exit::Ok)
    }

    fn print(&mut self, resource: Resource) -> Result<(), Error> {
        let Some(printer) = &mut self.printer else {
            return self.parts.add(&contents_of(&resource)?);
        };
        printer.block(&Block { kind: Kind::Resource(resource), text: "" })?;
        printer.flush()
    }
}

/// Why a resource was not read. When it is one that the server does not list, perhaps it is a
/// misspelling of one that it does.
async fn explain(contact: &mut Contact<'_>, uri: &str, no_result: NoResult) -> Error {
    let is_answer = matches!(no_result, NoResult::Error(_));
    let error = contact.explain(no_result);
    if !is_answer {
        return error;
    }
    let mut listed: Vec<String> = Vec::new();
    let look = &mut |page: Json| {
        let items = listing::items(&page, method::LIST_RESOURCES);
        listed.extend(items.map(|text| Listed::read(text).uri));
        Ok(())
    };
    if listing::show(contact, method::LIST_RESOURCES, look).await.is_err()
        || listed.contains(&uri.to_owned())
    {
        return error;
    }
    error.hint(match closest(uri, listed.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean \"{nearest}\"?"),
        None => "`mcpmini resources SERVER` lists the resources".to_owned(),
    })
}
