//! Tables of options in the reference: their keys and defaults are those of the rows that builtins read.

use crate::harn::root;
use std::collections::BTreeSet;
use std::fs;

/// A table of options in a page.
struct PageTable {
    page: &'static str,
    /// The first cell of its head.
    head: &'static str,
    /// The named types of the options.
    types: &'static [&'static str],
}

const fn table(page: &'static str, head: &'static str, types: &'static [&'static str]) -> PageTable {
    PageTable { page, head, types }
}

const TABLES: &[PageTable] = &[
    table("agent-loop", "option", &["AgentLoopOptions"]),
    table("models", "option", &["LlmOptions"]),
    table("mock-model", "field of a reply", &["MockReply"]),
    table("tools", "option", &["ShellToolOptions"]),
    table("mcp", "key", &["McpServer"]),
    table("mcp", "key of `oauth`", &["McpOauth"]),
    table(
        "a2a-client",
        "option",
        &["A2aSendOptions", "A2aStreamOptions", "A2aSubscribeOptions", "A2aGetOptions", "A2aInjectOptions"],
    ),
    table("hub-client", "option", &["HubConnectOptions", "HubPublishOptions", "HubRequestOptions"]),
    table("channels", "option of `channel.open`", &["ChannelOptions"]),
    table("reminder-rules", "option", &["LoopReminders"]),
    table("reminder-rules", "field | type | default", &["ReminderSpec"]),
    table("reminder-rules", "key", &["ReminderJudge"]),
    table("reminder-placement", "option", &["LoopReminders"]),
    table("facts", "field", &["Fact"]),
    table("language", "option", &["DecodeOptions"]),
];

/// Pages that have every key of a type, in tables or in their text.
const COMPLETE: [(&str, &str); 11] = [
    ("mcp", "McpServer"),
    ("mcp", "McpOauth"),
    ("mock-model", "MockReply"),
    ("mock-model", "MockError"),
    ("tools", "ShellToolOptions"),
    ("facts", "Fact"),
    ("facts", "RecallOptions"),
    ("channels", "ChannelOptions"),
    ("reminder-rules", "ReminderJudge"),
    ("a2a-client", "A2aInjectOptions"),
    ("hub-client", "HubPublishOptions"),
];

fn page(name: &str) -> String {
    fs::read_to_string(root().join(format!("docs/reference/{name}.md"))).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Returns the cells of a row.
fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split(" | ").map(str::trim).collect()
}

/// Returns the rows of the tables whose head begins with a cell, with the column of defaults.
fn rows<'p>(page: &'p str, head: &str) -> Vec<(Vec<&'p str>, Option<usize>)> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with(&format!("| {head} |")) {
            continue;
        }
        let default = cells(line).iter().position(|cell| *cell == "default");
        let table = lines.by_ref().skip(1).take_while(|line| line.starts_with('|'));
        found.extend(table.map(|line| (cells(line), default)));
    }
    found
}

/// Returns the options that a cell names.
fn keys(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).map(|key| key.trim_end_matches('?')).collect()
}

/// Returns a default as a script writes it, if a cell has one.
fn written(cell: &str) -> Option<String> {
    let text = cell.trim_matches('`').replace(',', "");
    let is_literal = text.parse::<f64>().is_ok() || text == "true" || text == "false" || text.starts_with('"');
    is_literal.then_some(text)
}

#[test]
fn tables_of_options_have_the_keys_and_defaults_of_their_rows() {
    let mut wrong = Vec::new();
    for PageTable { page: name, head, types } in TABLES {
        let text = page(name);
        let rows = rows(&text, head);
        assert!(!rows.is_empty(), "{name} has no table of `{head}`");
        for (cells, default) in rows {
            let keys = keys(cells[0]);
            assert!(!keys.is_empty(), "{name}: {cells:?}");
            for key in &keys {
                let options: Vec<_> = types
                    .iter()
                    .filter_map(|name| stdlib::registry().table(name).unwrap_or_else(|| panic!("no {name}")).find(key))
                    .collect();
                if options.is_empty() {
                    wrong.push(format!("{name}: `{key}` is not an option of {}", types.join(", ")));
                }
                let shown = default.filter(|_| keys.len() == 1).and_then(|at| written(cells.get(at).copied()?));
                if let Some(shown) = shown
                    && !options.iter().any(|row| row.default == shown)
                {
                    wrong.push(format!("{name}: the default of `{key}` is {:?}, not {shown}", options.first()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn pages_have_every_option_that_they_are_about() {
    let mut missing = BTreeSet::new();
    for (name, ty) in COMPLETE {
        let text = page(name);
        for key in stdlib::registry().table(ty).unwrap_or_else(|| panic!("no {ty}")).keys() {
            let is_there = |end: &str| text.contains(&format!("{key}{end}"));
            if !["`", ":", "?", ",", "}"].into_iter().any(is_there) {
                missing.insert(format!("{name}: `{key}` of {ty}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
