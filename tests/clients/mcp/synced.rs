//! `harn mcp sync`, and what `check` and a run make of the stored lists.

use super::{prints, require_python};
use crate::harn::{Outcome, harn_in, root, scratch, trust};
use std::fs;
use std::path::{Path, PathBuf};

/// A trusted project with a server of this mode, which leaves a trace of each request in `trace`.
fn project(name: &str, mode: &str) -> PathBuf {
    require_python();
    let folder = scratch(&format!("mcp-{name}"));
    let server = root().join("tests/mcp/hostile.py").display().to_string();
    let trace = folder.join("trace").display().to_string();
    // Another text each time: what is trusted stays so.
    let settings = format!(
        "# {}\n[mcp.servers.lab]\ncommand = \"python3\"\nargs = [{server:?}, \"old\", {mode:?}]\nenv = {{TRACE = {trace:?}}}\n",
        std::process::id()
    );
    fs::write(folder.join("harn.toml"), settings).unwrap();
    trust(&folder);
    folder
}

fn harn(folder: &Path, args: &[&str]) -> Outcome {
    harn_in(folder, args, b"", &[])
}

#[test]
fn a_misspelt_argument_is_found_before_the_run() {
    let folder = project("sync", "good");
    let wrong = r#"mcp.call_tool("lab", "echo", {txt: "hi"})
mcp.call_tool("lab", "ecko", {text: "hi"})
mcp.call_tool("lab", "echo")
let text = "hi"
mcp.call_tool("lab", "echo", {text: text})
mcp.call_tool("other", "anything", {x: 1})
fn later(arguments) { return mcp.call_tool("lab", "echo", arguments) }
"#;
    fs::write(folder.join("wrong.harn"), wrong).unwrap();
    let unknown = harn(&folder, &["check", "wrong.harn"]);
    assert_eq!((unknown.code, unknown.err.as_str()), (Some(0), ""), "nothing is known before: {}", unknown.out);
    prints(&harn(&folder, &["mcp", "sync"]), "lab: 2 tools, in ./.harn/mcp/lab.json");
    let found = harn(&folder, &["check", "wrong.harn"]);
    assert_eq!((found.code, found.drawn("error")), (Some(1), 3), "{}", found.err);
    for said in [
        "invalid arguments for the tool `echo`: `text` is missing (you sent `txt`)",
        "the MCP server `lab` has no tool `ecko`",
        "invalid arguments for the tool `echo`: `text` is missing",
    ] {
        assert!(found.err.contains(said), "{said}: {}", found.err);
    }
    let fixed = harn(&folder, &["check", "--fix", "wrong.harn"]);
    assert!(fixed.err.contains("fixed 1 problem in 1 file") && fixed.drawn("error") == 2, "{}", fixed.err);
    assert!(fs::read_to_string(folder.join("wrong.harn")).unwrap().contains("\"echo\", {text: \"hi\"}"));
}

#[test]
fn the_lists_of_an_untrusted_folder_are_not_read() {
    let folder = project("sync-untrusted", "good");
    prints(&harn(&folder, &["mcp", "sync"]), "lab: 2 tools, in ./.harn/mcp/lab.json");
    fs::write(folder.join("main.harn"), "mcp.call_tool(\"lab\", \"ecko\")\n").unwrap();
    assert!(harn(&folder, &["check", "main.harn"]).err.contains("has no tool `ecko`"));
    // Another harn.toml than the one that was trusted.
    let settings = fs::read_to_string(folder.join("harn.toml")).unwrap();
    fs::write(folder.join("harn.toml"), settings + "# changed\n").unwrap();
    let untrusted = harn(&folder, &["check", "main.harn"]);
    assert!(untrusted.code == Some(0) && !untrusted.err.contains("ecko"), "{}", untrusted.err);
}

#[test]
fn a_server_whose_tools_are_stored_is_not_started_before_it_is_called() {
    let folder = project("lazy", "good");
    prints(&harn(&folder, &["mcp", "sync", "lab"]), "lab: 2 tools, in ./.harn/mcp/lab.json");
    let trace = folder.join("trace");
    fs::remove_file(&trace).unwrap();
    let script = r#"fn go(replies) {
  with_llm_script(replies, { ->
    let result = agent_loop("go", nil, {provider: "mock", reminders: false, mcp_servers: ["lab"]})
    println(llm_mock_calls()[0].tools.map({ t -> t.name }), result.tools.successful)
  })
}
go([llm_text("ok")])
println(file_exists("trace"))
go([llm_tool_call("lab__echo", {text: "hi"}), llm_text("ok")])
println(file_exists("trace"))
"#;
    fs::write(folder.join("main.harn"), script).unwrap();
    prints(
        &harn(&folder, &["run", "main.harn"]),
        "[lab__echo, lab__work] []\nfalse\n\
         [lab__echo, lab__work] [lab__echo]\ntrue",
    );
}

#[test]
fn what_cannot_be_stored_is_an_error() {
    let folder = project("sync-fails", "ends-at-once");
    let ended = harn(&folder, &["mcp", "sync"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""));
    assert!(ended.err.contains("HARN-MCP-104") && ended.err.contains("no licence"), "{}", ended.err);
    let unknown = harn(&folder, &["mcp", "sync", "lap"]);
    assert!(unknown.err.contains("unknown MCP server `lap`") && unknown.err.contains("`lab`"), "{}", unknown.err);
    let lies = project("sync-lies", "lies");
    let left_out = harn(&lies, &["mcp", "sync"]);
    assert_eq!((left_out.code, left_out.drawn("warning")), (Some(0), 3), "{}", left_out.err);
    fs::write(lies.join(".harn/mcp/lab.json"), "{\"version\": 1, \"tools\": 7}").unwrap();
    fs::write(lies.join("main.harn"), "mcp.call_tool(\"lab\", \"gone\")\n").unwrap();
    let checked = harn(&lies, &["check", "main.harn"]);
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""), "a list that cannot be read says nothing");
    fs::remove_dir_all(lies.join(".harn")).unwrap();
    fs::write(lies.join(".harn"), "a file").unwrap();
    let unwritable = harn(&lies, &["mcp", "sync"]);
    assert!(unwritable.code == Some(1) && unwritable.err.contains("HARN-MCP-114"), "{}", unwritable.err);
    let empty = scratch("mcp-sync-empty");
    fs::write(empty.join("harn.toml"), "").unwrap();
    let none = harn(&empty, &["mcp", "sync"]);
    assert!(none.code == Some(1) && none.err.contains("describes no MCP servers"), "{}", none.err);
}
