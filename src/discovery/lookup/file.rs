//! Documents in files of the user: a card, a document of an older form, or a catalog.

use std::path::Path;

use super::super::catalog::{self, Entry, Kind};
use super::super::claim::Claim;
use super::super::document::{self, Malformed, Object};
use super::super::documents::{Miss, Tried};
use super::super::normalise::normalise;
use super::cards::{claim_of, value_holds};
use super::{Candidate, Findings, Way};
use crate::net::Zone;

/// Reads a file, and keeps what is called by the name that is wanted, if one is. Nothing is fetched:
/// of a card that is elsewhere there is what the catalog says.
pub fn read_file(path: &Path, body: &[u8], wanted: Option<&str>) -> Result<Findings, Malformed> {
    let object = document::read(body)?;
    let mut findings = Findings::default();
    match catalog::read(&object) {
        Ok(catalog) => {
            let is_clear = !document::repeats(body);
            findings.notes.extend(catalog.notes());
            for entry in &catalog.entries {
                match (&entry.place, entry.kind) {
                    (catalog::Place::Data(data), Kind::Card) => {
                        let holds = value_holds(entry, data, is_clear);
                        findings.take_object(data, Some(entry), holds);
                    }
                    (catalog::Place::Url(_), Kind::Card) => {
                        findings.candidates.push(candidate(claim_of(entry), Some(entry), None));
                    }
                    (_, Kind::Catalog) => {
                        findings.notes.push("a catalog that it lists was left out".to_owned());
                    }
                }
            }
        }
        Err(_) => findings.take_object(&object, None, None),
    }
    let shown = path.display();
    findings.notes.iter_mut().for_each(|note| *note = format!("{shown}: {note}"));
    let miss = findings.candidates.is_empty().then_some(Miss::Other("about no server"));
    findings.tried.push(Tried { url: shown.to_string(), miss, is_stored: false });
    findings.keep(wanted);
    Ok(findings)
}

impl Findings {
    /// The servers that an object is about, and whether its hash is the one that is listed.
    fn take_object(&mut self, object: &Object, entry: Option<&Entry>, holds: Option<bool>) {
        let normal = normalise(object, None).unwrap_or_default();
        self.notes.extend(normal.note());
        let claims = normal.claims.into_iter();
        self.candidates.extend(claims.map(|claim| candidate(claim, entry, holds)));
    }
}

fn candidate(claim: Claim, entry: Option<&Entry>, digest_holds: Option<bool>) -> Candidate {
    Candidate {
        claim,
        way: Way::File,
        document: None,
        entry: entry.cloned(),
        catalog: None,
        is_one_of_several: false,
        // The user's own file, which may name anything that the user may.
        zone: Zone::Loopback,
        conflict: None,
        digest_holds,
    }
}
