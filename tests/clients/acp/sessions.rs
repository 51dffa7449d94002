//! Valid requests for a session that is unknown or busy, and unknown keys.

use super::start::AgentCommand;
use serde_json::{Value, json};

#[test]
fn an_unknown_session_is_refused_by_every_method() {
    let mut client = AgentCommand::agent("seams.harn", "unknown").logged().initialized();
    let session = client.session();
    let params = |id: &str, more: Value| {
        let mut params = json!({"sessionId": id});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let methods = [
        ("session/prompt", json!({"prompt": [{"type": "text", "text": "Hi."}]})),
        ("session/set_mode", json!({"modeId": "ask"})),
        ("session/close", json!({})),
        ("session/load", json!({"cwd": "/", "mcpServers": []})),
        ("session/resume", json!({"cwd": "/", "mcpServers": []})),
        ("session/inject_reminder", json!({"body": "b"})),
        ("session/remind", json!({"body": "b"})),
        ("_session/remind", json!({"body": "b"})),
        ("session/inject", json!({"content": "c"})),
        ("session/pending_injections", json!({})),
        ("session/revoke_reminder", json!({"reminderId": "r"})),
    ];
    let long = "s".repeat(1_000_000);
    let traversal = "../../../etc/passwd";
    for id in [
        "sess_none",
        "",
        " ",
        "ä\u{0}",
        traversal,
        &long,
        "sess_00000000000000000000000000000000",
        &session[..session.len() - 1],
    ] {
        for (method, more) in &methods {
            let error = client.refused(method, params(id, more.clone()));
            let told = (error["code"].as_i64(), error["data"]["code"].as_str(), error["data"]["field"].as_str());
            assert_eq!(
                told,
                (Some(-32002), Some("HARN-ACP-007"), Some("sessionId")),
                "{method} {id:.40}: {error:.300}"
            );
        }
    }
    client.notify("session/cancel", json!({"sessionId": "sess_none"}));
    client.notify("session/inject_reminder", json!({"sessionId": "sess_none", "body": "b"}));
    assert_eq!(client.prompted(&session, "Look.")["stopReason"], "end_turn");
}

#[test]
fn without_a_log_on_disk_nothing_is_loaded() {
    let mut client = AgentCommand::agent("seams.harn", "unlogged").initialized();
    let session = client.session();
    for method in ["session/load", "session/resume"] {
        let error = client.refused(method, json!({"sessionId": "sess_none", "cwd": "/", "mcpServers": []}));
        let code = error["code"].as_i64().unwrap();
        assert!([-32601, -32002].contains(&code), "{method}: {error}");
    }
    assert_eq!(client.prompted(&session, "Look.")["stopReason"], "end_turn");
}

#[test]
fn without_an_id_the_only_session_is_meant() {
    let mut client = AgentCommand::agent("seams.harn", "only").initialized();
    assert!(client.refused("session/remind", json!({"body": "b"}))["code"].is_i64(), "there is none");
    let one = client.session();
    client.ask("session/remind", json!({"body": "b"}));
    let two = client.session();
    let error = client.refused("session/remind", json!({"body": "c"}));
    assert_eq!((error["code"].as_i64(), error["data"]["field"].as_str()), (Some(-32602), Some("sessionId")), "{error}");
    let mut pending =
        |session: &str| client.ask("session/pending_injections", json!({"sessionId": session}))["pendingCount"].clone();
    assert_eq!((pending(&one), pending(&two)), (json!(1), json!(0)));
}

#[test]
fn keys_that_nobody_knows_are_let_alone_but_among_those_of_reminders() {
    let mut client = AgentCommand::agent("seams.harn", "keys").spawn();
    let hello = json!({"protocolVersion": 1, "future": {"deep": [1]}, "clientCapabilities": {"fs": {"x": 1}, "soon": true, "_meta": {"a": 1}}});
    client.ask("initialize", hello);
    let folder = client.folder().to_str().unwrap().to_owned();
    let opened =
        client.ask("session/new", json!({"cwd": folder, "mcpServers": [], "future": 1, "_meta": {"other": {"x": []}}}));
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let prompt = json!({"sessionId": session, "future": null, "_meta": {"x": 1},
        "prompt": [{"type": "text", "text": "Look.", "annotations": {"audience": ["user"]}, "future": 7}]});
    assert_eq!(client.ask("session/prompt", prompt)["stopReason"], "end_turn");
    client.ask("session/list", json!({"future": 1}));
    client.ask(
        "session/inject_reminder",
        json!({"sessionId": session, "body": "b", "_meta": {"harn": {"origin": "watcher"}, "x": 1}}),
    );
    let error = client.refused("session/inject_reminder", json!({"sessionId": session, "body": "b", "future": 1}));
    assert_eq!(
        (error["data"]["code"].as_str(), error["data"]["field"].as_str()),
        (Some("HARN-RMD-001"), Some("future")),
        "{error}"
    );
}

#[test]
fn a_session_takes_one_prompt_at_a_time() {
    let mut client = AgentCommand::agent("seams.harn", "busy").initialized();
    let (one, two) = (client.session_in("one"), client.session_in("two"));
    let first = client.prompt(&one, "Stop in-tool.");
    client.arrived("one/in-tool");
    let error =
        client.refused("session/prompt", json!({"sessionId": one, "prompt": [{"type": "text", "text": "And?"}]}));
    assert_eq!(
        (error["data"]["code"].as_str(), error["data"]["reason"].as_str()),
        (Some("HARN-ACP-008"), Some("busy")),
        "{error}"
    );
    assert_eq!(client.prompted(&two, "Look.")["stopReason"], "end_turn");
    client.open("one/in-tool");
    assert_eq!(client.result(first)["_meta"]["harn"]["data"]["ran"], 1);
    assert_eq!(client.prompted(&one, "Again.")["stopReason"], "end_turn");
}

#[test]
fn a_script_that_fails_fails_its_prompt_alone() {
    let script = "pipeline default(task) {\n  if task == \"fail\" { throw \"it broke\" }\n  return task\n}\n";
    let mut client = AgentCommand::script(script, "fails").initialized();
    let (one, two) = (client.session(), client.session());
    let error =
        client.refused("session/prompt", json!({"sessionId": one, "prompt": [{"type": "text", "text": "fail"}]}));
    assert_eq!(error["code"].as_i64(), Some(-32603), "{error}");
    assert!(error.to_string().contains("it broke"), "{error}");
    for session in [&one, &two] {
        assert_eq!(client.prompted(session, "fine")["stopReason"], "end_turn");
        assert_eq!(client.update(session, "agent_message_chunk")["params"]["update"]["content"]["text"], "fine");
    }
}

#[test]
fn what_a_script_prints_is_no_frame() {
    let script = "println(\"from the top\")\npipeline default(task) {\n  println(\"{\\\"jsonrpc\\\": 1}\")\n  print(\"half\")\n  log(\"logged\")\n  return nil\n}\n";
    let mut client = AgentCommand::script(script, "prints").initialized();
    let session = client.session();
    assert_eq!(client.prompted(&session, "go")["stopReason"], "end_turn");
    let ended = client.end();
    assert_eq!(ended.code, Some(0));
    for line in ["from the top", "{\"jsonrpc\": 1}", "half", "logged"] {
        assert!(ended.err.contains(line), "{line} is not among {}", ended.err);
    }
}

#[test]
fn a_closing_message_is_the_last_of_the_prompt() {
    let text = "pipeline default(task) {\n  task.closing(\"Almost.\")\n  task.closing(\"All sorted.\")\n  \
                if task == \"throw\" { throw \"bad\" }\n  return \"a, b\"\n}\n";
    let mut client = AgentCommand::script(text, "closing").initialized();
    let session = client.session();
    let id = client.prompt(&session, "go");
    let mut said = Vec::new();
    for _ in 0..2 {
        let update = client.update(&session, "agent_message_chunk");
        said.push(
            update["params"]["update"]["content"]["text"].as_str().unwrap_or_else(|| panic!("{update}")).to_owned(),
        );
    }
    assert_eq!(said, ["a, b", "All sorted."]);
    assert_eq!(client.result(id)["stopReason"], "end_turn");
    let id = client.prompt(&session, "throw");
    let answer = client.answer(&json!(id));
    assert!(!answer.to_string().contains("All sorted."), "{answer}");
    assert_eq!(client.prompted(&session, "go")["stopReason"], "end_turn");
}

#[test]
fn the_blocks_of_an_injected_message_are_converted_or_refused_as_those_of_a_prompt() {
    let mut client = AgentCommand::agent("seams.harn", "inject-blocks").initialized();
    let session = client.session();
    let inject = |content: serde_json::Value| json!({"sessionId": session, "content": content});
    let text = json!({"type": "text", "text": "See", "annotations": {"priority": 1}});
    let link = json!({"type": "resource_link", "name": "a.rs", "uri": "file:///a.rs"});
    client.ask("session/inject", inject(json!([text, link])));
    for (block, field) in [
        (json!({"type": "image", "data": "", "mimeType": "image/png"}), "content[1].type"),
        (json!({"type": "thinking", "thinking": "x"}), "content[1].type"),
        (json!({"type": "resource_link", "name": "a.rs"}), "content[1].uri"),
        (json!(7), "content[1]"),
    ] {
        let error = client.refused("session/inject", inject(json!([text, block])));
        assert_eq!((error["code"].as_i64(), error["data"]["field"].as_str()), (Some(-32602), Some(field)), "{error}");
    }
    let pending = client.ask("session/pending_injections", json!({"sessionId": session}));
    assert_eq!(
        (&pending["pendingCount"], &pending["injections"][0]["content"]),
        (&json!(1), &json!("See [a.rs](file:///a.rs)"))
    );
}

#[test]
fn a_list_of_sessions_in_memory_refuses_a_cursor_that_it_did_not_return() {
    let mut client = AgentCommand::agent("seams.harn", "memory-cursor").initialized();
    let session = client.session();
    for cursor in ["nope", "", "sess_../x"] {
        let error = client.refused("session/list", json!({"cursor": cursor}));
        let told = (error["code"].as_i64(), error["data"]["code"].as_str(), error["data"]["field"].as_str());
        assert_eq!(told, (Some(-32602), Some("HARN-LOG-014"), Some("cursor")), "{error}");
    }
    assert_eq!(client.ask("session/list", json!({"cursor": session}))["sessions"], json!([]));
}
