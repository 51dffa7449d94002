//! Provider packs: `.rhai` files whose reminder providers one did not write oneself, each in a sandbox of its own.
//!
//! An error in a pack affects the pack alone: it cannot read anything, change the run, stop it, or
//! delay it for longer than its [`Budget`]. Three parts ensure that:
//!
//! - `sandbox`: an engine that offers functions of data alone, `builtins` and `regex` those of harn, `texts` and `written`
//!   bounded ones in the place of Rhai's;
//! - `shape`: checks before a pack runs. Closures are written where they are used, so that no value
//!   ever holds one: values are trees, and their size is counted;
//! - `meter`: counts operations, memory, computing time and stack while a pack computes.
//!
//! The way of a pack: `load` reads and runs it once, `provider` asks it, `data` carries values in and out, `seen` lets it look
//! at the session, `fault` says what went wrong. [`Packs`] is what a run knows of its packs.

mod budget;
mod builtins;
mod data;
mod error;
mod load;
mod meter;
mod of_run;
mod provider;
mod regex;
mod sandbox;
mod seen;
mod shape;
#[cfg(test)]
mod tests;
mod texts;
mod written;

pub use budget::{Budget, PackSpec};
pub(crate) use of_run::{Packs, check_pack};
