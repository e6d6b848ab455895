//! What is to say who has signed the card, fetched from where it is.

use super::{Command, untrusted, usage};
use crate::cli::errors::Error;
use crate::cli::originals::{Place, Wanted as Asked};
use crate::cli::signed::{self, DID_DOCUMENT};
use crate::cli::whence::Whence;
use crate::config::Digest;
use crate::discovery::attestation::{Attestation, Whereabouts};
use crate::discovery::lookup::CATALOG_TYPES;
use crate::discovery::{catalog, document};
use crate::net::{Address, Source, Zone};
use crate::trust::signature::{BUNDLE_LIMIT, BUNDLE_SUFFIX, Evidence, Wanted, did_web};

impl Command<'_> {
    /// Gets what is to say who has signed the card, and tells where it was.
    pub(super) async fn evidence(&self, card: &[u8]) -> Result<(Evidence, Whence), Error> {
        match &self.wanted {
            Wanted::DidWeb { did } => self.manifest(did).await,
            Wanted::Certificate { .. } | Wanted::Key { .. } => {
                let (bundle, whence) = self.bundle(card).await?;
                Ok((Evidence::Bundle { bundle, key: self.key.clone() }, whence))
            }
        }
    }

    /// The bundle that the command line names, else one that its catalog names, else the one beside
    /// the card.
    async fn bundle(&self, card: &[u8]) -> Result<(Vec<u8>, Whence), Error> {
        if let Some(place) = &self.bundle {
            let bundle = self.documents.get(place, of_bundle(Source::User)).await?;
            return Ok((bundle, Whence::Named(place.to_string())));
        }
        if let Some(word) = &self.card.catalog {
            let place = Place::parse(self.documents.run(), word)?;
            if let Some(found) = self.attested(&place, card).await? {
                return Ok(found);
            }
        }
        let place = self.place.with_suffix(BUNDLE_SUFFIX);
        let found = self.documents.find(&place, of_bundle(Source::User)).await?;
        let bundle = found.ok_or_else(|| {
            let text = format!("{} is not signed: there is no bundle at {place}", self.place);
            untrusted(text).hint("--bundle says where it is")
        })?;
        Ok((bundle, Whence::Beside(place.to_string())))
    }

    /// The first bundle for the card that a catalog names, and that is there.
    async fn attested(
        &self,
        place: &Place,
        card: &[u8],
    ) -> Result<Option<(Vec<u8>, Whence)>, Error> {
        let (bytes, source) = self.documents.get_with_source(place, CATALOG).await?;
        let unread = |why: String| untrusted(format!("the catalog {place} cannot be read: {why}"));
        let object = document::read(&bytes).map_err(|why| unread(why.to_string()))?;
        let listed = catalog::read(&object).map_err(|why| unread(why.to_string()))?;
        let digest = Digest::of(card).to_string();
        let absolute = |url: &str| match place {
            Place::Url(base) => base.join(url).ok(),
            Place::File { .. } => Address::parse(url).ok(),
        };
        let is_meant = |entry: &&catalog::Entry| match &entry.place {
            catalog::Place::Url(url)
                if absolute(url).is_some_and(|it| Some(it.as_str()) == self.place.url()) =>
            {
                true
            }
            _ => entry.digest.as_ref() == Some(&digest),
        };
        for attestation in listed.entries.iter().filter(is_meant).flat_map(|it| &it.attestations) {
            let Some(bundle) = self.bundle_of(attestation, source).await? else { continue };
            if !attestation.is(&bundle) {
                let uri = attestation.place();
                let text = format!("{uri} is not the bundle that {place} means: another hash");
                return Err(untrusted(text));
            }
            let (uri, catalog) = (attestation.place().to_owned(), place.to_string());
            return Ok(Some((bundle, Whence::Attestation { uri, catalog })));
        }
        Ok(None)
    }

    async fn bundle_of(
        &self,
        attestation: &Attestation,
        source: Source,
    ) -> Result<Option<Vec<u8>>, Error> {
        match attestation.whereabouts() {
            Some(Whereabouts::Here(bundle)) => Ok(Some(bundle)),
            // The user has named the catalog, and not what it leads to.
            Some(Whereabouts::Url(address)) => {
                let place = Place::Url(address);
                self.documents.find(&place, of_bundle(source)).await
            }
            None => Err(untrusted(format!("{:?} is no place of a bundle", attestation.place()))),
        }
    }

    /// Gets the catalog that is said to be signed by the owner of a domain, and the domain's keys.
    async fn manifest(&self, did: &str) -> Result<(Evidence, Whence), Error> {
        let urls = did_web::catalog_url(did).zip(did_web::document_url(did));
        let (catalog, keys) =
            urls.ok_or_else(|| usage(format!("--did {did}: not did:web:DOMAIN")))?;
        let address = |url: &str| Address::parse(url).expect("the URL of a domain is one");
        let place = match &self.card.catalog {
            Some(word) => Place::parse(self.documents.run(), word)?,
            None => Place::Url(address(&catalog)),
        };
        let catalog = self.documents.get(&place, CATALOG).await?;
        let (keys, source) = match &self.card.did_document {
            Some(path) => (Place::file(self.documents.run(), path), Source::User),
            // Whoever wrote the catalog has chosen no part of this URL, but the user has not seen it.
            None => (Place::Url(address(&keys)), Source::Document(Zone::Public)),
        };
        let asked = Asked {
            what: "the domain's keys",
            accept: DID_DOCUMENT,
            limit: did_web::DOCUMENT_LIMIT,
            source,
        };
        let document = self.documents.get(&keys, asked).await?;
        let whence = Whence::Manifest { catalog: place.to_string() };
        Ok((Evidence::Manifest { catalog, document }, whence))
    }
}

const CATALOG: Asked = Asked {
    what: "the catalog",
    accept: CATALOG_TYPES,
    limit: did_web::CATALOG_LIMIT,
    source: Source::User,
};

fn of_bundle(source: Source) -> Asked {
    Asked { what: "the bundle", accept: signed::BUNDLE, limit: BUNDLE_LIMIT, source }
}
