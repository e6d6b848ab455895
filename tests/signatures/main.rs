//! Signatures of Server Cards, judged: the bundles of the sigstore project, and vectors of our own.

#![allow(clippy::unwrap_used, reason = "a test may fail")]
#![allow(clippy::print_stdout, reason = "a test that is skipped, and what was judged, is told")]

#[cfg(not(feature = "sigstore"))]
mod absent;
#[cfg(feature = "sigstore")]
mod bundles;
#[cfg(all(feature = "policy", feature = "sigstore"))]
mod commands;
mod manifests;
#[cfg(feature = "sigstore")]
mod own;
#[cfg(feature = "sigstore")]
mod published;
#[cfg(all(feature = "policy", feature = "sigstore"))]
#[path = "../support/mod.rs"]
mod support;
