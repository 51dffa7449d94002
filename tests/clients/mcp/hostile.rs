//! A server that dies, hangs, floods, lies and changes is survived, and the script learns what happened.

use super::{prints, require_python, run, with_hostile};
use crate::harn::{harn_in, root, scratch};
use crate::wait::until;
use std::fs;
use std::time::{Duration, Instant};

const ERAS: [&str; 2] = ["old", "new"];

#[test]
fn tools_resources_and_prompts_in_both_versions() {
    for (era, protocol) in [("old", "2025-06-18"), ("new", "2026-07-28")] {
        let outcome = with_hostile(
            "all",
            era,
            "good",
            r#"let h = mcp.connect(SERVER)
println([h.name, h.protocol, h.server.name], mcp.servers())
println(tool_list(mcp.tools(h)).map({ t -> t.name }))
println(mcp.call_tool("h", "echo", {text: "hi"}))
println(mcp.resources("h"), mcp.read("h", "note:1"))
println(mcp.prompts("h").map({ prompt -> prompt.name }), mcp.prompt("h", "review", {what: "this"}))
for arguments in [{text: 7}, {txt: "hi"}] {
  println(unwrap_err(try { mcp.call_tool("h", "echo", arguments) }).message)
}
let unknown = unwrap_err(try { mcp.call_tool("h", "ecko") })
println(unknown.code, unknown.message, unknown.help)
mcp.close("h")
println(mcp.call_tool("h", "echo", {text: "again"}).text)
"#,
        );
        prints(
            &outcome,
            &r#"[h, PROTOCOL, hostile] [h]
[h__echo, h__work]
{content: [{text: hi, type: text}], data: nil, ok: true, text: hi}
[{name: first, uri: note:1}] {contents: [{mimeType: text/plain, text: the note, uri: note:1}], text: the note, uri: note:1}
[review] {description: A review., messages: [{content: Review this., role: user}], text: Review this.}
invalid arguments for the tool `echo`: `text` must be string, got 7
invalid arguments for the tool `echo`: `text` is missing (you sent `txt`); unknown key `txt`; did you mean `text`?
HARN-MCP-111 the MCP server `h` has no tool `ecko` did you mean `echo`?
again"#
                .replace("PROTOCOL", protocol),
        );
    }
}

/// Calls a tool of a server in this mode, and returns the code, the message and the standard error that the script sees.
fn called(era: &str, mode: &str) -> String {
    // Only a server that does not answer is waited for.
    let (timeout, start_timeout) = match mode {
        "hangs" => (1_500, 60_000),
        "mute" => (60_000, 3_000),
        _ => (60_000, 60_000),
    };
    let begin = format!(
        "let result = try {{ mcp.call_tool(SERVER_AND, timeout_ms: {timeout}, start_timeout_ms: {start_timeout}}}, \
         \"echo\", {{text: \"hi\"}}) }}\n"
    );
    let end = r#"if is_ok(result) {
  println("ok", unwrap(result).ok, unwrap(result).text)
} else {
  let error = unwrap_err(result)
  println(error.code, error.message, error.get("stderr"))
}
"#;
    let outcome = with_hostile("called", era, mode, &(begin + end));
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{mode}: {}", outcome.out);
    outcome.out.trim_end().to_owned()
}

#[test]
fn a_server_that_fails_is_named_with_what_it_said() {
    for era in ERAS {
        for (mode, said) in [
            ("dies", "HARN-MCP-104 MCP server `h` ended with exit code 3 cannot open the database\ngiving up"),
            ("ends-at-once", "HARN-MCP-104 MCP server `h` ended with exit code 9 no licence"),
            ("hangs", "HARN-MCP-106 MCP server `h` did not answer `tools/call` within 1500 ms nil"),
            ("too-large", "HARN-MCP-107 MCP server `h` sent a message larger than 16 MiB and was stopped nil"),
            (
                "no-content",
                "HARN-MCP-107 MCP server `h` sent an invalid response: the result of `echo` has no `content` nil",
            ),
            (
                "wrong-result",
                "HARN-MCP-107 MCP server `h` sent an invalid response: its result is a list, not an object nil",
            ),
            ("endless", "HARN-MCP-111 the MCP server `h` has no tool `echo` nil"),
            ("nan", "HARN-MCP-107 MCP server `h` sent an invalid response: invalid JSON: expected value at column"),
            ("not-text", "HARN-MCP-107 MCP server `h` sent an invalid response: invalid UTF-8 at byte"),
            ("cut", "HARN-MCP-107 MCP server `h` sent an invalid response: invalid JSON: EOF while parsing"),
            ("error", "HARN-MCP-110 MCP server `h` returned an error: out of paper nil"),
        ] {
            let found = called(era, mode);
            assert!(found.starts_with(said), "{era} {mode}: {found}");
        }
    }
    let ancient = "HARN-MCP-108 MCP server `h` speaks protocol version \"1999-01-01\", which is not supported nil";
    assert_eq!(called("old", "ancient"), ancient);
    assert_eq!(called("old", "mute"), "HARN-MCP-106 MCP server `h` did not answer `initialize` within 3000 ms nil");
}

#[test]
fn what_is_odd_but_harmless_is_survived() {
    for era in ERAS {
        for mode in ["odd", "floods", "floods-stderr", "lies"] {
            assert_eq!(called(era, mode), "ok true hi", "{era} {mode}");
        }
    }
    for era in ERAS {
        assert_eq!(called(era, "half"), "ok true half \u{fffd} 123456789012345678901234567890", "{era}");
    }
    assert_eq!(called("old", "ends-when-probed"), "ok true hi", "it is started again and asked in the older way");
}

#[test]
fn a_server_of_a_known_version_has_the_whole_time_of_the_start() {
    // Longer than the 5 s in which a server of an unknown version must answer.
    let script = "println(mcp.connect(SERVER).protocol)\n";
    prints(&with_hostile("late", "new", "late", script), "2026-07-28");
}

#[test]
fn progress_extends_the_timeout_and_reaches_the_script() {
    for era in ERAS {
        // 2.4 s of work with a timeout of 2 s.
        let outcome = with_hostile(
            "progress",
            era,
            "progress",
            r#"let server = SERVER_AND, timeout_ms: 2000, progress: { report -> println(report) }}
println(mcp.call_tool(server, "work").text)
"#,
        );
        prints(
            &outcome,
            "{message: step 0, progress: 0.0, total: 4.0}\n{message: step 1, progress: 1.0, total: 4.0}\n\
             {message: step 2, progress: 2.0, total: 4.0}\n{message: step 3, progress: 3.0, total: 4.0}\ndone",
        );
    }
}

#[test]
fn questions_to_the_user_are_answered_by_the_script() {
    for era in ERAS {
        for (elicit, reply) in [
            ("elicit: { q -> {branch: \"main\"} }", r#"{"action": "accept", "content": {"branch": "main"}}"#),
            ("elicit: { q -> false }", r#"{"action": "decline"}"#),
            ("elicit: { q -> nil }", r#"{"action": "cancel"}"#),
            ("elicit: { q -> {branch: 7} }", r#"{"action": "cancel"}"#),
            ("timeout_ms: 5000", r#"{"action": "cancel"}"#),
        ] {
            let script = format!("println(mcp.call_tool(SERVER_AND, {elicit}}}, \"work\").text)\n");
            let outcome = with_hostile("asks", era, "asks", &script);
            assert_eq!((outcome.out.trim_end(), outcome.code), (reply, Some(0)), "{era} {elicit}: {}", outcome.err);
        }
    }
}

#[test]
fn a_cancelled_call_is_cancelled_at_the_server() {
    for era in ERAS {
        let trace = scratch(&format!("mcp-cancelled-{era}")).join("trace");
        let script = r#"let server = SERVER_AND, env: {TRACE: "TRACE_FILE"}}
println(mcp.connect(server).name)
let call = spawn { mcp.call_tool(server, "work") }
sleep(300)
cancel(call)
sleep(300)
"#;
        let script = script.replace("TRACE_FILE", trace.to_str().unwrap());
        with_hostile("cancelled", era, "hangs", &script);
        let trace = fs::read_to_string(&trace).unwrap();
        assert!(trace.contains("notifications/cancelled"), "{era}: {trace}");
    }
}

#[test]
fn a_server_that_keeps_dying_is_started_with_growing_delays() {
    let script = r#"let server = SERVER
var said = []
for n in range(6) {
  said = said.push(unwrap_err(try { mcp.call_tool(server, "echo", {text: "hi"}) }).message)
}
println(said[0])
println(said.last)
"#;
    let began = Instant::now();
    let outcome = with_hostile("backoff", "old", "ends-at-once", script);
    let (first, last) = outcome.out.trim_end().split_once('\n').unwrap_or_else(|| panic!("{outcome:?}"));
    assert_eq!(first, "MCP server `h` ended with exit code 9");
    assert!(last.starts_with("MCP server `h` failed 5 times in a row and is not started again for "), "{last}");
    assert!(began.elapsed() > Duration::from_millis(3500), "0 + 0.5 + 1 + 2 s between the first five");
}

#[test]
fn the_program_ends_with_the_run() {
    require_python();
    let dir = scratch("mcp-leaves-pid");
    let pid = dir.join("pid");
    let script = format!(
        "mcp.connect({{name: \"h\", command: \"sh\", args: [\"-c\", \"echo $$ > {}; exec python3 tests/mcp/hostile.py old good\"]}})\n",
        pid.display()
    );
    prints(&run("leaves-pid-run", &script, &[]), "");
    let pid = fs::read_to_string(pid).unwrap();
    let process = std::path::PathBuf::from(format!("/proc/{}", pid.trim()));
    until("the end of the server", || !process.exists());
}

#[test]
fn denied_capabilities_hold() {
    for (server, deny) in [
        ("{name: \"h\", command: \"python3\"}", "process"),
        ("{name: \"h\", url: \"http://127.0.0.1:1/\"}", "net"),
        ("{name: \"h\", command: \"python3\", pass_env: [\"PATH\"]}", "env"),
        ("{name: \"h\", url: \"http://127.0.0.1:1/\", token_env: \"PATH\"}", "env"),
    ] {
        for call in ["mcp.connect(SERVER)", "agent_loop(\"x\", nil, {provider: \"mock\", mcp_servers: [SERVER]})"] {
            let script = format!("{}\n", call.replace("SERVER", server));
            let outcome = run("denied", &script, &["--deny", deny]);
            let said = format!("the MCP server `h` needs the capability `{deny}`, which this run does not have");
            assert!(outcome.err.contains("HARN-RUN-014") && outcome.err.contains(&said), "{deny}: {}", outcome.err);
        }
    }
}

#[test]
fn a_program_gets_no_keys_unless_they_are_passed() {
    let dir = scratch("mcp-environment");
    let file = dir.join("main.harn");
    let script = r#"let show = {command: "sh", args: ["-c", "env | grep -c _KEY= >&2; exit 4"]}
println(unwrap_err(try { mcp.connect({...show, name: "a"}) }).stderr)
println(unwrap_err(try { mcp.connect({...show, name: "b", pass_env: ["ONE_KEY"], env: {TWO_KEY: "2"}}) }).stderr)
println(unwrap_err(try { mcp.connect({...show, name: "c", pass_env: ["NO_KEY"]}) }).message)
"#;
    fs::write(&file, script).unwrap();
    let outcome = harn_in(root(), &["run", file.to_str().unwrap()], b"", &[("ONE_KEY", "1"), ("OTHER_KEY", "3")]);
    prints(&outcome, "0\n2\n`pass_env` names the variable `NO_KEY`, which is not set");
}
