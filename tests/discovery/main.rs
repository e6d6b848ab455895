//! Discovery, through the program, against small sites on loopback: where servers are looked for,
//! what is claimed about them, how they are added, and what hosts must not be able to do.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/domain.rs"]
mod domain;
#[path = "../support/tls.rs"]
mod encrypted;
#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "it can do more than is wanted here")]
#[path = "../http/server.rs"]
mod server;

mod adding;
mod addresses;
#[cfg(feature = "sigstore")]
mod attested;
mod caching;
mod cards;
mod catalogs;
mod domains;
mod hostile;
mod places;
#[cfg(feature = "sigstore")]
mod publishers;
mod registry;
mod site;
mod story;
