//! Routes to models, and what each of them can take.
//!
//! | offers | for |
//! |---|---|
//! | [`Routes`] | the `Model` that sends every request to where its provider lives |
//! | [`Route`], [`Provider`], [`RouteError`] | which provider and model a call goes to, and why it can go nowhere |
//! | [`CapabilityTable`], [`CapabilityError`] | what is known of models; a project may add to it |
//! | [`AllowedKeys`] | which keys the user lets go to other servers than the vendor's own |
//! | [`HISTORY_RULES`] | what is changed in a history so that a route takes it |
//! | [`mock`] | the mock model |
//!
//! A new route is a folder with `encode` (a request into the vendor's body) and `decode` (the vendor's reply), a [`Provider`],
//! and rows in `capabilities.toml`.

pub mod mock;

mod anthropic;
mod capabilities;
mod choice;
mod codes;
mod content;
mod count;
mod gemini;
mod history;
pub(crate) mod http;
mod location;
mod ollama;
mod openai;
mod price;
mod provider;
mod quote;
mod responses;
mod route;
mod row;
mod server;
mod stream;
#[cfg(test)]
mod tests;
mod tool_schema;

pub use capabilities::{CapabilityError, CapabilityTable};
pub use codes::ToolCode;
pub use history::{HISTORY_RULES, HistoryRule};
pub use mock::{Mock, MockCall, MockError, MockReply};
pub use provider::{Provider, RouteError};
pub use route::{Route, Routes};
pub use row::KEYS as ROW_KEYS;
pub use server::{AllowedKeys, KEYS as SERVER_KEYS, parse_origin};
