//! Tools of MCP servers in loops.

use super::{prints, run, with_hostile};
use crate::harn::{harn_in, scratch, trust};
use std::fs;

/// A script that lets the mock model call one tool of the server, and prints what the model was told.
fn loop_that_calls(tool: &str, arguments: &str, options: &str) -> String {
    format!(
        r#"with_llm_script([llm_tool_call("{tool}", {arguments}), llm_text("ok")], {{ ->
  let result = agent_loop("go", nil, {{provider: "mock", reminders: false, {options}}})
  let told = result.transcript.messages.filter({{ m -> m.role == "tool" }})
  println(result.status, result.tools.successful, result.tools.rejected)
  println(told[0].content)
  println(result.diagnostics.map({{ note -> note.message }}))
}})
"#
    )
}

#[test]
fn a_model_calls_a_tool_with_checked_arguments() {
    for era in ["old", "new"] {
        let servers = "mcp_servers: [SERVER]";
        let outcome = with_hostile("loop", era, "good", &loop_that_calls("h__echo", "{text: \"hi\"}", servers));
        prints(&outcome, "done [h__echo] []\nhi\n[]");
        let outcome = with_hostile("loop-wrong", era, "good", &loop_that_calls("h__echo", "{txt: \"hi\"}", servers));
        assert!(outcome.out.starts_with("done [] [h__echo]\n"), "{outcome:?}");
        assert!(outcome.out.contains("`text` is missing (you sent `txt`)"), "{}", outcome.out);
    }
}

#[test]
fn a_server_that_dies_fails_the_call_and_not_the_loop() {
    let outcome =
        with_hostile("loop", "old", "dies", &loop_that_calls("h__echo", "{text: \"hi\"}", "mcp_servers: [SERVER]"));
    let told =
        "MCP server `h` ended with exit code 3\nlast lines of its standard error:\ncannot open the database\ngiving up";
    assert!(outcome.out.starts_with("done [] ") && outcome.out.contains(told), "{outcome:?}");
}

#[test]
fn tools_that_lie_about_their_schemas_are_left_out_or_not_believed() {
    let outcome = with_hostile("loop", "old", "lies", &loop_that_calls("h__sum", "{}", "mcp_servers: [SERVER]"));
    assert!(
        outcome.out.contains("the MCP server `h` broke the schema of its own result: `n` must be integer"),
        "{outcome:?}"
    );
    for left_out in ["`broken`", "`text`", "`number 4`"] {
        let said = format!("the tool {left_out} of the MCP server `h` is left out: ");
        assert!(outcome.out.contains(&said) && outcome.err.contains(&said), "{left_out}: {outcome:?}");
    }
    assert_eq!(outcome.drawn("warning"), 3, "{}", outcome.err);
}

#[test]
fn a_changed_list_is_read_again() {
    for era in ["old", "new"] {
        let script = r#"let server = SERVER
println(tool_list(mcp.tools(server)).map({ t -> t.name }))
println(mcp.call_tool(server, "echo", {text: "hi"}).text)
sleep(100)
println(tool_list(mcp.tools(server)).map({ t -> t.name }))
println(mcp.call_tool(server, "shout", {text: "hi"}).text)
"#;
        prints(&with_hostile("changes", era, "changes", script), "[h__echo, h__work]\nhi\n[h__shout]\nHI");
    }
}

#[test]
fn only_the_tools_that_are_wanted_are_offered() {
    let script = r#"println(tool_list(mcp.tools(SERVER_AND, tools: ["echo"]})).map({ t -> t.name }))
println(unwrap_err(try { mcp.call_tool("h", "work") }).message)
mcp.tools(SERVER_AND, tools: ["echo", "gone"]})
"#;
    let outcome = with_hostile("wanted", "old", "good", script);
    assert_eq!(outcome.out, "[h__echo]\nthe MCP server `h` has no tool `work`\n");
    assert!(outcome.err.contains("the MCP server `h` has no tool `gone`, which `tools` names"), "{}", outcome.err);
}

#[test]
fn annotations_decide_about_permissions_and_a_server_cannot_waive_them() {
    let script = r#"for t in tool_list(mcp.tools(SERVER)) {
  println(t.name, t.annotations)
}
"#;
    let outcome = with_hostile("annotations", "old", "good", script);
    prints(
        &outcome,
        "h__echo {readOnlyHint: true, title: h: echo}\n\
         h__work {permission: the tool `work` of the MCP server `h` may change or delete something, title: h: work}",
    );
    let denied = loop_that_calls("h__work", "{}", "mcp_servers: [SERVER], permissions: {deny: [\"h__*\"]}");
    let outcome = with_hostile("denied", "old", "good", &denied);
    assert!(outcome.out.starts_with("done [] [h__work]"), "{outcome:?}");
}

#[test]
fn a_thousand_tools_are_read_page_by_page() {
    let outcome = with_hostile(
        "many",
        "new",
        "many",
        "println(tool_count(mcp.tools(SERVER)), mcp.call_tool(\"h\", \"echo999\", {text: \"x\"}).text)\n",
    );
    prints(&outcome, "1000 x");
}

#[test]
fn a_trusted_project_describes_servers() {
    let folder = scratch("mcp-project");
    let server = crate::harn::root().join("tests/mcp/hostile.py");
    // Another text each time: what is trusted stays so.
    let settings = format!(
        "# {}\n[mcp.servers.lab]\ncommand = \"python3\"\nargs = [{:?}, \"old\"]\ntools = [\"echo\"]\n",
        std::process::id(),
        server.display().to_string()
    );
    fs::write(folder.join("harn.toml"), settings).unwrap();
    fs::write(
        folder.join("main.harn"),
        "println(mcp.servers())\nprintln(mcp.call_tool(\"lab\", \"echo\", {text: \"hi\"}).text)\n",
    )
    .unwrap();
    let run = || harn_in(&folder, &["run", "main.harn"], b"", &[]);
    let untrusted = run();
    assert!(untrusted.out.starts_with("[]\n") && untrusted.err.contains("HARN-CFG-006"), "{untrusted:?}");
    assert!(untrusted.err.contains("`mcp.servers.lab`") && untrusted.err.contains("HARN-MCP-102"), "{}", untrusted.err);
    trust(&folder);
    prints(&run(), "[lab]\nhi");
    fs::write(folder.join("harn.toml"), "[mcp.servers.lab]\ncomand = \"x\"\n").unwrap();
    let misspelt = run();
    assert!(misspelt.err.contains("unknown key `comand` in `[mcp.servers.lab]`") && misspelt.err.contains("`command`"));
}

#[test]
fn the_same_in_rhai() {
    let file = scratch("mcp-rhai").join("main.rhai");
    let script = r#"let server = #{name: "h", command: "python3", args: ["tests/mcp/hostile.py", "new", "asks"], elicit: |q| #{branch: q.message}};
print(mcp::connect(server).protocol);
print(mcp::call_tool("h", "work").text);
print(mcp::read("h", "note:1").text);
with_llm_script([llm_tool_call("h__work", #{}), llm_text("ok")], || {
    let result = agent_loop("go", (), #{provider: "mock", reminders: false, mcp_servers: ["h"]});
    print(result.tools.successful);
});
"#;
    fs::write(&file, script).unwrap();
    let outcome = harn_in(crate::harn::root(), &["run", file.to_str().unwrap()], b"", &[]);
    let asked = r#"{"action": "accept", "content": {"branch": "Which branch?"}}"#;
    assert_eq!(
        (outcome.out.as_str(), outcome.code),
        (&*format!("2026-07-28\n{asked}\nthe note\n[\"h__work\"]\n"), Some(0)),
        "{}",
        outcome.err
    );
}

#[test]
fn unknown_servers_and_wrong_descriptions_are_errors_with_a_hint() {
    let outcome = run("unknown", "mcp.connect({name: \"files\", command: \"true\", comand: \"x\"})\n", &[]);
    assert!(outcome.err.contains("comand") && outcome.err.contains("did you mean `command`?"), "{}", outcome.err);
    let script = "let r = try { mcp.connect({name: \"files\", command: \"/no/such\"}) }\nprintln(unwrap_err(r).message)\nmcp.connect(\"fils\")\n";
    let outcome = run("unknown-name", script, &[]);
    assert!(outcome.out.contains("MCP server `files` could not be started: cannot run `/no/such`"), "{outcome:?}");
    assert!(outcome.err.contains("HARN-MCP-102") && outcome.err.contains("did you mean `files`?"), "{}", outcome.err);
}

#[test]
fn a_running_loop_offers_the_tools_that_the_server_has_now() {
    let script = r#"with_llm_script(
  [llm_tool_call("h__echo", {text: "hi"}), llm_tool_call("h__shout", {text: "hi"}), llm_text("ok")],
  { ->
    let result = agent_loop("go", nil, {provider: "mock", reminders: false, mcp_servers: [SERVER]})
    for call in llm_mock_calls() { println(call.tools.map({ t -> t.name }).filter({ name -> name.starts_with("h__") })) }
    println(result.tools.successful)
  },
)
"#;
    for era in ["old", "new"] {
        let outcome = with_hostile("follows", era, "changes", script);
        prints(&outcome, "[h__echo, h__work]\n[h__shout]\n[h__shout]\n[h__echo, h__shout]");
    }
}

#[test]
fn sub_agents_and_workers_use_servers() {
    let script = r#"let server = SERVER
let replies = [llm_tool_call("h__echo", {text: "hi"}), llm_text("ok")]
with_llm_script(replies, { ->
  let done = sub_agent_run("go", {provider: "mock", reminders: false, mcp_servers: [server]})
  println(done.status, llm_mock_calls()[1].messages.last().content)
})
with_llm_script(replies, { ->
  let worker = spawn_agent({task: "go", provider: "mock", reminders: false, mcp_servers: ["h"]})
  println(wait_agent(worker).status, llm_mock_calls().last().messages.last().content)
})
with_llm_script(replies, { ->
  let broken = {name: "b", command: "no-such-program"}
  let failed = sub_agent_run("go", {provider: "mock", reminders: false, mcp_servers: [broken]})
  println(failed.status, failed.error.message)
})
"#;
    let outcome = with_hostile("delegated", "old", "good", script);
    let failed = "MCP server `b` could not be started: cannot run `no-such-program`: program not found";
    assert_eq!(
        (outcome.out, outcome.code),
        (format!("done hi\ncompleted hi\nerror {failed}\n"), Some(0)),
        "{}",
        outcome.err
    );
    let warning = format!("warning[HARN-MCP-103]: the sub-agent `go` failed: {failed}\n");
    assert!(outcome.err.starts_with(&warning), "{}", outcome.err);
}
