//! Which servers may be used at all.
//!
//! A policy is a file in TOML, of the administrator and of the user. Each judges a server by itself,
//! and a server is used when all of them admit it: so neither can loosen what the other says.
//!
//! ```text
//! revoked? → denied? → mode off? → TLS required? → allowed by a rule? → mode strict? → signature required?
//!  refused    refused   admitted   refused without   admitted            refused       refused without
//! ```
//!
//! Nothing is contacted to judge a server. Signatures are those of cards that were kept (`mcpmini
//! card verify --remember`), verified anew each time; lists of what is revoked are files, or copies
//! that were fetched before. A policy or a list that cannot be read admits nothing.

#![cfg_attr(not(feature = "policy"), allow(dead_code, reason = "no rule can be read"))]

mod command;
mod copy;
mod decision;
#[cfg(feature = "policy")]
mod document;
#[cfg(not(feature = "policy"))]
#[path = "unread.rs"]
mod document;
mod example;
mod host;
mod image;
mod kept;
mod name;
mod package;
mod revocation;
mod rule;
mod source;
mod subject;

#[cfg(test)]
#[cfg(all(feature = "policy", feature = "sigstore"))]
mod tests;

pub(super) use command::{MANY, USUAL};
pub use decision::{CrossDomain, Decision, Mode, Rule};
pub use example::{EXAMPLE, EXAMPLE_LIST};
pub(super) use host::host_name;
pub use kept::{Kept, Unkept, seconds};
pub use source::PolicyError;
pub use subject::Way;

use std::ffi::OsStr;
use std::path::Path;

use self::copy::Copy;
use self::decision::Said;
use self::kept::name_and_version;
use self::revocation::List;
use self::rule::Match;
use self::source::Policy;
use self::subject::{Card, Listing, Place, Subject};
use super::pins::Publisher;
use crate::config::steering::chooses_code;
use crate::config::{
    Digest, Endpoint, Layer, OFFICIAL_REGISTRY, Overrides, Resolved, Server, Target,
};
use crate::env::Env;
use crate::protocol::rfc3339;
use crate::protocol::sorting::sort;
use crate::store::Fault;

/// The longest list of what is revoked, in bytes.
pub const LIST_LIMIT: usize = revocation::LIST_LIMIT;

/// The policies of this run: the administrator's and the user's, as far as there are any.
#[derive(Debug)]
pub struct Policies {
    policies: Vec<Policy>,
}

impl Policies {
    /// Reads them.
    pub fn load(env: &Env) -> Result<Policies, PolicyError> {
        Ok(Policies { policies: source::load(env)? })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// The strictest of their modes.
    pub fn mode(&self) -> Mode {
        let modes = self.policies.iter().map(|policy| policy.document.rules.mode);
        modes.max().unwrap_or_default()
    }

    /// What becomes of a server that a document of another domain leads to, and which policy says so:
    /// the strictest of those that say something.
    pub fn cross_domain(&self) -> (CrossDomain, Option<&Path>) {
        let said = self.policies.iter().filter_map(|policy| {
            Some((policy.document.cross_domain?, Some(policy.path.as_path())))
        });
        said.max_by_key(|(said, _)| *said).unwrap_or_default()
    }

    /// What each of them says about a server that is reached in that way. It may be used when all
    /// admit it.
    pub fn judge(
        &self,
        asked: &Asked<'_>,
        way: &Way,
        env: &Env,
    ) -> Result<Vec<Decision>, PolicyError> {
        let now = seconds(env.now());
        self.policies.iter().map(|policy| policy.judge(asked, way, env, now)).collect()
    }

    /// The policies that ask who has signed a card and do not count this one, and why. Each verifies
    /// it with its own root, whatever it was verified with when it was kept.
    pub fn discounting(&self, kept: &Kept, now: i64) -> Vec<(&Path, String)> {
        let asking = self.policies.iter().filter(|policy| policy.document.rules.needs_card());
        asking
            .filter_map(|policy| Some((policy.path.as_path(), policy.discount(kept, now)?)))
            .collect()
    }

    /// The URLs of the lists that are to be fetched before anything is judged.
    pub fn stale(&self, env: &Env) -> Vec<String> {
        let now = seconds(env.now());
        let mut urls: Vec<String> =
            self.policies.iter().flat_map(|policy| policy.stale(env, now)).collect();
        sort(&mut urls);
        urls.dedup();
        urls
    }
}

/// A server that policies are asked about.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The server.
    pub server: &'a Server,
    /// Where its definition is from, and what that says.
    pub resolved: &'a Resolved,
    /// What the command line adds.
    pub overrides: &'a Overrides,
    /// Who had signed the card that it was added from, when that was last looked at.
    pub publisher: Option<&'a Publisher>,
}

/// Stores a list that was fetched, with its bundle. Whether both are any good is seen when the list
/// is used.
pub fn store_list(
    url: &str,
    list: Vec<u8>,
    bundle: Option<Vec<u8>>,
    env: &Env,
) -> Result<(), Fault> {
    Copy { list, bundle, fetched_at: seconds(env.now()) }.store(url, env)
}

/// The documents that a policy relies on, and of when they are.
fn relied_on(subject: &Subject<'_>, lists: &[List], now: i64) -> Vec<String> {
    let card = subject.card.as_ref().map(|card| {
        let time = |age: i64| rfc3339::format(now.saturating_sub(age));
        let verified = card.age.map_or("a time to come".to_owned(), time);
        format!(
            "the card {}, kept, verified with its signer's documents of {verified}",
            card.digest
        )
    });
    let list = |list: &List| match list.fetched_at {
        Some(time) => format!("the list {}, a copy of {}", list.name, rfc3339::format(time)),
        None => format!("the list {}", list.name),
    };
    card.into_iter().chain(lists.iter().map(list)).collect()
}

impl Policy {
    fn judge(
        &self,
        asked: &Asked<'_>,
        way: &Way,
        env: &Env,
        now: i64,
    ) -> Result<Decision, PolicyError> {
        let server = asked.server;
        let lists = self.lists(env, now)?;
        let place = Place::of(server, way);
        let about_cards = |what: &Match| what.needs_card();
        let is_listed = lists.iter().filter_map(|list| list.entries.as_ref().ok()).flatten();
        let needs_card =
            self.document.rules.needs_card() || is_listed.map(|entry| &entry.what).any(about_cards);
        let card = match (&place, needs_card) {
            (Place::Url { url, .. }, true) => self.card(url, env, now)?,
            _ => None,
        };
        let steered_by = self.steering(asked);
        let directory_is_believed = self.believes_directory(asked);
        let listing = self.listing(asked);
        let (name, entry) = (&server.name, asked.resolved.definition.registry.as_deref());
        let publisher = asked.publisher;
        let subject = Subject {
            name,
            place,
            card,
            publisher,
            steered_by,
            directory_is_believed,
            listing,
            entry,
        };
        let Said { admits, rule, line, why, is_unproved } =
            self.document.rules.judge(&subject, &lists);
        let (layer, path) = (self.layer, self.path.clone());
        let relies_on = relied_on(&subject, &lists, now);
        let is_by_words = admits && matches!(rule, Rule::Allow(_));
        let caveat = match &subject.place {
            Place::Command(command) if is_by_words => command.caveat(),
            _ => None,
        };
        let mode = self.document.rules.mode;
        Ok(Decision { layer, path, admits, rule, line, why, is_unproved, relies_on, caveat, mode })
    }

    /// The entry of a registry that the server was added from, as a file says that this policy
    /// believes. What runs with more arguments is not what the registry has.
    fn listing(&self, asked: &Asked<'_>) -> Option<Listing> {
        let is_believed = match asked.resolved.origin.layer() {
            Some(Layer::System) => true,
            Some(Layer::User) => self.layer != Layer::System,
            Some(Layer::Named | Layer::Project) | None => false,
        };
        let definition = &asked.resolved.definition;
        let entry = definition.registry.as_deref().filter(|_| is_believed)?;
        let name = entry.split('@').next().unwrap_or(entry).to_owned();
        let base = definition.registry_url.as_deref().unwrap_or(OFFICIAL_REGISTRY);
        let base = base.trim_end_matches('/').to_owned();
        asked.overrides.args.is_empty().then_some(Listing { base, name })
    }

    /// A variable that decides which code a command runs, and was not set where this policy believes
    /// it: on the command line, in a project's file, or for the administrator in any file but theirs.
    fn steering(&self, asked: &Asked<'_>) -> Option<String> {
        let Endpoint::Stdio(endpoint) = &asked.server.endpoint else { return None };
        let is_believed = self.believes(asked.resolved);
        let given = asked.overrides.env.iter().map(|(name, _)| name.clone());
        let text = |name: &OsStr| name.to_string_lossy().into_owned();
        let set = endpoint.environment.own().map(|(name, _)| text(name));
        // So is what all variables are taken over for.
        let takes_all = asked.overrides.inherit_env || !is_believed;
        let taken_over = endpoint.environment.taken_over().map(text).filter(|_| takes_all);
        let mut names = given.chain(set.filter(|_| !is_believed)).chain(taken_over);
        names.find(|name| chooses_code(name))
    }

    /// Whether it believes who has chosen the directory that a command runs in. Where nobody has, it
    /// is the one where the user happens to be.
    fn believes_directory(&self, asked: &Asked<'_>) -> bool {
        match &asked.resolved.definition.target {
            Target::Stdio(target) if asked.overrides.cwd.is_none() => {
                target.cwd.is_some() && self.believes(asked.resolved)
            }
            _ => false,
        }
    }

    /// Whether this policy believes what a definition says beside the words of its command: that of a
    /// project, or of the command line, it does not, and the administrator's only that of theirs.
    fn believes(&self, resolved: &Resolved) -> bool {
        match resolved.origin.layer() {
            None | Some(Layer::Project) => false,
            Some(layer) => self.layer != Layer::System || layer == Layer::System,
        }
    }

    /// Why it does not count a card, if it does not.
    fn discount(&self, kept: &Kept, now: i64) -> Option<String> {
        let root = match self.root() {
            Ok(root) => root,
            Err(error) => return Some(error.to_string()),
        };
        let refusal = kept.verify(&root, now).err()?;
        Some(match &self.document.trusted_root {
            Some(path) => format!("by its trusted_root {}, {refusal}", path.display()),
            None => format!("it names no trusted_root, and by the built-in one {refusal}"),
        })
    }

    /// The card that was kept for an endpoint, verified as this policy has it.
    fn card(&self, endpoint: &str, env: &Env, now: i64) -> Result<Option<Card>, PolicyError> {
        let kept = Kept::recall(endpoint, env).map_err(PolicyError::Card)?;
        let Some(kept) = kept else { return Ok(None) };
        let (name, version) = name_and_version(&kept.card);
        Ok(Some(Card {
            digest: Digest::of(&kept.card),
            name,
            version,
            verified: kept.verify(&self.root()?, now),
            age: now.checked_sub(kept.verified_at).filter(|age| 0 <= *age),
        }))
    }
}
