//! An agent of harn asks an agent of harn.

use crate::harn::{harn, scratch};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process that serves; it ends with the test.
pub(super) struct ServerProcess(Child);

impl ServerProcess {
    /// Serves a script; where it listens.
    pub(super) fn start(agent: &Path) -> (ServerProcess, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "a2a", agent.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
        command
            .env_clear()
            .env("HARN_LLM_PROVIDER", "mock")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut served = ServerProcess(command.spawn().unwrap());
        let mut line = String::new();
        let mut said = BufReader::new(served.0.stderr.take().unwrap());
        said.read_line(&mut line).unwrap();
        let url = line.strip_prefix("harn: listening on ").and_then(|rest| rest.split(';').next()).unwrap();
        (served, url.to_owned())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_sub_task_of_a_served_task_knows_its_parent_and_inherits() {
    let dir = scratch("a2a-client-served");
    let (agent, script) = (dir.join("agent.harn"), dir.join("script.harn"));
    let served = r#"
pipeline default(task, context) {
  if task == "child" {
    let told = agent_loop("Look.", nil, {llm_caller: { asked -> (asked.system ?? "").contains("For all.") ? "inherited" : "not told" }})
    return {parent: context.metadata?.parent_task_id, told: told.text}
  }
  for spec in [{body: "For all.", propagate: "all"}, {body: "Mine."}] {
    agent_session_push_bridge_injection(context.session_id, {...spec, ttl_turns: 5})
  }
  agent_session_drain_bridge_injections(context.session_id, "iteration_start")
  let child = a2a.send(context.metadata.url, "child").data
  let alone = a2a.send(context.metadata.url, "child", {inherit: false}).data
  return {is_parent: child.parent == context.task_id, told: child.told, alone: alone}
}
"#;
    fs::write(&agent, served).unwrap();
    fs::write(
        &script,
        "println(a2a.send(args()[0], \"parent\", {metadata: {url: args()[0]}, timeout_ms: 60000}).data)\n",
    )
    .unwrap();
    let (_served, url) = ServerProcess::start(&agent);
    let outcome = harn(&["run", script.to_str().unwrap(), "--", &url]);
    let wanted = "{alone: {parent: nil, told: not told}, is_parent: true, told: inherited}\n";
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), (wanted, ""));
}

#[test]
fn a_script_reads_what_an_agent_tells_beside_its_answer() {
    let dir = scratch("a2a-client-beside");
    let (agent, script) = (dir.join("agent.harn"), dir.join("script.harn"));
    let served = r#"
pipeline default(task, context) {
  task.title("Reading")
  task.plan([{content: "Read", status: "completed"}, {content: "Write", status: "in_progress"}])
  task.status("half done", {completed_portion: 0.5, data: {lines: 7}, can_resume: true, resume_token: "line-7"})
  let tools = tool_define(tool_registry(), "note", "Writes a note.", {parameters: {text: "string"}, handler: { args -> "written" }})
  return agent_loop(task, nil, {tools: tools, reminders: false, llm_caller: { asked ->
    if asked.messages.last().role == "user" {
      return {text: "I write.", tool_calls: [{name: "note", arguments: {text: "n"}}]}
    }
    return "That is all."
  }}).text
}
"#;
    let reads = r#"
for e in a2a.stream(args()[0], "Look.") {
  if e.metadata?["harn.title"] != nil { println("title ${e.metadata["harn.title"]}") }
  for step in e.metadata?["harn.plan"] ?? [] { println("${step.status}: ${step.content}") }
  let called = e.metadata?["harn.tool_call"]
  if called != nil { println("${called.name ?? "it"} is ${called.status} ${called.arguments}") }
  if e.metadata?["harn.partial"] != nil { println("${e.text} ${e.data} ${e.metadata["harn.partial"]}") }
  if e.event == "status" && e.state != "working" { println(e.state) }
}
"#;
    fs::write(&agent, served).unwrap();
    fs::write(&script, reads).unwrap();
    let (_served, url) = ServerProcess::start(&agent);
    let outcome = harn(&["run", script.to_str().unwrap(), "--", &url]);
    let wanted = "title Reading\ncompleted: Read\nin_progress: Write\n\
                  half done {lines: 7} {can_resume: true, completed_portion: 0.5, resume_token: line-7}\n\
                  note is pending {text: n}\nit is completed nil\ncompleted\n";
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), (wanted, ""));
}
