//! Traces of a server's tasks, as a collector gets them.

use super::server::{ServerCommand, message};
use crate::harn::root;
use crate::otel::Collector;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::thread;

/// The spans of each task, with the name of their parents: the lead asks its model twice, and the helper once.
const SPANS: [(&str, &str); 7] = [
    ("chat big", "invoke_agent lead"),
    ("chat big", "invoke_agent lead"),
    ("chat small", "invoke_agent helper"),
    ("execute_tool ask", "invoke_agent lead"),
    ("invoke_agent helper", "execute_tool ask"),
    ("invoke_agent lead", "run agent.harn"),
    ("run agent.harn", ""),
];

#[test]
fn each_task_of_a_server_is_a_trace_whose_spans_have_their_parents() {
    const CALLERS: usize = 4;
    const TASKS: usize = 5;
    let collector = Collector::start();
    let start = ServerCommand::file(root().join("tests/otel/agent.harn"), "traced").with(&["--otel", &collector.url]);
    let server = start.spawn();
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let server = &server;
            scope.spawn(move || {
                for number in 0..TASKS {
                    let said = message(&format!("go {caller} {number}"));
                    let sent = server.result("SendMessage", json!({"message": said}));
                    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{sent}");
                }
            });
        }
    });
    server.end();
    let mut traces: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for span in collector.spans() {
        traces.entry(span["trace"].to_string()).or_default().push(span);
    }
    assert_eq!(traces.len(), CALLERS * TASKS);
    let mut conversations = BTreeSet::new();
    for spans in traces.values() {
        let parent = |span: &Value| {
            let found = spans.iter().find(|other| other["id"] == span["parent"]);
            assert!(found.is_some() || span["parent"] == "", "the parent is in another trace: {span}");
            found.map_or_else(String::new, |parent| parent["name"].as_str().unwrap().to_owned())
        };
        let mut found: Vec<_> = spans.iter().map(|span| (span["name"].as_str().unwrap(), parent(span))).collect();
        found.sort();
        assert_eq!(found, SPANS.map(|(name, parent)| (name, parent.to_owned())));
        for span in spans {
            assert!(span["start"].as_u64() <= span["end"].as_u64(), "{span}");
            assert_eq!(span["status"], "STATUS_CODE_UNSET", "{span}");
        }
        let lead = spans.iter().find(|span| span["name"] == "invoke_agent lead").unwrap();
        conversations.insert(lead["attributes"]["gen_ai.conversation.id"].as_str().unwrap().to_owned());
    }
    assert_eq!(conversations.len(), CALLERS * TASKS, "each task has a conversation of its own");
}
