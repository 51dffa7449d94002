//! Official servers, over both transports and in both versions.

use super::{prints, run};
use crate::packages::{node, python};
use crate::wait::{find, until};
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

/// A server that listens at a port; it ends with the test.
struct Listening {
    child: Child,
    port: u16,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server over HTTP; `command` gets the port.
fn listening(command: impl Fn(u16) -> Command) -> Listening {
    // The port is free now, and soon taken by the server. If another process takes it first, the server ends.
    find("a server that listens", || {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = command(port);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let said = std::thread::spawn(move || stderr.lines().map_while(Result::ok).collect::<Vec<_>>().join("\n"));
        let mut is_over = false;
        until("the server listens", || {
            is_over = child.try_wait().unwrap().is_some();
            is_over || TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        if is_over { Err(said.join().unwrap()) } else { Ok(Listening { child, port }) }
    })
}

fn everything() -> String {
    let modules = node("mcp-node", &["@modelcontextprotocol/server-everything@2026.8.31"]);
    modules.join("@modelcontextprotocol/server-everything/dist/index.js").display().to_string()
}

/// Uses tools, resources, prompts, progress and elicitation of server-everything.
fn uses_everything(name: &str, server: &str) {
    let script = format!(
        r#"let everything = {{
  name: "all", {server},
  elicit: {{ question -> {{name: "Ada", check: question.schema.properties.count > 5}} }},
  progress: {{ report -> println("progress", report.progress) }},
}}
println(mcp.connect(everything).protocol)
println(mcp.call_tool("all", "echo", {{message: "hi"}}).text)
println(mcp.call_tool("all", "get-structured-content", {{location: "New York"}}).data)
println(mcp.call_tool("all", "get-tiny-image").text.split("\n")[1])
mcp.call_tool("all", "trigger-long-running-operation", {{duration: 1, steps: 2}})
println(mcp.resources("all").count > 5, mcp.read("all", mcp.resources("all")[0].uri).text.count > 100)
println(mcp.prompt("all", "args-prompt", {{city: "Oslo"}}).messages)
println(mcp.call_tool("all", "trigger-elicitation-request").text.contains("Ada"))
with_llm_script([llm_tool_call("all__get-sum", {{a: 2, b: 3}}), llm_text("ok")], {{ ->
  let result = agent_loop("add", nil, {{provider: "mock", reminders: false, mcp_servers: ["all"]}})
  println(result.transcript.messages.filter({{ m -> m.role == "tool" }})[0].content)
}})
println(unwrap_err(try {{ mcp.call_tool("all", "get-sum", {{a: "two", b: 3}}) }}).code)
"#
    );
    let outcome = run(name, &script, &[]);
    let progress = |line: &&str| !line.starts_with("progress");
    let lines: Vec<&str> = outcome.out.lines().filter(progress).collect();
    assert!(lines.len() < outcome.out.lines().count(), "no progress: {outcome:?}");
    let wanted = [
        "2025-11-25",
        "Echo: hi",
        "{conditions: Cloudy, humidity: 82, temperature: 33}",
        "[image of type image/png, 4035 bytes]",
        "true true",
        "[{content: What's weather in Oslo?, role: user}]",
        "true",
        "The sum of 2 and 3 is 5.",
        "HARN-MCP-111",
    ];
    assert_eq!((lines, outcome.err.as_str()), (wanted.to_vec(), ""));
}

#[test]
fn server_everything_over_stdio() {
    uses_everything("everything-stdio", &format!("command: \"node\", args: [{:?}, \"stdio\"]", everything()));
}

#[test]
fn server_everything_over_http() {
    let server = listening(|port| {
        let mut command = Command::new("node");
        command.args([everything(), "streamableHttp".to_owned()]).env("PORT", port.to_string());
        command
    });
    uses_everything("everything-http", &format!("url: \"http://127.0.0.1:{}/mcp\"", server.port));
}

/// Uses the server of `tests/mcp/lab.py` in both versions.
fn uses_lab(name: &str, server: &str) {
    for protocol in ["2026-07-28", "2025-11-25"] {
        let script = format!(
            r#"let lab = {{name: "lab", {server}, protocol: "{protocol}", progress: {{ report -> println(report.message) }}}}
println(mcp.connect(lab).protocol, mcp.connect(lab).instructions)
println(mcp.call_tool("lab", "add", {{a: 2, b: 3}}).data)
mcp.call_tool("lab", "slow", {{steps: 1}})
println(mcp.call_tool("lab", "fail").ok, mcp.call_tool("lab", "fail").text)
println(mcp.resources("lab")[0].uriTemplate, mcp.read("lab", "note://a").text)
println(mcp.prompt("lab", "review", {{what: "this"}}).text)
println(unwrap_err(try {{ mcp.read("lab", "nowhere://a") }}).code)
with_llm_script([llm_tool_call("lab__add", {{a: 2, b: 3}}), llm_text("ok")], {{ ->
  let result = agent_loop("add", nil, {{provider: "mock", reminders: false, mcp_servers: ["lab"]}})
  println(result.transcript.messages.filter({{ m -> m.role == "tool" }})[0].content)
}})
"#
        );
        let outcome = run(&format!("{name}-{protocol}"), &script, &[]);
        prints(
            &outcome,
            &format!(
                "{protocol} Use it for sums.\n{{result: 5}}\nstep 1\nfalse Error executing tool fail\n\
                 note://{{name}} the note a\nReview this.\nHARN-MCP-110\n5"
            ),
        );
    }
}

fn lab() -> (String, String) {
    let python = python("mcp-python", "tests/mcp/requirements.txt").display().to_string();
    (python, crate::harn::root().join("tests/mcp/lab.py").display().to_string())
}

#[test]
fn a_python_server_over_stdio_in_both_versions() {
    let (python, lab) = lab();
    uses_lab("lab-stdio", &format!("command: {python:?}, args: [{lab:?}, \"stdio\"]"));
}

#[test]
fn a_python_server_over_http_in_both_versions() {
    let (python, lab) = lab();
    let server = listening(|port| {
        let mut command = Command::new(&python);
        command.args([lab.clone(), "http".to_owned(), port.to_string()]);
        command
    });
    uses_lab("lab-http", &format!("url: \"http://127.0.0.1:{}/mcp\"", server.port));
}
