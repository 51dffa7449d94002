//! The codes of diagnostics, one file for each area. Nothing else is below them, so every module can raise every code.

mod agent;
mod channel;
#[cfg(feature = "hub")]
mod hub;
mod mcp;
mod pack;
mod peer;
mod project;
mod recording;
mod reminder_file;
mod rhai;
mod schema;
mod served;
mod source;
mod system;
mod test;

pub use agent::AgentCode;
pub(crate) use channel::ScriptChannelCode;
#[cfg(feature = "hub")]
pub(crate) use hub::HubClientCode;
pub(crate) use mcp::McpCode;
pub(crate) use pack::PackCode;
pub(crate) use peer::PeerCode;
pub(crate) use project::ProjectCode;
pub(crate) use recording::RecordingCode;
pub(crate) use reminder_file::ReminderFileCode;
pub(crate) use rhai::RhaiCode;
pub(crate) use schema::SchemaCode;
pub(crate) use served::ServedCode;
pub(crate) use source::SourceCode;
pub(crate) use system::SystemCode;
pub use test::TestCode;
