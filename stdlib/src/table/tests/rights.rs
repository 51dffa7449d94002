//! The capability that each builtin needs, held as a list so that a new one that reaches outside is
//! not forgotten.

use crate::capability::Capability;
use crate::engine::{Engine, RunOptions};
use crate::output::Captured;
use crate::table::registry;
use lang::source::Source;
use lang::vm::RunCode;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Every builtin that needs a right, by right.
const NEEDS: &[(Capability, &[&str])] = &[
    (
        Capability::FsRead,
        &[
            "copy_file",
            "exists",
            "file_exists",
            "file_tools",
            "glob",
            "invalidate_facts",
            "is_dir",
            "is_file",
            "list_dir",
            "read_bytes",
            "read_file",
            "read_json",
            "read_lines",
            "recall_facts",
            "render_file",
            "stat",
            "walk",
            "watch",
        ],
    ),
    (
        Capability::FsWrite,
        &[
            "append_file",
            "copy_file",
            "delete_file",
            "invalidate_facts",
            "make_dir",
            "make_temp_dir",
            "mkdir",
            "remove",
            "rename_file",
            "store_fact",
            "write_atomic",
            "write_bytes",
            "write_file",
            "write_json",
        ],
    ),
    (Capability::Process, &["exec", "exec_stream", "shell_tool"]),
    (
        Capability::Net,
        &[
            "a2a.cancel",
            "a2a.card",
            "a2a.get",
            "a2a.inject_reminder",
            "a2a.send",
            "a2a.stream",
            "a2a.subscribe",
            "http_delete",
            "http_get",
            "http_head",
            "http_paginate",
            "http_patch",
            "http_post",
            "http_put",
            "http_request",
            "hub.connect",
        ],
    ),
    (Capability::Env, &["env", "env_or"]),
    (Capability::Llm, &["agent_loop", "llm_call", "llm_stream", "resume_agent", "spawn_agent", "sub_agent_run"]),
];

#[test]
fn the_table_says_who_needs_what() {
    for (right, names) in NEEDS {
        let found: BTreeSet<String> = registry()
            .all()
            .filter(|row| row.caps.contains(&right.right()))
            .map(lang::builtins::Builtin::full_name)
            .collect();
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), *names, "{}", right.name());
    }
    assert_eq!(NEEDS.len(), Capability::ALL.len());
}

/// Returns the error codes of a builtin in a run without a capability, and in one with it.
fn called(name: &str, arity: usize, denied: &[Capability]) -> String {
    let args = vec!["\"no/such/thing\""; arity].join(", ");
    // Through a function without types, since the arguments do not have the types that it wants; a
    // name with a dot is not a value by itself.
    let params = (0..arity).map(|i| format!("a{i}")).collect::<Vec<_>>().join(", ");
    let f = if name.contains('.') { format!("{{ {params} -> {name}({params}) }}") } else { name.to_owned() };
    let output = Rc::new(Captured::default());
    let text = format!("let f = {f}\nlet r = try {{ f({args}) }}\nprintln(is_err(r) ? unwrap_err(r).code : \"ran\")\n");
    let options =
        RunOptions { denied: denied.to_vec(), output: output.clone(), seed: Some(1), ..RunOptions::default() };
    let ran = Engine::new(options).run(&Source::new("rights.harn", text));
    assert_eq!(ran.exit_code, 0, "{name}: {:?}", ran.diagnostics);
    output.stdout().trim().to_owned()
}

#[test]
fn every_builtin_that_needs_a_right_is_refused_without_it() {
    for row in registry().all().filter(|row| !row.caps.is_empty()) {
        for right in Capability::ALL.into_iter().filter(|right| row.caps.contains(&right.right())) {
            let code = called(&row.full_name(), usize::from(row.arity.min), &[right]);
            assert_eq!(code, RunCode::Denied.code().as_str(), "{} without {}", row.full_name(), right.name());
        }
        let others: Vec<Capability> =
            Capability::ALL.into_iter().filter(|other| !row.caps.contains(&other.right())).collect();
        let code = called(&row.full_name(), usize::from(row.arity.min), &others);
        assert_ne!(code, RunCode::Denied.code().as_str(), "{} needs no more than it says", row.full_name());
    }
}
