//! The commands about trust. Their comments are the help texts.

use argh::{ArgsInfo, FromArgs};

use super::keyword::keywords;
use super::readers::digest;
use super::usage::UsageError;
use crate::config::Digest;

keywords! {
    /// What `trust` does.
    pub enum TrustAction {
        /// Every server that is known.
        List = "list",
        /// What a server is now.
        Show = "show",
        /// How that differs from what was accepted.
        Diff = "diff",
        /// Accept a server that was never used.
        Add = "add",
        /// Accept what has changed.
        Accept = "accept",
        /// Take the trust back.
        Revoke = "revoke",
    }
}

/// look at what servers were accepted as, and accept changes
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "trust", help_triggers("-h", "--help"))]
#[argh(
    note = "A server is accepted as it is when it is first used. When it is elsewhere later, is \
               started by another command, says that it is another server, or has changed a tool \
               that is called, or lists it no more, the call is not made (exit code 8) until that is \
               accepted. New tools, capabilities and instructions are told once."
)]
#[argh(
    note = "Before a tool that was accepted is called, the list of tools is asked for: once on each \
               connection and in each minute (ten, while calls of a batch are always under way), \
               unless there is one that the server itself calls good (ttlMs). So it is before a new \
               one is, which is told and accepted by that. One that no list has is told, and not \
               called where trust is strict."
)]
#[argh(
    note = "What is compared: of a tool its name, title, description, schemas, annotations and \
               execution, not its icons and _meta; of several with one name all of them. Of a command \
               the program, its arguments, the names of its variables, and what references stand for \
               in the program, in the script that it runs and in variables that choose code (HOME \
               stays whoever's home it is), but not in other arguments, which may be secret. Of an \
               address the host that it leads to, and a Host header. Of what a server says none is \
               kept that it was given as a secret: the hash of the whole stands for that."
)]
#[argh(
    note = "With MCPMINI_TRUST=strict, or \"trust\": \"strict\" in its definition, a server is used \
               only as it was accepted, and not before; with off nothing is checked. Where nothing was \
               ever kept and nothing can be, as with a read-only root, every use is the first, and \
               only -v, a terminal, a policy or strict trust have that told."
)]
#[argh(
    note = "`list` shows every server that is known: it is accepted, changed, revoked, or incomplete \
               (not all of it was accepted yet). `show` asks a server what it is, `diff` how that \
               differs from what was accepted (exit code 8 if it does, or if not all of it ever was); \
               neither accepts it. Only they, `lock` and `card` look who has signed its card; a call \
               does not."
)]
#[argh(
    note = "`accept` takes what was seen last, `add` a server that was never used or was revoked; \
               without --accept they ask at the terminal, and do nothing where there is none. After \
               `revoke` a server is not used any more, and nothing else at its URL, however that is \
               spelled and whatever its query, nor what starts the same: the same file with the same \
               arguments, by whatever path or link, behind env and the like, with other variables, \
               and in another directory unless that decides what runs."
)]
#[argh(example = "mcpmini trust list")]
#[argh(example = "mcpmini trust diff files")]
#[argh(example = "mcpmini trust accept files")]
#[argh(example = "mcpmini trust revoke https://mcp.example.com/mcp")]
pub struct Trust {
    /// accept only what has this digest, sha256:HEX
    #[argh(option, arg_name = "DIGEST", from_str_fn(digest))]
    pub accept: Option<Digest>,

    /// list, show, diff, add, accept or revoke
    #[argh(positional, arg_name = "ACTION")]
    pub action: TrustAction,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: Option<String>,
}

impl Trust {
    /// Whether its words go together.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let takes_digest = matches!(self.action, TrustAction::Add | TrustAction::Accept);
        match (&self.server, self.action) {
            (None, TrustAction::List) => {}
            (None, action) => {
                let synopsis = format!("{} SERVER", action.word());
                return Err(UsageError::MissingWord { command: "trust", name: "SERVER", synopsis });
            }
            (Some(word), TrustAction::List) => {
                let (word, synopsis) = (word.clone(), "list".to_owned());
                return Err(UsageError::ExtraWord { command: "trust", word, synopsis });
            }
            (Some(_), _) => {}
        }
        match self.accept.is_some() && !takes_digest {
            true => {
                Err(UsageError::Lonely { flag: "--accept", needs: "trust add or trust accept" })
            }
            false => Ok(()),
        }
    }
}

/// write down what servers are, for a project and its CI
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "lock", help_triggers("-h", "--help"))]
#[argh(
    note = "The lock file (--lock, else mcpmini.lock.json) has hashes of all that a server is: its \
               command or address, its name and version, what it can do, its instructions and its \
               tools. It is to be committed: a changed consent_digest is what there is to review. \
               With --lock FILE every other command uses a server only as the file has it, and \
               fails with exit code 8 otherwise, also when the server is not in the file: all of it \
               is looked at before anything is asked or printed. That something is gone which is not \
               used is only told. What --arg \
               and --env add is locked too, and so is the directory of a command that is named by a \
               relative path, as seen from the lock file."
)]
#[argh(note = "Other servers in the file stay. Without SERVER, those in the file are locked anew.")]
#[argh(example = "mcpmini lock files tracker")]
#[argh(example = "mcpmini call --lock mcpmini.lock.json files read_file path=a.txt")]
pub struct Lock {
    /// the servers to lock
    #[argh(positional, arg_name = "SERVER")]
    pub servers: Vec<String>,
}
