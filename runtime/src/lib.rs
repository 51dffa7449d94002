//! The agent core. It does not depend on scripts or wire formats: a pure reminder lifecycle, and around it a thin shell
//! in which every effect (model, tool, clock, log, hook) is behind a trait.
//!
//! | module | offers |
//! |---|---|
//! | [`seam`] | passing of answers, faults, turns and scopes; `Tool`, `Model`, `Compactor` |
//! | [`note`] | diagnostics that must not end the work |
//! | [`cancel`], [`stop`] | cancellation, and waiting for work that may be stopped |
//! | [`budget`] | limits of what requests use, and what was spent on what |
//! | [`message`], [`model`], [`capabilities`] | vendor-neutral requests to a model |
//! | [`reminder`] | the record, the strict reader, the lifecycle, the bridge queue, the providers |
//! | [`render`] | pending reminders into the slots of a route |
//! | [`transcript`] | messages and events in persistent vectors |
//! | [`event_log`] | the topics of the runtime's records, and their run |
//! | [`hooks`] | events, verdicts, registered handlers |
//! | [`receipt`] | receipts of tool calls |
//! | [`timeout`] | time limits of handlers |
//! | [`schema`] | JSON Schema, with mismatches in words |
//! | [`session`] | sessions and their directory |
//! | [`model_step`] | one request to a model: its cost, its span, its answer |
//! | [`compaction`] | shortening a session's transcript: subscribers and summarisers |
//! | [`agent_loop`] | the loop, one function for each seam |
//! | [`activity`] | activity of loops, as records from which traces are built |
//! | [`watch`] | watching files for a daemon |
//! | [`workers`] | loops that work for another: propagation, events, suspension |

pub mod activity;
pub mod agent_loop;
pub mod budget;
pub mod cancel;
pub mod capabilities;
pub mod compaction;
pub mod event_log;
pub mod hooks;
pub mod message;
pub mod model;
pub mod model_step;
pub mod note;
pub mod receipt;
pub mod reminder;
pub mod render;
pub mod schema;
pub mod seam;
pub mod seen_texts;
pub mod session;
pub mod stop;
pub mod timeout;
pub mod transcript;
pub mod watch;
pub mod workers;

#[cfg(test)]
mod testing;
#[cfg(test)]
#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../../tests/support/wait.rs"]
mod wait;
