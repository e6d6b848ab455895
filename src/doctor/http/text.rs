//! Whether every program can read what the server has said during the examination.

use super::messages::hear_list;
use super::site::Site;
use crate::doctor::Check;
use crate::doctor::finding::Finding;
use crate::doctor::reading::{JSON, JSON_FIX};

pub(super) const CHECKS: &[Check<Site>] = &[Check {
    id: "json",
    title: "messages are text that every program can read: UTF-8, whole characters, numbers that fit",
    clause: JSON,
    fix: JSON_FIX,
    run: |site| Box::pin(json(site)),
}];

async fn json(site: &Site) -> Finding {
    let odd = || site.heard().iter().find_map(|answer| answer.odd.clone());
    // Texts of the server stand in lists above all.
    let unheard = match odd() {
        Some(_) => None,
        None => hear_list(site).await.err(),
    };
    match (odd(), unheard) {
        (Some(odd), _) => odd.finding(),
        (None, Some(unheard)) => unheard,
        (None, None) => Finding::pass("nothing odd in any message"),
    }
}
