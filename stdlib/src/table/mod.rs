//! The builtins: one file per namespace, a row each.

mod agent_loop;
mod environment;
mod event_log;
mod fact;
mod file;
mod file_tools;
mod hook;
mod id;
mod later;
mod llm;
mod mock;
mod provider;
mod session;
mod time;
mod tool;
mod transcript;
mod transcripts;

use lang::builtins::{Builtin, Index, Registry};

/// The tables of this crate.
static OWN: &[&[Builtin]] = &[
    agent_loop::TABLE,
    environment::TABLE,
    event_log::TABLE,
    fact::TABLE,
    file::TABLE,
    file_tools::TABLE,
    hook::TABLE,
    id::TABLE,
    llm::TABLE,
    mock::TABLE,
    provider::TABLE,
    session::TABLE,
    time::TABLE,
    tool::TABLE,
    transcript::TABLE,
    transcripts::TABLE,
];

static GROUPS: &[&[&[Builtin]]] = &[lang::builtins::TABLES, OWN];

/// The standard modules. What they offer is global; naming them in an import says where it belongs.
static MODULES: &[&str] = &["std/agent/fact", "std/agent/state", "std/agent/tools", "std/agent/workers", "std/testing"];

/// Filled on the first look-up.
static INDEX: Index = Index::new();

/// All builtins, and the named types of their signatures.
pub(crate) const fn registry() -> Registry {
    Registry::new(GROUPS)
        .with_index(&INDEX)
        .with_shapes(crate::options::SHAPES)
        .with_later(later::LATER)
        .with_modules(MODULES)
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

    #[test]
    fn what_comes_later_is_not_there_yet() {
        let there: BTreeSet<String> = super::registry().all().map(lang::builtins::Builtin::full_name).collect();
        let mut seen = BTreeSet::new();
        for name in super::later::LATER {
            assert!(!there.contains(*name), "{name} is there");
            assert!(seen.insert(name), "{name} stands twice");
        }
    }

    #[test]
    fn the_rows_of_a_table_share_their_namespace() {
        for table in super::GROUPS.iter().flat_map(|g| g.iter()) {
            assert!(table.windows(2).all(|w| w[0].module == w[1].module));
        }
    }
}
