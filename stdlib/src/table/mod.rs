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
#[cfg(test)]
mod examples;
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
#[cfg(all(test, feature = "hub"))]
mod pages;
mod path;
mod persona;
mod plain;
pub(crate) mod process;
mod provider;
#[cfg(test)]
mod rights;
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

pub(crate) use llm::announce;
pub(crate) use provider::event_of;
pub(crate) use tool::tools_from;
pub(crate) use url::{query_of, query_values};
pub(crate) use yaml::front_matter_of;

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

/// Returns the builtins, and the named types of their signatures.
#[must_use]
pub const fn registry() -> Registry {
    Registry::new(GROUPS)
        .with_index(&INDEX)
        .with_options(OPTIONS)
        .with_options_elsewhere(crate::options::ELSEWHERE)
        .with_results(crate::results::RESULTS)
        .with_payloads(crate::options::PAYLOADS)
        .with_modules(MODULES)
        .with_types(&["cookie_jar", "transcript"])
        .with_outcome(&["status", "transcript"])
        .with_list("`harn doc` lists them")
}

/// Every row of the table.
pub fn builtins() -> impl Iterator<Item = &'static Builtin> {
    registry().all()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_signature_parses_and_every_name_is_there_once() {
        let mut seen = BTreeSet::new();
        for row in super::registry().all() {
            assert!(lang::check::signature(row.sig).is_some(), "{}: {}", row.full_name(), row.sig);
            assert!(seen.insert((row.module, row.name)), "{} stands twice", row.full_name());
            assert!(!row.doc.trim().is_empty(), "{} has no documentation", row.full_name());
        }
    }

    /// The names that the language promises, by namespace.
    const PROMISED: [(&str, &str); 7] = [
        (
            "",
            "print println eprintln log len type_of to_string str to_int to_float keys values entries range iter pair set \
             join split trim abs min max floor ceil round sqrt pow json_parse json_stringify json_stringify_pretty \
             regex_match regex_replace regex_captures sha256 base64_encode base64_decode uuid uuid_v7 now_ms \
             monotonic_ms sleep timestamp env read_file write_file file_exists list_dir exec assert assert_eq assert_ne \
             unwrap unwrap_or unwrap_err is_ok is_err unreachable Ok Err exit await cancel channel send receive \
             try_receive close_channel transcript",
        ),
        (
            "<string>",
            "count empty contains replace split trim trim_start trim_end starts_with ends_with lowercase lower uppercase \
             upper substring lines chars char_at index_of last_index_of repeat reverse pad_left pad_right",
        ),
        (
            "<list>",
            "count empty first last map filter reduce find find_index any all every none flat_map sort sort_by min max \
             min_by max_by sum join reverse push pop contains index_of slice take skip zip enumerate unique flatten chunk \
             window partition group_by tally compact iter to_list",
        ),
        ("<dict>", "keys values entries count has get merge map map_values filter remove empty"),
        ("<set>", "add remove contains union intersect difference is_subset count empty to_list map filter iter"),
        ("<range>", "count empty first last map filter reduce contains slice take skip reverse to_list iter"),
        (
            "<iter>",
            "map filter flat_map take skip take_while skip_while zip enumerate chain chunks windows to_list to_set to_dict \
             count sum min max reduce first last any all find for_each",
        ),
    ];

    #[test]
    fn every_builtin_that_the_language_promises_is_there() {
        for (module, names) in PROMISED {
            for name in names.split_whitespace() {
                assert!(super::registry().find(module, name).is_some(), "{module} {name}");
            }
        }
    }

    #[test]
    fn the_rows_of_a_table_share_their_namespace() {
        for table in super::GROUPS.iter().flat_map(|g| g.iter()) {
            assert!(table.windows(2).all(|w| w[0].module == w[1].module));
        }
    }
}
