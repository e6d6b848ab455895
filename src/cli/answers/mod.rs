//! Answers to what a server asks in the middle of a call.
//!
//! Only what there is an answer to is declared to the server: words and files of the command line,
//! a program, or the person at the terminal if the command line says so. Nobody is ever asked
//! unasked, and never off a terminal.

mod dialog;
mod fill;
pub(super) mod keyboard;
mod link;
mod program;
mod reply;
mod screen;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use self::fill::Filler;
use self::program::Program;
use self::screen::Screen;
use super::args::choices::{Elicit, Sample};
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use crate::client::{Pondered, Reply};
use crate::protocol::json::{self, Json};
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::params::Members;
use crate::protocol::session::{Abilities, Question};

/// The answers that the command line gives, or knows who gives them.
#[derive(Debug)]
pub(super) struct Answers {
    filler: Filler,
    /// What to do with a form that is not filled by that.
    otherwise: Otherwise,
    sampler: Option<Rc<Program>>,
    roots: Vec<PathBuf>,
    refusal: Refusal,
}

/// What to do with a form that the words of the command line do not fill.
#[derive(Debug)]
enum Otherwise {
    /// Nothing was said about it.
    Unsaid,
    /// End the call.
    Fail,
    /// This is the answer: JSON text.
    Answer(&'static str),
    /// Ask the person at the terminal.
    Ask(Rc<Screen>),
    /// Ask a program.
    Program(Rc<Program>),
}

/// The first question that got no answer, and why, if there is more to say. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusal(Rc<RefCell<Option<Refused>>>);

#[derive(Debug)]
struct Refused {
    question: Question,
    why: Option<String>,
}

impl Refusal {
    /// Keeps the question, unless there was one before.
    pub(super) fn note(&self, question: &Question, why: Option<String>) {
        let question = question.clone();
        self.0.borrow_mut().get_or_insert_with(|| Refused { question, why });
    }

    /// The question, if there was one.
    pub(super) fn question(&self) -> Option<Question> {
        self.0.borrow().as_ref().map(|refused| refused.question.clone())
    }

    /// Why it got no answer.
    pub(super) fn why(&self) -> Option<String> {
        self.0.borrow().as_ref().and_then(|refused| refused.why.clone())
    }
}

/// A directory or file that a server is told of. One that is not there is a slip of the pen.
fn existing(run: &Run<'_>, root: &Path) -> Result<PathBuf, Error> {
    let path = run.env.absolute(root);
    match path.metadata() {
        Ok(_) => Ok(path),
        Err(error) => {
            let text = format!("--root: cannot use {}: {error}", path.display());
            Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
        }
    }
}

/// The answer that says no.
pub(super) const DECLINE: &str = "{\"action\":\"decline\"}";
/// The answer that is none: the question was put aside.
const CANCEL: &str = "{\"action\":\"cancel\"}";

impl Answers {
    /// Takes the answers from the options and reads their file. `server` is the name under which
    /// people are told who asks.
    pub(super) fn read(run: &Run<'_>, server: &str) -> Result<Answers, Error> {
        let globals = run.globals;
        let program = |line: &str| Rc::new(Program::new(line, server, run.env));
        let sampler = match (&globals.sample, &globals.sampling_command) {
            (_, Some(line)) => Some(program(line)),
            (Some(Sample::Program(line)), None) => Some(program(line)),
            (Some(Sample::Fail) | None, None) => None,
        };
        let otherwise = match &run.settings.elicitation.otherwise {
            None | Some(Elicit::Answers(_)) => Otherwise::Unsaid,
            Some(Elicit::Fail | Elicit::Defaults) => Otherwise::Fail,
            Some(Elicit::Decline) => Otherwise::Answer(DECLINE),
            Some(Elicit::Cancel) => Otherwise::Answer(CANCEL),
            Some(Elicit::Program(line)) => Otherwise::Program(program(line)),
            // Off a terminal there is nobody to ask.
            Some(Elicit::Ask) => match Screen::new(run, server) {
                Some(screen) => Otherwise::Ask(Rc::new(screen)),
                None => Otherwise::Fail,
            },
        };
        Ok(Answers {
            filler: Filler::read(run)?,
            otherwise,
            sampler,
            roots: globals.root.iter().map(|root| existing(run, root)).collect::<Result<_, _>>()?,
            refusal: Refusal::default(),
        })
    }

    /// What the server may ask for: what there is an answer to, be it a refusal that was asked for.
    pub(super) fn abilities(&self) -> Abilities {
        let urls = match self.otherwise {
            Otherwise::Unsaid | Otherwise::Fail => false,
            Otherwise::Answer(_) | Otherwise::Ask(_) | Otherwise::Program(_) => true,
        };
        Abilities {
            forms: urls || !self.filler.is_empty(),
            urls,
            sampling: self.sampler.is_some(),
            roots: !self.roots.is_empty(),
        }
    }

    /// Whether a question without an answer ends the call. It does when answers were given: whoever
    /// wrote them wants to know that they were not enough.
    pub(super) fn must_suffice(&self) -> bool {
        matches!(self.otherwise, Otherwise::Fail) || !self.filler.is_empty()
    }

    /// The answers (`--answer`) that nothing was asked for although something was asked: mostly they
    /// are misspelt. A file may have answers to spare.
    pub(super) fn unused<'a>(&self, run: &'a Run<'_>) -> Vec<&'a str> {
        self.filler.unused(&run.settings.elicitation.answers)
    }

    /// The first question that got no answer.
    pub(super) fn refusal(&self) -> &Refusal {
        &self.refusal
    }

    /// The answer to a question, or how it will be found; `None` when there is none.
    pub(super) fn to(&self, question: &Question) -> Option<Reply> {
        match &*question.method {
            method::ELICIT if question.mode() == "url" => self.to_link(question),
            method::ELICIT if question.mode() == "form" => self.to_form(question),
            method::SAMPLE => self.sample(question),
            method::LIST_ROOTS if !self.roots.is_empty() => {
                Some(Reply::Answer(Ok(self.list_roots())))
            }
            _ => None,
        }
    }

    fn to_form(&self, question: &Question) -> Option<Reply> {
        let schema = member(question, "requestedSchema").unwrap_or("{}");
        let filled = match self.filler.is_empty() {
            true => None,
            false => Some(self.filler.fill(schema)),
        };
        match (filled, &self.otherwise) {
            (Some(Ok(content)), _) => Some(Reply::Answer(Ok(reply::accepted(&content)))),
            (_, Otherwise::Answer(answer)) => Some(Reply::Answer(Ok((*answer).to_owned()))),
            (_, Otherwise::Program(program)) => Some(self.ask_program(program, question)),
            (_, Otherwise::Ask(screen)) => {
                let (form, given) = self.filler.begin(schema);
                let (screen, message) = (screen.clone(), message(question));
                Some(Reply::Later(Pondered::new(async move {
                    dialog::ask(&screen, &message, &form, given).await
                })))
            }
            (Some(Err(why)), Otherwise::Unsaid | Otherwise::Fail) => {
                self.refusal.note(question, Some(why));
                None
            }
            (None, Otherwise::Unsaid | Otherwise::Fail) => None,
        }
    }

    fn to_link(&self, question: &Question) -> Option<Reply> {
        match &self.otherwise {
            Otherwise::Unsaid | Otherwise::Fail => None,
            Otherwise::Answer(answer) => Some(Reply::Answer(Ok((*answer).to_owned()))),
            Otherwise::Program(program) => Some(self.ask_program(program, question)),
            Otherwise::Ask(screen) => {
                let url = member(question, "url").and_then(scan::unescape);
                let Some(url) = url.and_then(|url| link::readable(&url)) else {
                    let why = "the URL is none that can be opened";
                    self.refusal.note(question, Some(why.to_owned()));
                    return Some(Reply::Answer(Err(ErrorObject::invalid_params(why))));
                };
                let (screen, message) = (screen.clone(), message(question));
                Some(Reply::Later(Pondered::new(async move {
                    link::ask(&screen, &message, &url).await
                })))
            }
        }
    }

    fn sample(&self, question: &Question) -> Option<Reply> {
        let sampler = self.sampler.as_ref()?;
        // Only plain sampling is declared, and then this must be an error (2025-11-25, Sampling).
        if member(question, "tools").or(member(question, "toolChoice")).is_some() {
            let why = "sampling with tools is not supported";
            self.refusal.note(question, Some(why.to_owned()));
            return Some(Reply::Answer(Err(ErrorObject::invalid_params(why))));
        }
        Some(self.ask_program(sampler, question))
    }

    /// Asks a program. That it fails is an error for the server, and one of ours when the call
    /// fails for it.
    fn ask_program(&self, program: &Rc<Program>, question: &Question) -> Reply {
        let (program, question) = (program.clone(), question.clone());
        let refusal = self.refusal.clone();
        Reply::Later(Pondered::new(async move {
            let params = question.params.as_ref().map_or("{}", Json::as_str);
            let printed = program.run(params).await;
            let answer = printed.map_err(|fault| fault.to_string()).and_then(|printed| {
                match &*question.method {
                    method::SAMPLE => reply::sampled(&printed),
                    _ => reply::elicited(&printed, params),
                }
            });
            answer.map_err(|why| {
                let option = match &*question.method {
                    method::SAMPLE => "--sampling-command ",
                    _ => "--elicit cmd:",
                };
                refusal.note(&question, Some(format!("{option}{}: {why}", program.name())));
                ErrorObject::internal("the client's program could not answer")
            })
        }))
    }

    fn list_roots(&self) -> String {
        let roots: Vec<String> = self
            .roots
            .iter()
            .map(|root| {
                let mut members = Members::new();
                members.push("uri", &json::string(&file_url(root)));
                if let Some(name) = root.file_name() {
                    members.push("name", &json::string(&name.to_string_lossy()));
                }
                members.finish()
            })
            .collect();
        format!("{{\"roots\":[{}]}}", roots.join(","))
    }
}

fn message(question: &Question) -> String {
    let message = member(question, "message").and_then(scan::unescape);
    message.unwrap_or_default().into_owned()
}

fn member<'q>(question: &'q Question, name: &str) -> Option<&'q str> {
    scan::member(question.params.as_ref()?.as_str(), name)
}

/// The `file:` URL of an absolute path (RFC 8089).
fn file_url(path: &Path) -> String {
    let url = url::Url::from_file_path(path);
    url.map_or_else(|()| format!("file://{}", path.display()), String::from)
}
