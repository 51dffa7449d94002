//! The clients of the protocol's own SDKs, in Python and Node. Their checks are in `tests/acp`;
//! each runs here, its cases are counted, and every frame that it received is checked against the
//! schemas.

use super::schema::{SDK, protocol};
use crate::harn::{root, scratch};
use crate::packages::{node, python};
use crate::sdk_cases::logs;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_python_client_of_models() {
    python_cases("typed.py", 24);
}

#[test]
fn the_python_connection_of_bare_frames() {
    python_cases("raw.py", 29);
}

#[test]
fn the_node_client() {
    let folder = scratch("acp-node-cases");
    let modules = node("acp-node", &SDK);
    let mut command = Command::new("node");
    command
        .arg(root().join("tests/acp/node/cases.mjs"))
        .env("ACP_SDK", modules.join(SDK[0].rsplit_once('@').unwrap().0));
    cases(&mut command, &folder, 23);
}

fn python_cases(script: &str, count: usize) {
    let folder = scratch(&format!("acp-{script}"));
    let mut command = Command::new(python("acp-python", "tests/acp/requirements.txt"));
    command.arg("-B").arg(root().join("tests/acp/python").join(script));
    cases(&mut command, &folder, count);
}

/// Runs the cases, and holds what they were answered against the schemas.
fn cases(command: &mut Command, folder: &Path, count: usize) {
    let logs = logs(command, "ACP_FOLDER", folder, count);
    let frames: usize = logs.iter().map(|log| valid(log)).sum();
    assert!(frames > count * 3, "{frames} frames are too few for {count} cases");
}

/// Checks the frames of an agent against the schemas; returns their number. One file may have
/// several processes.
fn valid(log: &Path) -> usize {
    let mut asked: HashMap<String, String> = HashMap::new();
    let mut count = 0;
    for line in fs::read_to_string(log).unwrap().lines() {
        let kept: Value = serde_json::from_str(line).unwrap();
        let frame = &kept["message"];
        let id = frame.get("id").map(Value::to_string);
        if kept["direction"] == "outgoing" {
            if let (Some(id), Some(method)) = (id, frame["method"].as_str()) {
                asked.insert(id, method.to_owned());
            }
            continue;
        }
        let method = id.and_then(|id| asked.get(&id)).map(String::as_str);
        if let Some(problem) = protocol().problem(frame, method) {
            panic!("{}: {problem}", log.display());
        }
        count += 1;
    }
    count
}
