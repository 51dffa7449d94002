//! Interfaces of the core, implemented by script functions.

mod approver;
mod compactor;
mod condition;
mod driver;
mod function;
mod halting;
mod hook;
mod model;
mod offered;
mod provider;
mod room;
mod tool;

pub(crate) use approver::OutsideApprover;
pub(crate) use compactor::ScriptCompactor;
pub(crate) use condition::{conditions_of, to_reminder_data};
pub(crate) use driver::RunDriver;
pub(crate) use function::{ScriptFn, data_of};
pub(crate) use hook::ScriptHook;
pub(crate) use model::ScriptModel;
pub(crate) use offered::offered;
pub(crate) use provider::{ScriptProvider, check_config};
pub(crate) use room::roomy_model;
pub(crate) use tool::ScriptTool;
