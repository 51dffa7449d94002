//! Tests that compare tables with what reads the same keys elsewhere.

use super::{
    AgentLoopOptions, FACT, FACT_EVIDENCE, FACT_OPTIONS, INHERITED_REMINDER, MCP_OAUTH, MCP_REMINDERS, MCP_SERVER,
    MOCK_REPLY, OptionSet, RECALL_OPTIONS, REMINDER_SELECTOR, REMINDER_SPEC,
};
use base::data::Data;
use lang::builtins::OptionTable;
use providers::fact::{Draft, Options};
use providers::model::MockReply;
use runtime::agent_loop::LoopOptions;
use runtime::lifecycle::Selector;
use runtime::reminder::{Reminder, ReminderSpec};
use std::collections::BTreeSet;

/// Returns the keys of a table that a reader of data takes for unknown, and whether it takes any for known.
fn refused(table: &OptionTable, error_of: impl Fn(&Data) -> Option<String>) -> Vec<&'static str> {
    let of = |key: &str| error_of(&Data::dict([(key.to_owned(), Data::Nil)]));
    assert!(of("qqq_zzz").is_some_and(|error| error.contains("unknown")), "{} is read loosely", table.name);
    table.keys().filter(|key| of(key).is_some_and(|error| error.contains("unknown"))).collect()
}

#[test]
fn what_other_crates_read_has_the_keys_of_its_table() {
    let keys = |table: &OptionTable| table.keys().collect::<BTreeSet<_>>();
    let of = |keys: &[&'static str]| keys.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(keys(&REMINDER_SPEC), of(ReminderSpec::KEYS));
    assert_eq!(keys(&INHERITED_REMINDER), of(Reminder::HANDED_KEYS));
    assert_eq!(keys(&REMINDER_SELECTOR), of(Selector::KEYS));
    assert_eq!(keys(&MOCK_REPLY), of(MockReply::KEYS));
    let none: [&str; 0] = [];
    assert_eq!(refused(&FACT, |data| Draft::from_data(data).err().map(|e| e.message)), none);
    assert_eq!(refused(&FACT_OPTIONS, |data| Options::read(data, false).err().map(|e| e.message)), none);
    assert_eq!(refused(&RECALL_OPTIONS, |data| Options::read(data, true).err().map(|e| e.message)), none);
    let evidence = |data: &Data| {
        let fact = [("kind", "claim".into()), ("claim", "a".into()), ("confidence", 1.0.into())];
        let fact = Data::dict(fact).with("evidence", Data::list([data.clone()]));
        Draft::from_data(&fact).err().map(|e| e.message)
    };
    assert_eq!(refused(&FACT_EVIDENCE, evidence), none);
    let server = |key: &'static str| {
        move |data: &Data| {
            let server = [("name", Data::from("a")), ("url", "http://127.0.0.1:9".into())];
            let server = Data::dict(server).with(key, data.clone());
            crate::mcp::McpServerSpec::from_data(&server).err().map(|e| e.message)
        }
    };
    assert_eq!(refused(&MCP_OAUTH, server("oauth")), none);
    assert_eq!(refused(&MCP_REMINDERS, server("reminders")), none);
    assert!(MCP_SERVER.has("oauth") && MCP_SERVER.has("reminders"));
}

#[test]
fn loops_without_options_have_the_defaults_of_the_core() {
    let core = LoopOptions::new("");
    let shown = |key: &str| AgentLoopOptions::TABLE.find(key).unwrap().default;
    assert_eq!(shown("max_iterations"), core.limits.max_iterations.to_string());
    assert_eq!(shown("max_nudges"), core.limits.max_nudges.to_string());
    assert_eq!(shown("max_repeats"), core.limits.max_repeats.to_string());
    assert_eq!(shown("done_sentinel"), format!("{:?}", &*core.sentinel.word));
}
