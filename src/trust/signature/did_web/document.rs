//! The keys of a domain, as it publishes them (DID Core, section 5.3.2), and whether they still
//! count (Controlled Identifiers 1.0, section 2.2: `revoked`, `expires`).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::super::refusal::{Part, Refusal};
use super::super::unambiguous;
use super::{DOCUMENT_LIMIT, text};
use crate::protocol::rfc3339;
use crate::protocol::tree::Tree;

/// The length of a coordinate of P-256, in bytes.
const COORDINATE: usize = 32;

/// The point of the P-256 key that a domain lists for assertions under this name, at this time (in
/// seconds since 1970).
pub(super) fn assertion_key(
    document: &[u8],
    did: &str,
    kid: &str,
    now: i64,
) -> Result<Vec<u8>, Refusal> {
    let (_, tree) = unambiguous(document, Part::DidDocument, DOCUMENT_LIMIT)?;
    find(&tree, did, kid, now).map_err(|reason| Refusal::NoSuchKey {
        did: did.to_owned(),
        kid: kid.to_owned(),
        reason,
    })
}

fn find(document: &Tree<'_>, did: &str, kid: &str, now: i64) -> Result<Vec<u8>, String> {
    let id = text(document, "id").unwrap_or_default();
    if id != did {
        return Err(format!("its document is that of \"{id}\""));
    }
    // DID Core has this in the metadata of a resolver, which did:web has none of.
    if document.get("deactivated").is_some_and(|it| !it.is_literal("false")) {
        return Err("its document is deactivated".to_owned());
    }
    // An identifier may be written relative to that of the document.
    let absolute = |id: String| if id.starts_with('#') { format!("{did}{id}") } else { id };
    let is_wanted = |method: &&Tree<'_>| text(method, "id").is_some_and(|id| absolute(id) == kid);
    let list = |name: &str| document.get(name).map(Tree::elements).unwrap_or_default();
    let named = list("assertionMethod").iter().filter_map(Tree::as_text);
    let is_named = named.map(|name| absolute(name.into_owned())).any(|name| name == kid);
    let embedded = list("assertionMethod").iter().filter(is_wanted);
    let referenced = list("verificationMethod").iter().filter(is_wanted);
    let mut methods: Vec<&Tree<'_>> = embedded.collect();
    if is_named {
        methods.extend(referenced);
    }
    match methods[..] {
        [method] => still_counts(method, now).and_then(|()| point(method, did)),
        [] if is_named => Err("it lists the key for assertions and does not describe it".into()),
        [] => Err("it does not list the key for assertions".into()),
        _ => Err("it describes the key more than once".into()),
    }
}

/// Whether a verification method is neither revoked nor expired. A time that cannot be read may have
/// come.
fn still_counts(method: &Tree<'_>, now: i64) -> Result<(), String> {
    for (name, happened) in [("revoked", "was revoked"), ("expires", "expired")] {
        let Some(value) = method.get(name) else { continue };
        let written = value.as_text().ok_or(format!("the {name} of the key is no time"))?;
        match rfc3339::parse(&written) {
            Some(moment) if now < moment => {}
            Some(moment) => {
                return Err(format!("the key {happened} at {}", rfc3339::format(moment)));
            }
            None => return Err(format!("the {name} of the key, \"{written}\", is no time")),
        }
    }
    Ok(())
}

/// The key of a verification method, in the uncompressed form (SEC 1, section 2.3.3).
fn point(method: &Tree<'_>, did: &str) -> Result<Vec<u8>, String> {
    let controller = text(method, "controller").unwrap_or_default();
    if controller != did {
        return Err(format!("the key is controlled by \"{controller}\""));
    }
    let jwk = method.get("publicKeyJwk").ok_or("the key is not given as a JWK")?;
    for (name, wanted) in [("kty", "EC"), ("crv", "P-256")] {
        let found = text(jwk, name).unwrap_or_default();
        if found != wanted {
            return Err(format!("the {name} of the key is \"{found}\", not \"{wanted}\""));
        }
    }
    if jwk.get("d").is_some() {
        return Err("the private key is published, so anybody may sign".into());
    }
    let coordinate = |name: &str| {
        let bytes = text(jwk, name).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
        bytes.filter(|bytes| bytes.len() == COORDINATE).ok_or("the key is not a point of P-256")
    };
    const UNCOMPRESSED: u8 = 4;
    Ok([vec![UNCOMPRESSED], coordinate("x")?, coordinate("y")?].concat())
}
