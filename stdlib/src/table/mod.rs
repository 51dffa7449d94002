//! The builtins: one file per namespace, a row each.

pub(crate) mod a2a;
mod agent_loop;
mod assertions;
mod audit;
mod bridge;
mod channel;
mod compact;
mod csv;
mod date;
mod diff;
mod duration;
mod environment;
mod event_log;
mod exec_stream;
mod fact;
pub(crate) mod file;
mod file_lines;
pub(crate) mod file_tools;
mod folder;
mod handoff;
mod hook;
mod html;
mod http;
mod http_mock;
#[cfg(feature = "hub")]
mod hub;
mod id;
pub(crate) mod input;
mod llm;
mod mcp;
mod mock;
mod path;
mod persona;
mod plain;
pub(crate) mod process;
mod provider;
mod session;
mod shell_tool;
mod task;
mod template;
mod text;
mod time;
mod toml;
mod tool;
mod transcript;
mod transcripts;
mod url;
mod watch;
#[cfg(not(feature = "hub"))]
mod without_hub;
mod workers;
mod yaml;

pub(crate) use provider::event_of;

use lang::builtins::{Builtin, Index, OptionTable, Registry};

/// The tables of this crate.
static OWN: &[&[Builtin]] = &[
    a2a::TABLE,
    agent_loop::TABLE,
    assertions::TABLE,
    audit::TABLE,
    bridge::TABLE,
    channel::TABLE,
    channel::connection::TABLE,
    compact::TABLE,
    csv::TABLE,
    date::TABLE,
    diff::TABLE,
    duration::TABLE,
    environment::TABLE,
    event_log::TABLE,
    exec_stream::TABLE,
    fact::TABLE,
    file::TABLE,
    file_lines::TABLE,
    file_tools::TABLE,
    shell_tool::TABLE,
    folder::TABLE,
    handoff::TABLE,
    hook::TABLE,
    html::TABLE,
    http::TABLE,
    http::of_responses::TABLE,
    http_mock::TABLE,
    #[cfg(feature = "hub")]
    hub::TABLE,
    #[cfg(feature = "hub")]
    hub::connection::TABLE,
    #[cfg(feature = "hub")]
    hub::task::TABLE,
    #[cfg(not(feature = "hub"))]
    without_hub::TABLE,
    id::TABLE,
    input::TABLE,
    llm::TABLE,
    mcp::TABLE,
    mock::TABLE,
    path::TABLE,
    persona::TABLE,
    process::TABLE,
    provider::TABLE,
    session::TABLE,
    task::TABLE,
    template::TABLE,
    text::TABLE,
    text::of_strings::TABLE,
    time::TABLE,
    toml::TABLE,
    tool::TABLE,
    transcript::TABLE,
    transcripts::TABLE,
    url::TABLE,
    watch::TABLE,
    workers::TABLE,
    yaml::TABLE,
];

static GROUPS: &[&[&[Builtin]]] = &[lang::builtins::TABLES, OWN];

static OPTIONS: &[&[&OptionTable]] = &[lang::builtins::OPTIONS, crate::options::OPTIONS];

/// The standard modules. What they offer is global; naming them in an import says where it belongs.
static MODULES: &[&str] =
    &["std/builtins", "std/agent/fact", "std/agent/state", "std/agent/tools", "std/agent/workers", "std/testing"];

/// Filled on the first look-up.
static INDEX: Index = Index::new();

/// Returns the rows, and the named types of their signatures. Users of the crate get them from [`crate::registry::registry`].
#[must_use]
pub(crate) const fn registry() -> Registry {
    Registry::new(GROUPS)
        .with_index(&INDEX)
        .with_options(OPTIONS)
        .with_options_elsewhere(crate::options::ELSEWHERE)
        .with_results(crate::results::RESULTS)
        .with_payloads(crate::options::PAYLOADS)
        .with_modules(MODULES)
        .with_types(crate::schema::HOST_TYPES)
        .with_outcome(&["status", "transcript"])
        .with_list("`harn doc` lists them")
}

/// Every row of the table.
pub fn builtins() -> impl Iterator<Item = &'static Builtin> {
    registry().all()
}

#[cfg(test)]
mod tests;
