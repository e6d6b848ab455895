//! Commands that read and change the configuration: `add`, `remove` and `config`.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::discovery_commands::card_size;
use super::keyword::keywords;
use super::readers::{digest, path};
use super::usage::UsageError;
use super::values::Variable;
use crate::config::Digest;

/// add a server to your configuration
#[derive(Debug, Clone, Default, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "add", help_triggers("-h", "--help"))]
#[argh(
    note = "With a NAME, the server is a URL, exec:'CMD ARG...', or a command after --, and nothing is \
               asked. What --env, --header, --cwd, --inherit-env, --arg, --transport, --protocol, \
               --timeout and --start-timeout say is stored with it. ${{VAR}} is stored as it is and \
               looked up at each use, so that secrets stay out of the file. Comments and order in the \
               file are kept."
)]
#[argh(
    note = "A host, registry:NAME[@VERSION], card:URL, a file, or a URL without a NAME is looked up: \
               what is found is shown, the server is asked, and an entry is written. What leads to \
               another host than the one you name, and every command, is added only with --accept \
               DIGEST, which the refusal tells (exit code 8). Which revision the server speaks is \
               asked of it, whatever its card says."
)]
#[argh(example = "mcpmini add tracker https://mcp.example.com/mcp -H 'X-Key: ${{KEY}}'")]
#[argh(example = "mcpmini add files -- npx -y @modelcontextprotocol/server-filesystem /srv")]
#[argh(example = "mcpmini add db --project --env 'DB_URL=${{DB_URL}}' -- uvx db-server")]
#[argh(example = "mcpmini add example.com --var tenant=acme --var token='${{ACME_TOKEN}}'")]
#[argh(example = "mcpmini add registry:com.example/weather --package npm")]
pub struct Add {
    /// change the project's configuration (.mcp.json), not yours; what is added is approved
    #[argh(switch)]
    pub project: bool,

    /// replace a server of the same name
    #[argh(switch)]
    pub force: bool,

    /// accept only what has this digest, sha256:HEX
    #[argh(option, arg_name = "DIGEST", from_str_fn(digest))]
    pub accept: Option<Digest>,

    /// which server, by its name or identifier, when there are several
    #[argh(option, arg_name = "NAME")]
    pub entry: Option<String>,

    /// fill in what a document leaves open, such as a tenant in a URL; secrets as a reference
    /// to a variable (repeatable)
    #[argh(option, arg_name = "NAME=VALUE")]
    pub var: Vec<Variable>,

    /// look only where the standard says
    #[argh(switch)]
    pub standard: bool,

    /// take cards up to SIZE (default 1MiB, at most 8MiB)
    #[argh(option, arg_name = "SIZE", from_str_fn(card_size))]
    pub max_card_bytes: Option<usize>,

    /// fetch without encryption beyond this machine, too
    #[argh(switch)]
    pub allow_http: bool,

    /// ask this registry instead of the official one
    #[argh(option, arg_name = "URL")]
    pub registry: Option<String>,

    /// of an entry of the registry, run a package instead of using a server on the network
    #[argh(switch)]
    pub local: bool,

    /// run a package of this kind: npm, pypi, oci, nuget or mcpb (default: the first whose program
    /// is installed)
    #[argh(option, arg_name = "KIND")]
    pub package: Option<String>,

    /// let an entry name another registry of packages than the usual one, or bring arguments that
    /// could make the program that runs it run another package
    #[argh(switch)]
    pub allow_registry_url: bool,

    /// how to call the server (letters, digits, dots, dashes, underscores; may be left out for what is
    /// looked up), and the server
    #[argh(positional, arg_name = "[NAME] SERVER")]
    words: Vec<String>,
}

impl Add {
    /// How to call the server, and the server, when there are words after `--` or not.
    pub fn words(&self, has_tail: bool) -> (Option<&str>, Option<&str>) {
        let word = |at: usize| self.words.get(at).map(String::as_str);
        match (self.words.len(), has_tail) {
            (1, false) => (None, word(0)),
            _ => (word(0), word(1)),
        }
    }

    /// Whether there are as many words as there should be.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let (command, synopsis) = ("add", "[NAME] SERVER".to_owned());
        match self.words.as_slice() {
            [] => Err(UsageError::MissingWord { command, name: "SERVER", synopsis }),
            [_] | [_, _] => Ok(()),
            [_, _, word, ..] => {
                Err(UsageError::ExtraWord { command, word: word.clone(), synopsis })
            }
        }
    }
}

/// remove a server from your configuration
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "remove", help_triggers("-h", "--help"))]
#[argh(example = "mcpmini remove tracker")]
pub struct Remove {
    /// change the project's configuration (.mcp.json), not yours; what is added is approved
    #[argh(switch)]
    pub project: bool,

    /// the server
    #[argh(positional, arg_name = "NAME")]
    pub name: String,
}

/// show or check the configuration, or import another program's
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "config", help_triggers("-h", "--help"))]
#[argh(
    note = "`config list` shows every server with the file it is from; of two with one name the \
               first counts. `config show NAME` shows what is said about one and where each value \
               comes from, secrets masked. `config check` names every mistake in every file with its \
               line and column, and variables that are not set; fields that are not known it names as \
               well, but they fail nothing, since other programs may know them. `config import KIND` shows the \
               servers in the files of claude-code, claude-desktop, codex, cursor, gemini, opencode, \
               vscode, windsurf or zed; with --copy they are added to yours; `mcpmini import KIND` is short for it. No server is \
               started."
)]
#[argh(example = "mcpmini config list")]
#[argh(example = "mcpmini config show tracker")]
#[argh(example = "mcpmini config check && echo fine")]
#[argh(example = "mcpmini config import cursor --copy files tracker")]
pub struct Config {
    /// with import: add the servers to your configuration
    #[argh(switch)]
    pub copy: bool,

    /// with import: read this file instead of the usual ones
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub from: Option<PathBuf>,

    /// replace a server of the same name
    #[argh(switch)]
    pub force: bool,

    /// list, show, check or import
    #[argh(positional, arg_name = "ACTION")]
    pub action: Action,

    /// the server to show; or the kind and the servers to import, all if none is named
    #[argh(positional, arg_name = "NAME")]
    pub names: Vec<String>,
}

keywords! {
    /// What `config` does.
    pub enum Action {
        /// Every server, and where it is from.
        List = "list",
        /// What is said about one.
        Show = "show",
        /// Every mistake.
        Check = "check",
        /// The servers of other programs.
        Import = "import",
    }
}
