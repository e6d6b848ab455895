//! `mcpmini card verify`: whether a card was signed by whom the user names.

mod evidence;

use std::path::Path;

use crate::cli::args::Format;
use crate::cli::args::discovery_commands::Card;
use crate::cli::config::file::only_file;
use crate::cli::consent::hold_publisher;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::originals::{Originals, Place, Wanted as Asked};
use crate::cli::output;
use crate::cli::policy;
use crate::cli::run::Run;
use crate::cli::signed::{self, Report};
use crate::cli::sources;
use crate::config::{self, Layer};
use crate::discovery::lookup::{CARD_LIMIT, CARD_TYPES};
use crate::discovery::place::card_beside;
use crate::net::{Address, Policy, Source};
use crate::trust::pins::Publisher;
use crate::trust::policy::{Kept, seconds};
use crate::trust::signature::sigstore::TrustRoot;
use crate::trust::signature::{
    Covers, Evidence, PublicKey, Refusal, Step, Verified, Wanted, verify_by_key_alone,
};

/// Verifies who has signed a card, and prints what that says and what it does not.
pub(super) async fn run(run: &Run<'_>, card: &Card) -> Result<Exit, Error> {
    let command = Command::read(run, card)?;
    let asked = Asked {
        what: "the card",
        accept: CARD_TYPES,
        limit: card.max_card_bytes.unwrap_or(CARD_LIMIT),
        source: Source::User,
    };
    let bytes = command.documents.get(&command.place, asked).await?;
    let (evidence, whence) = command.evidence(&bytes).await?;
    let now = seconds(run.env.now());
    let verified = command.verify(&bytes, &evidence, now)?;
    let url = command.place.url().map(str::to_owned);
    let kept = Kept { card: bytes, url, evidence, verified_at: now };
    let remembered = match card.remember {
        true => kept.keep(run.env).map_err(|unkept| {
            let text = format!("the card is signed, and cannot be kept: {unkept}");
            Error::new(Exit::Config, text).phase(Phase::Config)
        })?,
        false => Vec::new(),
    };
    if card.remember {
        tell_who_discounts(run, &kept, now);
    }
    let report = Report {
        place: &command.place.to_string(),
        card: &kept.card,
        verified: &verified,
        whence: &whence,
        root: command.root_name.as_deref(),
        remembered: &remembered,
    };
    match run.settings.output {
        Format::Json => output::write_line(run, &report.json())?,
        _ => output::write(run, report.text().as_bytes())?,
    }
    match kept.url.as_deref().filter(|_| verified.covers != Covers::UrlOnly) {
        Some(url) => {
            // A catalog in a file is not where others would look.
            let catalog = whence.catalog().filter(|place| Address::parse(place).is_ok());
            let publisher = Publisher::of(&verified.signer).found_in(catalog);
            hold(run, url, &publisher)
        }
        None => Ok(Exit::Ok),
    }
}

/// Tells for which policies a card that is kept does not count, since they verify it with a root of
/// their own.
fn tell_who_discounts(run: &Run<'_>, kept: &Kept, now: i64) {
    // Policies that cannot be read are told when they are asked.
    let Ok(policies) = policy::load(run) else { return };
    for (path, why) in policies.discounting(kept, now) {
        let path = path.display();
        run.warn(&format!("the card is kept, and the policy {path} does not count it: {why}"));
    }
}

/// Holds who has signed against who had signed when the servers were added that were made from this
/// card.
fn hold(run: &Run<'_>, url: &str, publisher: &Publisher) -> Result<Exit, Error> {
    let overrides = only_file(run);
    let (servers, _) = config::list(run.env, &overrides);
    for server in servers {
        let word = format!("{}:{}", server.layer, server.name);
        let word = if server.layer == Layer::Named { server.name.clone() } else { word };
        let Ok(resolved) = config::resolve(&word, run.env, &overrides) else { continue };
        let card = resolved.definition.card.as_ref().filter(|card| card.entry.is_none());
        if card.is_some_and(|card| card.url == url) {
            hold_publisher(run, &resolved, &overrides, publisher.clone())?;
        }
    }
    Ok(Exit::Ok)
}

/// What the command line asks for, with the files that it names.
struct Command<'a> {
    card: &'a Card,
    documents: Originals<'a>,
    /// Where the card is.
    place: Place,
    /// Where the bundle is, if the command line says so.
    bundle: Option<Place>,
    wanted: Wanted,
    key: Option<PublicKey>,
    root: TrustRoot,
    /// Whose authorities and logs are trusted; `None` when none are needed.
    root_name: Option<String>,
}

impl<'a> Command<'a> {
    fn read(run: &'a Run<'a>, card: &'a Card) -> Result<Command<'a>, Error> {
        let key = card.public_key.as_deref().map(|path| public_key(run, path)).transpose()?;
        let wanted = wanted(run, card, key.as_ref())?;
        let (root, root_name) = signed::root(run, card.trusted_root.as_deref())?;
        let policy =
            Policy { allow_private: run.access.allow_private, allow_http: card.allow_http };
        Ok(Command {
            card,
            documents: Originals::new(run, policy, card.offline),
            place: place_of_card(run, card.place())?,
            bundle: card.bundle.as_deref().map(|word| Place::parse(run, word)).transpose()?,
            root_name: Some(root_name).filter(|_| !matches!(wanted, Wanted::DidWeb { .. })),
            wanted,
            key,
            root,
        })
    }

    fn verify(&self, card: &[u8], evidence: &Evidence, now: i64) -> Result<Verified, Error> {
        let verified = match (evidence, &self.key) {
            (Evidence::Bundle { bundle, .. }, Some(key)) if self.card.without_log => {
                verify_by_key_alone(card, bundle, key, &self.root)
            }
            _ => evidence.verify(card, self.place.url(), &self.root, now),
        };
        let required = verified.and_then(|verified| {
            verified.require(&self.wanted)?;
            Ok(verified)
        });
        required.map_err(|refusal| {
            let error = untrusted(format!("{} is not verified: {refusal}", self.place));
            match refusal {
                Refusal::Step { step: Step::Log | Step::Certificate | Step::Time, .. } => {
                    let root = self.root_name.as_deref().unwrap_or_default();
                    error.hint(format!("trusted was {root}; --trusted-root FILE names others"))
                }
                Refusal::NotLogged => error.hint(
                    "--without-log takes the word of the key alone; better is a bundle that \
                     `cosign sign-blob` has entered into a log",
                ),
                _ => error,
            }
        })
    }
}

/// Who must have signed.
fn wanted(run: &Run<'_>, card: &Card, key: Option<&PublicKey>) -> Result<Wanted, Error> {
    let issuer = run.access.issuer.as_ref();
    match (&card.identity, issuer, key, &card.did) {
        (Some(identity), Some(issuer), ..) => {
            Ok(Wanted::Certificate { identity: identity.clone(), issuer: issuer.clone() })
        }
        (Some(_), None, ..) => {
            Err(usage("--identity needs --issuer, which vouches for the identity".to_owned()))
        }
        (None, Some(_), ..) => Err(usage("--issuer needs --identity".to_owned())),
        (None, None, Some(key), _) => Ok(Wanted::Key { spki: key.digest() }),
        (None, None, None, Some(did)) => Ok(Wanted::DidWeb { did: did.clone() }),
        (None, None, None, None) => Err(usage(
            "say who must have signed: --identity ID --issuer URL, --public-key FILE or --did DID"
                .to_owned(),
        )),
    }
}

fn public_key(run: &Run<'_>, path: &Path) -> Result<PublicKey, Error> {
    let text = sources::text_file(run, path, "--public-key")?;
    PublicKey::from_pem(text.as_bytes()).map_err(|invalid| {
        let text = format!("--public-key {}: {invalid}", path.display());
        Error::new(Exit::Config, text).phase(Phase::Config)
    })
}

/// Where the card is: the URL of a server stands for that of the card beside it.
fn place_of_card(run: &Run<'_>, word: &str) -> Result<Place, Error> {
    let card = word.strip_prefix("card:");
    let place = Place::parse(run, card.unwrap_or(word))?;
    let Place::Url(address) = &place else { return Ok(place) };
    let path = address.as_str().split('?').next().unwrap_or_default();
    if card.is_some() || path.ends_with(".json") || path.ends_with("/server-card") {
        return Ok(place);
    }
    Ok(Place::Url(card_beside(address)))
}

fn untrusted(text: String) -> Error {
    Error::new(Exit::Trust, text).phase(Phase::Trust)
}

fn usage(text: String) -> Error {
    Error::new(Exit::Usage, text).phase(Phase::Usage)
}
