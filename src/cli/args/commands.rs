//! The commands. Their comments are the help texts.
//!
//! To add one: a struct and a variant of [`Command`]; the compiler then asks for its name.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::choices::Format;
use super::config_commands::{Add, Config, Remove};
use super::globals::Globals;
use super::numbers::count;
use super::primitives::{
    Complete, Find, Prompt, Prompts, Read, Resources, Task, TaskAction, Templates, folder,
};
use super::shell_commands::{Completions, Replay};
use super::usage::UsageError;
use super::values::Expectation;
use crate::protocol::pointer::Pointer;

/// what to do
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand)]
pub enum Command {
    /// `call`
    Call(Call),
    /// `tools`
    Tools(Tools),
    /// `schema`
    Schema(Schema),
    /// `find`
    Find(Find),
    /// `resources`
    Resources(Resources),
    /// `templates`
    Templates(Templates),
    /// `read`
    Read(Read),
    /// `prompts`
    Prompts(Prompts),
    /// `prompt`
    Prompt(Prompt),
    /// `complete`
    Complete(Complete),
    /// `task`
    Task(Task),
    /// `info`
    Info(Info),
    /// `ping`
    Ping(Ping),
    /// `rpc`
    Rpc(Rpc),
    /// `batch`
    Batch(Batch),
    /// `bench`
    Bench(Bench),
    /// `session`
    Session(Session),
    /// `approve`
    Approve(Approve),
    /// `login`
    Login(Login),
    /// `logout`
    Logout(Logout),
    /// `token`
    Token(Token),
    /// `add`
    Add(Add),
    /// `remove`
    Remove(Remove),
    /// `config`
    Config(Config),
    /// `replay`
    Replay(Replay),
    /// `completions`
    Completions(Completions),
}

/// Other names of commands. One-letter names are declared with the command.
pub(super) const ALIASES: &[(&str, &str)] = &[("raw", "rpc")];

/// Commands that make something of their own of the words after `--`. For all others they are
/// plain words, which is how a word that begins with a dash is written.
pub(in crate::cli) const WITH_TAIL: &[&str] = &["call", "add", "bench", "session"];

impl Command {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Call(_) => "call",
            Command::Tools(_) => "tools",
            Command::Schema(_) => "schema",
            Command::Find(_) => "find",
            Command::Resources(_) => "resources",
            Command::Templates(_) => "templates",
            Command::Read(_) => "read",
            Command::Prompts(_) => "prompts",
            Command::Prompt(_) => "prompt",
            Command::Complete(_) => "complete",
            Command::Task(_) => "task",
            Command::Info(_) => "info",
            Command::Ping(_) => "ping",
            Command::Rpc(_) => "rpc",
            Command::Batch(_) => "batch",
            Command::Bench(_) => "bench",
            Command::Session(_) => "session",
            Command::Approve(_) => "approve",
            Command::Login(_) => "login",
            Command::Logout(_) => "logout",
            Command::Token(_) => "token",
            Command::Add(_) => "add",
            Command::Remove(_) => "remove",
            Command::Config(_) => "config",
            Command::Replay(_) => "replay",
            Command::Completions(_) => "completions",
        }
    }

    /// Whether it only shows what it would do.
    pub fn is_dry_run(&self) -> bool {
        match self {
            Command::Call(call) => call.dry_run,
            Command::Rpc(rpc) => rpc.dry_run,
            _ => false,
        }
    }

    /// Whether it makes many requests of one server, whose failures it deals with one by one.
    pub fn is_long(&self) -> bool {
        matches!(self, Command::Batch(_))
    }

    /// Whether it carries requests for others.
    pub fn is_relay(&self) -> bool {
        matches!(self, Command::Session(_))
    }

    /// The forms in which it can print its answer, the usual one first.
    pub fn formats(&self) -> &'static [Format] {
        match self {
            Command::Call(_) => Format::ALL,
            Command::Batch(_) => &[Format::Json],
            Command::Task(task) if task.action == TaskAction::Result => Format::ALL,
            Command::Read(_) => &[Format::Text, Format::Json, Format::Raw],
            // What they print has the one form that its reader wants.
            Command::Replay(_) | Command::Completions(_) => &[Format::Text],
            _ => &[Format::Text, Format::Json],
        }
    }

    /// Whether its options go together, and with those of every command.
    pub(super) fn check(&self, globals: &Globals) -> Result<(), UsageError> {
        let select = match self {
            Command::Call(call) => &call.select,
            Command::Read(read) => &read.select,
            Command::Prompt(prompt) => &prompt.select,
            Command::Rpc(rpc) => &rpc.select,
            Command::Task(task) => &task.select,
            _ => return Ok(()),
        };
        // Two ways to say which part of the answer is wanted.
        let form = globals.output.filter(|form| !matches!(form, Format::Text | Format::Json));
        if form.is_some() && !select.is_empty() {
            return Err(UsageError::Contradiction("--select", "--output"));
        }
        match self {
            Command::Call(call) if call.wait && !call.task => {
                Err(UsageError::Lonely { flag: "--wait", needs: "--task" })
            }
            Command::Call(call) if call.no_schema && call.check_output => {
                Err(UsageError::Contradiction("--no-schema", "--check-output"))
            }
            Command::Rpc(rpc) if rpc.envelope && !select.is_empty() => {
                Err(UsageError::Contradiction("--select", "--envelope"))
            }
            Command::Task(task) => task.check(),
            _ => Ok(()),
        }
    }
}

/// run one tool and print its answer
#[derive(Debug, Clone, Default, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "call", short = 'c', help_triggers("-h", "--help"))]
#[argh(example = "mcpmini call https://mcp.example.com/mcp get_weather city=Oslo days:=3")]
#[argh(example = "mcpmini call 'npx -y @modelcontextprotocol/server-everything' echo message=hi")]
#[argh(example = "mcpmini call files write_file path=a.txt content=@notes.txt")]
#[argh(example = "jq -n '{{city: \"Oslo\"}}' | mcpmini call weather get_weather -")]
#[argh(example = "mcpmini call weather get_weather -- --city Oslo --days 3")]
#[argh(example = "id=$(mcpmini call tracker create title=Bug --select /structuredContent/id)")]
#[argh(example = "mcpmini call chrome take_screenshot --save shots")]
pub struct Call {
    /// treat every KEY=VALUE as text, without asking for the tool's schema
    #[argh(switch)]
    pub no_schema: bool,

    /// send the arguments even when they do not fit the tool's schema
    #[argh(switch)]
    pub no_check: bool,

    /// print what would be sent, secrets masked; start nothing and contact nobody
    #[argh(switch)]
    pub dry_run: bool,

    /// print only the value at this JSON Pointer in the result, a text without quotes unless as
    /// --json; - is each element of a list, as in /content/-/text (repeatable)
    #[argh(option, arg_name = "PTR")]
    pub select: Vec<Pointer>,

    /// fail with exit code 11 unless the value at PTR is VALUE (repeatable)
    #[argh(option, arg_name = "PTR=VALUE")]
    pub expect: Vec<Expectation>,

    /// fail with exit code 11 unless the structured answer fits the tool's output schema; needs a
    /// build with the feature schema (see --version --json)
    #[argh(switch)]
    pub check_output: bool,

    /// write each part of the answer to a file, DIR/0001.txt, DIR/0002.png and so on, and print
    /// the paths on standard error as JSON
    #[argh(option, arg_name = "DIR", from_str_fn(folder))]
    pub save: Option<PathBuf>,

    /// let the server make a task of the call, and print its ID instead of an answer
    #[argh(switch)]
    pub task: bool,

    /// with --task: wait for the end of the task and print the answer
    #[argh(switch)]
    pub wait: bool,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// the tool
    #[argh(positional, arg_name = "TOOL")]
    pub tool: String,

    /// the tool's arguments, see below
    #[argh(positional, arg_name = "ARG")]
    pub args: Vec<String>,
}

/// list the tools of a server, or show one of them
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "tools", help_triggers("-h", "--help"))]
#[argh(note = "A line has the name, the arguments and the description, with tabs between them.")]
#[argh(note = "With --json a line is a tool as the server describes it.")]
#[argh(note = "The name of one tool shows all about it, and a command line that calls it.")]
#[argh(example = "mcpmini tools https://mcp.example.com/mcp")]
#[argh(example = "mcpmini tools files write_file")]
#[argh(example = "mcpmini tools files '*_file'")]
#[argh(example = "mcpmini tools files --grep 'dir(ectory)?'")]
#[argh(example = "mcpmini tools --json files | jq -r .name")]
pub struct Tools {
    /// only tools whose name or description has a match for this regular expression; upper and
    /// lower case count only if it has an upper-case letter
    #[argh(option, arg_name = "RE")]
    pub grep: Option<String>,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// only the tool with this name; with * and ?, which stand for any characters and any one
    /// character, those whose names fit
    #[argh(positional, arg_name = "TOOL")]
    pub pattern: Option<String>,
}

/// show which arguments a tool takes
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "schema", help_triggers("-h", "--help"))]
#[argh(note = "Prints the JSON Schema of the tool's arguments as the server sent it.")]
#[argh(example = "mcpmini schema files write_file")]
#[argh(example = "mcpmini schema --example files write_file")]
pub struct Schema {
    /// print the schema of the tool's structured answer instead
    #[argh(switch)]
    pub output_schema: bool,

    /// print a command line that calls the tool, to be filled in
    #[argh(switch)]
    pub example: bool,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// the tool
    #[argh(positional, arg_name = "TOOL")]
    pub tool: String,
}

/// show what a server is and what it can do
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "info", help_triggers("-h", "--help"))]
#[argh(example = "mcpmini info https://mcp.example.com/mcp")]
#[argh(example = "mcpmini info --json files")]
pub struct Info {
    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

/// ask a server for a sign of life and print how many ms it took
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "ping", help_triggers("-h", "--help"))]
#[argh(example = "mcpmini ping -t 2s https://mcp.example.com/mcp && echo up")]
pub struct Ping {
    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

/// send any request and print its result as JSON
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "rpc", help_triggers("-h", "--help"))]
#[argh(example = "mcpmini rpc files tools/list")]
#[argh(example = "mcpmini rpc files resources/read '{{\"uri\": \"file:///etc/hostname\"}}'")]
#[argh(example = "mcpmini rpc --envelope files no/such/method")]
pub struct Rpc {
    /// print the whole message that came back, not only its result
    #[argh(switch)]
    pub envelope: bool,

    /// print what would be sent, secrets masked; start nothing and contact nobody
    #[argh(switch)]
    pub dry_run: bool,

    /// print only the value at this JSON Pointer in the result, a text without quotes unless as
    /// --json; - is each element of a list, as in /content/-/text (repeatable)
    #[argh(option, arg_name = "PTR")]
    pub select: Vec<Pointer>,

    /// fail with exit code 11 unless the value at PTR is VALUE (repeatable)
    #[argh(option, arg_name = "PTR=VALUE")]
    pub expect: Vec<Expectation>,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// the method, such as tools/list
    #[argh(positional, arg_name = "METHOD")]
    pub method: String,

    /// the parameters: a JSON object, @FILE, or - for standard input
    #[argh(positional, arg_name = "JSON")]
    pub params: Option<String>,
}

/// make many requests on one connection, one per line
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "batch", help_triggers("-h", "--help"))]
#[argh(note = "A line is a JSON object, {{\"tool\": NAME, \"arguments\": {{...}}}} or \
               {{\"method\": NAME, \"params\": {{...}}}}, with \"id\" (any JSON, else the number of the \
               line) and \"timeout\" (as for -t) if you like.")]
#[argh(note = "For every line that was read one comes out, with \"id\", \"exit\", \"ms\", and \
               \"result\" or \"error\", when its request has ended. The exit codes are those of \
               `call`.")]
#[argh(note = "The exit code of the whole is that of the first line that failed, in the order of \
               the input. A server that ends is started again for the next line.")]
#[argh(example = "jq -c '.[]' rows.json | mcpmini batch db -P 8 --keep-going - > out.ndjson")]
#[argh(example = "mcpmini batch --ordered files calls.jsonl")]
pub struct Batch {
    /// how many requests are under way at a time (default 4, in bench 1)
    #[argh(option, short = 'P', arg_name = "N", from_str_fn(at_least_one))]
    pub jobs: Option<usize>,

    /// print the outcomes in the order of the lines
    #[argh(switch)]
    pub ordered: bool,

    /// go on with further requests after one has failed
    #[argh(switch)]
    pub keep_going: bool,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// the file with the lines, or - for standard input
    #[argh(positional, arg_name = "FILE|-")]
    pub input: String,
}

/// call a tool again and again and print how long it took
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "bench", help_triggers("-h", "--help"))]
#[argh(note = "All calls go over one connection, and opening it is not part of them. p50 is the \
               time within which half of the calls were answered.")]
#[argh(example = "mcpmini bench -n 1000 -P 8 db query sql='select 1'")]
#[argh(example = "mcpmini bench --json https://mcp.example.com/mcp echo text=hi | jq .ms.p99")]
pub struct Bench {
    /// how many calls to make (default 100)
    #[argh(option, short = 'n', arg_name = "N", from_str_fn(at_least_one))]
    pub calls: Option<usize>,

    /// how many requests are under way at a time (default 4, in bench 1)
    #[argh(option, short = 'P', arg_name = "N", from_str_fn(at_least_one))]
    pub jobs: Option<usize>,

    /// go on with further requests after one has failed
    #[argh(switch)]
    pub keep_going: bool,

    /// treat every KEY=VALUE as text, without asking for the tool's schema
    #[argh(switch)]
    pub no_schema: bool,

    /// send the arguments even when they do not fit the tool's schema
    #[argh(switch)]
    pub no_check: bool,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// the tool
    #[argh(positional, arg_name = "TOOL")]
    pub tool: String,

    /// the tool's arguments, as for call
    #[argh(positional, arg_name = "ARG")]
    pub args: Vec<String>,
}

/// keep servers open while a command runs
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "session", help_triggers("-h", "--help"))]
#[argh(
    note = "Write the command after --. Every `mcpmini` in it uses the servers that are open, so that \
               what they keep in memory lasts from one call to the next. A server that is not named \
               is opened when it is first used, and stays open, too."
)]
#[argh(
    note = "Options that say how a server is started or reached go to `session` and not to the \
               calls in it. MCPMINI_SESSION= in front of a call makes it apart from the session."
)]
#[argh(
    note = "The exit code is that of the command; 126 and 127 when it cannot be run. Nothing is \
               left when it ends."
)]
#[argh(example = "mcpmini session chrome -- ./test.sh")]
#[argh(example = "mcpmini session db -- sh -c 'mcpmini call db begin && mcpmini call db commit'")]
pub struct Session {
    /// the servers to open first
    #[argh(positional, arg_name = "SERVER")]
    pub servers: Vec<String>,
}

/// allow servers that the configuration of a project defines
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "approve", help_triggers("-h", "--help"))]
#[argh(note = "A project's configuration can name any command. It is run only after you have \
               seen and approved it, and again after each change to it.")]
#[argh(note = "Without NAME, lists what waits for approval.")]
#[argh(example = "mcpmini approve")]
#[argh(example = "mcpmini approve files")]
pub struct Approve {
    /// approve only if the definition has this digest, sha256:HEX
    #[argh(option, arg_name = "DIGEST")]
    pub accept: Option<String>,

    /// the server
    #[argh(positional, arg_name = "NAME")]
    pub name: Option<String>,
}

/// log in to a server on the network and keep the token
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "login", help_triggers("-h", "--help"))]
#[argh(note = "Opens the browser (BROWSER) and waits up to five minutes. The token is kept in a \
               private file and renewed when it ends, so that one login lasts. No other command \
               opens a browser, unless it is allowed to by --login.")]
#[argh(example = "mcpmini login https://mcp.example.com/mcp")]
#[argh(example = "mcpmini login --no-browser linear")]
#[argh(example = "mcpmini login linear --scope 'issues:read issues:write'")]
pub struct Login {
    /// print the address to open, and take the one that the browser ends at from standard input
    #[argh(switch)]
    pub no_browser: bool,

    /// print a code to type on another device, for servers that offer that
    #[argh(switch)]
    pub device: bool,

    /// the server: a URL, or a name from the configuration
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

/// give back and forget the token of a login
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "logout", help_triggers("-h", "--help"))]
#[argh(example = "mcpmini logout linear")]
pub struct Logout {
    /// the server: a URL, or a name from the configuration
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

/// print the header that opens a server, for other programs
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "token", help_triggers("-h", "--help"))]
#[argh(note = "The token is renewed first if it is about to end.")]
#[argh(example = "mcpmini token linear | curl -H @- https://mcp.linear.app/mcp")]
pub struct Token {
    /// the server: a URL, or a name from the configuration
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

// argh wants errors as text.
fn at_least_one(text: &str) -> Result<usize, String> {
    count(text).map_err(|invalid| invalid.to_string())
}
