//! The commands about tokens. Their comments are the help texts.

use argh::{ArgsInfo, FromArgs};

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
