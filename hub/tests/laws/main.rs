//! Laws of the broker: each row of the table "Semantics" of the reference, as a test.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

mod clock;
mod compaction;
mod crash;
mod delivery;
mod model;
mod patterns;
mod refused;
mod refused_wire;
mod rows;
#[path = "../../../tests/support/tokio_wait.rs"]
mod tokio_wait;
