//! What hosts publish about their servers: cards, catalogs, the registry.
//!
//! ```text
//! place ── lookup ──▶ documents ── catalog, normalise ──▶ claims ── choose, fill ──▶ definition
//!           │ fetch rules and cache       one form for all     what is left open, filled in
//! ```
//! All that stands in these documents is a claim of whoever wrote them. It is shown as one, it never
//! gives a permission, and what the server itself says counts more. A document never runs anything:
//! what comes out at the end is a definition, and whether it is taken is asked elsewhere.

pub mod attestation;
pub mod bundle;
pub mod catalog;
pub mod claim;
pub mod compare;
pub mod document;
pub mod documents;
pub mod fill;
pub mod links;
pub mod lint;
pub mod lookup;
pub mod normalise;
pub mod place;
pub mod registry;

pub use catalog::Catalog;
pub use claim::{Claim, Form, Input, Remark, Remote};
pub use documents::{Documents, Reuse};
pub use lookup::{Candidate, Finder, Findings};
pub use place::Place;
