//! Permission questions to the peer of a session.

use std::sync::Arc;

use base::data::Data;

use crate::host::testing::{Watcher, block_on_runtime, host, named, says};
use crate::host::{EndedPrompt, Host, PromptOutcome, SessionEvent, SessionHandle, Verdict};

/// The prompt names the tools that the model calls; the pipeline returns what the model reads of them.
const SCRIPT: &str = r#"
fn of(reg, name, annotations) {
  return tool_define(reg, name, "A tool.", {handler: { args -> "${name} ran" }, parameters: {}, annotations: annotations})
}
var tools = tool_registry()
tools = of(tools, "write", {kind: "edit", permission: true})
tools = of(tools, "pay", {permission: "it costs money"})
tools = of(tools, "look", {kind: "read"})
tools = of(tools, "mystery", {})
pipeline default(task, context) {
  llm_mock_clear()
  let names = task.split(" ")
  llm_mock({tool_calls: names.map({ name -> {id: "c-${name}", name: name, arguments: {}} })})
  llm_mock({text: "well"})
  let result = agent_loop(task, nil, {provider: "mock", tools: tools, reminders: false, PERMISSIONS})
  let said = result.transcript.messages.filter({ m -> m.role == "tool" }).map({ m -> m.content }).reverse()
  return {said: said.slice(0, names.count()).reverse()}
}
"#;

/// Returns a host whose loops have this value for `permissions`, and an open session.
async fn open(permissions: &str) -> (Host, Arc<Watcher>, SessionHandle) {
    let (host, watcher) = host(&SCRIPT.replace("PERMISSIONS", &format!("permissions: {permissions}")), 1);
    let session = host.open(named("s")).await.unwrap();
    (host, watcher, session)
}

/// Returns the text that the model reads, without its fixed words.
fn said(ended: &EndedPrompt) -> Vec<String> {
    let said = ended.value.get("said").as_list().unwrap_or_default().iter().map(Data::to_text);
    said.map(|text| text.replace("not run: permission denied: ", "no: ")).collect()
}

async fn ask(session: &SessionHandle, task: &str) -> Vec<String> {
    said(&session.prompt(says(task)).await.unwrap())
}

#[test]
fn a_tool_asks_whose_annotations_say_so() {
    block_on_runtime(async {
        let (_host, watcher, session) = open("nil").await;
        watcher.will_say([Some(Verdict::AllowOnce), Some(Verdict::RejectOnce)]);
        let read = ask(&session, "look write pay mystery").await;
        assert_eq!(read, ["look ran", "write ran", "no: the user refused it", "mystery ran"]);
        let asked = watcher.asked();
        let reasons: Vec<_> = asked.iter().map(|question| (&*question.call.name, &*question.reason)).collect();
        assert_eq!(reasons, [("write", "`write` needs permission"), ("pay", "it costs money")]);
        assert_eq!((&*asked[0].session_id, asked[0].annotations.get("kind").as_str()), ("s", Some("edit")));
    });
}

#[test]
fn what_is_said_for_always_holds_for_later_prompts_of_the_session() {
    block_on_runtime(async {
        let (host, watcher, session) = open("nil").await;
        watcher.will_say([Some(Verdict::AllowAlways), Some(Verdict::RejectAlways)]);
        let read = ask(&session, "write pay").await;
        let never = "no: the user has refused every call of `pay`";
        assert_eq!(read, ["write ran", never]);
        assert_eq!(ask(&session, "write pay write").await, ["write ran", never, "write ran"]);
        assert_eq!(watcher.asked().len(), 2);
        let other = host.open(named("other")).await.unwrap();
        ask(&other, "write").await;
        assert_eq!(watcher.asked().len(), 3, "another session is asked for itself");
    });
}

#[test]
fn the_mode_says_whether_anybody_is_asked() {
    block_on_runtime(async {
        let (_host, watcher, session) = open("nil").await;
        session.set_mode("auto");
        assert_eq!(ask(&session, "write pay").await, ["write ran", "pay ran"]);
        assert!(watcher.asked().is_empty());
        session.set_mode("plan");
        let read = ask(&session, "write look mystery").await;
        assert!(
            read[0].starts_with("no: the session is in the mode `plan`, in which you must not change anything"),
            "{read:?}"
        );
        assert_eq!(read[1..], ["look ran", "mystery ran"]);
        assert_eq!(watcher.asked().len(), 1, "what does not say whether it changes anything is asked about");
        session.set_mode("ask");
        assert_eq!(ask(&session, "write").await, ["write ran"]);
    });
}

#[test]
fn a_script_decides_before_anybody_is_asked() {
    block_on_runtime(async {
        for (permissions, task, read, asked) in [
            ("{ a -> true }", "write", "write ran", 0),
            ("{ a -> false }", "look", "no: `look` needs permission", 0),
            ("{deny: [\"look\"]}", "look", "no: `look` is denied by the pattern `look`", 0),
            ("{deny: [\"look\"]}", "write", "no: the user refused it", 1),
            ("{ask: [\"look\"]}", "look", "no: the user refused it", 1),
            ("{ a -> nil }", "mystery", "no: the user refused it", 1),
            ("{ a -> \"ask\" }", "mystery", "no: the user refused it", 1),
        ] {
            let (_host, watcher, session) = open(permissions).await;
            watcher.will_say([Some(Verdict::RejectOnce)]);
            assert_eq!(ask(&session, task).await, [read], "{permissions} {task}");
            assert_eq!(watcher.asked().len(), asked, "{permissions} {task}");
        }
        let (_host, watcher, session) = open("{ a -> {allow: \"ask\", reason: \"it is Friday\"} }").await;
        ask(&session, "look").await;
        assert_eq!(&*watcher.asked()[0].reason, "it is Friday");
        session.set_mode("auto");
        assert_eq!(ask(&session, "look").await, ["look ran"]);
        assert_eq!(watcher.asked().len(), 1);
    });
}

#[test]
fn a_question_that_nobody_answers_ends_with_its_prompt() {
    block_on_runtime(async {
        let (_host, watcher, session) = open("nil").await;
        watcher.will_say([None]);
        let running = tokio::spawn({
            let session = session.clone();
            async move { session.prompt(says("write")).await.unwrap() }
        });
        while watcher.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(session.cancel("the user has stopped it"));
        assert_eq!(running.await.unwrap().stop, PromptOutcome::Cancelled);
        assert_eq!(ask(&session, "write").await, ["write ran"], "the session is as good as before");
    });
}

#[test]
fn a_script_may_change_the_mode() {
    let script = r#"
let write = tool_define(tool_registry(), "write", "W.", {handler: { a -> "ran" }, parameters: {}, annotations: {permission: true}})
pipeline default(task) {
  if task == "wrong" { task.mode("atuo") }
  llm_mock({tool_calls: [{name: "write", arguments: {}}]})
  llm_mock({text: "well"})
  println(task.mode())
  task.mode(task)
  agent_loop(task, nil, {provider: "mock", tools: write, reminders: false})
  return task.mode()
}"#;
    let (host, watcher) = host(script, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        session.prompt(says("auto")).await.unwrap();
        session.prompt(says("auto")).await.unwrap();
        assert!(watcher.asked().is_empty());
        assert_eq!((&*session.mode(), &*watcher.text("s")), ("auto", "wellautowellauto"));
        let told = watcher.all().into_iter().filter(|(_, event)| matches!(event, SessionEvent::Mode(_))).count();
        assert_eq!(told, 1, "it is told of once");
        let PromptOutcome::Failed(failure) = session.prompt(says("wrong")).await.unwrap().stop else { panic!() };
        assert!(failure.drawn.contains("did you mean `auto`?"), "{}", failure.drawn);
    });
}

#[test]
fn sub_agents_ask_too() {
    let script = r#"
let write = tool_define(tool_registry(), "write", "W.", {handler: { a -> "ran" }, parameters: {}, annotations: {permission: true}})
pipeline default(task) {
  llm_mock({tool_calls: [{name: "write", arguments: {}}]})
  llm_mock({text: "well"})
  let result = sub_agent_run(task, {provider: "mock", tools: write, reminders: false})
  return result.transcript.messages[2].content
}"#;
    let (host, watcher) = host(script, 1);
    block_on_runtime(async {
        watcher.will_say([Some(Verdict::RejectOnce)]);
        let session = host.open(named("s")).await.unwrap();
        session.prompt(says("go")).await.unwrap();
        assert_eq!(watcher.text("s"), "not run: permission denied: the user refused it");
        assert_eq!(&*watcher.asked()[0].session_id, "s");
    });
}
