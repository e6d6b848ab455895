//! `mcpmini prompts` and `mcpmini prompt`: texts that a server fills in.

use smol::LocalExecutor;

use super::answer::{Printer, Wishes, is_text};
use super::args::primitives::{Prompt, Prompts};
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::lines::{Lines, first_line};
use super::listing;
use super::output::Parts;
use super::run::Run;
use super::sources;
use crate::client::NoResult;
use crate::protocol::arguments::{self, Options};
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::model::document::Document;
use crate::protocol::model::prompt::{self, Message};
use crate::protocol::model::result::Block;
use crate::protocol::params::Params;
use crate::protocol::similar::closest;

/// Lists the prompts of a server.
pub(super) async fn run_list(
    run: &Run<'_>,
    prompts: &Prompts,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut contact = Contact::find(run, &prompts.server, executor)?;
    let mut lines = Lines::new(run, &["NAME", "ARGUMENTS", "DESCRIPTION"]);
    let listed = lines.list(&mut contact, method::LIST_PROMPTS, columns).await;
    let listed = listed.and_then(|()| lines.finish());
    contact.finish(listed).await
}

fn columns(text: &str) -> Vec<String> {
    let prompt = prompt::Prompt::read(text);
    let description = first_line([prompt.description.as_deref(), prompt.title.as_deref()]);
    vec![prompt.name.clone(), prompt.signature(), description]
}

/// Fills in a prompt and prints its messages.
pub(super) async fn run(
    run: &Run<'_>,
    prompt: &Prompt,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let arguments = arguments(run, &prompt.args)?;
    let wishes = Wishes::new(run, &prompt.select, &prompt.expect, prompt.save.as_deref())?;
    let mut contact = Contact::find(run, &prompt.server, executor)?;
    let filled = fill(run, prompt, &arguments, &wishes, &mut contact).await;
    contact.finish(filled).await
}

/// The arguments, a JSON object. All its values are texts (2026-07-28, Prompts: Data Types).
fn arguments(run: &Run<'_>, words: &[String]) -> Result<String, Error> {
    let words = arguments::parse(words, &[])?;
    let contents = sources::read_all(run, words.inputs())?;
    let arguments = arguments::build(&words, &contents, None, Options::default())?;
    match scan::members(&arguments).find(|(_, value)| !value.starts_with('"')) {
        None => Ok(arguments),
        Some((key, _)) => {
            let text = format!("{key}: the arguments of a prompt are texts, KEY=TEXT");
            Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No))
        }
    }
}

async fn fill(
    run: &Run<'_>,
    prompt: &Prompt,
    arguments: &str,
    wishes: &Wishes<'_>,
    contact: &mut Contact<'_>,
) -> Result<Exit, Error> {
    if arguments != "{}" {
        check(&prompt.name, arguments, contact).await?;
    }
    let params = Params::new().with("name", json::string(&prompt.name));
    let params = if arguments == "{}" { params } else { params.with("arguments", arguments) };
    let result = match contact.try_request(method::GET_PROMPT, params, Vec::new()).await? {
        Ok(result) => result,
        Err(no_result) => return Err(explain(contact, &prompt.name, arguments, no_result).await),
    };
    let mut parts = Parts::new(run);
    let written = wishes.write(&mut parts, result.as_str());
    let messages = prompt::messages(result.as_str(), &mut Document::new());
    match written {
        Ok(false) => print(run, &messages, wishes)?,
        written => {
            parts.finish_unless_failed(written.is_err())?;
            written?;
        }
    }
    let blocks: Vec<Block<'_>> = messages.into_iter().flat_map(|message| message.content).collect();
    wishes.save(&blocks)?;
    Ok(Exit::Ok)
}

/// Refuses arguments that the prompt does not have, as far as the list of prompts tells: servers pass
/// over them in silence.
async fn check(name: &str, arguments: &str, contact: &mut Contact<'_>) -> Result<(), Error> {
    let prompts = match listed(contact).await {
        Ok(prompts) => prompts,
        Err(error) if matches!(error.exit, Exit::Signal(_) | Exit::Timeout) => return Err(error),
        // What the server says to the request itself tells more.
        Err(_) => return Ok(()),
    };
    let Some(prompt) = prompts.iter().find(|prompt| prompt.name == name) else { return Ok(()) };
    let known = || prompt.arguments.iter().map(|argument| &*argument.name);
    let is_unknown = |key: &str| known().all(|known| known != key);
    let Some((key, _)) = scan::members(arguments).find(|(key, _)| is_unknown(key)) else {
        return Ok(());
    };
    let text = format!("the prompt \"{name}\" has no argument \"{key}\"");
    let error = Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No);
    let error = error.server(contact.server.name.clone());
    Err(match closest(&key, known()) {
        Some(nearest) => error.hint(format!("did you mean \"{nearest}\"?")),
        None if prompt.arguments.is_empty() => error.hint("it takes none"),
        None => error.hint(format!("it has {}", known().collect::<Vec<_>>().join(", "))),
    })
}

/// The prompts of the server, remembered or asked for.
async fn listed(contact: &mut Contact<'_>) -> Result<Vec<prompt::Prompt>, Error> {
    let mut prompts = Vec::new();
    let look = &mut |page| {
        prompts.extend(listing::items(&page, method::LIST_PROMPTS).map(prompt::Prompt::read));
        Ok(())
    };
    listing::show(contact, method::LIST_PROMPTS, look).await?;
    Ok(prompts)
}

/// Prints the text of the only message, or of each message after its role.
fn print(run: &Run<'_>, messages: &[Message<'_>], wishes: &Wishes<'_>) -> Result<(), Error> {
    let mut printer = Printer::new(run, wishes.folder.is_some());
    for message in messages {
        if 1 < messages.len() {
            let has_text = message.content.iter().any(is_text);
            printer.text(&format!("{}:{}", message.role, if has_text { ' ' } else { '\n' }));
        }
        message.content.iter().try_for_each(|block| printer.block(block))?;
    }
    printer.finish()
}

/// Why a prompt was not filled in. What servers say about a name or an argument that is wrong is
/// often not much; the list of prompts tells more.
async fn explain(
    contact: &mut Contact<'_>,
    name: &str,
    arguments: &str,
    no_result: NoResult,
) -> Error {
    let is_answer = matches!(no_result, NoResult::Error(_));
    let error = contact.explain(no_result);
    if !is_answer {
        return error;
    }
    let Ok(prompts) = listed(contact).await else { return error };
    let Some(prompt) = prompts.iter().find(|prompt| prompt.name == name) else {
        let names = prompts.iter().map(|prompt| &*prompt.name);
        return error.hint(match closest(name, names) {
            Some(nearest) => format!("did you mean \"{nearest}\"?"),
            None => "`mcpmini prompts SERVER` lists the prompts".to_owned(),
        });
    };
    let given = |name: &str| scan::member(arguments, name).is_some();
    let lacks = |argument: &&prompt::Argument| argument.required && !given(&argument.name);
    let missing: Vec<&str> =
        prompt.arguments.iter().filter(lacks).map(|argument| &*argument.name).collect();
    match missing.is_empty() {
        true => error,
        false => error.hint(format!("the prompt needs {}", missing.join(", "))),
    }
}
