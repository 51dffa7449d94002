//! Facts: typed claims with evidence, in a file per namespace that only grows.
//!
//! | file | offers |
//! |---|---|
//! | `kind` | [`FactKind`], [`EvidenceKind`] |
//! | `record` | [`Draft`], what a script hands in; [`Fact`], what is kept; both as a memory record |
//! | `options` | [`Options`] of the calls |
//! | `time` | moments as scripts write them |
//! | `place` | [`FactLocation`]: root and namespace, and why neither leads out |
//! | `file` | appending a line, reading all, mending what a crash left |
//! | `line` | what a line of the file says |
//! | `store` | [`Facts`]: the files of a run, each parsed once |
//! | `terms`, `bm25`, `recall` | words of a text, their weights, and the facts that a query means |
//! | `selector` | [`Selector`]: which facts to invalidate |
//! | `error` | [`FactError`] |
//! | `codes` | [`FactCode`] |

mod bm25;
mod codes;
mod error;
mod file;
mod kind;
mod line;
mod location;
mod options;
mod recall;
mod record;
mod selector;
mod store;
mod terms;
mod time;

pub use codes::FactCode;
pub use error::FactError;
pub use kind::{EvidenceKind, FactKind, kinds};
pub use location::FactLocation;
pub use options::Options;
pub use recall::{Query, Recalled, recall};
pub use record::{Draft, Evidence, Fact, confidence};
pub use selector::Selector;
pub use store::{Appending, Facts, Loaded, Loading, Oddity, StoreContents};
pub use time::moment;
