//! The command line: words in, an answer and an exit code out.

pub mod args;
pub mod duration;
pub mod errors;
pub mod exit;
pub mod help;
pub mod panics;
pub mod terminal;

mod access;
mod adopt;
mod answer;
mod answers;
mod approve;
mod authorize;
mod batch;
mod bench;
mod cache;
mod call;
mod card;
mod catalog;
mod changes;
mod complete;
mod completions;
mod config;
mod consent;
mod contact;
mod credentials;
mod describe;
mod discover;
mod doctor;
mod dry_run;
mod explain;
mod find;
mod info;
mod lines;
mod listing;
mod lock;
mod login;
mod many;
mod originals;
mod output;
mod pattern;
mod person;
mod ping;
mod policy;
mod progress;
mod prompts;
mod questions;
mod read;
mod redaction;
mod replay;
mod requests;
mod resources;
mod rpc;
mod run;
mod schema;
mod server_log;
mod servers;
mod session;
mod signed;
mod skills;
mod sources;
mod target;
mod task;
mod tool_list;
mod tools;
mod tracer;
mod trust;
mod watch;
mod watcher;
mod whence;

use std::pin::Pin;

use smol::LocalExecutor;

use self::args::stop::Farewell;
use self::args::{Command, Stop, parse};
use self::errors::{Error, Phase};
use self::exit::Exit;
use self::redaction::Redaction;
use self::run::Run;
use self::terminal::Stream;
use crate::env::Env;
use crate::env::streams::ENDLESS;
use crate::reactor::{self, is_room_for};

/// Does what the command line says; tells how the program ends.
pub fn main(env: &Env) -> Exit {
    if env.args.get(1).is_some_and(|word| word == completions::WORD) {
        return completions::answer(env);
    }
    if env.args.get(1..).is_some_and(help::is_man_wanted) {
        let json_errors = env.setting("MCPMINI_ERRORS").is_some_and(|value| value == "json");
        let (stream, text) = (Stream::Stdout, help::man());
        return say_farewell(&Farewell { stream, text, exit: Exit::Ok, json_errors });
    }
    let variable = |name: &str| env.setting(name).and_then(|value| value.into_string().ok());
    let words = env.args.iter().skip(1).cloned().collect();
    let understood = parse(words).and_then(|invocation| {
        let settings = invocation.settings(&variable);
        let settings = settings.map_err(|mistake| Stop::late(mistake, &invocation.globals))?;
        Ok((invocation, settings))
    });
    match understood {
        Ok((invocation, settings)) => carry_out(&Run::new(&invocation, settings, env)),
        Err(stop) => {
            let mut farewell = stop.farewell(&variable, Stream::is_terminal);
            if farewell.exit != Exit::Ok {
                farewell.text = Redaction::of_words(&env.args).apply(&farewell.text).into_owned();
            }
            say_farewell(&farewell)
        }
    }
}

/// Carries out a command.
// In a function of its own, as its stack is large.
#[inline(never)]
fn carry_out(run: &Run<'_>) -> Exit {
    let executor = LocalExecutor::new();
    let outcome = begin(run).and_then(|()| {
        if !is_room_for(1) {
            let error = Error::new(Exit::Unreachable, "too many open files");
            return Err(error
                .phase(Phase::Start)
                .hint("ulimit -n says how many files may be open"));
        }
        let work = async {
            policy::prepare(run).await?;
            work(run, &executor).await
        };
        let outcome = reactor::block_on(reactor::with_tasks(&executor, work));
        run.check_trace();
        outcome
    });
    terminal::clear_status();
    match outcome {
        // Some commands tell what is wrong with a file, and go on.
        Ok(Exit::Config) if let Some(over) = run.over() => {
            run.report(&over);
            over.exit
        }
        Ok(exit) => exit,
        Err(error) => {
            let error = run.over_or(error);
            run.report(&error);
            error.exit
        }
    }
}

/// Prints a text that is all there is to do.
fn say_farewell(farewell: &Farewell) -> Exit {
    let Farewell { stream, text, exit, json_errors } = farewell;
    match (stream.write(text.as_bytes(), ENDLESS), stream) {
        // What is wrong with the command line is so whether it can be told or not.
        (Ok(()), _) | (Err(_), Stream::Stderr) => *exit,
        (Err(unwritten), Stream::Stdout) => {
            let error = output::unwritten(unwritten);
            let line = if *json_errors { error.json_line() } else { error.text(false) };
            let _ = Stream::Stderr.write(line.as_bytes(), ENDLESS);
            error.exit
        }
    }
}

/// What must be right before any command begins.
fn begin(run: &Run<'_>) -> Result<(), Error> {
    output::check(run)?;
    run.open_trace()
}

/// What a command does. Each is a future of its own in memory: one for all would be as large as the
/// largest, and on the stack.
type Work<'a> = Pin<Box<dyn Future<Output = Result<Exit, Error>> + 'a>>;

// In a function of its own: every future is on the stack before it is in memory.
#[inline(never)]
fn work<'a>(run: &'a Run<'a>, executor: &'a LocalExecutor<'static>) -> Work<'a> {
    match run.command() {
        Command::Call(call) => Box::pin(call::run(run, call, executor)),
        Command::Tools(tools) => Box::pin(tools::run(run, tools, executor)),
        Command::Schema(schema) => Box::pin(schema::run(run, schema, executor)),
        Command::Find(find) => Box::pin(find::run(run, find, executor)),
        Command::Resources(resources) => Box::pin(resources::run(run, resources, executor)),
        Command::Templates(templates) => {
            Box::pin(resources::run_templates(run, templates, executor))
        }
        Command::Read(read) => Box::pin(read::run(run, read, executor)),
        Command::Prompts(prompts) => Box::pin(prompts::run_list(run, prompts, executor)),
        Command::Prompt(prompt) => Box::pin(prompts::run(run, prompt, executor)),
        Command::Skills(skills) => Box::pin(skills::run_list(run, skills, executor)),
        Command::Skill(skill) => Box::pin(skills::run(run, skill, executor)),
        Command::Complete(complete) => Box::pin(complete::run(run, complete, executor)),
        Command::Task(task) => Box::pin(task::run(run, task, executor)),
        Command::Info(info) => Box::pin(info::run(run, info, executor)),
        Command::Ping(ping) => Box::pin(ping::run(run, ping, executor)),
        Command::Rpc(rpc) => Box::pin(rpc::run(run, rpc, executor)),
        Command::Batch(batch) => Box::pin(batch::run(run, batch, executor)),
        Command::Bench(bench) => Box::pin(bench::run(run, bench, executor)),
        Command::Session(session) => Box::pin(session::run(run, session, executor)),
        Command::Servers(servers) => Box::pin(servers::run(run, servers, executor)),
        Command::Doctor(doctor) => Box::pin(doctor::run(run, doctor, executor)),
        Command::Cache(cache) => Box::pin(async { cache::run(run, cache) }),
        Command::Watch(watch) => Box::pin(watch::run(run, watch, executor)),
        Command::Approve(approve) => Box::pin(async { approve::run(run, approve) }),
        Command::Trust(trust) => Box::pin(trust::run(run, trust, executor)),
        Command::Lock(lock) => Box::pin(lock::run(run, lock, executor)),
        Command::Policy(command) => Box::pin(policy::run(run, command)),
        Command::Login(command) => Box::pin(login::login(run, command, executor)),
        Command::Logout(command) => Box::pin(login::logout(run, command, executor)),
        Command::Token(command) => Box::pin(login::token(run, command, executor)),
        Command::Discover(wanted) => Box::pin(discover::run(run, wanted, executor)),
        Command::Card(card) => Box::pin(card::run(run, card, executor)),
        Command::Add(add) => Box::pin(config::add(run, add, executor)),
        Command::Remove(remove) => Box::pin(async { config::remove(run, remove) }),
        Command::Config(config) => Box::pin(async { config::run(run, config) }),
        Command::Replay(replay) => Box::pin(replay::run(run, replay)),
        Command::Completions(wanted) => {
            Box::pin(async { completions::print_script(run, wanted.shell) })
        }
    }
}
