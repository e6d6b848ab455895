//! `policy`: which servers may be used. Its comments are the help texts.

use argh::{ArgsInfo, FromArgs};

use super::keyword::keywords;
use super::usage::UsageError;

keywords! {
    /// What `policy` does.
    pub enum PolicyAction {
        /// Tells what the policies say about a server.
        Check = "check",
        /// Fetches the lists of what is revoked.
        Refresh = "refresh",
    }
}

/// tell whether a server may be used, and which rule decides
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "policy", help_triggers("-h", "--help"))]
#[argh(note = "A policy is the file policy.toml beside the configuration: the administrator's in \
               /etc/mcpmini, and the user's, or the one that MCPMINI_POLICY names. A server is \
               used only if both admit it. It can say: mode (off, tofu, strict: only what a rule \
               allows), require_signature, require_tls, trusted_root, card_max_age_days, [[allow]] rules by \
               signer, host, command, socket or registry, [[deny]] rules, [revocation] lists, and \
               cross_domain (ask, allow or deny: whether `add` takes a server that a document of \
               another host leads to). How all of that is written: `mcpmini help policy-file`.")]
#[argh(note = "A rule that allows a command is about its very words: write the program with its \
               whole path, and all arguments that matter. Variables that decide which code those \
               words run (PATH, LD_*, NODE_OPTIONS, PYTHON*, GIT_*, …) are then refused from --env \
               and from a project's file. What the directory decides (node server.js, npx x, make x) \
               needs the rule's `cwd`, or that of your own definition. What the tag of an image \
               means today no words say: use NAME@sha256:…")]
#[argh(
    note = "A rule that denies a command refuses whatever names its program: by any path or link, \
               behind whatever starts others, in the text of a script (sh -c, find -exec, make \
               --eval), in a variable that is set for the command; and its package, whoever runs \
               it. That is rather too much than too little. It cannot find a copy, a name that a \
               script puts together, or what a program starts later: where that matters, allow \
               what is meant, with mode strict. A rule that denies a host also finds it in the \
               URLs among the words of a command (a host there with letters beyond ASCII may be \
               any), as a proxy, and as an address of --resolve. One that denies a signer also finds \
               whoever had signed the card that a server was added from."
)]
#[argh(
    note = "`policy check SERVER` contacts nobody. It prints a line for each policy: whether it \
               admits the server, the file and line, the rule, what the rule says, and the kept \
               documents that it relies on, and of when they are. It warns of a package without a \
               version, and shows the rule that would allow what none does. What counts is the way \
               that a call would take, with --resolve, --proxy and --insecure. The exit code is 8 if \
               the server may not be used."
)]
#[argh(
    note = "`policy refresh` fetches the lists that the policies name by URL. Commands that use a \
               server do so themselves when a copy is too old. Such a list says in its first line \
               when it was issued, and never gives way to an older one."
)]
#[argh(example = "mcpmini policy check files")]
#[argh(example = "mcpmini policy check https://mcp.example.com/mcp --json | jq -r .admitted")]
pub struct Policy {
    /// check or refresh
    #[argh(positional, arg_name = "check|refresh")]
    pub action: PolicyAction,

    /// for check: the server (see `mcpmini help servers`)
    #[argh(positional, arg_name = "SERVER")]
    pub server: Option<String>,
}

impl Policy {
    /// Whether there are as many words as there should be.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let synopsis = "check SERVER|refresh".to_owned();
        match (self.action, &self.server) {
            (PolicyAction::Check, None) => {
                Err(UsageError::MissingWord { command: "policy", name: "SERVER", synopsis })
            }
            (PolicyAction::Refresh, Some(word)) => {
                Err(UsageError::ExtraWord { command: "policy", word: word.clone(), synopsis })
            }
            _ => Ok(()),
        }
    }
}
