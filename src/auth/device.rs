//! A login on another device, for machines without a browser (RFC 8628).

use std::time::{Duration, Instant};

use serde::Deserialize;

use super::error::AuthError;
use super::grants;
use super::token::{Form, TokenEndpoint, Tokens};
use crate::env::Secret;
use crate::net::FetchError;
use crate::reactor::Timer;

/// What a person has to do on the other device.
#[derive(Deserialize)]
pub(super) struct Device {
    device_code: String,
    /// What to type there.
    pub user_code: String,
    /// Where.
    pub verification_uri: String,
    /// The same page with the code in it.
    pub verification_uri_complete: Option<String>,
    /// How long the code is good, in seconds.
    #[serde(default = "default_life")]
    expires_in: u64,
    /// How often to ask whether it is done, in seconds.
    #[serde(default = "default_interval")]
    interval: u64,
}

fn default_life() -> u64 {
    600
}

fn default_interval() -> u64 {
    5
}

/// How much slower to ask when the server finds us too fast (section 3.5).
const SLOWER: Duration = Duration::from_secs(5);

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(60);

/// Whether asking later may help (section 3.5).
fn is_passing(error: &AuthError) -> bool {
    match error {
        AuthError::Fetch(
            FetchError::Failed(_) | FetchError::Unknown(_) | FetchError::Late { .. },
        ) => true,
        AuthError::Refused { code, .. } => ["HTTP 502", "HTTP 503", "HTTP 504"].contains(&&**code),
        _ => false,
    }
}

impl Device {
    /// Reads the answer to the request for a login.
    pub(super) fn read(body: &[u8]) -> Result<Device, AuthError> {
        let bad =
            |_| AuthError::BadAnswer { what: "device login", why: "names no code or no page" };
        serde_json::from_slice(body).map_err(bad)
    }

    /// Asks again and again until the person is done there.
    pub(super) async fn wait(
        &self,
        endpoint: &TokenEndpoint<'_>,
        resource: &str,
    ) -> Result<Tokens, AuthError> {
        let form: Form = grants::device_code(Secret::from(self.device_code.as_str()), resource);
        let deadline = Instant::now() + Duration::from_secs(self.expires_in.min(1800));
        let mut pause = Duration::from_secs(self.interval.clamp(1, LONGEST.as_secs()));
        while Instant::now() < deadline {
            Timer::after(pause).await;
            match endpoint.ask(&form).await {
                Err(AuthError::Refused { code, .. }) if code == "authorization_pending" => (),
                Err(AuthError::Refused { code, .. }) if code == "slow_down" => pause += SLOWER,
                // The person is still at it, and the server will be back.
                Err(error) if is_passing(&error) => pause = (pause * 2).min(LONGEST),
                other => return other,
            }
        }
        Err(AuthError::NobodyCame { strangers: 0 })
    }
}
