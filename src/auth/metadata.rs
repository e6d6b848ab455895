//! What servers publish about themselves: protected resources (RFC 9728) and authorization servers
//! (RFC 8414, OpenID Connect Discovery).
//!
//! Identifiers (`resource`, `issuer`) are kept as the text that came and compared as text: a URL
//! type would add a slash here and fold a letter there, and make one of two different ones.

use serde::Deserialize;

use crate::net::Address;

/// The metadata of a protected resource: the MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct ResourceMetadata {
    /// What the server calls itself; goes into requests as it is.
    pub resource: String,
    /// The issuers whose tokens it takes.
    #[serde(default, deserialize_with = "null_is_absent")]
    pub authorization_servers: Vec<String>,
    /// The scopes that it knows.
    #[serde(default)]
    pub scopes_supported: Option<Vec<String>>,
}

/// The metadata of an authorization server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ServerMetadata {
    /// Its identifier.
    pub issuer: String,
    /// Where people log in.
    pub authorization_endpoint: Option<String>,
    /// Where tokens are.
    pub token_endpoint: Option<String>,
    /// Where clients register (RFC 7591).
    pub registration_endpoint: Option<String>,
    /// Where a login on another device begins (RFC 8628).
    pub device_authorization_endpoint: Option<String>,
    /// Where tokens are given back (RFC 7009).
    pub revocation_endpoint: Option<String>,
    /// The scopes that it knows.
    pub scopes_supported: Option<Vec<String>>,
    /// How a login can be tied to who began it (RFC 7636).
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// How clients can prove who they are.
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Whether a client can be named by the URL of its metadata.
    #[serde(deserialize_with = "null_is_absent")]
    pub client_id_metadata_document_supported: bool,
    /// Whether answers carry `iss` (RFC 9207).
    #[serde(deserialize_with = "null_is_absent")]
    pub authorization_response_iss_parameter_supported: bool,
    /// The algorithms for bound tokens (RFC 9449).
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
}

impl ServerMetadata {
    /// What a server of 2025-03-26 offers that publishes nothing: endpoints at fixed places.
    pub(super) fn default_of(origin: &str) -> ServerMetadata {
        ServerMetadata {
            issuer: origin.to_owned(),
            authorization_endpoint: Some(format!("{origin}/authorize")),
            token_endpoint: Some(format!("{origin}/token")),
            registration_endpoint: Some(format!("{origin}/register")),
            // That revision demands PKCE of everybody.
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            ..ServerMetadata::default()
        }
    }

    /// Whether the authorization code can be tied to us by a hash (RFC 7636, S256).
    pub(super) fn supports_s256(&self) -> bool {
        lists(self.code_challenge_methods_supported.as_deref(), "S256")
    }

    /// Whether tokens can be bound to a P-256 key.
    pub(super) fn supports_dpop(&self) -> bool {
        lists(self.dpop_signing_alg_values_supported.as_deref(), "ES256")
    }
}

/// Many servers write `null` for what they have nothing to say about.
fn null_is_absent<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn lists(values: Option<&[String]>, wanted: &str) -> bool {
    values.unwrap_or_default().iter().any(|value| value == wanted)
}

/// Where the metadata of a resource may be: below the path of the server, then at the root.
pub fn resource_locations(server: &Address) -> Vec<String> {
    let origin = server.origin();
    let root = format!("{origin}/.well-known/oauth-protected-resource");
    match path_of(server).as_str() {
        "" => vec![root],
        path => vec![format!("{root}{path}"), root],
    }
}

/// Whether an issuer that somebody names is the one that the metadata is of: the same text (RFC 8414,
/// section 3.3). Only where the path is empty, a slash may be in one and not in the other: many
/// servers, such as Google's, add it when they list the issuers.
///
/// That is safe. Both texts lead to the same URL for the metadata, so whoever answers there answers
/// for both, and nobody else can; any other difference (a path, a port, a letter's case) could be
/// another party. From here on the text of the metadata counts, to the letter: an answer's `iss`
/// is held against it (RFC 9207), and credentials are kept under it.
pub fn is_named(issuer: &str, named: &str) -> bool {
    let [left, right] = [issuer, named].map(|text| text.strip_suffix('/').unwrap_or(text));
    let has_path = left.split_once("://").is_none_or(|(_, rest)| rest.contains('/'));
    issuer == named || (!has_path && left == right)
}

/// Where the metadata of an authorization server may be, in order (2026-07-28, Authorization
/// Server Metadata Discovery). `None` when the issuer cannot be one.
pub fn server_locations(issuer: &str) -> Option<Vec<String>> {
    let address = Address::parse(issuer).ok()?;
    // RFC 8414, section 2: no query and no fragment.
    if issuer.contains(['?', '#']) {
        return None;
    }
    let (origin, path) = (address.origin(), path_of(&address));
    let oauth = format!("{origin}/.well-known/oauth-authorization-server{path}");
    let openid = format!("{origin}/.well-known/openid-configuration{path}");
    let mut locations = vec![oauth, openid];
    if !path.is_empty() {
        locations.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    Some(locations)
}

/// The path of a URL without query and without slash at its end.
fn path_of(address: &Address) -> String {
    let path = address.as_str().strip_prefix(&address.origin()).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    path.trim_end_matches('/').to_owned()
}

/// Whether a server may call itself `resource`: the same origin, and the same path or one above it.
/// Else a server could have us fetch a token for another.
pub fn is_resource_of(resource: &str, server: &Address) -> bool {
    let Ok(named) = Address::parse(resource) else { return false };
    // RFC 8707, section 2: no fragment.
    if resource.contains('#') || !named.same_origin(server) {
        return false;
    }
    let (named, path) = (path_of(&named), path_of(server));
    path.strip_prefix(&named).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a server is called that does not say what it calls itself (2026-07-28, Canonical Server
/// URI): its URL without query and fragment, and without a slash that says nothing.
pub(super) fn canonical_resource(server: &Address) -> String {
    let url = server.as_str().split('?').next().unwrap_or_default();
    match url.strip_suffix('/') {
        Some(bare) if bare == server.origin() => bare.to_owned(),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn resources_are_looked_for_below_their_path_and_at_the_root() {
        let check = |server: &str, expected: &[&str]| {
            assert_eq!(resource_locations(&address(server)), expected, "{server}");
        };
        let root = "https://h/.well-known/oauth-protected-resource";
        check("https://h", &[root]);
        check("https://h/", &[root]);
        check("https://h/mcp", &[&format!("{root}/mcp"), root]);
        check("https://h/a/mcp/?x=1", &[&format!("{root}/a/mcp"), root]);
    }

    #[test]
    fn authorization_servers_are_looked_for_in_order() {
        let check = |issuer: &str, expected: Option<&[&str]>| {
            let found = server_locations(issuer);
            let found: Option<Vec<&str>> =
                found.as_ref().map(|found| found.iter().map(String::as_str).collect());
            assert_eq!(found.as_deref(), expected, "{issuer}");
        };
        let root: &[&str] = &[
            "https://h/.well-known/oauth-authorization-server",
            "https://h/.well-known/openid-configuration",
        ];
        check("https://h", Some(root));
        check("https://h/", Some(root));
        check(
            "https://h:8443/a/b",
            Some(&[
                "https://h:8443/.well-known/oauth-authorization-server/a/b",
                "https://h:8443/.well-known/openid-configuration/a/b",
                "https://h:8443/a/b/.well-known/openid-configuration",
            ]),
        );
        check("https://h/?a=b", None);
        check("https://h/#a", None);
        check("urn:issuer", None);
        check("", None);
    }

    #[test]
    fn a_resource_is_the_server_or_above_it() {
        let check = |resource: &str, server: &str, expected: bool| {
            assert_eq!(is_resource_of(resource, &address(server)), expected, "{resource} {server}");
        };
        check("https://h/mcp", "https://h/mcp", true);
        check("https://h/mcp/", "https://h/mcp", true);
        check("https://h/mcp", "https://h/mcp/", true);
        check("https://H:443/mcp", "https://h/mcp?x=1", true);
        check("https://h", "https://h/mcp", true);
        check("https://h/", "https://h/mcp", true);
        check("https://h/a", "https://h/a/mcp", true);
        check("https://h/a", "https://h/ab", false);
        check("https://h/mcp/x", "https://h/mcp", false);
        check("https://evil.example/mcp", "https://h/mcp", false);
        check("http://h/mcp", "https://h/mcp", false);
        check("https://h:444/mcp", "https://h/mcp", false);
        check("https://h/mcp#x", "https://h/mcp", false);
        check("urn:x", "https://h/mcp", false);
    }

    #[test]
    fn a_server_without_a_name_is_called_by_its_url() {
        let check = |server: &str, expected: &str| {
            assert_eq!(canonical_resource(&address(server)), expected);
        };
        check("https://H", "https://h");
        check("https://h:443/", "https://h");
        check("https://h/mcp", "https://h/mcp");
        check("https://h/mcp/", "https://h/mcp/");
        check("https://h/mcp?x=1#y", "https://h/mcp");
    }

    #[test]
    fn documents_may_say_more_and_less() {
        let server: ServerMetadata =
            serde_json::from_str(r#"{"issuer": "https://h", "more": [1]}"#).unwrap();
        assert_eq!(server.issuer, "https://h");
        assert!(!server.supports_s256() && !server.supports_dpop());
        let resource: ResourceMetadata = serde_json::from_str(r#"{"resource": "r"}"#).unwrap();
        assert!(resource.authorization_servers.is_empty());
        let nulls = r#"{"issuer": "https://h", "client_id_metadata_document_supported": null,
            "authorization_response_iss_parameter_supported": null, "scopes_supported": null}"#;
        assert_eq!(serde_json::from_str::<ServerMetadata>(nulls).unwrap(), server);
        let nulls = r#"{"resource": "r", "authorization_servers": null}"#;
        assert_eq!(serde_json::from_str::<ResourceMetadata>(nulls).unwrap(), resource);
        assert!(serde_json::from_str::<ResourceMetadata>("{}").is_err());
    }

    #[test]
    fn issuers_are_the_same_to_the_letter() {
        let check = |issuer, named, expected| {
            assert_eq!(is_named(issuer, named), expected, "{issuer} {named}");
            assert_eq!(is_named(named, issuer), expected, "{named} {issuer}");
        };
        check("https://as.example", "https://as.example", true);
        check("https://as.example", "https://as.example/", true);
        check("https://as.example:8443/", "https://as.example:8443", true);
        check("https://as.example/t", "https://as.example/t", true);
        check("https://as.example/t", "https://as.example/t/", false);
        check("https://as.example", "https://as.example//", false);
        check("https://as.example", "https://AS.example", false);
        check("https://as.example", "https://as.example:443", false);
        check("https://as.example", "http://as.example", false);
        check("https://as.example", "https://as.example.evil", false);
        check("https://as.example", "https://as.example/%2e", false);
        check("https:", "https:/", false);
        check("", "/", false);
    }
}
