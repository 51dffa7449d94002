//! MCP servers as a script sees them.
//!
//! - [`guide`]: the servers and the agent of `docs/guide/mcp.md`.
//! - [`hostile`]: a server that misbehaves in many ways, `tests/mcp/hostile.py`. `loops`: tools of servers in loops.
//! - [`http`]: servers behind a URL that misbehave.
//! - [`login`]: servers that want tokens, [`issuer`].
//! - [`reminders`]: reminders that a server sends.
//! - [`served`]: the server of `examples/mcp`, used by official clients.
//! - [`synced`]: lists of tools that are stored in a project.
//! - [`official`]: npm `@modelcontextprotocol/server-everything`, and a server with PyPI `mcp`, over both transports and in
//!   both versions.

mod guide;
mod hostile;
mod http;
mod issuer;
mod login;
mod loops;
mod official;
mod reminders;
mod served;
mod synced;

use crate::harn::{Outcome, harn_in, root, scratch};
use crate::packages::require;
use std::fs;

/// Runs a script in which `SERVER` stands for a server of `tests/mcp/hostile.py`: `era` is `old` or `new`.
fn with_hostile(name: &str, era: &str, mode: &str, script: &str) -> Outcome {
    require_python();
    // A server of an unknown version that does not answer within 5 s is taken for an older one.
    let protocol = if era == "new" && mode != "good" { ", protocol: \"2026-07-28\"" } else { "" };
    let server = format!(
        "{{name: \"h\", command: \"python3\", args: [\"tests/mcp/hostile.py\", \"{era}\", \"{mode}\"]{protocol}"
    );
    let script = script.replace("SERVER_AND", &server).replace("SERVER", &format!("{server}}}"));
    run(&format!("{name}-{era}-{mode}"), &script, &[])
}

/// Fails unless the hostile server can be run.
pub(crate) fn require_python() {
    require("python3", "--version", "runs tests/mcp/hostile.py", "python3");
}

/// Runs a script at the root of the repository.
fn run(name: &str, script: &str, options: &[&str]) -> Outcome {
    let file = scratch(&format!("mcp-{name}")).join("main.harn");
    fs::write(&file, script).unwrap();
    let path = file.to_str().unwrap();
    harn_in(root(), &[&["run", "--timeout", "60s"], options, &[path]].concat(), b"", &[])
}

/// Checks that a run printed these lines and nothing else.
#[track_caller]
fn prints(outcome: &Outcome, lines: &str) {
    assert_eq!((outcome.out.trim_end(), outcome.err.as_str(), outcome.code), (lines.trim(), "", Some(0)));
}
