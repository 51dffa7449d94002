//! Interfaces of the core, implemented by script functions.

mod approver;
mod compactor;
mod condition;
mod driver;
mod function;
mod halting;
mod hook;
mod model;
mod permissions;
mod provider;
mod room;
mod tool;

pub(crate) use approver::OutsideApprover;
pub(crate) use compactor::ScriptCompactor;
pub(crate) use condition::{conditions_of, to_reminder_data};
pub(crate) use driver::RunDriver;
pub(crate) use function::ScriptFn;
pub(crate) use hook::ScriptHook;
pub(crate) use model::ScriptModel;
pub(crate) use permissions::ScriptPermissions;
pub(crate) use provider::{ScriptProvider, check_config};
pub(crate) use room::{roomy_model, roomy_tools};
pub(crate) use tool::{ScriptTool, silent_tools};
