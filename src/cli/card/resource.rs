//! The card as a resource of the server itself: drafts of the extension had it so until March 2026,
//! and some servers still do.

use serde_json::Value;
use smol::LocalExecutor;

use crate::cli::contact::Contact;
use crate::cli::discover::{self, Asked};
use crate::cli::errors::Error;
use crate::cli::listing;
use crate::cli::run::Run;
use crate::discovery::lookup::Way;
use crate::discovery::normalise::normalise;
use crate::discovery::{Candidate, Claim, Documents, document};
use crate::net::Address;
use crate::protocol::json;
use crate::protocol::method;
use crate::protocol::params::Params;

/// The name of the resource.
const CARD: &str = "mcp://server-card.json";

/// Connects to an endpoint that has published no card, and reads the one among its resources;
/// `None` when it lists none. What it is called is not asked for unless it is listed: to read what is
/// not there is a question to the server's own code.
pub(super) async fn find(
    run: &Run<'_>,
    address: &Address,
    documents: &Documents,
    executor: &LocalExecutor<'static>,
) -> Result<Option<(Candidate, Asked)>, Error> {
    let mut contact = Contact::find(run, address.as_str(), executor)?;
    let read = read(&mut contact, address).await;
    contact.close().await;
    if let Some(error) = run.over() {
        return Err(error);
    }
    let Some((claim, asked)) = read? else { return Ok(None) };
    // Where it cannot be told how near the server is, nothing was read from it either.
    let Ok(zone) = documents.zone(address).await else { return Ok(None) };
    let candidate = Candidate {
        claim,
        way: Way::Resource,
        document: None,
        entry: None,
        catalog: None,
        is_one_of_several: false,
        zone,
        conflict: None,
        digest_holds: None,
    };
    Ok(Some((candidate, asked)))
}

async fn read(
    contact: &mut Contact<'_>,
    address: &Address,
) -> Result<Option<(Claim, Asked)>, Error> {
    let live = discover::live(contact).await?;
    if !live.capabilities.iter().any(|name| name == "resources") {
        return Ok(None);
    }
    let mut is_listed = false;
    let mut look = |page: json::Json| {
        let page = serde_json::from_str::<Value>(page.as_str()).unwrap_or_default();
        let listed = page.get("resources").and_then(Value::as_array);
        is_listed |=
            listed.into_iter().flatten().any(|it| it.get("uri").is_some_and(|it| it == CARD));
        Ok(())
    };
    listing::fetch(contact, method::LIST_RESOURCES, &mut look).await?;
    if !is_listed {
        return Ok(None);
    }
    let params = Params::new().with("uri", json::string(CARD));
    let Ok(result) = contact.try_request(method::READ_RESOURCE, params, Vec::new()).await? else {
        return Ok(None);
    };
    let result = serde_json::from_str::<Value>(result.as_str()).unwrap_or_default();
    let text = result.pointer("/contents/0/text").and_then(Value::as_str).unwrap_or_default();
    let object = document::read(text.as_bytes()).unwrap_or_default();
    let normal = normalise(&object, Some(address)).unwrap_or_default();
    Ok(normal.claims.into_iter().next().map(|claim| {
        let asked = discover::held(&claim, live);
        (claim, asked)
    }))
}
