//! Commands that find servers: `discover` and `card`. Their comments are the help texts.
//!
//! To add an action of `card`: a value of [`CardAction`], and in [`Card`] the options for it.

use argh::{ArgsInfo, FromArgs};

use super::keyword::keywords;
use super::numbers::size;
use super::usage::UsageError;
use super::values::Variable;

/// The longest card that may be asked for, in bytes.
const LONGEST_CARD: usize = 8 << 20;

/// find the servers of a host
#[derive(Debug, Clone, Default, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "discover", help_triggers("-h", "--help"))]
#[argh(
    note = "Looks at the AI Catalog of the host, at the card beside an endpoint, and at the places \
               where older drafts put them. Each server is a line: name, version, URL, where it was \
               found. All of that is what the documents claim: nothing is connected to. With --json \
               a line is an object, with the card as it came."
)]
#[argh(example = "mcpmini discover example.com")]
#[argh(example = "mcpmini discover https://mcp.example.com/mcp --json | jq -r .url")]
#[argh(example = "mcpmini discover registry:weather")]
pub struct Discover {
    /// look only where the standard says
    #[argh(switch)]
    pub standard: bool,

    /// look into the host's page for a link to a catalog, too
    #[argh(switch)]
    pub html: bool,

    /// if there is no document, ask the host's usual addresses whether a server is there
    #[argh(switch)]
    pub probe: bool,

    /// take cards up to SIZE (default 1MiB, at most 8MiB)
    #[argh(option, arg_name = "SIZE", from_str_fn(card_size))]
    pub max_card_bytes: Option<usize>,

    /// fetch without encryption beyond this machine, too
    #[argh(switch)]
    pub allow_http: bool,

    /// use stored documents only; contact nobody
    #[argh(switch)]
    pub offline: bool,

    /// ask this registry instead of the official one
    #[argh(option, arg_name = "URL")]
    pub registry: Option<String>,

    /// a host, such as example.com or localhost:3000, a URL, registry:NAME, or registry:TEXT to
    /// search for
    #[argh(positional, arg_name = "PLACE")]
    pub place: String,
}

/// show what a server's card claims, or check it
#[derive(Debug, Clone, Default, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "card", help_triggers("-h", "--help"))]
#[argh(
    note = "`card URL` shows what the card of a server claims. The URL is that of the server, or \
               of the card itself if it ends in .json or /server-card or begins with card:. With \
               --connect the server is asked, and what differs is told; what it says counts."
)]
#[argh(
    note = "`card check URL` checks a card against the published rules, line by line. The exit \
               code is 6 if one is broken."
)]
#[argh(
    note = "With --json it is one object, as of `discover`; with --connect there is one more in it, \
               for what the server says."
)]
#[argh(example = "mcpmini card https://mcp.example.com/mcp --connect")]
#[argh(example = "mcpmini card check server-card.json")]
pub struct Card {
    /// ask the server itself, and tell where it differs from its card
    #[argh(switch)]
    pub connect: bool,

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

    /// use stored documents only; contact nobody
    #[argh(switch)]
    pub offline: bool,

    /// ask this registry instead of the official one
    #[argh(option, arg_name = "URL")]
    pub registry: Option<String>,

    /// show (which may be left out) or check, and the card: a URL, a host or a file
    #[argh(positional, arg_name = "[show|check] URL|FILE")]
    words: Vec<String>,
}

keywords! {
    /// What `card` does.
    pub enum CardAction {
        /// What is in it.
        Show = "show",
        /// What is wrong with it.
        Check = "check",
    }
}

impl Card {
    /// What to do.
    pub fn action(&self) -> CardAction {
        self.split().0
    }

    /// The card: a URL, a host or a file.
    pub fn place(&self) -> &str {
        self.split().1.first().map(String::as_str).unwrap_or_default()
    }

    fn split(&self) -> (CardAction, &[String]) {
        match self.words.split_first() {
            Some((word, rest)) => match word.parse() {
                Ok(action) => (action, rest),
                Err(_) => (CardAction::Show, &self.words),
            },
            None => (CardAction::Show, &[]),
        }
    }

    /// Whether there are as many words as there should be, and options that the action knows.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        let (action, words) = self.split();
        let (command, synopsis) = ("card", "[show|check] URL|FILE".to_owned());
        match words {
            [] => return Err(UsageError::MissingWord { command, name: "URL|FILE", synopsis }),
            [_] => (),
            [_, word, ..] => {
                return Err(UsageError::ExtraWord { command, word: word.clone(), synopsis });
            }
        }
        let for_show = [("--connect", self.connect), ("--var", !self.var.is_empty())];
        match for_show.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) if action != CardAction::Show => {
                Err(UsageError::Lonely { flag, needs: "the action show" })
            }
            _ if !self.var.is_empty() && !self.connect => {
                Err(UsageError::Lonely { flag: "--var", needs: "--connect" })
            }
            _ if self.offline && self.connect => {
                Err(UsageError::Contradiction("--offline", "--connect"))
            }
            _ => Ok(()),
        }
    }
}

// argh wants errors as text.
pub(super) fn card_size(text: &str) -> Result<usize, String> {
    match size(text) {
        Ok(bytes) if bytes <= LONGEST_CARD => Ok(bytes),
        Ok(_) => Err("at most 8MiB".to_owned()),
        Err(invalid) => Err(invalid.to_string()),
    }
}
