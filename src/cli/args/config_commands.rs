//! Commands that read and change the configuration: `add`, `remove` and `config`.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::choices::path;
use super::keyword::keywords;

/// add a server to your configuration
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "add", help_triggers("-h", "--help"))]
#[argh(
    note = "The server is a URL, exec:'CMD ARG...', or a command after --. What --env, --header, \
               --cwd, --inherit-env, --arg, --transport, --protocol, --timeout and --start-timeout \
               say is stored with it. ${{VAR}} is stored as it is and looked up at each use, so \
               that secrets stay out of the file. Comments and order in the file are kept."
)]
#[argh(example = "mcpmini add tracker https://mcp.example.com/mcp -H 'X-Key: ${{KEY}}'")]
#[argh(example = "mcpmini add files -- npx -y @modelcontextprotocol/server-filesystem /srv")]
#[argh(example = "mcpmini add db --project --env 'DB_URL=${{DB_URL}}' -- uvx db-server")]
pub struct Add {
    /// change the project's configuration (.mcp.json), not yours; what is added is approved
    #[argh(switch)]
    pub project: bool,

    /// replace a server of the same name
    #[argh(switch)]
    pub force: bool,

    /// how to call the server: letters, digits, dots, dashes, underscores
    #[argh(positional, arg_name = "NAME")]
    pub name: String,

    /// the server: a URL, unix:PATH or exec:'CMD ARG...'
    #[argh(positional, arg_name = "SERVER")]
    pub server: Option<String>,
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
               line and column, and variables that are not set. `config import KIND` shows the \
               servers in the files of claude-code, claude-desktop, codex, cursor, gemini, opencode, \
               vscode, windsurf or zed; with --copy they are added to yours. No server is started."
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
    #[argh(option, arg_name = "FILE", from_str_fn(file))]
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

// argh wants errors as text.
fn file(text: &str) -> Result<PathBuf, String> {
    path(text).map_err(str::to_owned)
}
