//! `mcpmini tools`: what a server can do.

use smol::LocalExecutor;

use super::args::Format;
use super::args::commands::Tools;
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output;
use super::run::Run;
use crate::protocol::model::tool::{self, Tool};

/// Lists the tools of a server.
pub(super) async fn run(
    run: &Run<'_>,
    tools: &Tools,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut contact = Contact::find(run, &tools.server, executor)?;
    let listed = list(run, tools, &mut contact).await;
    contact.finish(listed).await
}

async fn list(run: &Run<'_>, tools: &Tools, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    let catalog = Catalog::get(contact).await?;
    let wanted =
        |tool: &&Tool| tools.pattern.as_ref().is_none_or(|pattern| matches(pattern, &tool.name));
    let found: Vec<&Tool> = catalog.tools.iter().filter(wanted).collect();
    if let Some(pattern) = &tools.pattern
        && found.is_empty()
    {
        let error = Error::new(Exit::Rpc, format!("no tool is named \"{pattern}\""));
        let error = error.phase(Phase::Request).server(contact.server.name.clone());
        return Err(match tool::nearest(pattern, &catalog.tools) {
            Some(nearest) => error.hint(format!("did you mean \"{nearest}\"?")),
            None => error,
        });
    }
    let mut text = String::new();
    for tool in found {
        match run.settings.output {
            Format::Json => text.push_str(&output::one_line(tool.as_json())),
            _ => push_line(&mut text, tool),
        }
        text.push('\n');
    }
    output::write(run, text.as_bytes())?;
    Ok(Exit::Ok)
}

/// Name, signature, and the first line of the description, with tabs between them.
fn push_line(text: &mut String, tool: &Tool) {
    let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let first = description.trim().lines().next().unwrap_or_default();
    for (column, content) in [&tool.name, &tool.signature(), first].into_iter().enumerate() {
        if 0 < column {
            text.push('\t');
        }
        // A tab or a line end in a name would make two columns or lines of one.
        text.extend(content.chars().map(|c| if c.is_control() { ' ' } else { c }));
    }
}

/// Whether a name fits a pattern, in which `*` stands for any characters and `?` for one.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut here) = (0, 0);
    // Where to go on when what follows the last star did not fit.
    let mut star: Option<(usize, usize)> = None;
    while here < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, here));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == name[here] => {
                at += 1;
                here += 1;
            }
            _ => match star {
                None => return false,
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    (at, here) = (after, from + 1);
                }
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let check = |pattern: &str, name: &str, expected| {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        };
        check("echo", "echo", true);
        check("echo", "echo2", false);
        check("*", "", true);
        check("*_file", "read_file", true);
        check("*_file", "read_files", false);
        check("read_*", "read_file", true);
        check("r?ad*le", "read_file", true);
        check("*a*b*c", "xxaxxbxxbc", true);
        check("*a*b*c", "xxaxxbxxb", false);
        check("?", "é", true);
        check("?", "", false);
    }
}
