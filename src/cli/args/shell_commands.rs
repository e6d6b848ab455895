//! Commands for the shell and for tests of scripts: `completions` and `replay`.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::choices::Shell;
use super::readers::path;

/// print a script that makes your shell complete command lines
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "completions", help_triggers("-h", "--help"))]
#[argh(note = "Commands and options are completed, and the names of configured servers, of their \
               tools and of the tools' arguments, as far as they are stored from earlier runs. No \
               server is started or asked.")]
#[argh(example = "eval \"$(mcpmini completions bash)\"")]
#[argh(example = "mcpmini completions fish > ~/.config/fish/completions/mcpmini.fish")]
#[argh(example = "mcpmini completions zsh > ~/.zfunc/_mcpmini")]
pub struct Completions {
    /// the shell: bash, zsh, fish or nushell
    #[argh(positional, arg_name = "SHELL")]
    pub shell: Shell,
}

/// be a server that answers as in a trace
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "replay", help_triggers("-h", "--help"))]
#[argh(note = "Reads requests on standard input and writes answers to standard output, so that \
               scripts can be tested without the real server. A request is known by its method \
               and parameters; one that is not in the trace is answered with an error that says \
               so, and one that was not answered is not answered.")]
#[argh(example = "mcpmini call files read_file path=a.txt --trace files.jsonl")]
#[argh(example = "mcpmini call 'mcpmini replay files.jsonl' read_file path=a.txt")]
pub struct Replay {
    /// the trace, as --trace writes it
    #[argh(positional, arg_name = "FILE", from_str_fn(path))]
    pub file: PathBuf,

    /// which server to be, when the trace has several
    #[argh(positional, arg_name = "NAME")]
    pub name: Option<String>,
}
