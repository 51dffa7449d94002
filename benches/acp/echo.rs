//! The peer: a process that reads a line as JSON and answers it, and does nothing else.

use serde_json::{Value, json};
use std::io::{BufRead, Write, stdin, stdout};

/// The argument that makes the bench be it.
pub(crate) const WORD: &str = "echo";

/// Answers until its input ends.
pub(crate) fn serve() {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { return };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"reminderId": "0", "dedupedCount": 0}});
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}
