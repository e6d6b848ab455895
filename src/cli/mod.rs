//! The command line: words in, an answer and an exit code out.

pub mod args;
pub mod duration;
pub mod errors;
pub mod exit;
pub mod help;
pub mod terminal;

mod answer;
mod answers;
mod approve;
mod call;
mod catalog;
mod complete;
mod contact;
mod credentials;
mod describe;
mod explain;
mod find;
mod info;
mod lines;
mod listing;
mod output;
mod pattern;
mod ping;
mod prompts;
mod read;
mod resources;
mod rpc;
mod run;
mod schema;
mod sources;
mod target;
mod task;
mod together;
mod tools;
mod watcher;

use std::pin::Pin;

use smol::LocalExecutor;

use self::args::{Command, parse};
use self::errors::Error;
use self::exit::Exit;
use self::run::Run;
use self::terminal::Stream;
use crate::env::Env;
use crate::reactor;

/// Does what the command line says; tells how the program ends.
pub fn main(env: &Env) -> Exit {
    let variable = |name: &str| env.setting(name).and_then(|value| value.into_string().ok());
    let words = env.args.iter().skip(1).cloned().collect();
    let invocation = match parse(words) {
        Ok(invocation) => invocation,
        Err(stop) => {
            let farewell = stop.farewell(&variable, Stream::is_terminal);
            return match farewell.stream.write_text(&farewell.text) {
                Ok(()) => farewell.exit,
                Err(unwritten) => output::unwritten(unwritten).exit,
            };
        }
    };
    let run = match Run::new(&invocation, env, &variable) {
        Ok(run) => run,
        Err(error) => {
            run::report(&error, invocation.globals.json_errors, env);
            return error.exit;
        }
    };
    let executor = LocalExecutor::new();
    let outcome = match output::check(&run) {
        Ok(()) => reactor::block_on(reactor::with_tasks(&executor, work(&run, &executor))),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(exit) => exit,
        Err(error) => {
            run.report(&error);
            error.exit
        }
    }
}

/// What a command does. Each is a future of its own in memory: one for all would be as large as the
/// largest, and on the stack.
type Work<'a> = Pin<Box<dyn Future<Output = Result<Exit, Error>> + 'a>>;

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
        Command::Complete(complete) => Box::pin(complete::run(run, complete, executor)),
        Command::Task(task) => Box::pin(task::run(run, task, executor)),
        Command::Info(info) => Box::pin(info::run(run, info, executor)),
        Command::Ping(ping) => Box::pin(ping::run(run, ping, executor)),
        Command::Rpc(rpc) => Box::pin(rpc::run(run, rpc, executor)),
        Command::Approve(approve) => Box::pin(async { approve::run(run, approve) }),
    }
}
