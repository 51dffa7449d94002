//! The builtins that a script can call: the core and its providers, bound into the language.
//!
//! - [`Engine`]: checks and runs scripts; a REPL feeds it piece by piece.
//! - [`World`]: what one run holds of the core: sessions, hooks, providers, routes, log, clock. Later modules keep their own
//!   state as parts of it.
//! - `here`, `call_context`: the session and scope in which a builtin is called. `arguments`: what its arguments name.
//! - `bind`: what the core calls, made of script functions: hooks, tools, providers, models, compactors.
//! - `a2a`: asking other agents. `http`: requests, their answers, and answers in place of servers.
//! - `channel`: channels to the daemon that serves a script.
//! - `disk`: file operations, off the threads of sessions.
//! - `hub`: hubs, of this process and others. `hub_convert`: the messages of a hub in the model of A2A.
//! - `mcp`: tools, resources, prompts and reminders of MCP servers.
//! - `options`: the options of builtins. `schema`, `decode`, `answer`: types that a script declares, for tools and answers.
//! - `loops`, `workers`: a loop as a script describes it, and those that work for another.
//! - `persist`: loops that outlive their process.
//! - `table`: the builtins, one file per namespace. `registry`: the builtins with all that `check` asks.
//! - `rhai_front_end`: scripts in Rhai, with the same builtins.
//! - `reminder_files`: reminders that are written as files of a project.
//! - `project`: the settings of a project. `trust`: which folders of others the user trusts.
//! - `recording`: runs on record, and run again from it.
//! - `testing`: what tests of scripts need.
//! - [`RunVariant`]: what an evaluation changes in a run.
//! - `values`, `failed_loop`: what the core hands out, as values of the language; `convert` goes both ways.
//! - `lint`: what `check` finds in literals of reminders, hooks and providers.
//! - `codes`: the diagnostic codes of this crate, and their rows. [`catalogue`]: those of every crate.
//!
//! A module names earlier modules only; the test `tests/system/stages.rs` holds their order.

mod a2a;
mod answer;
mod argument_size;
mod arguments;
mod before_exec;
mod bind;
mod builtin_search;
mod call_context;
mod capability;
mod catalogue;
mod channel;
mod clock;
mod codes;
mod completion;
mod confined_folder;
mod confinement;
mod convert;
mod cookies;
mod decode;
mod descendants;
mod disk;
mod engine;
mod fact;
mod failed_loop;
mod fault;
mod group;
mod here;
mod hosting;
mod http;
#[cfg(feature = "hub")]
mod hub;
mod interrupt;
mod lifetime;
pub mod limits;
mod lines;
mod lint;
mod log;
mod loops;
mod mcp;
mod options;
pub mod output;
mod payload;
mod persist;
mod progress;
mod project;
mod random;
mod read;
mod recording;
mod registry;
mod reminder_files;
mod results;
mod rhai_front_end;
mod schema;
mod skills;
mod structured_text;
mod system;
mod table;
mod testing;
#[cfg(test)]
#[allow(dead_code, reason = "the other tests use more of it")]
#[path = "../../tests/support/tokio_wait.rs"]
mod tokio_wait;
mod tool_search;
mod tool_value;
mod trust;
mod values;
mod variant;
pub mod word_search;
mod workers;
mod world;

pub use crate::a2a::reconcile::reconcile_peer_tasks;
pub use crate::channel::{ChannelEvents, ChannelHost, ChannelRefusal, ChannelReply, ChannelRequest, OpenChannel};
#[cfg(feature = "hub")]
pub use crate::hub::convert as hub_convert;
pub use crate::mcp::McpServerSpec;
pub use base::moment::{from_rfc3339, rfc3339};
pub use builtin_search::{builtins_elsewhere, nearest_builtin_word, search_builtins};
pub use catalogue::{catalogue, find, from_core};
pub use codes::{AgentCode, TestCode};
pub use convert::{to_data, to_value};
pub use engine::{
    ConversationView, Engine, Evaluated, Hosted, Piece, PromptEnd, PromptResult, ReminderView, Request, ReturnedValue,
    RunOptions, RunResult, Servable, ServedCall, SyncedServer, TestCase, TestOutcome, check_entries, check_served,
};
pub use hosting::{
    HostExchange, Hosting, MCP_PROTOCOL, Part, PlanEntry, Priority, Progress, Question, ServedEntry, ServedKind,
    TaskArtifact, TaskUpdate, outside,
};
pub use interrupt::{CutShort, Interrupt};
pub use lifetime::{ReminderLifetime, reminder_lifetimes};
pub use log::{LogRetention, LogSettings};
pub use output::{Captured, Output};
pub use project::{
    Agent, ChannelsProject, Granted, OrphanPolicy, Project, Provider, Replies, Skill, grants, project_keys, trust,
};
pub use providers::model::HistoryRule;
pub use providers::web::HealthProbe;
pub use read::{Files, decode_source, read_source, unreadable_source};
pub use recording::{Preview, PreviewedReminder, PreviewedRequest, RunRecording};
pub use registry::registry;
pub use reminder_files::{check_reminder_file, check_reminder_text, is_reminder_file, reminder_files_of};
pub use rhai_front_end::packs::{Budget, PackSpec};
pub use rhai_front_end::{is_rhai, rhai_definitions};
pub use table::builtins;
pub use testing::{Difference, SnapshotResult, Snapshots, pretty};
pub use trust::{TrustedFolder, config_folder, revoke, trusted};
pub use variant::RunVariant;
pub use world::{Live, World};

pub use capability::Capability;
pub use completion::{
    Completion, CompletionKind, NameSource, ValueMembers, complete, complete_rhai, describe, option_at, rhai_as_harn,
    rhai_builtin,
};
pub use lang::builtins::Builtin;
pub use lang::codes;
pub use lang::diagnostic::code::{Code, CodeRef};
pub use lang::diagnostic::draw::draw;
pub use lang::diagnostic::fix::{Applicability, Edit, Fix};
pub use lang::diagnostic::json::to_json;
pub use lang::diagnostic::{Diagnostic, Label, Severity, is_obeyed, one_line, shown};
pub use lang::module::Loader;
pub use lang::repair::{Repaired, repair};
pub use lang::source::{Source, SourceRef, Span};
pub use lang::vm::{Counted, LineCount};
