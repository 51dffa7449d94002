//! The clients that the protocol's own SDKs give, in Python and Node. What they check stands in `tests/a2a`; here each runs, its
//! cases are counted, and everything that it was answered is held against the types.

use super::strict::Types;
use super::wire;
use crate::harn::{root, scratch};
use crate::packages::node;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The package of the Node client.
const NODE: [&str; 1] = ["@a2a-js/sdk@1.3.0"];

#[test]
fn the_python_client_of_1_0() {
    python_cases(Types::V1, 52);
}

#[test]
fn the_python_client_of_0_3() {
    python_cases(Types::V03, 34);
}

#[test]
fn the_node_client() {
    let folder = scratch("a2a-node-cases");
    let modules = node("a2a-node", &NODE);
    let mut command = Command::new("node");
    command.arg(root().join("tests/a2a/node/cases.mjs")).env("A2A_SDK", modules.join("@a2a-js/sdk"));
    cases(&mut command, &folder, 36);
}

fn python_cases(types: Types, count: usize) {
    let folder = scratch(&format!("a2a-{}-cases", types.folder()));
    let mut command = types.python();
    let scripts = root().join("tests/a2a/python");
    command.arg(scripts.join(types.folder()).join("cases.py")).env("PYTHONPATH", scripts);
    cases(&mut command, &folder, count);
}

/// Runs the cases; each must be told of as gone well.
fn cases(command: &mut Command, folder: &Path, count: usize) {
    let output = command
        .env("HARN", env!("CARGO_BIN_EXE_harn"))
        .env("A2A_FOLDER", folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(!out.contains("FAILED"), "{out}");
    assert_eq!(out.lines().filter(|line| line.starts_with("ok ")).count(), count, "{out}\n{err}");
    let logs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    assert_eq!(logs.len(), count, "the exchanges of each case");
    let values: usize = logs.iter().map(|log| fitting(log)).sum();
    assert!(values > count * 3, "{values} values are too few for {count} cases");
}

/// Holds what a case was answered against the types; gives how many values there were.
fn fitting(log: &Path) -> usize {
    let text = fs::read_to_string(log).unwrap();
    let exchanges = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    exchanges.map(|exchange| wire::assert_fits(&exchange)).sum()
}
