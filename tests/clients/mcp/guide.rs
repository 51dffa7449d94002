//! The guide keeps its word: its servers, its project and its agent, with a scripted model.

use super::prints;
use crate::harn::{harn_in, root, scratch, trust};
use crate::markdown::blocks;
use crate::packages::{node, python};
use std::fs;

#[test]
fn the_agent_of_the_guide_reads_files_and_a_database() {
    let page = fs::read_to_string(root().join("docs/guide/mcp.md")).unwrap();
    let blocks = blocks(&page);
    let of = |language: &str| -> Vec<&str> {
        blocks.iter().filter(|(found, _)| *found == language).map(|(_, text)| *text).collect()
    };
    let folder = scratch("mcp-guide");
    fs::create_dir(folder.join("notes")).unwrap();
    fs::write(folder.join("notes/today.txt"), "Order 2 must leave the house by Friday.\n").unwrap();
    fs::write(folder.join("shop.py"), of("python")[0]).unwrap();

    // The packages are installed under `target/` and not by `npx` and `pip`.
    let modules = node("mcp-files", &["@modelcontextprotocol/server-filesystem@2026.8.31"]);
    let files = modules.join("@modelcontextprotocol/server-filesystem/dist/index.js");
    let python = python("mcp-python", "tests/mcp/requirements.txt");
    let settings = of("toml")[0]
        .replace("\"npx\"", "\"node\"")
        .replace("\"-y\", \"@modelcontextprotocol/server-filesystem\"", &format!("{:?}", files.display().to_string()))
        .replace("\"venv/bin/python\"", &format!("{:?}", python.display().to_string()));
    // Another text each time: what is trusted stays so.
    fs::write(folder.join("harn.toml"), format!("# {}\n{settings}", std::process::id())).unwrap();
    trust(&folder);

    let look =
        of("sh").into_iter().find_map(|text| text.trim().strip_prefix("harn run -e '")?.strip_suffix('\'')).unwrap();
    let shown = harn_in(&folder, &["run", "-e", look], b"", &[]);
    assert_eq!((shown.out.as_str(), shown.err.as_str()), (of("text")[0], ""));

    let agent = of("harn agent.harn")[0].replace("pipeline default(task)", "fn answer(task)");
    let script = format!(
        r#"{agent}
{}
with_llm_script([
  llm_tool_call("files__read_text_file", {{path: "today.txt"}}),
  llm_tool_call("shop__query", {{sql: "select id, item from orders where paid = 0"}}),
  llm_text("Order 2, the desk."),
], {{ ->
  answer("Which unpaid order is urgent?")
  println(llm_mock_calls().last().messages.filter({{ m -> m.role == "tool" }}).map({{ m -> m.content }}))
}})
println(unpaid())
"#,
        of("harn")[0]
    );
    fs::write(folder.join("main.harn"), script).unwrap();
    let outcome = harn_in(&folder, &["run", "main.harn"], b"", &[]);
    prints(&outcome, "Order 2, the desk.\n[Order 2 must leave the house by Friday.\n, 2\ndesk]\n[[desk]]");
}
