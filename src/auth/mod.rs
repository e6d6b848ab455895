//! Authorization (OAuth 2.1): from the refusal of a server to a token that opens it.
//!
//! | file | what it does |
//! |---|---|
//! | `challenge`, `scope` | what the server wants |
//! | `metadata`, `discovery` | who guards it |
//! | `options`, `client` | who we are to that authorization server |
//! | `login`, `callback`, `browser`, `device`, `person` | a person logs in |
//! | `grants`, `token`, `assertion` | proofs are turned into tokens |
//! | `jose`, `dpop` | signatures; tokens that are bound to a key |
//! | `records`, `vault`, `helper` | tokens are kept |
//! | `authorizer`, `renew`, `obtain`, `interactive`, `revoke`, `brake` | which of these is done when |
//!
//! Every URL that a document names goes through [`crate::net::Fetcher`]. Identifiers are compared as
//! the texts that they are. A client id, its secret and its tokens belong to one issuer.

pub mod challenge;
pub mod scope;

mod assertion;
mod authorizer;
mod brake;
mod browser;
mod callback;
mod client;
mod device;
mod discovery;
mod dpop;
mod error;
mod grants;
mod helper;
mod interactive;
mod jose;
mod login;
mod metadata;
mod obtain;
mod options;
mod person;
mod records;
mod renew;
mod revoke;
mod token;
mod vault;

pub use authorizer::Authorizer;
pub use brake::Brake;
pub use browser::open as open_page;
pub use error::{AuthError, DiscoveryError, IssuerError};
pub use jose::Algorithm;
pub use metadata::{is_named, is_resource_of, resource_locations, server_locations};
pub use options::{Assertion, Grant, IdentityProvider, Options};
pub use person::{How, Notice, Person};
pub use records::TokenRecord;
pub use scope::Scopes;
