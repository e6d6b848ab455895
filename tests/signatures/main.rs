//! Signatures of Server Cards, judged: the bundles of the sigstore project, and vectors of our own.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod bundles;
#[cfg(feature = "sigstore")]
mod commands;
mod manifests;
#[cfg(feature = "sigstore")]
mod own;
#[path = "../support/mod.rs"]
mod support;
