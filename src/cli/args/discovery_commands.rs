//! Commands that find servers: `discover` and `card`. Their comments are the help texts.
//!
//! To add an action of `card`: a value of [`CardAction`], and in [`Card`] the options for it.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::keyword::keywords;
use super::readers::{path, size};
use super::usage::{UsageError, first_given};
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
               a line is an object, with the card as it came unless the document is about several \
               servers."
)]
#[argh(
    note = "A document may take 5 s, and all of them 10 s; with --timeout as long as that says, and \
               all of them twice that. 12 are asked for at most. Lists are shown up to 1000 servers, \
               and catalogs up to 2000 entries; what is left out is told on standard error."
)]
#[argh(
    note = "Documents are stored as long as their host says (Cache-Control, at most a day), else for \
               5 minutes, and that there is none for 10; --refresh asks the host anew. `card check`, \
               `card verify`, `add` and `trust diff` do so always."
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

/// show or check what a server's card claims, or who signed it
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
#[argh(note = "`card verify URL|FILE` says whether the card was signed by whom you name: by an \
               identity that an issuer vouches for (--identity and --issuer, compared as they \
               are), by a key (--public-key) or by the owner of a domain (--did). The bundle is \
               the one of --bundle, else the one that an attestation in --catalog names, else \
               at the card's name with .sigstore.json after it, as `cosign sign-blob --bundle` \
               can write it. It must stand in a log of signatures, unless --without-log \
               takes the word of a key alone (cosign's --tlog-upload=false). A file is verified \
               without a network. The exit code is 8 if the card does not count as signed.")]
#[argh(
    note = "Who has signed is remembered by `add` and --remember. A build of the same repository, by \
               the numbers that GitHub or GitLab give to it and its owner, is the same publisher at its \
               next tag, under a new name, too; at a branch it is another, since many may push one."
)]
#[argh(
    note = "With --json it is one object, as of `discover`; with --connect there is one more in it, \
               for what the server says."
)]
#[argh(example = "mcpmini card https://mcp.example.com/mcp --connect")]
#[argh(example = "mcpmini card check server-card.json")]
#[argh(example = "mcpmini card verify card.json --identity $who --issuer $provider")]
#[argh(example = "mcpmini card verify https://mcp.example.com/mcp --public-key their.pub")]
pub struct Card {
    /// ask the server itself, and tell where it differs from its card; the card may be one of its
    /// resources then
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

    /// verify: who must have signed, as the certificate says; --issuer says who vouches for that
    #[argh(option, arg_name = "ID")]
    pub identity: Option<String>,

    /// verify: the public key (PEM) that must have signed
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub public_key: Option<PathBuf>,

    /// verify, with --public-key: take the word of the key alone where the bundle stands in no log;
    /// nobody says when it was signed then
    #[argh(switch)]
    pub without_log: bool,

    /// verify: the domain whose owner must have signed, as did:web:DOMAIN
    #[argh(option, arg_name = "DID")]
    pub did: Option<String>,

    /// verify: the sigstore bundle (default: the card's name and .sigstore.json)
    #[argh(option, arg_name = "FILE|URL")]
    pub bundle: Option<String>,

    /// verify: the authorities and logs to trust (default: MCPMINI_TRUSTED_ROOT, or those of the
    /// public sigstore, as they were when this program was built)
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub trusted_root: Option<PathBuf>,

    /// verify: the AI Catalog whose entry is signed (with --did; default: that of the domain), or
    /// names the bundle in a trust manifest
    #[argh(option, arg_name = "FILE|URL")]
    pub catalog: Option<String>,

    /// verify, with --did: the keys of the domain (default: fetched from it)
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub did_document: Option<PathBuf>,

    /// verify: keep the card and its signature, so that a policy can rely on it, by a trusted root of
    /// its own
    #[argh(switch)]
    pub remember: bool,

    /// show (which may be left out), check or verify, and the card: a URL, a host or a file
    #[argh(positional, arg_name = "[show|check|verify] URL|FILE")]
    words: Vec<String>,
}

keywords! {
    /// What `card` does.
    pub enum CardAction {
        /// What is in it.
        Show = "show",
        /// What is wrong with it.
        Check = "check",
        /// Who has signed it.
        Verify = "verify",
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
        let (command, synopsis) = ("card", "[show|check|verify] URL|FILE".to_owned());
        match words {
            [] => return Err(UsageError::MissingWord { command, name: "URL|FILE", synopsis }),
            [_] => (),
            [_, word, ..] => {
                return Err(UsageError::ExtraWord { command, word: word.clone(), synopsis });
            }
        }
        let for_show = [("--connect", self.connect), ("--var", !self.var.is_empty())];
        match (first_given(&for_show), first_given(&self.for_verify())) {
            (Some(flag), _) if action != CardAction::Show => {
                Err(UsageError::Lonely { flag, needs: "the action show" })
            }
            (_, Some(flag)) if action != CardAction::Verify => {
                Err(UsageError::Lonely { flag, needs: "the action verify" })
            }
            _ if !self.var.is_empty() && !self.connect => {
                Err(UsageError::Lonely { flag: "--var", needs: "--connect" })
            }
            _ if self.offline && self.connect => {
                Err(UsageError::Contradiction("--offline", "--connect"))
            }
            _ => self.check_signer(),
        }
    }

    /// Whether the options say in one way who must have signed.
    fn check_signer(&self) -> Result<(), UsageError> {
        let signers = [
            ("--identity", self.identity.is_some()),
            ("--public-key", self.public_key.is_some()),
            ("--did", self.did.is_some()),
        ];
        let mut signers = signers.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag);
        if let (Some(one), Some(other)) = (signers.next(), signers.next()) {
            return Err(UsageError::Contradiction(one, other));
        }
        let for_did = [("--did-document", self.did_document.is_some())];
        let for_bundle =
            [("--bundle", self.bundle.is_some()), ("--trusted-root", self.trusted_root.is_some())];
        match (first_given(&for_did), first_given(&for_bundle)) {
            _ if self.bundle.is_some() && self.catalog.is_some() && self.did.is_none() => {
                Err(UsageError::Contradiction("--bundle", "--catalog"))
            }
            _ if self.without_log && self.public_key.is_none() => {
                Err(UsageError::Lonely { flag: "--without-log", needs: "--public-key" })
            }
            // Whatever is revoked by its place in a log could be brought without it.
            _ if self.without_log && self.remember => {
                Err(UsageError::Contradiction("--without-log", "--remember"))
            }
            (Some(flag), _) if self.did.is_none() => {
                Err(UsageError::Lonely { flag, needs: "--did" })
            }
            (_, Some(flag)) if self.did.is_some() => Err(UsageError::Contradiction(flag, "--did")),
            _ => Ok(()),
        }
    }

    /// The options of the action `verify`, and whether they are given.
    fn for_verify(&self) -> [(&'static str, bool); 9] {
        [
            ("--identity", self.identity.is_some()),
            ("--public-key", self.public_key.is_some()),
            ("--without-log", self.without_log),
            ("--did", self.did.is_some()),
            ("--bundle", self.bundle.is_some()),
            ("--trusted-root", self.trusted_root.is_some()),
            ("--catalog", self.catalog.is_some()),
            ("--did-document", self.did_document.is_some()),
            ("--remember", self.remember),
        ]
    }
}

// argh wants errors as text.
pub(super) fn card_size(text: &str) -> Result<usize, String> {
    match size(text)? {
        bytes if bytes <= LONGEST_CARD => Ok(bytes),
        _ => Err("at most 8MiB".to_owned()),
    }
}
