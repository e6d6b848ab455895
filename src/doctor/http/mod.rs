//! Checks of an endpoint over HTTP.
//!
//! | file | what it does |
//! |---|---|
//! | `site` | the endpoint: its connections, what it said so far |
//! | `speech` | what is spoken with it, and how it is asked in that |
//! | `probe`, `read` | a question and its answer |
//! | `refusal` | how to judge what should be refused |
//! | `resource` | the card as a resource |
//! | `bind` | where the server listens |
//! | the others | a group of checks each, with a table at the top |

mod auth;
mod bind;
mod cache;
mod connection;
mod cors;
mod documents;
mod leak;
mod messages;
mod origin;
pub(super) mod probe;
mod read;
mod refusal;
mod resource;
mod revision;
mod session;
mod signature;
mod site;
mod speech;
mod sse;
mod text;
mod tls;

pub(super) use self::connection::unknown_revision;
pub(super) use self::site::Site;
use super::Check;

/// The host of an attacker. The name is reserved: nobody can have it (RFC 2606).
const EVIL_HOST: &str = "evil.example";

/// The site of an attacker.
const EVIL: &str = "https://evil.example";

/// All groups, in the order in which they are run. The last two look at what the others have heard.
const GROUPS: &[&[Check<Site>]] = &[
    connection::CHECKS,
    tls::CHECKS,
    origin::CHECKS,
    cors::CHECKS,
    auth::CHECKS,
    messages::CHECKS,
    revision::CHECKS,
    session::CHECKS,
    sse::CHECKS,
    cache::CHECKS,
    documents::CHECKS,
    signature::CHECKS,
    text::CHECKS,
    leak::CHECKS,
];
