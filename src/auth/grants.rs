//! The parameters of each kind of token request.
//!
//! All of them name the resource that the token is for (RFC 8707), by the text that the server
//! calls itself.

use super::scope::Scopes;
use super::token::Form;
use crate::env::Secret;

/// An identity assertion that an authorization server of another domain takes (ID-JAG).
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// How a login on another device is turned into a token (RFC 8628, section 3.4).
pub(super) const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The answer of a login is turned into a token (RFC 6749, section 4.1.3; RFC 7636, section 4.5).
pub(super) fn authorization_code(
    code: Secret,
    verifier: Secret,
    redirect_uri: &str,
    resource: &str,
) -> Form {
    vec![
        ("grant_type", "authorization_code".into()),
        ("code", code),
        ("redirect_uri", redirect_uri.into()),
        ("code_verifier", verifier),
        ("resource", resource.into()),
    ]
}

/// A token is renewed (RFC 6749, section 6). Its scopes stay as they are.
pub(super) fn refresh_token(token: Secret, resource: &str) -> Form {
    vec![
        ("grant_type", "refresh_token".into()),
        ("refresh_token", token),
        ("resource", resource.into()),
    ]
}

/// The client asks for itself (RFC 6749, section 4.4.2).
pub(super) fn client_credentials(resource: &str, scopes: &Scopes) -> Form {
    let form = vec![("grant_type", "client_credentials".into()), ("resource", resource.into())];
    with_scopes(form, scopes)
}

/// An assertion is turned into a token (RFC 7523, section 2.1).
pub(super) fn jwt_bearer(assertion: Secret, resource: &str, scopes: &Scopes) -> Form {
    let form = vec![
        ("grant_type", JWT_BEARER.into()),
        ("assertion", assertion),
        ("resource", resource.into()),
    ];
    with_scopes(form, scopes)
}

/// An identity token is exchanged for an assertion that the authorization server `audience` takes
/// (RFC 8693, section 2.1; Identity Assertion Authorization Grant).
pub(super) fn id_jag(id_token: Secret, audience: &str, resource: &str, scopes: &Scopes) -> Form {
    let form = vec![
        ("grant_type", TOKEN_EXCHANGE.into()),
        ("requested_token_type", ID_JAG.into()),
        ("subject_token", id_token),
        ("subject_token_type", ID_TOKEN.into()),
        ("audience", audience.into()),
        ("resource", resource.into()),
    ];
    with_scopes(form, scopes)
}

/// Whether an exchange gave what was asked for.
pub(super) fn is_id_jag(issued_token_type: Option<&str>) -> bool {
    issued_token_type.is_none_or(|kind| kind == ID_JAG)
}

/// A login on another device is asked for (RFC 8628, section 3.1).
pub(super) fn device_authorization(resource: &str, scopes: &Scopes) -> Form {
    with_scopes(vec![("resource", resource.into())], scopes)
}

/// A login on another device is turned into a token (RFC 8628, section 3.4).
pub(super) fn device_code(code: Secret, resource: &str) -> Form {
    vec![("grant_type", DEVICE_CODE.into()), ("device_code", code), ("resource", resource.into())]
}

fn with_scopes(mut form: Form, scopes: &Scopes) -> Form {
    if !scopes.is_empty() {
        form.push(("scope", scopes.to_string().as_str().into()));
    }
    form
}
