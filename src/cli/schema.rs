//! `mcpmini schema`: which arguments a tool takes.

use smol::LocalExecutor;

use super::args::commands::Schema;
use super::catalog::Catalog;
use super::contact::Contact;
use super::describe;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output;
use super::run::Run;
use crate::protocol::mask::MASK;

/// Shows the schema of a tool as the server sent it.
pub(super) async fn run(
    run: &Run<'_>,
    schema: &Schema,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut contact = Contact::find(run, &schema.server, executor)?;
    let shown = show(run, schema, &mut contact).await;
    contact.finish(shown).await
}

async fn show(run: &Run<'_>, schema: &Schema, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    let tool = Catalog::find(contact, &schema.tool).await?;
    if schema.example {
        let server = run.redaction.apply(&schema.server);
        if server != schema.server {
            run.warn(&format!("the example has {MASK} in the place of your secret"));
        }
        let line = describe::command_line(&server, &tool);
        output::write(run, format!("{line}\n").as_bytes())?;
        return Ok(Exit::Ok);
    }
    let text = match schema.output_schema {
        false => Some(tool.input_schema().unwrap_or("{}")),
        true => tool.output_schema(),
    };
    let Some(text) = text else {
        let text = format!("the tool \"{}\" has no output schema", tool.name);
        return Err(Error::new(Exit::Mismatch, text).phase(Phase::Output));
    };
    output::write_line(run, text)?;
    Ok(Exit::Ok)
}
