//! Scripts that ask other agents, and agents that are old, odd, slow, broken or something else altogether.

use crate::harn::{Outcome, harn_with_input, scratch};
use std::fs;

mod broken;
mod deadline;
mod extensions;
mod links;
mod outbox;
pub(crate) mod peer;
mod reminders;
mod served;
mod stream;
mod tokens;
mod versions;

use peer::{Peer, PeerRequest, Reply};

/// Runs a script; its `args()` are the URLs.
fn run(name: &str, script: &str, urls: &[&str], env: &[(&str, &str)]) -> Outcome {
    // Tests name their scripts alike.
    let test = std::thread::current().name().unwrap_or("test").replace("::", "-");
    let path = scratch(&format!("{test}-{name}")).join("script.harn");
    fs::write(&path, script).unwrap();
    let mut line = vec!["run", "--seed", "1", path.to_str().unwrap(), "--"];
    line.extend(urls);
    harn_with_input(&line, b"", env)
}

/// Returns the output of a script that ended normally.
fn printed(name: &str, script: &str, peer: &Peer) -> String {
    let outcome = run(name, script, &[&peer.url], &[]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{name}: {}", outcome.out);
    outcome.out
}

/// A card of version 1.0 whose agent answers under `/rpc`.
fn card(port: u16, capabilities: &str) -> String {
    format!(
        r#"{{"name": "worker", "description": "d", "version": "1", "capabilities": {capabilities},
            "supportedInterfaces": [{{"url": "http://127.0.0.1:{port}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}}],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}}"#
    )
}

/// A task of version 1.0.
pub(crate) fn task(state: &str, more: &str) -> String {
    format!(r#"{{"id": "t-1", "contextId": "c-1", "status": {{"state": "TASK_STATE_{state}"}}{more}}}"#)
}

/// An answer of JSON-RPC.
pub(crate) fn result(json: &str) -> Reply {
    Reply::json(200, &format!(r#"{{"jsonrpc": "2.0", "id": "1", "result": {json}}}"#))
}

/// A refusal of JSON-RPC.
fn error(json: &str) -> Reply {
    Reply::json(200, &format!(r#"{{"jsonrpc": "2.0", "id": "1", "error": {json}}}"#))
}

/// A peer of version 1.0 with these capabilities that answers a method by itself.
pub(crate) fn agent(
    capabilities: &'static str,
    answer: impl Fn(&PeerRequest) -> Reply + Send + Sync + 'static,
) -> Peer {
    Peer::start(move |asked, port| match asked.path.as_str() {
        "/.well-known/agent-card.json" => Reply::json(200, &card(port, capabilities)),
        "/rpc" => answer(asked),
        _ => Reply::text(404, "no such page"),
    })
}
