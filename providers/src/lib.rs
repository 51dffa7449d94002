//! Implementations of the core's interfaces: the canonical reminder providers, and the routes to
//! models.
//!
//! | module | offers |
//! |---|---|
//! | [`reminder`] | the canonical reminder providers and the list of their ids |
//! | [`fact`] | typed facts: storing, recalling, invalidating |
//! | [`watch`] | watching files for a daemon |
//! | [`recording`] | runs on record: what was asked of models and what they answered |
//! | [`web`] | questions of scripts to servers of any kind |
//! | [`model`] | the mock, Anthropic's Messages API, OpenAI's Chat Completions, and what each route can take |

pub mod fact;
pub mod model;
pub mod recording;
pub mod reminder;
pub mod watch;
pub mod web;

pub use model::http::trusted_roots;
pub use web::http_client;

mod yielding;

#[cfg(test)]
mod testing;
#[cfg(test)]
#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../../tests/support/tokio_wait.rs"]
mod tokio_wait;
#[cfg(test)]
#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../../tests/support/wait.rs"]
mod wait;
