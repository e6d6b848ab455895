//! New tokens for a person who logs in: with a browser, or on another device.

use std::rc::Rc;
use std::time::Duration;

use futures_lite::FutureExt;
use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};

use super::authorizer::{Authorizer, endpoint_address};
use super::browser;
use super::callback::{Callback, pasted};
use super::client::{self, Client, Introduction, introduce};
use super::device::Device;
use super::discovery::{Guarded, Issuer};
use super::dpop::Prover;
use super::error::{AuthError, IssuerError};
use super::grants;
use super::login::Login;
use super::obtain::not_offered;
use super::person::{How, Notice};
use super::scope::Scopes;
use super::token::{self, Tokens};
use crate::env::Secret;
use crate::net::{Request, Source};
use crate::reactor::Timer;

/// How long a person may take to log in.
const LOGIN: Duration = Duration::from_secs(300);

/// How long an answer of a registration or of the start of a device login may be, in bytes.
const LIMIT: usize = 64 << 10;

/// How long the browser may have been done without the answer having come.
const AFTER_BROWSER: Duration = Duration::from_secs(2);

impl Authorizer {
    /// A person logs in with a browser.
    pub(super) async fn by_browser(
        &self,
        guarded: &Guarded,
        scopes: &Scopes,
        prover: Option<&Rc<Prover>>,
    ) -> Result<(Client, Tokens), AuthError> {
        let Guarded { resource, issuer, .. } = guarded;
        let metadata = &issuer.metadata;
        if !metadata.supports_s256() {
            return Err(not_offered(issuer, "PKCE with S256, without which no login is safe"));
        }
        let endpoint = metadata.authorization_endpoint.as_deref();
        let endpoint = endpoint.ok_or_else(|| not_offered(issuer, "a page to log in"))?;
        let endpoint = endpoint_address("authorization endpoint", endpoint)?;
        self.fetcher.admits(&endpoint, Source::Document(issuer.zone)).await?;
        let registered = self.vault.client(&metadata.issuer, self.now())?;
        let introduction = introduce(&self.options, metadata, registered)?;
        let callback = self.callback(&introduction).await?;
        let here = callback.redirect_uri();
        let client = match introduction {
            Introduction::Known(client)
                if client.redirect_uri.as_deref().is_none_or(|there| there == here) =>
            {
                client
            }
            _ => self.register(issuer, here, &["authorization_code", "refresh_token"]).await?,
        };
        let login = Login::new(metadata, here.to_owned());
        let url = login.url(&endpoint, &client.id, resource, scopes);
        let code = self.await_person(&callback, &login, &url).await;
        let code = code.map_err(|error| self.doubt(error, &client))?;
        let verifier = login.verifier.clone();
        let form = grants::authorization_code(code, verifier, &login.redirect_uri, resource);
        let tokens = self.token_endpoint(issuer, &client, prover)?.ask(&form).await;
        let tokens = tokens.map_err(|error| self.doubt(error, &client))?;
        Ok((client, tokens))
    }

    /// Forgets a client that we registered when a login with it fails as it does where the
    /// authorization server has forgotten it, so that the next login registers anew. Some servers
    /// say so to us, and some only to the person.
    pub(super) fn doubt(&self, error: AuthError, client: &Client) -> AuthError {
        let forgotten = match &error {
            AuthError::Refused { code, .. } => code == "invalid_client",
            AuthError::NobodyCame { .. } => true,
            _ => false,
        };
        // One that is registered is bound to the place to which its answers go.
        if !forgotten || client.redirect_uri.is_none() {
            return error;
        }
        match (self.vault.forget_client(&client.issuer), error) {
            (Ok(()), AuthError::Refused { .. }) => {
                IssuerError::Forgotten { issuer: client.issuer.clone() }.into()
            }
            (_, error) => error,
        }
    }

    /// The port for the answer: the one that was chosen, else the one that the client was registered
    /// with if it can still be had.
    async fn callback(&self, introduction: &Introduction) -> Result<Callback, AuthError> {
        if let Some(port) = self.options.callback_port {
            return Callback::bind(port).await;
        }
        let registered = match introduction {
            Introduction::Known(client) => client.redirect_uri.as_deref(),
            Introduction::Register => None,
        };
        let port = registered.and_then(|uri| endpoint_address("redirect", uri).ok());
        match port {
            Some(address) => match Callback::bind(address.port()).await {
                Ok(callback) => Ok(callback),
                Err(_) => Callback::bind(0).await,
            },
            None => Callback::bind(0).await,
        }
    }

    /// Opens the browser, or asks for it, and waits for the answer.
    async fn await_person(
        &self,
        callback: &Callback,
        login: &Login,
        url: &str,
    ) -> Result<Secret, AuthError> {
        let tell = &self.person.tell;
        let arrived = callback.wait(login);
        let too_late = async {
            Timer::after(LOGIN).await;
            Err(AuthError::NobodyCame { strangers: callback.strangers() })
        };
        if self.person.how == How::Paste {
            tell(&Notice::Open { url });
            let pasted = pasted(login, || tell(&Notice::NotTheAnswer));
            return arrived.or(pasted).or(too_late).await;
        }
        tell(&Notice::Browser { url });
        let browser = browser::open(&self.env, url)?;
        let failed = async {
            match browser.await {
                Some(status) if !status.success() => {
                    Timer::after(AFTER_BROWSER).await;
                    Err(AuthError::Browser(format!("the browser ended with {status}")))
                }
                _ => futures_lite::future::pending().await,
            }
        };
        arrived.or(failed).or(too_late).await
    }

    /// A person logs in on another device.
    pub(super) async fn by_device(
        &self,
        guarded: &Guarded,
        scopes: &Scopes,
        prover: Option<&Rc<Prover>>,
    ) -> Result<(Client, Tokens), AuthError> {
        let Guarded { resource, issuer, .. } = guarded;
        let metadata = &issuer.metadata;
        let endpoint = metadata.device_authorization_endpoint.as_deref();
        let endpoint = endpoint.ok_or_else(|| not_offered(issuer, "a login on another device"))?;
        let address = endpoint_address("device authorization endpoint", endpoint)?;
        let client = match introduce(&self.options, metadata, None)? {
            Introduction::Known(client) => client,
            Introduction::Register => {
                let grants = [grants::DEVICE_CODE, "refresh_token"];
                self.register(issuer, "http://127.0.0.1/callback", &grants).await?
            }
        };
        // Who has a secret proves it here, too (RFC 8628, section 3.1); some look for the id all the
        // same.
        let mut proof = client.proof(self.client_key.as_ref(), self.now())?;
        if proof.basic.is_some() {
            proof.form.push(("client_id", client.id.as_str().into()));
        }
        let form = grants::device_authorization(resource, scopes);
        let (request, secrets) = token::request(address, &form, &proof);
        let answer = self.fetcher.ask(&request, Source::Document(issuer.zone), LIMIT).await?;
        if let Some(refused) = token::refusal("device login", &answer, &secrets) {
            return Err(refused);
        }
        let device = Device::read(&answer.body)?;
        let page = device.verification_uri_complete.as_deref().unwrap_or(&device.verification_uri);
        let page = endpoint_address("page for the other device", page)?;
        self.fetcher.admits(&page, Source::Document(issuer.zone)).await?;
        (self.person.tell)(&Notice::Device { url: page.as_str(), code: &device.user_code });
        let tokens = device.wait(&self.token_endpoint(issuer, &client, prover)?, resource).await?;
        Ok((client, tokens))
    }

    /// Makes us known to an authorization server, and keeps as whom (RFC 7591).
    async fn register(
        &self,
        issuer: &Issuer,
        redirect_uri: &str,
        grants: &[&str],
    ) -> Result<Client, AuthError> {
        let metadata = &issuer.metadata;
        let endpoint = metadata.registration_endpoint.as_deref();
        let no_registration = || IssuerError::NoRegistration { issuer: metadata.issuer.clone() };
        let endpoint = endpoint.ok_or_else(no_registration)?;
        let address = endpoint_address("registration endpoint", endpoint)?;
        let (body, method) = client::registration(metadata, redirect_uri, grants)?;
        let json = HeaderValue::from_static("application/json");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, json.clone()), (ACCEPT, json)]);
        let request = Request::post(address, headers, body.into_bytes().into());
        let answer = self.fetcher.ask(&request, Source::Document(issuer.zone), LIMIT).await?;
        if let Some(refused) = token::refusal("registration", &answer, &[]) {
            return Err(refused);
        }
        let client = client::registered(&answer.body, metadata, redirect_uri, method)?;
        self.vault.keep_client(&client)?;
        Ok(client)
    }
}
