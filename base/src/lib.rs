//! The parts that every other crate shares and that know nothing of agents.
//!
//! | module | offers |
//! |---|---|
//! | [`data`] | `Data`, the neutral payload |
//! | [`call`] | answers, errors and blocking work at a seam |
//! | [`words`](mod@words) | enums of words, suggestions |
//! | [`codes`](mod@codes) | the codes of diagnostics, and their definition |
//! | [`failures`](mod@failures) | failures of a server, as lines of the log and as counts |
//! | [`files`], [`lock`] | opening regular files only, without waiting; advisory locks on files |
//! | [`clock`], [`moment`], [`ids`] | time, RFC 3339, ids |
//! | [`keyed_limit`] | a limit of how many of something each owner has |

pub mod call;
pub mod clock;
pub mod codes;
pub mod data;
pub mod failures;
pub mod files;
pub mod ids;
pub mod keyed_limit;
pub mod lock;
pub mod moment;
pub mod words;

#[cfg(test)]
#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../../tests/support/wait.rs"]
mod wait;
