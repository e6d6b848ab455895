//! The commands beside tools: resources, prompts, completion, tasks, looking for something, and
//! watching for changes. Their comments are the help texts.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::keyword::keywords;
use super::readers::{count, path};
use super::usage::UsageError;
use super::values::{Assignment, Expectation};
use crate::protocol::pointer::Pointer;

/// list the resources of a server, and its templates for more
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "resources", help_triggers("-h", "--help"))]
#[argh(
    note = "A line has the URI, the name, the media type and the description, with tabs between \
               them. Templates come last; their URI has names in braces, to be filled in."
)]
#[argh(note = "With --json a line is a resource as the server describes it.")]
#[argh(example = "mcpmini resources files")]
#[argh(example = "mcpmini resources --json files | jq -r .uri")]
pub struct Resources {
    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

/// list the templates for URIs of resources
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "templates", help_triggers("-h", "--help"))]
#[argh(note = "The same lines as of `mcpmini resources`, without the resources.")]
#[argh(example = "mcpmini templates files")]
pub struct Templates {
    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

/// print resources, byte for byte
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "read", help_triggers("-h", "--help"))]
#[argh(
    note = "Nothing is added to the bytes, and nothing between resources. A terminal gets text \
               without control characters, and a note instead of other bytes; -o raw sends them \
               all the same."
)]
#[argh(note = "With --json a line is the result for one URI, and with --save nothing is printed.")]
#[argh(example = "mcpmini read files file:///etc/hostname")]
#[argh(example = "mcpmini read shop img://logo > logo.png")]
#[argh(example = "mcpmini read --save pages wiki page://1 page://2")]
pub struct Read {
    /// write each part of the answer to a file, DIR/0001.txt, DIR/0002.png and so on, and print
    /// the paths on standard error as JSON
    #[argh(option, arg_name = "DIR", from_str_fn(path))]
    pub save: Option<PathBuf>,

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

    /// the resource
    #[argh(positional, arg_name = "URI")]
    pub uri: String,

    /// more of them
    #[argh(positional, arg_name = "URI")]
    pub more: Vec<String>,
}

/// list the prompts of a server
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "prompts", help_triggers("-h", "--help"))]
#[argh(
    note = "A line has the name, the arguments and the description, with tabs between them. A ? \
               marks an argument that may be left out."
)]
#[argh(note = "With --json a line is a prompt as the server describes it.")]
#[argh(example = "mcpmini prompts wiki")]
#[argh(example = "mcpmini prompts --json wiki | jq -r .name")]
pub struct Prompts {
    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

/// fill in a prompt and print its text
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "prompt", help_triggers("-h", "--help"))]
#[argh(note = "Of several messages each begins with its role: `user: ...`.")]
#[argh(note = "With --json the whole result is printed.")]
#[argh(example = "mcpmini prompt wiki review language=rust code=@main.rs")]
#[argh(example = "mcpmini prompt --json wiki greet | jq -r .description")]
pub struct Prompt {
    /// write each part of the answer to a file, DIR/0001.txt, DIR/0002.png and so on, and print
    /// the paths on standard error as JSON
    #[argh(option, arg_name = "DIR", from_str_fn(path))]
    pub save: Option<PathBuf>,

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

    /// the prompt
    #[argh(positional, arg_name = "NAME")]
    pub name: String,

    /// its arguments, KEY=TEXT or KEY=@FILE
    #[argh(positional, arg_name = "ARG")]
    pub args: Vec<String>,
}

/// ask a server what an argument can be
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "complete", help_triggers("-h", "--help"))]
#[argh(
    note = "REF is the name of a prompt or, if it has :// or a brace in it, a template for URIs \
               of resources. ref/prompt:NAME and ref/resource:URI leave no doubt."
)]
#[argh(example = "mcpmini complete wiki review language ru")]
#[argh(example = "mcpmini complete files 'file:///{{path}}' path src/")]
#[argh(example = "mcpmini complete wiki review framework fl --context language=python")]
pub struct Complete {
    /// the value of another argument, which is known already (repeatable)
    #[argh(option, arg_name = "KEY=TEXT")]
    pub context: Vec<Assignment>,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// the prompt or the template
    #[argh(positional, arg_name = "REF")]
    pub reference: String,

    /// the argument
    #[argh(positional, arg_name = "ARG")]
    pub argument: String,

    /// what the values are to begin with (default: nothing)
    #[argh(positional, arg_name = "PREFIX")]
    pub prefix: Option<String>,
}

/// look for tools by what their names and descriptions say
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "find", help_triggers("-h", "--help"))]
#[argh(note = "Looks through the lists that earlier commands have stored, of all servers of the \
               configuration. With --refresh the servers are asked. Those of which nothing is \
               stored are left out, and named on standard error.")]
#[argh(note = "A line has the server, the tool, the arguments and the description, with tabs \
               between them.")]
#[argh(
    note = "The exit code is 11 when no tool fits. A server that could not be asked, or that is \
               broken or not approved, counts more: the exit code is that of the first, in the \
               order of the servers, whatever the others have."
)]
#[argh(note = "Upper and lower case count only if PATTERN has an upper-case letter.")]
#[argh(example = "mcpmini find issue")]
#[argh(example = "mcpmini find -E '^(get|list)_' github gitlab")]
#[argh(example = "mcpmini find --refresh --json weather | jq -r .server")]
pub struct Find {
    /// read PATTERN as a regular expression
    #[argh(switch, short = 'E')]
    pub regex: bool,

    /// never tell upper from lower case
    #[argh(switch, short = 'i')]
    pub ignore_case: bool,

    /// the text to look for
    #[argh(positional, arg_name = "PATTERN")]
    pub pattern: String,

    /// the servers to look at (default: all of the configuration)
    #[argh(positional, arg_name = "SERVER")]
    pub servers: Vec<String>,
}

keywords! {
    /// What to do with a task.
    pub enum TaskAction {
        /// Tell how far it is.
        Get = "get",
        /// Wait for its end and print what the call returned.
        Result = "result",
        /// Ask for its end.
        Cancel = "cancel",
        /// Answer what it asks for.
        Update = "update",
    }
}

/// look after a call that became a task of the server
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "task", help_triggers("-h", "--help"))]
#[argh(note = "A task is begun by `mcpmini call --task`, which prints its ID.")]
#[argh(note = "get prints its state; result waits for its end and prints what the call returned; \
               cancel asks the server to end it; update answers what the server wants to know, by \
               NAME:=JSON for each question or, without words, by --answer and its like.")]
#[argh(example = "id=$(mcpmini call --task ci build branch=main)")]
#[argh(example = "mcpmini task get ci 7f3a")]
#[argh(example = "mcpmini task result -T 1h ci 7f3a")]
#[argh(example = "mcpmini task update --answer name=Ada ci 7f3a")]
pub struct Task {
    /// write each part of the answer to a file, DIR/0001.txt, DIR/0002.png and so on, and print
    /// the paths on standard error as JSON
    #[argh(option, arg_name = "DIR", from_str_fn(path))]
    pub save: Option<PathBuf>,

    /// print only the value at this JSON Pointer in the result, a text without quotes unless as
    /// --json; - is each element of a list, as in /content/-/text (repeatable)
    #[argh(option, arg_name = "PTR")]
    pub select: Vec<Pointer>,

    /// fail with exit code 11 unless the value at PTR is VALUE (repeatable)
    #[argh(option, arg_name = "PTR=VALUE")]
    pub expect: Vec<Expectation>,

    /// get, result, cancel or update
    #[argh(positional, arg_name = "ACTION")]
    pub action: TaskAction,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// the task
    #[argh(positional, arg_name = "ID")]
    pub id: String,

    /// with `update`: the answers, NAME:=JSON
    #[argh(positional, arg_name = "ARG")]
    pub args: Vec<String>,
}

/// print what a server notifies about, as it happens
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "watch", help_triggers("-h", "--help"))]
#[argh(note = "A line is a notification as JSON.")]
#[argh(note = "Without a choice it watches the lists of tools, prompts and resources. It goes on \
               until --count or --max-time is reached, and then ends with 0; but with 124 when \
               --max-time comes before --count. A stream that breaks off is opened again, and a \
               line on standard error says so.")]
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
    #[argh(option, arg_name = "N", from_str_fn(count))]
    pub count: Option<usize>,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// a resource to watch
    #[argh(positional, arg_name = "URI")]
    pub uris: Vec<String>,
}

impl Task {
    /// Whether the options and words go with the action.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let (result, update) = (TaskAction::Result, TaskAction::Update);
        match self.args.first() {
            Some(word) if self.action != update => {
                let (command, word) = ("task", word.clone());
                Err(UsageError::ExtraWord { command, word, synopsis: "ACTION SERVER ID".into() })
            }
            _ if self.save.is_some() && self.action != result => {
                Err(UsageError::Lonely { flag: "--save", needs: "the action result" })
            }
            _ => Ok(()),
        }
    }
}
