//! MCP servers that a client names in `session/new`.

use super::start::AgentCommand;
use crate::harn::root;
use crate::mcp::require_python;
use serde_json::json;

/// Calls a tool of the servers that the client names.
const AGENT: &str = r#"
pipeline default(task, context) {
  llm_mock_clear()
  llm_mock({tool_calls: [{id: "c", name: "lab-1__work", arguments: {text: task}}]})
  llm_mock({text: mcp.servers().join(" ")})
  return agent_loop(task, nil, {provider: "mock", mcp_servers: mcp.servers(), reminders: false})
}
"#;

#[test]
fn the_servers_of_the_client_are_known_to_the_script_and_their_tools_ask_for_permission() {
    require_python();
    let mut client = AgentCommand::script(AGENT, "servers").initialized();
    let cwd = client.folder().to_str().unwrap().to_owned();
    let server = root().join("tests/mcp/hostile.py").display().to_string();
    let servers = json!([
        {"name": "lab 1", "command": "python3", "args": [server, "old", "good"], "env": [{"name": "A", "value": "b"}]},
        // Neither has a name that can be used.
        {"name": "", "command": "python3", "args": [], "env": []},
    ]);
    let opened = client.ask("session/new", json!({"cwd": cwd, "mcpServers": servers}));
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let prompt = client.prompt(&session, "hello");
    let question = client.question();
    let reason = "the tool `work` of the MCP server `lab-1` may change or delete something";
    assert_eq!(question["params"]["_meta"]["harn"]["reason"], reason);
    let allowed = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": allowed}));
    let ended = client.until("the end of the call", |frame| frame["params"]["update"]["status"] == "completed");
    assert_eq!(ended["params"]["update"]["content"][0]["content"]["text"], "hello");
    assert_eq!(client.result(prompt)["stopReason"], "end_turn");
    assert!(client.said("an MCP server of the client cannot be used").contains("`name` is empty"));
}

#[test]
fn secrets_of_servers_are_not_stored_and_a_loaded_session_has_the_servers_of_its_client() {
    require_python();
    let start = AgentCommand::script(AGENT, "servers-again").logged();
    let mut client = start.initialized();
    let cwd = client.folder().to_str().unwrap().to_owned();
    let server = root().join("tests/mcp/hostile.py").display().to_string();
    let program = |name: &str, secret: &str| json!({"name": name, "command": "python3", "args": [server, "old", "good"], "env": [{"name": "KEY", "value": secret}]});
    let headers = json!([{"name": "X-Key", "value": "secret-header"}]);
    let web = json!({"name": "web", "type": "http", "url": "http://127.0.0.1:9/mcp", "headers": headers});
    let opened = client.ask("session/new", json!({"cwd": cwd, "mcpServers": [program("first", "secret-one"), web]}));
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    client.signal("TERM");
    client.ended();
    let mut client = start.initialized();
    let again = json!({"sessionId": session, "cwd": cwd, "mcpServers": [program("lab 1", "secret-two")]});
    client.ask("session/load", again);
    let prompt = client.prompt(&session, "hello");
    let question = client.question();
    let allowed = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": allowed}));
    assert_eq!(client.result(prompt)["stopReason"], "end_turn");
    let said = client.frames.iter().filter_map(|frame| frame["params"]["update"]["content"]["text"].as_str());
    assert!(said.collect::<String>().ends_with("lab-1"), "{:?}", client.frames);
    client.signal("TERM");
    client.ended();
    let stored: Vec<u8> = std::fs::read_dir(start.folder())
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.unwrap().path()).ok())
        .flatten()
        .collect();
    let stored = String::from_utf8_lossy(&stored);
    assert!(stored.contains(r#""mcp_servers":["first","web"]"#), "the names are stored");
    for secret in ["secret-one", "secret-two", "secret-header"] {
        assert!(!stored.contains(secret), "{secret} is on the log");
    }
}
