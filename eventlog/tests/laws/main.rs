//! The laws of [`eventlog::Log`], which every backend keeps.
//!
//! `random` plays random acts on a backend and on a model of a few lines, and compares all answers; `HARN_CASES=10000` plays more
//! of them. `storage` is about files: full, failing, killed.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod model;
mod play;
mod random;
mod storage;
#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../../../tests/support/wait.rs"]
mod wait;
