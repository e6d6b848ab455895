//! The card as a resource of the server, as drafts of the extension had it.

use serde_json::Value;

use super::messages::mute;
use super::probe::NoAnswer;
use super::site::Site;
use crate::protocol::method;

/// The name of the resource.
pub(super) const CARD: &str = "mcp://server-card.json";

/// How many pages of the list are looked at.
const PAGES: usize = 10;

/// The text of the card; `None` when the server does not list it. It is read only if it is listed:
/// to read what is not there is a question to the server's own code.
pub(super) async fn card(site: &Site) -> Result<Option<String>, NoAnswer> {
    if mute(site).is_some() || !is_listed(site).await? {
        return Ok(None);
    }
    let answer = site.ask(&site.request(method::READ_RESOURCE, &[("uri", CARD)])).await?;
    let contents = answer.result().and_then(|result| result.get("contents")?.as_array());
    let texts = contents.into_iter().flatten().filter_map(|it| it.get("text")?.as_str());
    // What is listed and cannot be read is a card without content.
    Ok(Some(texts.map(str::to_owned).next().unwrap_or_default()))
}

async fn is_listed(site: &Site) -> Result<bool, NoAnswer> {
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let params: Vec<(&str, &str)> = cursor.iter().map(|it| ("cursor", it.as_str())).collect();
        let answer = site.ask(&site.request(method::LIST_RESOURCES, &params)).await?;
        let Some(result) = answer.result() else { return Ok(false) };
        let listed = result.get("resources").and_then(Value::as_array);
        let mut uris = listed.into_iter().flatten().filter_map(|it| it.get("uri")?.as_str());
        if uris.any(|uri| uri == CARD) {
            return Ok(true);
        }
        cursor = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        if cursor.is_none() {
            return Ok(false);
        }
    }
    Ok(false)
}
