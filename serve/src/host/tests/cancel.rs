//! Cancelling the work of a session.

use crate::host::testing::{block_on_runtime, host, named, says};
use crate::host::{PromptOutcome, SessionHandle};
use crate::tokio_wait::until;

/// Runs a prompt, cancels it once the session is busy, and returns the end.
async fn cancelled(session: &SessionHandle, task: &str, at_work: impl Fn() -> bool) -> PromptOutcome {
    let (ended, ()) = tokio::join!(session.prompt(says(task)), async {
        until(task, at_work).await;
        assert!(session.cancel("enough"));
    });
    ended.unwrap().stop
}

#[test]
fn it_reaches_models_tools_and_plain_code_and_the_session_goes_on() {
    let text = r#"
        fn note(word) { agent_session_inject("notes", {role: "user", content: word}) }
        fn begin() { agent_loop("x", nil, {session_id: "begin", llm_caller: { a -> "!" }}) }
        tool nap() { try { begin(); sleep(600000) } catch e { note("caught") } finally { note("nap") } }
        agent_session_open("notes")
        pipeline default(task) {
            if task == "notes" { return agent_session_messages("notes").map({ m -> m.content }).join(" ") }
            try {
                if task == "model" { llm_mock({text: "late", delay_ms: 600000}); begin(); agent_loop(task, nil, {provider: "mock"}) }
                if task == "tool" {
                    // The prompt before may have been cancelled before its model was asked.
                    llm_mock_clear()
                    llm_mock({tool_calls: [{name: "nap", arguments: {}}]})
                    agent_loop(task, nil, {provider: "mock", tools: [nap]})
                }
                begin()
                while true {}
            } catch e { note("caught") } finally { note(task) }
        }"#;
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert!(!session.cancel("nothing is at hand"));
        for (i, task) in ["compute", "model", "tool"].into_iter().enumerate() {
            let stop = cancelled(&session, task, || watcher.text("s").len() > i).await;
            assert_eq!(stop, PromptOutcome::Cancelled, "{task}");
        }
        assert_eq!(session.prompt(says("notes")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "!!!compute model nap tool");
    });
}

#[test]
fn what_does_not_heed_it_is_given_up_after_the_grace() {
    let text = "pipeline default(task) { if task == \"go\" { return \"on\" }; agent_loop(\"x\", nil, {llm_caller: { a -> \"!\" }}); try { while true {} } finally { while true {} } }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(cancelled(&session, "compute", || watcher.text("s") == "!").await, PromptOutcome::Cancelled);
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "!on");
    });
}

#[test]
fn what_a_clean_up_throws_is_told_beside_the_end() {
    let harn = r#"
        fn begin(name) { agent_loop("x", nil, {session_id: name, llm_caller: { a -> "!" }}) }
        pipeline default(task) {
            if task == "group" {
                parallel each [1, 2] { n ->
                    try { begin("${n}"); sleep(600000) } finally { if n == 1 { throw "one of them" } }
                }
            }
            try { begin("alone"); sleep(600000) } finally { throw {code: "X", message: "no space left"} }
        }"#;
    let (host, watcher) = host(harn, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        for (task, severity, message, begun) in [
            ("sleep", "error", "uncaught error: no space left", "!"),
            ("group", "warning", "uncaught error: one of them", "!!!"),
        ] {
            let (ended, ()) = tokio::join!(session.prompt(says(task)), async {
                until("the calls have begun", || watcher.text("s") == begun).await;
                assert!(session.cancel("enough"));
            });
            let ended = ended.unwrap();
            assert_eq!(ended.stop, PromptOutcome::Cancelled, "{task}");
            let [told] = &ended.diagnostics[..] else { panic!("{task}: {:?}", ended.diagnostics) };
            assert_eq!((told.severity.word(), told.message.contains(message)), (severity, true), "{}", told.message);
        }
    });
}

#[test]
fn closing_cancels_the_prompt_at_hand() {
    let (host, _) = host("pipeline default(task) { while true {} }", 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        let (ended, closed) = tokio::join!(session.prompt(says("a")), host.close("s"));
        assert_eq!(ended.unwrap().stop, PromptOutcome::Cancelled);
        closed.unwrap();
    });
}

#[test]
fn stopping_the_host_cancels_all_of_them() {
    let (host, _) = host("pipeline default(task) { if task == \"sleep\" { sleep(600000) }; while true {} }", 2);
    block_on_runtime(async {
        let (a, b) = (host.open(named("a")).await.unwrap(), host.open(named("b")).await.unwrap());
        let (first, second, ()) = tokio::join!(a.prompt(says("sleep")), b.prompt(says("b")), host.stop());
        assert_eq!((first.unwrap().stop, second.unwrap().stop), (PromptOutcome::Cancelled, PromptOutcome::Cancelled));
    });
}

#[test]
fn a_top_level_that_never_ends_can_be_closed() {
    let (host, _) = host("while true {}\npipeline default(task) {}", 1);
    block_on_runtime(async {
        let (opened, ()) = tokio::join!(host.open(named("s")), async {
            tokio::task::yield_now().await;
            host.close("s").await.unwrap();
        });
        assert!(opened.is_err(), "{opened:?}");
        assert!(host.sessions().is_empty());
    });
}
