//! The commands. Their comments are the help texts.
//!
//! To add one: a struct and a variant of [`Command`]; the compiler then asks for its name.

use argh::{ArgsInfo, FromArgs};

use super::choices::Format;
use super::numbers::count;

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
    /// `info`
    Info(Info),
    /// `ping`
    Ping(Ping),
    /// `rpc`
    Rpc(Rpc),
    /// `watch`
    Watch(Watch),
    /// `approve`
    Approve(Approve),
}

/// Other names of commands. One-letter names are declared with the command.
pub(super) const ALIASES: &[(&str, &str)] = &[("raw", "rpc")];

/// Commands that make something of their own of the words after `--`. For all others they are
/// plain words, which is how a word that begins with a dash is written.
pub(super) const WITH_TAIL: &[&str] = &["call"];

impl Command {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Call(_) => "call",
            Command::Tools(_) => "tools",
            Command::Schema(_) => "schema",
            Command::Info(_) => "info",
            Command::Ping(_) => "ping",
            Command::Rpc(_) => "rpc",
            Command::Watch(_) => "watch",
            Command::Approve(_) => "approve",
        }
    }

    /// The forms in which it can print its answer, the usual one first.
    pub fn formats(&self) -> &'static [Format] {
        match self {
            Command::Call(_) => Format::ALL,
            _ => &[Format::Text, Format::Json],
        }
    }
}

/// run one tool and print its answer
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "call", short = 'c', help_triggers("-h", "--help"))]
#[argh(example = "mcpmini call https://mcp.example.com/mcp get_weather city=Oslo days:=3")]
#[argh(example = "mcpmini call 'npx -y @modelcontextprotocol/server-everything' echo message=hi")]
#[argh(example = "mcpmini call files write_file path=a.txt content=@notes.txt")]
#[argh(example = "jq -n '{{city: \"Oslo\"}}' | mcpmini call weather get_weather -")]
#[argh(example = "mcpmini call weather get_weather -- --city Oslo --days 3")]
pub struct Call {
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

    /// the tool's arguments, see below
    #[argh(positional, arg_name = "ARG")]
    pub args: Vec<String>,
}

/// list the tools of a server, one per line
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "tools", help_triggers("-h", "--help"))]
#[argh(note = "A line has the name, the arguments and the description, with tabs between them.")]
#[argh(note = "With --json a line is a tool as the server describes it.")]
#[argh(example = "mcpmini tools https://mcp.example.com/mcp")]
#[argh(example = "mcpmini tools files '*_file'")]
#[argh(example = "mcpmini tools --json files | jq -r .name")]
pub struct Tools {
    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// only tools with this name; * and ? stand for any characters and any one character
    #[argh(positional, arg_name = "PATTERN")]
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

/// ask a server for a sign of life and print the milliseconds it took
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

/// print what a server notifies about, one line of JSON per notification
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "watch", help_triggers("-h", "--help"))]
#[argh(note = "Without a choice it watches the lists of tools, prompts and resources. It goes on \
               until --count or --max-time is reached, and then ends with 0; a stream that breaks \
               off is opened again, and a line on standard error says so.")]
#[argh(example = "mcpmini watch https://mcp.example.com/mcp")]
#[argh(example = "mcpmini watch --tools --count 1 files && mcpmini tools files")]
#[argh(example = "mcpmini watch --resources file:///etc/hosts --max-time 10m files")]
pub struct Watch {
    /// watch the list of tools
    #[argh(switch)]
    pub tools: bool,

    /// watch the list of prompts
    #[argh(switch)]
    pub prompts: bool,

    /// watch the list of resources
    #[argh(switch)]
    pub resource_list: bool,

    /// watch the resource at URI (repeatable; more URIs may follow as words)
    #[argh(option, arg_name = "URI")]
    pub resources: Vec<String>,

    /// end after N notifications
    #[argh(option, arg_name = "N", from_str_fn(number))]
    pub count: Option<usize>,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// a resource to watch
    #[argh(positional, arg_name = "URI")]
    pub uris: Vec<String>,
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

fn number(text: &str) -> Result<usize, String> {
    count(text).map_err(|invalid| invalid.to_string())
}
