//! The command line: words in, an answer and an exit code out.

pub mod args;
pub mod duration;
pub mod errors;
pub mod exit;
pub mod help;
pub mod terminal;

mod answers;
mod approve;
mod call;
mod catalog;
mod contact;
mod credentials;
mod explain;
mod info;
mod output;
mod ping;
mod rpc;
mod run;
mod schema;
mod sources;
mod target;
mod tools;
mod watcher;

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
    let outcome = async {
        match dispatch(&run, &executor).await {
            Ok(exit) => exit,
            Err(error) => {
                run.report(&error);
                error.exit
            }
        }
    };
    reactor::block_on(reactor::with_tasks(&executor, outcome))
}

async fn dispatch(run: &Run<'_>, executor: &LocalExecutor<'static>) -> Result<Exit, Error> {
    output::check(run)?;
    match run.command() {
        Command::Call(call) => Box::pin(call::run(run, call, executor)).await,
        Command::Tools(tools) => Box::pin(tools::run(run, tools, executor)).await,
        Command::Schema(schema) => Box::pin(schema::run(run, schema, executor)).await,
        Command::Info(info) => Box::pin(info::run(run, info, executor)).await,
        Command::Ping(ping) => Box::pin(ping::run(run, ping, executor)).await,
        Command::Rpc(rpc) => Box::pin(rpc::run(run, rpc, executor)).await,
        Command::Approve(approve) => approve::run(run, approve),
    }
}
