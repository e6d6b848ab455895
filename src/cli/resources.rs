//! `mcpmini resources` and `mcpmini templates`: what can be read.

use smol::LocalExecutor;

use super::args::primitives::{Resources, Templates};
use super::contact::Contact;
use super::errors::Error;
use super::exit::Exit;
use super::lines::{Lines, first_line};
use super::listing;
use super::run::Run;
use crate::protocol::method;
use crate::protocol::model::resource::Listed;

const HEADINGS: [&str; 4] = ["URI", "NAME", "TYPE", "DESCRIPTION"];

/// Lists resources, then templates.
pub(super) async fn run(
    run: &Run<'_>,
    resources: &Resources,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut contact = Contact::find(run, &resources.server, executor)?;
    let listed = list_both(run, &mut contact).await;
    contact.finish(listed).await
}

/// Lists templates.
pub(super) async fn run_templates(
    run: &Run<'_>,
    templates: &Templates,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut contact = Contact::find(run, &templates.server, executor)?;
    let mut lines = Lines::new(run, &HEADINGS);
    let listed = lines.list(&mut contact, method::LIST_TEMPLATES, columns).await;
    let listed = listed.and_then(|()| lines.finish());
    contact.finish(listed).await
}

/// Many servers have one of the two and do not know the other.
async fn list_both(run: &Run<'_>, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    let mut lines = Lines::new(run, &HEADINGS);
    let mut unlisted = Vec::new();
    for method in [method::LIST_RESOURCES, method::LIST_TEMPLATES] {
        match lines.list(contact, method, columns).await {
            Err(error) if listing::is_unlisted(&error) => unlisted.push(error),
            listed => listed?,
        }
    }
    match <[Error; 2]>::try_from(unlisted) {
        Ok([no_resources, _]) => Err(no_resources),
        Err(_) => lines.finish(),
    }
}

fn columns(text: &str) -> Vec<String> {
    let Listed { uri, name, mime_type, description } = Listed::read(text);
    vec![uri, name, mime_type.unwrap_or_default(), first_line([description.as_deref(), None])]
}
