//! Who has signed the card of a server, and when it is still the same who has.

use serde::{Deserialize, Serialize};

use super::super::signature::Signer;

/// A verified signer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Publisher {
    /// How it was verified: `sigstore`, `did-web`, `key`; `none` when there was no signature.
    pub kind: String,
    /// Who it is, in the words of its kind.
    pub identity: String,
    /// Who vouches for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The URL of the repository whose build has signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The issuer's number for the repository: whoever takes over its name has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository_id: Option<String>,
    /// The issuer's number for the owner of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<String>,
    /// Which key of a domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// The catalog that says so, by its URL; `None` where it lies beside the card. Of no signature it
    /// is where one was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog: Option<String>,
}

/// What a tag is called in the identity of a build.
const TAG: &str = "refs/tags/";

impl Publisher {
    /// That somebody looked for a signature, and there was none.
    pub fn none() -> Publisher {
        Publisher { kind: "none".to_owned(), ..Publisher::default() }
    }

    /// Who has signed, by a signature that holds.
    pub fn of(signer: &Signer) -> Publisher {
        let publisher = |kind: &str, identity: String| Publisher {
            kind: kind.to_owned(),
            identity,
            ..Publisher::default()
        };
        match signer {
            Signer::Certificate(certificate) => Publisher {
                issuer: Some(certificate.issuer.clone()),
                repository: certificate.repository.clone(),
                repository_id: certificate.repository_id.clone(),
                owner_id: certificate.owner_id.clone(),
                ..publisher("sigstore", certificate.identity.clone())
            },
            Signer::Key { spki } => publisher("key", spki.to_string()),
            Signer::DidWeb { did, kid, .. } => {
                Publisher { key_id: Some(kid.clone()), ..publisher("did-web", did.clone()) }
            }
        }
    }

    /// The same, as a catalog says it.
    #[must_use]
    pub fn found_in(self, catalog: Option<&str>) -> Publisher {
        Publisher { catalog: catalog.map(str::to_owned), ..self }
    }

    /// Whether that nothing was found says that this signature is gone: it was looked for where this
    /// one was, which is beside the card or in a catalog that is known. Of others only who knows their
    /// key or catalog can tell.
    pub fn is_missing_from(&self, nothing: &Publisher) -> bool {
        let is_published = self.kind == "sigstore" || self.catalog.is_some();
        nothing.is_none() && is_published && self.catalog == nothing.catalog
    }

    /// Whether both are the same signer, wherever that stands.
    pub fn is(&self, other: &Publisher) -> bool {
        self.clone().found_in(None) == other.clone().found_in(None)
    }

    /// Whether there was no signature.
    pub fn is_none(&self) -> bool {
        self.kind == "none"
    }

    /// Whether another signature is of the same publisher: of the same build in the same repository,
    /// by the numbers that the issuer has given to it and its owner. It may be of another release, and
    /// the repository may have another name by now.
    ///
    /// Anybody who may write to a repository may have a build run on a branch of his own, so that one
    /// branch does not stand for another, nor a branch for a tag.
    pub fn released_again(&self, later: &Publisher) -> bool {
        let numbers = |it: &Publisher| (it.repository_id.clone(), it.owner_id.clone());
        let is_numbered = self.repository_id.is_some() && self.owner_id.is_some();
        let (build, tag) = self.build();
        let (later_build, later_tag) = later.build();
        is_numbered
            && numbers(self) == numbers(later)
            && (&self.kind, &self.issuer) == (&later.kind, &later.issuer)
            && build == later_build
            && (tag == later_tag || tag.starts_with(TAG) && later_tag.starts_with(TAG))
    }

    /// The build that has signed, without the repository that it is in if that is the one that it was
    /// run for, and the branch or tag.
    fn build(&self) -> (&str, &str) {
        let (path, place) = match self.identity.rsplit_once('@') {
            Some((path, place)) if place.starts_with("refs/") => (path, place),
            _ => (self.identity.as_str(), ""),
        };
        let own = self.repository.as_deref().and_then(|it| path.strip_prefix(it));
        (own.filter(|rest| rest.starts_with('/')).unwrap_or(path), place)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::signature::Certificate;
    use super::*;
    use crate::config::Digest;

    #[test]
    fn publishers_are_kept_with_what_survives_a_new_name() {
        let certificate = Certificate {
            identity: "https://github.com/acme/x".into(),
            issuer: "https://token.example".into(),
            repository: None,
            repository_id: Some("4711".into()),
            owner_id: Some("42".into()),
            serial: "1".into(),
        };
        let (did, kid) = ("did:web:a.example".to_owned(), "did:web:a.example#k1".to_owned());
        let spki = Digest::of(b"key");
        let key = format!(r#"{{"kind":"key","identity":"{spki}"}}"#);
        for (signer, expected) in [
            (
                Signer::Certificate(certificate),
                r#"{"kind":"sigstore","identity":"https://github.com/acme/x","issuer":"https://token.example","repositoryId":"4711","ownerId":"42"}"#,
            ),
            (
                Signer::DidWeb { did, kid, publishes: true },
                r#"{"kind":"did-web","identity":"did:web:a.example","keyId":"did:web:a.example#k1"}"#,
            ),
            (Signer::Key { spki }, key.as_str()),
        ] {
            assert_eq!(serde_json::to_string(&Publisher::of(&signer)).unwrap(), expected);
        }
    }

    /// A build of a repository, as GitHub names it: `OWNER/NAME FILE REF`, and the numbers of both.
    fn publisher(build: &str, repository_id: &str, owner_id: &str) -> Publisher {
        let parts: Vec<_> = build.split(' ').collect();
        let repository = format!("https://github.com/{}", parts[0]);
        let given = |id: &str| Some(id.to_owned()).filter(|id| !id.is_empty());
        Publisher {
            kind: "sigstore".into(),
            identity: format!("{repository}/.github/workflows/{}@{}", parts[1], parts[2]),
            issuer: Some("https://token.example".into()),
            repository: Some(repository),
            repository_id: given(repository_id),
            owner_id: given(owner_id),
            ..Publisher::default()
        }
    }

    #[test]
    fn another_release_is_of_the_same_publisher() {
        let was = publisher("acme/weather release.yml refs/tags/v1.2.0", "4711", "42");
        let check = |later: Publisher, expected: bool| {
            assert_eq!(was.released_again(&later), expected, "{later:?}");
        };
        check(publisher("acme/weather release.yml refs/tags/v1.3.0", "4711", "42"), true);
        check(publisher("acme/forecast release.yml refs/tags/v1.3.0", "4711", "42"), true);
        check(publisher("other/weather release.yml refs/tags/v1.3.0", "4711", "42"), true);
        // A name that somebody else has taken, or that was sold.
        check(publisher("acme/weather release.yml refs/tags/v1.2.0", "4712", "42"), false);
        check(publisher("acme/weather release.yml refs/tags/v1.2.0", "4711", "43"), false);
        check(publisher("acme/weather release.yml refs/tags/v1.2.0", "4711", ""), false);
        // What anybody may do who may write to the repository.
        for place in ["refs/heads/main", "refs/pull/1/merge", "v1.3.0", "refs/tagsv1", ""] {
            let later = publisher(&format!("acme/weather release.yml {place}"), "4711", "42");
            check(later, false);
        }
        check(publisher("acme/weather other.yml refs/tags/v1.3.0", "4711", "42"), false);
        // A build that lies in a third repository is the same only under the same name.
        let moved = publisher("evil/builds release.yml refs/tags/v1.3.0", "4711", "42");
        let repository = Some("https://github.com/acme/weather".to_owned());
        check(Publisher { repository, ..moved }, false);
        let later = publisher("acme/weather release.yml refs/tags/v1.3.0", "4711", "42");
        check(Publisher { issuer: Some("https://other.example".into()), ..later.clone() }, false);
        check(Publisher { kind: "did-web".into(), ..later }, false);
    }

    #[test]
    fn what_is_gone_was_looked_for_where_it_was() {
        let signed = |kind: &str, catalog: &str| {
            let catalog = Some(catalog).filter(|it| !it.is_empty());
            Publisher { kind: kind.into(), ..Publisher::none() }.found_in(catalog)
        };
        for (kind, catalog, looked_in, expected) in [
            ("sigstore", "", "", true),
            ("sigstore", "", "c", false),
            ("sigstore", "c", "", false),
            ("sigstore", "c", "c", true),
            ("did-web", "c", "c", true),
            ("did-web", "c", "", false),
            ("did-web", "", "", false),
            ("key", "", "", false),
        ] {
            let (was, nothing) = (signed(kind, catalog), signed("none", looked_in));
            assert_eq!(was.is_missing_from(&nothing), expected, "{was:?} {nothing:?}");
            assert!(!nothing.is_missing_from(&was), "{was:?}");
        }
        assert!(signed("sigstore", "c").is(&signed("sigstore", "")));
        assert!(!signed("sigstore", "c").is(&signed("key", "c")));
    }

    #[test]
    fn without_the_numbers_only_the_name_counts() {
        let one = publisher("acme/weather release.yml refs/tags/v1", "", "");
        let other = publisher("acme/weather release.yml refs/tags/v2", "", "");
        assert!(!one.released_again(&other));
        let mail = |identity: &str| Publisher { identity: identity.into(), ..Publisher::none() };
        assert!(!mail("a@example.com").released_again(&mail("b@example.com")));
        // One branch does not stand for another.
        let branch = |name| publisher(&format!("acme/weather release.yml {name}"), "1", "2");
        assert!(branch("refs/heads/main").released_again(&branch("refs/heads/main")));
        assert!(!branch("refs/heads/main").released_again(&branch("refs/heads/evil")));
        assert!(!branch("refs/heads/main").released_again(&branch("refs/tags/v1")));
    }
}
