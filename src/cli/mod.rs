//! The command line: words in, an answer and an exit code out.

pub mod args;
pub mod duration;
pub mod errors;
pub mod exit;
pub mod help;
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
mod login;
mod many;
mod output;
mod pattern;
mod ping;
mod progress;
mod prompts;
mod questions;
mod read;
mod replay;
mod requests;
mod resources;
mod rpc;
mod run;
mod schema;
mod server_log;
mod servers;
mod session;
mod skills;
mod sources;
mod target;
mod task;
mod tools;
mod tracer;
mod watch;
mod watcher;

use smol::LocalExecutor;

use self::args::stop::Farewell;
use self::args::{Command, Stop, parse};
use self::errors::Error;
use self::exit::Exit;
use self::run::Run;
use self::terminal::Stream;
use crate::env::Env;
use crate::env::streams::ENDLESS;

/// Does what the command line says; tells how the program ends.
pub fn main(env: &Env) -> Exit {
    if env.args.get(1).is_some_and(|word| word == completions::WORD) {
        return completions::answer(env);
    }
    if env.args.get(1..).is_some_and(help::is_man_wanted) {
        return print(Stream::Stdout, &help::man(), Exit::Ok);
    }
    let variable = |name: &str| env.setting(name).and_then(|value| value.into_string().ok());
    let words = env.args.iter().skip(1).cloned().collect();
    let invocation = match parse(words) {
        Ok(invocation) => invocation,
        Err(stop) => return say_farewell(&stop.farewell(&variable, Stream::is_terminal)),
    };
    let settings = match invocation.settings(&variable) {
        Ok(settings) => settings,
        Err(mistake) => {
            let stop = Stop::late(mistake, &invocation.globals);
            return say_farewell(&stop.farewell(&variable, Stream::is_terminal));
        }
    };
    let run = Run::new(&invocation, settings, env);
    let executor = LocalExecutor::new();
    let exit = async_io::block_on(executor.run(async {
        executor.spawn(async_process::driver()).detach();
        let done = dispatch(&run, &executor).await;
        run.check_trace();
        match done {
            Ok(exit) => exit,
            Err(error) => {
                // What a signal has broken off fails for no other reason.
                let error = if matches!(error.exit, Exit::Config | Exit::Auth) {
                    run.over().unwrap_or(error)
                } else {
                    error
                };
                run.report(&error);
                error.exit
            }
        }
    }));
    terminal::clear_status();
    exit
}

fn say_farewell(farewell: &Farewell) -> Exit {
    print(farewell.stream, &farewell.text, farewell.exit)
}

/// Prints a text that is all there is to do.
fn print(stream: Stream, text: &str, exit: Exit) -> Exit {
    match stream.write(text.as_bytes(), ENDLESS) {
        Ok(()) => exit,
        Err(unwritten) => output::unwritten(unwritten).exit,
    }
}

async fn dispatch(run: &Run<'_>, executor: &LocalExecutor<'static>) -> Result<Exit, Error> {
    output::check(run)?;
    run.open_trace()?;
    match run.command() {
        Command::Call(call) => call::run(run, call, executor).await,
        Command::Tools(tools) => tools::run(run, tools, executor).await,
        Command::Schema(schema) => schema::run(run, schema, executor).await,
        Command::Find(find) => find::run(run, find, executor).await,
        Command::Resources(resources) => resources::run(run, resources, executor).await,
        Command::Templates(templates) => resources::run_templates(run, templates, executor).await,
        Command::Read(read) => read::run(run, read, executor).await,
        Command::Prompts(prompts) => prompts::run_list(run, prompts, executor).await,
        Command::Prompt(prompt) => prompts::run(run, prompt, executor).await,
        Command::Skills(skills) => skills::run_list(run, skills, executor).await,
        Command::Skill(skill) => skills::run(run, skill, executor).await,
        Command::Complete(complete) => complete::run(run, complete, executor).await,
        Command::Task(task) => task::run(run, task, executor).await,
        Command::Info(info) => info::run(run, info, executor).await,
        Command::Ping(ping) => ping::run(run, ping, executor).await,
        Command::Rpc(rpc) => rpc::run(run, rpc, executor).await,
        Command::Batch(batch) => batch::run(run, batch, executor).await,
        Command::Bench(bench) => bench::run(run, bench, executor).await,
        Command::Session(session) => session::run(run, session, executor).await,
        Command::Servers(servers) => servers::run(run, servers, executor).await,
        Command::Doctor(doctor) => doctor::run(run, doctor, executor).await,
        Command::Cache(cache) => cache::run(run, cache),
        Command::Watch(watch) => watch::run(run, watch, executor).await,
        Command::Approve(approve) => approve::run(run, approve),
        Command::Login(command) => login::login(run, command, executor).await,
        Command::Logout(command) => login::logout(run, command, executor).await,
        Command::Token(command) => login::token(run, command, executor).await,
        Command::Discover(wanted) => discover::run(run, wanted, executor).await,
        Command::Card(card) => card::run(run, card, executor).await,
        Command::Add(add) => config::add(run, add, executor).await,
        Command::Remove(remove) => config::remove(run, remove),
        Command::Config(config) => config::run(run, config),
        Command::Replay(replay) => replay::run(run, replay).await,
        Command::Completions(wanted) => completions::print_script(run, wanted.shell),
    }
}
