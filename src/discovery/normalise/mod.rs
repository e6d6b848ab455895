//! From the many forms of documents about servers to one.
//!
//! ```text
//! v1   remotes                        L3  url, endpoint or serverUrl at the top
//! L1   serverInfo and transport       L4  a list: servers
//! L2   endpoints                      L5  a configuration: mcpServers
//! L7   v1 with members of L1          L6  no endpoint, but a pointer to the card
//! ```
//! The forms L1 to L7 are what hosts published before there was a standard, and most do still. A
//! reader finds the form by the members that only this form has.

mod parts;
#[cfg(test)]
mod tests;

use serde_json::Value;

use self::parts::{headers, hints};
pub(super) use self::parts::{input, inputs};
use super::claim::{Binding, Claim, Form, Remark, Remote};
use super::document::{Object, object, text, texts};
use crate::net::Address;
use crate::protocol::sorting::sort_by;

/// The most servers that one document may list.
const SERVERS: usize = 1000;

/// What a document says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Normal {
    /// The servers that it is about.
    pub claims: Vec<Claim>,
    /// How many servers it lists, of which only the first are in there.
    pub listed: usize,
    /// Where the card is, when the document points to one.
    pub pointer: Option<String>,
}

impl Normal {
    /// What people should know who take the servers for all that there are.
    pub fn note(&self) -> Option<String> {
        let listed = self.listed;
        let told = format!("it lists {listed} servers, and only the first {SERVERS} are shown");
        (SERVERS < listed).then_some(told)
    }
}

/// Brings a document into one form. `base` is where it came from; endpoints may be relative to it.
/// `None` when the document is about no server.
pub fn normalise(document: &Object, base: Option<&Address>) -> Option<Normal> {
    let reader = Reader { base };
    let pointer = text(document, &["serverCard", "server_card", "manifest", "card"]);
    let mut listed = 1;
    let claims = if document.get("remotes").is_some_and(Value::is_array) || is_card(document) {
        vec![reader.card(document)]
    } else if let Some(servers) = document.get("servers").and_then(Value::as_array) {
        listed = servers.len();
        servers
            .iter()
            .take(SERVERS)
            .filter_map(Value::as_object)
            .map(|one| reader.listed(one))
            .collect()
    } else if let Some(servers) = object(document, &["mcpServers"]) {
        listed = servers.len();
        reader.configured(servers)
    } else if let Some(endpoints) = object(document, &["endpoints"]) {
        vec![reader.manifest(document, endpoints)]
    } else if document.get("serverInfo").is_some_and(Value::is_object) {
        vec![reader.flat(document, Form::Draft)]
    } else if has_endpoint(document) {
        vec![reader.flat(document, Form::Flat)]
    } else if pointer.is_some() {
        vec![]
    } else {
        return None;
    };
    Some(Normal { claims, listed, pointer })
}

/// What a registry says about a server, whose endpoints are never relative.
pub(super) fn of_registry(server: &Object) -> Claim {
    Claim { form: Form::Registry, ..Reader { base: None }.card(server) }
}

/// Whether the schema or the members are those of a v1 card without remotes.
fn is_card(document: &Object) -> bool {
    let schema = text(document, &["$schema"]).unwrap_or_default();
    let is_complete =
        ["name", "version", "description"].iter().all(|name| document.contains_key(*name));
    schema.contains("/server-card.schema.json")
        || is_complete
            && !has_endpoint(document)
            && !["serverInfo", "endpoints", "mcpServers", "servers", "serverCard", "server_card"]
                .iter()
                .any(|name| document.contains_key(*name))
}

const ENDPOINTS: [&str; 5] = ["url", "endpoint", "serverUrl", "server_url", "mcp_endpoint"];

fn has_endpoint(document: &Object) -> bool {
    let of_transport = object(document, &["transport"]);
    text(document, &ENDPOINTS).is_some()
        || of_transport.is_some_and(|transport| text(transport, &ENDPOINTS).is_some())
}

struct Reader<'a> {
    base: Option<&'a Address>,
}

impl Reader<'_> {
    /// v1, and v1 with members of the first draft (L7).
    fn card(&self, document: &Object) -> Claim {
        let is_hybrid = ["serverInfo", "transport", "endpoints", "capabilities", "tools"]
            .iter()
            .any(|name| document.contains_key(*name));
        let mut claim = self.identity(document, if is_hybrid { Form::Hybrid } else { Form::Card });
        let remotes = document.get("remotes").and_then(Value::as_array);
        for (at, remote) in remotes.into_iter().flatten().enumerate() {
            match remote.as_object() {
                Some(remote) => self.remote(remote, &mut claim),
                None => claim.remarks.push(Remark::Ignored { member: format!("remotes[{at}]") }),
            }
        }
        claim
    }

    fn remote(&self, remote: &Object, claim: &mut Claim) {
        let kind = text(remote, &["type", "transport_type", "transport"]);
        let Some(url) = text(remote, &["url"]) else {
            claim.remarks.push(Remark::Ignored { member: "a remote without url".to_owned() });
            return;
        };
        self.endpoint(claim, kind.as_deref(), &url, |endpoint| {
            endpoint.headers = headers(remote);
            endpoint.variables = inputs(remote.get("variables"));
            endpoint.versions = texts(remote, &["supportedProtocolVersions"]);
        });
    }

    /// L2.
    fn manifest(&self, document: &Object, endpoints: &Object) -> Claim {
        let mut claim = self.identity(document, Form::Manifest);
        for (kind, endpoint) in endpoints {
            let url = match endpoint {
                Value::String(url) => Some(url.clone()),
                Value::Object(endpoint) => text(endpoint, &ENDPOINTS),
                _ => None,
            };
            match (url, Binding::named(kind)) {
                (Some(url), Some(_)) => self.endpoint(&mut claim, Some(kind), &url, |_| ()),
                // Others name documents there, which are no endpoints.
                _ => claim.remarks.push(Remark::Ignored { member: format!("endpoints.{kind}") }),
            }
        }
        // Streamable HTTP first, whatever stands first.
        let last = |remote: &Remote| remote.binding == Binding::Sse;
        sort_by(&mut claim.remotes, |one, other| last(one).cmp(&last(other)));
        claim
    }

    /// L1, L3, and one server of L4 or L5.
    fn flat(&self, document: &Object, form: Form) -> Claim {
        let mut claim = self.identity(document, form);
        self.transports(document, &mut claim);
        claim
    }

    /// One server of L4, which may be a card itself.
    fn listed(&self, server: &Object) -> Claim {
        let server = object(server, &["server"]).unwrap_or(server);
        if server.contains_key("command") {
            let name = text(server, &["name"]).unwrap_or_default();
            let mut claim = self.identity(server, Form::Listed);
            claim.remarks.push(Remark::Command { entry: name });
            return claim;
        }
        match normalise(server, self.base) {
            Some(Normal { mut claims, .. }) if claims.len() == 1 => {
                let claim = claims.remove(0);
                let form = if claim.form.is_current() { claim.form } else { Form::Listed };
                Claim { form, ..claim }
            }
            _ => self.identity(server, Form::Listed),
        }
    }

    /// L5.
    fn configured(&self, servers: &Object) -> Vec<Claim> {
        let claim = |(name, server): (&String, &Value)| {
            let Some(server) = server.as_object() else {
                let member = format!("mcpServers.{name}");
                return Claim {
                    form: Form::Config,
                    name: Some(name.clone()),
                    remarks: vec![Remark::Ignored { member }],
                    ..Claim::default()
                };
            };
            let mut claim = self.flat(server, Form::Config);
            claim.name = Some(name.clone());
            if server.contains_key("command") {
                claim.remotes.clear();
                claim.remarks.push(Remark::Command { entry: name.clone() });
            }
            claim
        };
        servers.iter().take(SERVERS).map(claim).collect()
    }

    /// The endpoints of `transport`, `transports` and of the top.
    fn transports(&self, document: &Object, claim: &mut Claim) {
        let at_top = text(document, &ENDPOINTS);
        match document.get("transport").or(document.get("transports")) {
            Some(Value::Object(transport)) => {
                let kind = text(transport, &["type"]);
                if let Some(url) = text(transport, &ENDPOINTS).or(at_top) {
                    self.endpoint(claim, kind.as_deref(), &url, |_| ());
                }
            }
            Some(Value::Array(several)) => {
                for one in several {
                    let kind = one.as_str().map(str::to_owned);
                    let of_object = one.as_object();
                    let kind = kind.or_else(|| text(of_object?, &["type"]));
                    let url = of_object.and_then(|one| text(one, &ENDPOINTS));
                    if let Some(url) = url.or(at_top.clone()) {
                        self.endpoint(claim, kind.as_deref(), &url, |_| ());
                    }
                }
            }
            word => {
                let kind = word.and_then(Value::as_str).map(str::to_owned);
                let kind = kind.or_else(|| text(document, &["type"]));
                if let Some(url) = at_top {
                    self.endpoint(claim, kind.as_deref(), &url, |_| ());
                }
            }
        }
    }

    /// Adds an endpoint, if it can be used.
    fn endpoint(
        &self,
        claim: &mut Claim,
        kind: Option<&str>,
        url: &str,
        more: impl FnOnce(&mut Remote),
    ) {
        let binding = match kind {
            None => Some(Binding::Http),
            Some(kind) => Binding::named(kind),
        };
        let Some(binding) = binding else {
            let kind = kind.unwrap_or_default().to_owned();
            claim.remarks.push(Remark::Transport { kind });
            return;
        };
        match self.absolute(url) {
            Ok(url) => {
                let mut remote = Remote { binding, url, ..Remote::default() };
                more(&mut remote);
                if !claim.remotes.contains(&remote) {
                    claim.remotes.push(remote);
                }
            }
            Err(remark) => claim.remarks.push(remark),
        }
    }

    /// An endpoint as a whole URL. What is relative is meant from the origin of the document.
    fn absolute(&self, endpoint: &str) -> Result<String, Remark> {
        let is_template = endpoint.starts_with('{');
        let lower = endpoint.to_ascii_lowercase();
        if is_template || lower.starts_with("http://") || lower.starts_with("https://") {
            return Ok(endpoint.to_owned());
        }
        let endpoint = endpoint.to_owned();
        let scheme = endpoint.split(['/', '?', '#']).next().unwrap_or_default();
        if scheme.contains(':') || endpoint.contains(char::is_whitespace) {
            return Err(Remark::NoUrl { endpoint });
        }
        let Some(base) = self.base else { return Err(Remark::Relative { endpoint }) };
        if endpoint.starts_with("//") {
            let scheme = if base.is_tls() { "https:" } else { "http:" };
            return Ok(format!("{scheme}{endpoint}"));
        }
        Ok(format!("{}/{}", base.origin(), endpoint.trim_start_matches('/')))
    }

    /// Who the server says it is, in the words of any form.
    fn identity(&self, document: &Object, form: Form) -> Claim {
        let info = object(document, &["serverInfo", "server"]);
        let of_info = |names: &[&str]| info.and_then(|info| text(info, names));
        let of_top = |names: &[&str]| text(document, names);
        // Beside a `serverInfo`, `version` at the top is that of the form.
        let version = match (form, info) {
            (Form::Draft, Some(_)) => of_info(&["version"]),
            _ => of_top(&["version", "server_version", "serverVersion"])
                .or_else(|| of_info(&["version"]))
                .or_else(|| text(object(document, &["version_detail"])?, &["version"])),
        };
        let names = ["name", "server_name", "serverName"];
        let name = match form {
            Form::Draft => of_info(&names).or_else(|| of_top(&names)),
            _ => of_top(&names).or_else(|| of_info(&names)),
        };
        Claim {
            form,
            name,
            title: of_top(&["title", "displayName", "display_name"])
                .or_else(|| of_info(&["title", "displayName"])),
            version,
            description: of_top(&["description"]).or_else(|| of_info(&["description"])),
            website: of_top(&["websiteUrl", "website", "homepage", "documentationUrl"])
                .or_else(|| of_info(&["websiteUrl"])),
            hints: hints(document),
            ..Claim::default()
        }
    }
}
