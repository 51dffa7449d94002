//! The clients of the protocol's own SDKs, in Python and Node. Their checks are in `tests/a2a`;
//! each runs here, its cases are counted, and every answer that it received is checked against the
//! types.

use super::strict::Types;
use super::wire;
use crate::harn::{root, scratch};
use crate::packages::node;
use crate::sdk_cases::logs;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The package of the Node client.
const NODE: [&str; 1] = ["@a2a-js/sdk@1.3.0"];

#[test]
fn the_python_client_of_1_0() {
    python_cases(Types::V1, 58);
}

#[test]
fn the_python_client_of_0_3() {
    python_cases(Types::V03, 38);
}

#[test]
fn the_node_client() {
    let folder = scratch("a2a-node-cases");
    let modules = node("a2a-node", &NODE);
    let mut command = Command::new("node");
    command.arg(root().join("tests/a2a/node/cases.mjs")).env("A2A_SDK", modules.join("@a2a-js/sdk"));
    cases(&mut command, &folder, 40);
}

fn python_cases(types: Types, count: usize) {
    let folder = scratch(&format!("a2a-{}-cases", types.folder()));
    let mut command = types.python();
    let scripts = root().join("tests/a2a/python");
    command.arg(scripts.join(types.folder()).join("cases.py")).env("PYTHONPATH", scripts);
    cases(&mut command, &folder, count);
}

/// Runs the cases, and holds what they were answered against the types.
fn cases(command: &mut Command, folder: &Path, count: usize) {
    let logs = logs(command, "A2A_FOLDER", folder, count);
    let values: usize = logs.iter().map(|log| fitting(log)).sum();
    assert!(values > count * 3, "{values} values are too few for {count} cases");
}

/// Checks the answers of a case against the types; returns the number of values.
fn fitting(log: &Path) -> usize {
    let text = fs::read_to_string(log).unwrap();
    let exchanges = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    exchanges.map(|exchange| wire::assert_fits(&exchange)).sum()
}
