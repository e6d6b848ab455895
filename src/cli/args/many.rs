//! The commands for many requests, and for many servers. Their comments are the help texts.

use argh::{ArgsInfo, FromArgs};

use super::keyword::keywords;
use super::readers::count;
use super::schema_use::SchemaUse;
use super::usage::UsageError;

/// make many requests on one connection, one per line
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "batch", help_triggers("-h", "--help"))]
#[argh(note = "A line is a JSON object, {{\"tool\": NAME, \"arguments\": {{...}}}} or \
               {{\"method\": NAME, \"params\": {{...}}}}, with \"id\" (any JSON, else the number of the \
               line, blank ones counted) and \"timeout\" (as for -t) if you like. Numbers are those of the \
               input: who splits a file and joins the outcomes gives each line an \"id\" first.")]
#[argh(note = "For every line that was read one comes out, with \"id\", \"exit\", \"ms\", and \
               \"result\" or \"error\", when its request has ended. The exit codes are those of \
               `call`.")]
#[argh(
    note = "\"arguments\" are sent as they are written, as `call` sends JSON. With --check-arguments those that do \
               not fit the tool's schema are not sent, and their line ends with exit 2; the schemas are \
               asked for once, before the first call, unless they are remembered."
)]
#[argh(note = "The exit code of the whole is that of the first line that failed, in the order of \
               the input. A server that ends is started again for the next line.")]
#[argh(example = "jq -c '.[]' rows.json | mcpmini batch db -P 8 --keep-going - > out.ndjson")]
#[argh(example = "mcpmini batch --ordered files calls.jsonl")]
#[argh(example = "jq -c '.id //= input_line_number' calls.jsonl | mcpmini batch files -")]
pub struct Batch {
    /// how many requests are under way at a time (default 4, in bench 1)
    #[argh(option, short = 'P', arg_name = "N", from_str_fn(count))]
    pub jobs: Option<usize>,

    /// print the outcomes in the order of the lines
    #[argh(switch)]
    pub ordered: bool,

    /// go on with further requests after one has failed
    #[argh(switch)]
    pub keep_going: bool,

    /// do not ask for the tool's schema: every KEY=VALUE is text, and nothing is checked
    #[argh(switch)]
    pub no_schema: bool,

    /// hold JSON arguments against the tool's schema, too, and send none that do not fit
    #[argh(switch)]
    pub check_arguments: bool,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// the file with the lines, or - for standard input
    #[argh(positional, arg_name = "FILE|-")]
    pub input: String,
}

impl Batch {
    /// Whether its options go together.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let &Batch { no_schema, check_arguments, .. } = self;
        SchemaUse { no_schema, check_arguments, ..SchemaUse::default() }.check()
    }
}

/// call a tool again and again and print how long it took
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "bench", help_triggers("-h", "--help"))]
#[argh(note = "All calls go over one connection, and opening it is not part of them. p50 is the \
               time within which half of the calls were answered. Calls that were lost with their \
               connection are counted apart from those that failed: they may have run.")]
#[argh(example = "mcpmini bench -n 1000 -P 8 db query sql='select 1'")]
#[argh(example = "mcpmini bench --json https://mcp.example.com/mcp echo text=hi | jq .ms.p99")]
pub struct Bench {
    /// how many calls to make (default 100)
    #[argh(option, short = 'n', arg_name = "N", from_str_fn(count))]
    pub calls: Option<usize>,

    /// how many requests are under way at a time (default 4, in bench 1)
    #[argh(option, short = 'P', arg_name = "N", from_str_fn(count))]
    pub jobs: Option<usize>,

    /// go on with further requests after one has failed
    #[argh(switch)]
    pub keep_going: bool,

    /// do not ask for the tool's schema: every KEY=VALUE is text, and nothing is checked
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
    note = "What a server asks goes to the call that it is about. Where nothing tells which that is, \
               because several are under way on one pipe, the answers given to `session` count, and \
               without them it is refused."
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

/// list the servers of the configuration; tell which answer
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "servers", help_triggers("-h", "--help"))]
#[argh(note = "A line has the name, how the server is reached, its state and its file, with tabs \
               between them. The states: ready, approved, unapproved (see `mcpmini approve`), \
               disabled, hidden (by an earlier file) and broken (see `mcpmini config check`).")]
#[argh(note = "With --check a line has the name, ok or the class of the error, the revision, the \
               milliseconds until the tools were listed, and their number or the error. All \
               servers are tried side by side, and no longer than --max-time or 30s. The exit code \
               is that of the first that failed, in the order of the configuration.")]
#[argh(example = "mcpmini servers")]
#[argh(example = "mcpmini servers --check --json | jq -r 'select(.exit != 0) | .name'")]
pub struct Servers {
    /// start or reach each server, and say which of them answer
    #[argh(switch)]
    pub check: bool,

    /// only these servers
    #[argh(positional, arg_name = "NAME")]
    pub names: Vec<String>,
}

keywords! {
    /// What to do with the stored answers of servers.
    pub enum CacheAction {
        /// List them.
        List = "ls",
        /// Forget them.
        Clear = "clear",
    }
}

/// list or forget what is stored about servers
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "cache", help_triggers("-h", "--help"))]
#[argh(
    note = "Lists of tools and the like are stored for as long as their server says that they are \
               good, and the revision that a server speaks for a week. A line of `ls` has the \
               server, the list, fresh or stale, its age and its size."
)]
#[argh(example = "mcpmini cache ls")]
#[argh(example = "mcpmini cache clear files")]
pub struct Cache {
    /// ls or clear
    #[argh(positional, arg_name = "ls|clear")]
    pub action: CacheAction,

    /// only what is stored about this server
    #[argh(positional, arg_name = "SERVER")]
    pub server: Option<String>,
}
