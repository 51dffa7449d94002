//! The results of prompts.

use base::data::Data;

use crate::host::testing::{block_on_runtime, host, host_of, named, once, says, served};
use crate::host::{HostError, NewSession, Prompt, PromptOutcome};

#[test]
fn a_prompt_runs_the_pipeline_and_shows_the_loop() {
    let (host, watcher) = host(
        "pipeline default(task) { llm_mock({text: \"you said ${task}\"}); return agent_loop(task, nil, {provider: \"mock\"}) }",
        1,
    );
    block_on_runtime(async {
        assert_eq!(once(&host, "s", "hello").await.stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "you said hello");
        host.stop().await;
    });
}

#[test]
fn what_a_pipeline_returns_is_shown_once() {
    let text = "var kept = nil\npipeline default(task) {\n\
                if task == \"text\" { return \"plain\" }\n\
                if task == \"data\" { return {answer: 42} }\n\
                if task == \"loop\" { llm_mock({text: \"done\"}); return agent_loop(task, nil, {provider: \"mock\"}).text }\n\
                if task == \"sub\" { return sub_agent_run(task, {reminders: false, llm_caller: { a -> \"below\" }}) }\n\
                if task == \"again\" { return kept }\n\
                if task == \"keep\" { llm_mock({text: \"kept\"}); kept = agent_loop(task, nil, {provider: \"mock\"}); return kept }\n\
                if task == \"int\" { return 3 }\n\
                if task == \"err\" { return Err(\"no\") }\n\
                if task == \"throw\" { throw \"bad\" }\n\
                if task == \"exit\" { exit(0) }\n\
                if task == \"exit 3\" { exit(3) }\n}";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        let mut shown = String::new();
        for (task, stop, said) in [
            ("text", PromptOutcome::Done, "plain"),
            ("data", PromptOutcome::Done, r#"{"answer":42}"#),
            ("loop", PromptOutcome::Done, "done"),
            ("sub", PromptOutcome::Done, "below"),
            ("keep", PromptOutcome::Done, "kept"),
            ("again", PromptOutcome::Done, "kept"),
            ("int", PromptOutcome::Done, "3"),
            ("exit", PromptOutcome::Done, ""),
            ("nothing", PromptOutcome::Done, ""),
        ] {
            let ended = session.prompt(says(task)).await.unwrap();
            assert_eq!(ended.stop, stop, "{task}");
            assert_eq!(ended.value.is_nil(), task != "data", "{task}");
            shown.push_str(said);
            assert_eq!(watcher.text("s"), shown, "{task}");
        }
        for (task, part) in [("err", "returned an error: no"), ("throw", "bad"), ("exit 3", "`exit(3)`")] {
            let PromptOutcome::Failed(failure) = session.prompt(says(task)).await.unwrap().stop else {
                panic!("{task}")
            };
            assert!(failure.drawn.contains(part), "{task}: {failure:?}");
        }
        assert_eq!(session.prompt(says("text")).await.unwrap().stop, PromptOutcome::Done, "it is as good as before");
    });
}

#[test]
fn how_the_loop_ended_whose_result_is_returned_is_how_the_prompt_ended() {
    let text = "tool look() { return \"seen\" }\n\
                pipeline default(task) {\n\
                if task == \"turns\" {\n\
                llm_mock({tool_calls: [{name: \"look\", arguments: {}}]})\n\
                return agent_loop(task, nil, {provider: \"mock\", max_iterations: 1, tools: [look]})\n}\n\
                if task == \"error\" {\n\
                llm_mock({error: {category: \"server\", message: \"out of order\"}})\n\
                return agent_loop(task, nil, {provider: \"mock\", llm_retries: 0})\n}\n\
                register_session_hook(\"user_prompt_submit\", { e -> return {block: true, reason: \"not today\"} })\n\
                return agent_loop(task, nil, {provider: \"mock\"})\n}";
    let (host, _) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(session.prompt(says("turns")).await.unwrap().stop, PromptOutcome::MaxTurns);
        let PromptOutcome::Failed(failure) = session.prompt(says("error")).await.unwrap().stop else { panic!() };
        assert!(failure.message.contains("out of order"), "{failure:?}");
        assert_eq!(session.prompt(says("blocked")).await.unwrap().stop, PromptOutcome::Refused("not today".into()));
    });
}

#[test]
fn the_context_says_where_a_prompt_comes_from() {
    let (host, watcher) = host("pipeline default(task, context) { return \"${task} ${json_stringify(context)}\" }", 1);
    block_on_runtime(async {
        let new = NewSession { cwd: Some("/w".into()), metadata: Data::from("m"), ..named("s") };
        let session = host.open(new).await.unwrap();
        let message = Data::dict([("a", Data::from(1))]);
        let prompt = Prompt { message, task_id: Some("t1".into()), ..says("go") };
        session.prompt(prompt).await.unwrap();
        let expected = r#"go {"context_id":"s","cwd":"/w","message":{"a":1},"metadata":"m","mode":"ask","protocol":"test","resumed":false,"session_id":"s","task_id":"t1"}"#;
        assert_eq!(watcher.text("s"), expected);
    });
}

#[test]
fn globals_and_the_conversation_live_from_prompt_to_prompt() {
    let text = "var count = 0\n\
                llm_mock(\"a\")\nllm_mock(\"b\")\nllm_mock(\"c\")\n\
                pipeline default(task) {\n\
                count = count + 1\n\
                agent_loop(task, nil, {provider: \"mock\"})\n\
                return \" ${count} ${agent_session_length(agent_session_current_id())};\"\n}";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        for _ in 0..3 {
            assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Done);
        }
        assert_eq!(watcher.text("s"), "a 1 2;b 2 4;c 3 6;");
    });
}

#[test]
fn a_script_in_rhai_is_served_as_well() {
    let text = "const GREETING = \"hi\";\nregister_session_hook(\"session_start\", |e| { print(\"began\"); });\n\
                fn twice(n) { n * 2 }\n\
                fn main(task, context) { if task == \"bad\" { throw \"no\"; } global::GREETING + \" \" + task + twice(2) + context.mode }";
    let (host, watcher) = host_of(served("test.rhai", text, 1, None));
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        let PromptOutcome::Failed(failure) = session.prompt(says("bad")).await.unwrap().stop else { panic!() };
        assert!(failure.drawn.contains("no"), "{failure:?}");
        for _ in 0..2 {
            assert_eq!(session.prompt(says("you")).await.unwrap().stop, PromptOutcome::Done);
        }
        assert_eq!(watcher.text("s"), "hi you4askhi you4ask");
    });
}

#[test]
fn a_script_that_cannot_be_served_is_refused_at_the_start() {
    for (name, text, code) in [
        ("a.harn", "println(1)", "HARN-SRV-001"),
        ("a.rhai", "print(1);", "HARN-SRV-001"),
        ("a.rhai", "fn main() { let }", "HARN-PAR-007"),
        ("a.harn", "pipeline default() { nope() }", "HARN-NAM-001"),
    ] {
        let found = crate::host::Host::start(
            served(name, text, 1, None),
            std::sync::Arc::<crate::host::testing::Watcher>::default(),
        );
        let codes: Vec<_> = found.err().unwrap().iter().map(|d| d.code.as_str()).collect();
        assert_eq!(codes, [code], "{text}");
    }
}

#[test]
fn a_top_level_that_fails_is_the_answer_to_who_opens() {
    for (name, text, part) in [
        ("a.harn", "throw \"not now\"\npipeline default() {}", "not now"),
        ("a.harn", "return 1\npipeline default() {}", "before its end"),
        ("a.harn", "return Err(\"not yet\")\npipeline default() {}", "not yet"),
        ("a.harn", "exit(3)\npipeline default() {}", "exit"),
        ("a.rhai", "throw \"not now\"; fn main() {}", "not now"),
    ] {
        let (host, _) = host_of(served(name, text, 1, None));
        block_on_runtime(async {
            let Err(HostError::Failed(failure)) = host.open(named("s")).await else { panic!("{text}") };
            assert!(failure.drawn.contains(part), "{failure:?}");
            assert!(host.sessions().is_empty());
            assert!(matches!(host.session("s"), Err(HostError::UnknownSession(_))));
        });
    }
}

#[test]
fn limits_are_those_of_one_prompt() {
    let mut served = served(
        "a.harn",
        "pipeline default(task) { var n = 0\nwhile n < 20000 || task == \"ever\" { n = n + 1 }; return \"ok\" }",
        1,
        None,
    );
    served.run = std::sync::Arc::new(|| stdlib::RunOptions {
        limits: stdlib::limits::RunLimits { fuel: Some(300_000), ..Default::default() },
        ..Default::default()
    });
    let (host, _) = host_of(served);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        for task in ["a", "ever", "b", "c"] {
            let stop = session.prompt(says(task)).await.unwrap().stop;
            assert_eq!(matches!(stop, PromptOutcome::Failed(_)), task == "ever", "{task}: {stop:?}");
        }
    });
}

#[test]
fn a_closing_message_is_shown_last_if_the_prompt_ends_well() {
    let text = "pipeline default(task) {\n\
                task.closing(\"Almost.\")\n\
                task.closing(\"All sorted.\")\n\
                if task == \"throw\" { throw \"bad\" }\n\
                if task == \"reject\" { task.reject(\"No.\") }\n\
                if task == \"sleep\" { sleep(60000) }\n\
                return \"a, b \" }";
    for (task, shown) in [("go", "a, b All sorted."), ("throw", ""), ("reject", ""), ("sleep", "")] {
        let (host, watcher) = host(text, 1);
        block_on_runtime(async {
            let session = host.open(named("s")).await.unwrap();
            let ended = session.prompt(says(task));
            let cancel = async {
                while task == "sleep" && !session.cancel("never mind") {
                    tokio::task::yield_now().await;
                }
            };
            let (ended, ()) = tokio::join!(ended, cancel);
            assert_eq!(ended.unwrap().stop == PromptOutcome::Done, task == "go", "{task}");
            assert_eq!(watcher.text("s"), shown, "{task}");
        });
    }
}

#[test]
fn a_closing_message_belongs_to_one_prompt() {
    let text =
        "pipeline default(task) { if task == \"one\" { task.closing(\"One.\"); throw \"bad\" }; return \"two\" }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert!(matches!(session.prompt(says("one")).await.unwrap().stop, PromptOutcome::Failed(_)));
        assert_eq!(session.prompt(says("two")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "two");
    });
}

#[test]
fn outside_of_a_pipeline_there_is_no_prompt_to_close() {
    let text = "let code = try { task.closing(\"x\") }.unwrap_err().code\n\
                pipeline default() { return code }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(watcher.text("s"), "HARN-RUN-016");
    });
}
