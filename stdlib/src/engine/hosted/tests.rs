//! State after a served run.

use super::*;
use crate::hosting::HostExchange;
use crate::limits::RunLimits;
use crate::tokio_wait::others_wait;
use lang::source::Source;
use std::future::{pending, ready};
use std::sync::Mutex;

fn hosting() -> Rc<Hosting> {
    Rc::new(Hosting {
        session_id: "s".into(),
        protocol: "test",
        cwd: None,
        metadata: Data::Nil,
        mcp_servers: Data::Nil,
        mode: Arc::new(Mutex::new("ask".into())),
        modes: &["ask"],
        room: Rc::new(|| Box::pin(ready(()))),
        approver: None,
        say: Rc::new(|_| ()),
        channels: None,
        talk: HostExchange::default(),
    })
}

fn served(name: &str, text: &str, limits: RunLimits) -> Hosted {
    Hosted::new(RunOptions { limits, ..RunOptions::default() }, &hosting(), &Source::new(name, text))
}

fn never() -> impl Future<Output = &'static str> {
    pending()
}

fn on_a_worker(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
    runtime.block_on(work);
    runtime.shutdown_background();
}

#[test]
fn it_is_let_go_with_what_it_registered_and_left_at_work() {
    let agent = "reminders: false, llm_caller: { a -> \"done\" }";
    let harn = [
        "pipeline default() {}".to_owned(),
        "register_session_hook(\"session_end\", { e -> nil })\npipeline default() {}".to_owned(),
        format!(
            "var f = nil\nf = {{ -> f }}\npipeline default(task) {{ agent_loop(task, nil, {{{agent}}}); return f }}"
        ),
        "pipeline default() { spawn { sleep(600000) } }".to_owned(),
        "spawn { while true { sleep(1) } }\npipeline default() {}".to_owned(),
        "pipeline default() { while true {} }".to_owned(),
        "let xs = []\npipeline default() { throw {a: xs} }".to_owned(),
        format!("let w = spawn_agent({{task: \"x\", {agent}}})\npipeline default() {{ wait_agent(w) }}"),
    ];
    let rhai = [
        "fn main() {}",
        "register_session_hook(\"session_end\", |e| ()); fn main(task) { task }",
        "let f = (); f = |x| f.call(x); register_session_hook(\"session_end\", f); fn main() { spawn_(|| sleep(600000)); }",
        "fn main() { while true {} }",
    ];
    let all = harn.iter().map(|text| ("a.harn", text.as_str())).chain(rhai.into_iter().map(|text| ("a.rhai", text)));
    for (name, text) in all {
        on_a_worker(async {
            let hosted = served(name, text, RunLimits { fuel: Some(100_000), ..RunLimits::default() });
            hosted.start(never()).await.unwrap_or_else(|found| panic!("{text}\n{found:?}"));
            for _ in 0..2 {
                hosted.prompt(Request::default(), never()).await;
            }
            hosted.prompt(Request::default(), ready("at once")).await;
            let isolate = Rc::downgrade(&hosted.engine.isolate);
            hosted.close().await;
            assert_eq!(isolate.strong_count(), 0, "{text}");
        });
    }
}

#[test]
fn one_that_breaks_off_in_the_middle_is_let_go_as_well() {
    on_a_worker(async {
        let hosted = served("a.harn", "pipeline default() { spawn { sleep(1) }; sleep(600000) }", RunLimits::default());
        hosted.start(never()).await.unwrap();
        let isolate = Rc::downgrade(&hosted.engine.isolate);
        tokio::select! {
            biased;
            came = hosted.prompt(Request::default(), never()) => panic!("{came:?}"),
            () = others_wait() => {}
        }
        drop(hosted);
        assert_eq!(isolate.strong_count(), 0);
    });
}

#[test]
fn the_time_of_a_prompt_is_its_own() {
    on_a_worker(async {
        let limits = RunLimits { time: Some(std::time::Duration::from_millis(500)), ..RunLimits::default() };
        let text = "pipeline default(task) { if task == \"long\" { sleep(600000) } }";
        let hosted = served("a.harn", text, limits);
        hosted.start(never()).await.unwrap();
        for task in ["long", "short", "long", "short"] {
            let came = hosted.prompt(Request { text: task.to_owned(), ..Request::default() }, never()).await;
            assert_eq!(matches!(came.end, PromptEnd::Failed(_)), task == "long", "{task}: {came:?}");
            hosted.beside(tokio::time::sleep(std::time::Duration::from_millis(600))).await;
        }
    });
}

#[test]
fn a_script_says_whether_it_may_run_again() {
    let rhai = |line: &str| format!("{line}\nfn main(task) {{ task }}");
    for (name, text, resumable) in [
        ("a.harn", "pipeline default() {}".to_owned(), Some(false)),
        ("a.harn", "@resumable\npipeline default() {}".to_owned(), Some(true)),
        ("a.harn", "@resumable\npipeline base() {}\npipeline default() extends base {}".to_owned(), Some(false)),
        ("a.harn", "@resumable\nfn f() {}\npipeline default() {}".to_owned(), None),
        ("a.rhai", rhai(""), Some(false)),
        ("a.rhai", rhai("const RESUMABLE = true;"), Some(true)),
        ("a.rhai", rhai("const RESUMABLE = false;"), Some(false)),
        ("a.rhai", rhai("let RESUMABLE = true;"), Some(false)),
        ("a.rhai", rhai("const RESUMABLE = \"yes\";"), None),
        ("a.rhai", rhai("const RESUMABLE = args.len() > 0;"), None),
    ] {
        let found = check_served(&Source::new(name, &text), RunOptions::default());
        assert_eq!(found.as_ref().ok().map(|served| served.resumable), resumable, "{text}\n{found:?}");
    }
}

#[test]
fn a_prompt_that_is_asked_again_says_so() {
    let harn = "pipeline default(task, context) { return \"${context.resumed} ${context.context_id}\" }";
    let rhai = "fn main(context) { `${context.resumed} ${context.context_id}` }";
    for (name, text) in [("a.harn", harn), ("a.rhai", rhai)] {
        on_a_worker(async {
            let hosted = served(name, text, RunLimits::default());
            hosted.start(never()).await.unwrap();
            let again = Request { resumed: true, context_id: Some("c".into()), ..Request::default() };
            for (request, says) in [(Request::default(), "false s"), (again, "true c")] {
                let came = hosted.prompt(request, never()).await;
                assert!(
                    matches!(&came.end, PromptEnd::Returned(ReturnedValue::Text(text)) if **text == *says),
                    "{came:?}"
                );
            }
        });
    }
}

#[test]
fn a_session_whose_files_do_not_answer_leaves_its_thread_to_the_others() {
    let stalled = crate::disk::stall::Stalled::new();
    on_a_worker(async {
        let waits = served("a.harn", "pipeline default() { list_dir(\".\") }", RunLimits::default());
        let other = served("b.harn", "pipeline default() { return 1 }", RunLimits::default());
        waits.start(never()).await.unwrap();
        other.start(never()).await.unwrap();
        tokio::select! {
            biased;
            came = waits.prompt(Request::default(), never()) => panic!("{came:?}"),
            _ = async { for _ in 0..10 { other.prompt(Request::default(), never()).await; } } => {}
        }
        // A pipeline that is told to stop does.
        let came = waits.prompt(Request::default(), ready("cancelled")).await;
        assert!(matches!(came.end, PromptEnd::Cancelled), "{came:?}");
        drop((waits, other));
    });
    drop(stalled);
}

#[test]
fn a_prompt_that_does_not_handle_a_failed_loop_fails_with_its_reason() {
    let failing = "{reminders: false, llm_caller: { asked -> throw \"out of order\" }}";
    let asking =
        |use_of: &str| format!("pipeline default(task) {{\n  let r = agent_loop(task, nil, {failing})\n  {use_of}\n}}");
    for (use_of, failed) in [
        ("return \"${r.status}: ${r.text}\"", true),
        ("return r", true),
        ("return (r?).text", true),
        ("try { r? } catch e { throw e }", true),
        ("sleep(1)\n  return r.text", true),
        ("return r.error == nil ? r.text : \"later\"", false),
    ] {
        on_a_worker(async {
            let hosted = served("a.harn", &asking(use_of), RunLimits::default());
            hosted.start(never()).await.unwrap();
            let came = hosted.prompt(Request { text: "go".to_owned(), ..Request::default() }, never()).await;
            match came.end {
                PromptEnd::Failed(found) => {
                    assert!(
                        failed && found.message.contains("the agent loop failed: out of order"),
                        "{use_of}: {found:?}"
                    );
                }
                end => assert!(!failed, "{use_of}: {end:?}"),
            }
        });
    }
}
