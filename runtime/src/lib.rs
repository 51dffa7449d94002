//! The agent core. It does not depend on scripts or wire formats: a pure reminder lifecycle, and around it a thin shell
//! in which every effect (model, tool, clock, log, hook) is behind a trait.
//!
//! | module | offers |
//! |---|---|
//! | [`cancel`], [`note`], [`schema`], [`watch`], [`seen_texts`] | cancellation, diagnostics that must not end the work, JSON Schema, changes of files |
//! | [`event_log`] | the topics of the runtime's records, and their run |
//! | [`events`], [`loop_status`], [`usage`], [`spans`] | the words of what happens: events, ends of loops, tokens, spans |
//! | [`message`], [`capabilities`], [`reminder`], [`model`] | messages, routes, reminders and their slots, vendor-neutral requests |
//! | [`transcript`], [`lifecycle`] | messages and events in persistent vectors; the life of reminders in them |
//! | [`budget`], [`receipt`] | limits of what requests use; receipts of tool calls |
//! | [`scope`], [`stop`], [`timeout`] | the environment of a call, and waiting within it |
//! | [`session`] | sessions and their directory |
//! | [`seam`] | the turn of a call; `Tool`, `Model`, `Compactor` |
//! | [`hooks`], [`conditions`], [`reminder_providers`], [`listeners`] | handlers, conditions and providers, and firing an event |
//! | [`render`], [`text_tools`] | pending reminders into the slots of a route; tools as text |
//! | [`activity`], [`model_step`], [`compaction`] | activity as records; one request to a model; shortening a transcript |
//! | [`agent_loop`] | the loop, one function for each seam, and its state as a file |
//! | [`workers`] | loops that work for another: propagation, events, suspension |
//!
//! The modules are in the order of this table; `tests/system/stages.rs` has what each may name.

pub mod activity;
pub mod agent_loop;
pub mod budget;
pub mod cancel;
pub mod capabilities;
pub mod compaction;
pub mod conditions;
pub mod event_log;
pub mod events;
pub mod hooks;
pub mod lifecycle;
pub mod listeners;
pub mod loop_status;
pub mod message;
pub mod model;
pub mod model_step;
pub mod note;
pub mod receipt;
pub mod reminder;
pub mod reminder_providers;
pub mod render;
pub mod schema;
pub mod scope;
pub mod seam;
pub mod seen_texts;
pub mod session;
pub mod spans;
pub mod stop;
pub mod text_tools;
pub mod timeout;
pub mod transcript;
pub mod usage;
pub mod watch;
pub mod workers;

#[cfg(test)]
mod testing;
#[cfg(test)]
#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../../tests/support/wait.rs"]
mod wait;
