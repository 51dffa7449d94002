//! Several sessions at the same time.

use crate::host::testing::{BLOCKS, FULL, PANICS, Watcher, block_on_runtime, host, host_of, named, once, says, served};
use crate::host::{HostError, PromptOutcome};

/// Returns the ids of sessions in the order of their events, without consecutive repeats.
fn turns(watcher: &Watcher) -> Vec<String> {
    let mut ids: Vec<_> = watcher.all().iter().map(|(id, _)| id.to_string()).collect();
    ids.dedup();
    ids
}

#[test]
fn two_sessions_on_one_worker_take_turns() {
    let harn = "llm_mock({tool_calls: [{name: \"nap\", arguments: {}}]})\nllm_mock({text: \"done\"})\n\
                tool nap() { append_file(\"BEGAN\", \"x\"); while read_file(\"BEGAN\").count < 2 { sleep(1) }; return \"rested\" }\n\
                pipeline default(task) { return agent_loop(task, nil, {provider: \"mock\", tools: [nap]}) }";
    let rhai = "llm_mock(#{tool_calls: [#{name: \"nap\", arguments: #{}}]}); llm_mock(#{text: \"done\"});\n\
                fn nap(a) { append_file(\"BEGAN\", \"x\"); while read_file(\"BEGAN\").len() < 2 { sleep(1); } \"rested\" }\n\
                fn main(task) { let tools = tool_define(tool_registry(), \"nap\", \"Rests.\", #{handler: Fn(\"nap\")});\n\
                agent_loop(task, (), #{provider: \"mock\", tools: tools}) }";
    for (name, text) in [("a.harn", harn), ("a.rhai", rhai)] {
        // Each tool waits for that of the other session.
        let began = std::env::temp_dir().join(format!("harn-turns-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&began);
        let (host, watcher) = host_of(served(name, &text.replace("BEGAN", &began.to_string_lossy()), 1, None));
        block_on_runtime(async {
            let (a, b) = (host.open(named("a")).await.unwrap(), host.open(named("b")).await.unwrap());
            let (first, second) = tokio::join!(a.prompt(says("go")), b.prompt(says("go")));
            assert_eq!(
                (first.unwrap().stop, second.unwrap().stop),
                (PromptOutcome::Done, PromptOutcome::Done),
                "{name}"
            );
            assert!(turns(&watcher).len() > 2, "{name}: {:?}", watcher.all());
        });
        let _ = std::fs::remove_file(began);
    }
}

#[test]
fn a_busy_session_does_not_stop_the_others_of_its_worker() {
    let harn = "pipeline default(task) { while task == \"ever\" {}; return \"ok\" }";
    let rhai = "fn main(task) { while task == \"ever\" {} sleep(1); \"ok\" }";
    for (name, text) in [("a.harn", harn), ("a.rhai", rhai)] {
        let (host, _) = host_of(served(name, text, 1, None));
        block_on_runtime(async {
            let busy = host.open(named("busy")).await.unwrap();
            let running = tokio::spawn({
                let busy = busy.clone();
                async move { busy.prompt(says("ever")).await }
            });
            while !busy.is_busy() {
                tokio::task::yield_now().await;
            }
            for id in ["a", "b"] {
                assert_eq!(once(&host, id, "go").await.stop, PromptOutcome::Done);
            }
            let was_busy = busy.is_busy();
            busy.cancel("enough");
            assert_eq!((running.await.unwrap().unwrap().stop, was_busy), (PromptOutcome::Cancelled, true));
        });
    }
}

#[test]
fn a_peer_without_room_holds_up_the_session_and_no_other() {
    let text = "tool look() { return \"seen\" }\n\
                llm_mock({tool_calls: [{name: \"look\", arguments: {}}]})\nllm_mock({text: \"done\"})\n\
                pipeline default(task) { return agent_loop(task, nil, {provider: \"mock\", tools: [look]}) }";
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let full = host.open(named(FULL)).await.unwrap();
        let (ended, ()) = tokio::join!(full.prompt(says("go")), async {
            while watcher.asked_for_room() == 0 {
                tokio::task::yield_now().await;
            }
            assert_eq!(once(&host, "a", "go").await.stop, PromptOutcome::Done);
            assert_eq!(watcher.asked_for_room(), 1 + 3, "before each model and each tool");
            assert!(full.cancel("enough"));
        });
        assert_eq!(ended.unwrap().stop, PromptOutcome::Cancelled);
        assert!(watcher.all().iter().all(|(id, _)| id.as_ref() != FULL), "{:?}", watcher.all());
    });
}

#[test]
fn loops_that_name_no_session_work_in_the_current_one_where_it_is_free() {
    let text = r#"
        var inside = ""
        let caller = { a -> "x" }
        tool look() {
            inside = agent_loop("in", nil, {llm_caller: caller}).session_id
            return agent_session_current_id()
        }
        pipeline default(task) {
            if task == "named" { return agent_loop("x", nil, {session_id: "own", llm_caller: caller}).session_id }
            if task == "sub" { return sub_agent_run("x", {llm_caller: caller}).session_id == "s" }
            if task == "worker" {
                let w = spawn_agent({task: "x", llm_caller: { a -> agent_loop("y", nil, {llm_caller: caller}).session_id }})
                return wait_agent(w).text == "s"
            }
            if task == "outside" { return agent_session_current_id() }
            llm_mock({tool_calls: [{name: "look", arguments: {}}]})
            llm_mock({text: "done"})
            let id = agent_loop(task, nil, {provider: "mock", tools: [look]}).session_id
            return "${id} ${inside == "s"} ${agent_session_exists(inside)}"
        }"#;
    let (host, watcher) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        for (task, said) in
            [("go", "s false true"), ("named", "own"), ("sub", "false"), ("worker", "false"), ("outside", "s")]
        {
            let before = watcher.text("s").len();
            let stop = session.prompt(says(task)).await.unwrap().stop;
            assert_eq!(stop, PromptOutcome::Done, "{task}");
            assert!(watcher.text("s")[before..].ends_with(said), "{task}: {:?}", &watcher.text("s")[before..]);
        }
    });
}

#[test]
fn a_second_prompt_is_refused_while_one_runs() {
    let (host, _) = host("pipeline default(task) { while true {} }", 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        let (first, second) = tokio::join!(session.prompt(says("a")), async {
            let second = session.prompt(says("b")).await;
            session.cancel("enough");
            second
        });
        assert_eq!(first.unwrap().stop, PromptOutcome::Cancelled);
        assert_eq!(second.unwrap_err(), HostError::Busy("s".into()));
        assert!(!session.is_busy());
    });
}

#[test]
fn ids_are_known_once_and_only_while_they_are_open() {
    let (host, _) = host("pipeline default(task) {}", 2);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(host.open(named("s")).await.unwrap_err(), HostError::Exists("s".into()));
        assert_eq!(host.session("s").unwrap().id(), session.id());
        assert_eq!(host.session("t").unwrap_err(), HostError::UnknownSession("t".into()));
        host.close("s").await.unwrap();
        assert_eq!(session.prompt(says("go")).await.unwrap_err(), HostError::Closed("s".into()));
        assert_eq!(host.close("s").await.unwrap_err(), HostError::UnknownSession("s".into()));
        host.open(named("s")).await.unwrap();
        let other = host.open(crate::host::NewSession::default()).await.unwrap();
        assert!(other.id().starts_with("sess_") && other.id().len() == 37, "{}", other.id());
        host.stop().await;
        assert!(host.sessions().is_empty());
        assert_eq!(host.open(named("u")).await.unwrap_err(), HostError::Stopping);
    });
}

#[test]
fn sessions_are_shared_out_among_the_workers() {
    let mut served = served("a.harn", "pipeline default(task) { while task == \"ever\" {} }", 2, None);
    // No worker may count as late, however busy the machine is.
    served.settings.late = std::time::Duration::from_secs(3_600);
    let (host, _) = host_of(served);
    block_on_runtime(async {
        let all = [host.open(named("a")).await.unwrap(), host.open(named("b")).await.unwrap()];
        assert_eq!(host.loads(), [1, 1]);
        drop(all);
        host.close("a").await.unwrap();
        host.open(named("c")).await.unwrap();
        assert_eq!(host.loads(), [1, 1]);
    });
}

#[test]
fn a_new_session_passes_over_a_worker_that_another_holds_up() {
    let (host, watcher) = host("pipeline default(task) { return task }", 2);
    block_on_runtime(async {
        let blocks = host.open(named(BLOCKS)).await.unwrap();
        let held = host.loads().iter().position(|load| *load == 1).unwrap();
        let loads = |there: usize, elsewhere: usize| {
            let mut loads = [elsewhere; 2];
            loads[held] = there;
            assert_eq!(host.loads(), loads);
        };
        let blocked = tokio::spawn(async move { blocks.prompt(says("go")).await });
        while !watcher.is_blocking() {
            tokio::task::yield_now().await;
        }
        let free = host.open(named("free")).await.unwrap();
        loads(1, 1);
        // Both have one session. The first of these for the blocked worker waits, and the next one skips that worker.
        for n in 0..3 {
            assert_eq!(once(&host, &format!("s{n}"), "go").await.stop, PromptOutcome::Done);
        }
        assert_eq!(free.prompt(says("go")).await.unwrap().stop, PromptOutcome::Done);
        // Each counts on the worker that runs it.
        loads(1, 4);
        // A caller that no longer waits leaves nothing behind.
        for n in 0..3 {
            host.close(&format!("s{n}")).await.unwrap();
        }
        watcher.open_gate();
        assert_eq!(blocked.await.unwrap().unwrap().stop, PromptOutcome::Done);
        loads(1, 1);
        host.open(named("one more")).await.unwrap();
    });
}

#[test]
fn a_session_waits_where_all_workers_are_held_up_and_is_gone_with_whoever_waits_for_it() {
    let (host, watcher) = host("pipeline default(task) { return task }", 1);
    block_on_runtime(async {
        let blocks = host.open(named(BLOCKS)).await.unwrap();
        let blocked = tokio::spawn(async move { blocks.prompt(says("go")).await });
        while !watcher.is_blocking() {
            tokio::task::yield_now().await;
        }
        let soon = std::time::Duration::from_millis(120);
        assert!(tokio::time::timeout(soon, host.open(named("given up"))).await.is_err());
        assert_eq!(host.loads(), [1]);
        assert_eq!(host.close("given up").await.unwrap_err(), HostError::UnknownSession("given up".into()));
        let (opened, ()) = tokio::join!(host.open(named("waits")), async {
            tokio::time::sleep(soon).await;
            watcher.open_gate();
        });
        assert_eq!(opened.unwrap().prompt(says("go")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(blocked.await.unwrap().unwrap().stop, PromptOutcome::Done);
        assert_eq!(host.loads(), [2]);
    });
}

/// Returns the resident set of this process in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_thousand_sessions_leave_nothing() {
    let (host, _) = host("var xs = []\npipeline default(task) { xs = xs.push(\"x\".repeat(2000000)) }", 2);
    block_on_runtime(async {
        let mut early = 0;
        for i in 0..1000 {
            let id = format!("s{i}");
            once(&host, &id, "go").await;
            host.close(&id).await.unwrap();
            if i == 100 {
                early = resident();
            }
        }
        assert_eq!(host.loads(), [0, 0]);
        assert!(host.sessions().is_empty());
        // Each held 2 MB; other tests run at the same time.
        assert!(resident() < early + 512 * 1024, "{early} KiB have become {} KiB", resident());
    });
}

#[test]
fn a_session_that_panics_breaks_off_alone() {
    let harn = "llm_mock(\"ok\")\npipeline default(task) { return agent_loop(task, nil, {provider: \"mock\"}) }";
    let rhai = "llm_mock(\"ok\"); fn main(task) { [1].map(|x| agent_loop(task, (), #{provider: \"mock\"}))[0] }";
    for (name, text) in [("a.harn", harn), ("a.rhai", rhai)] {
        let (host, _) = host_of(served(name, text, 1, None));
        block_on_runtime(async {
            let (well, ill) = (host.open(named("well")).await.unwrap(), host.open(named(PANICS)).await.unwrap());
            for _ in 0..2 {
                let error = ill.prompt(says("go")).await.unwrap_err();
                let HostError::Broken { id, why } = &error else { panic!("{error:?}") };
                assert!(id.as_ref() == PANICS && why.contains("as it should"), "{error}");
            }
            assert_eq!(well.prompt(says("go")).await.unwrap().stop, PromptOutcome::Done, "{name}");
            assert_eq!(host.session(PANICS).unwrap().id().as_ref(), PANICS);
            host.close(PANICS).await.unwrap();
            assert_eq!(host.loads(), [1]);
        });
    }
}

#[test]
fn the_peer_is_told_of_each_session_that_is_over_also_where_its_opening_failed() {
    let (host, watcher) = host("if agent_session_current_id() == \"bad\" { throw \"no\" }\npipeline default() {}", 1);
    block_on_runtime(async {
        host.open(named("good")).await.unwrap();
        assert!(host.open(named("bad")).await.is_err());
        // The workers handle one thing after the other.
        while !watcher.is_over("bad") {
            tokio::task::yield_now().await;
        }
        assert!(!watcher.is_over("good"));
        host.close("good").await.unwrap();
        assert!(watcher.is_over("good"));
    });
}

#[test]
fn a_session_is_not_charged_for_what_another_of_its_worker_holds() {
    let text = "var held = []\n\
                pipeline default(task) { held = held.push(\"x\".repeat(20000000)); return \"${held.count()}\" }";
    let mut served = served("test.harn", text, 1, None);
    served.run = std::sync::Arc::new(|| stdlib::RunOptions {
        limits: stdlib::limits::RunLimits { memory: Some(50 << 20), ..Default::default() },
        ..Default::default()
    });
    let (host, watcher) = host_of(served);
    block_on_runtime(async {
        let all = [host.open(named("a")).await.unwrap(), host.open(named("b")).await.unwrap()];
        for _ in 0..2 {
            for session in &all {
                assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Done);
            }
        }
        let PromptOutcome::Failed(failure) = all[0].prompt(says("go")).await.unwrap().stop else {
            panic!("it held 60 MB")
        };
        assert_eq!(failure.code.as_str(), "HARN-LIM-001");
        assert_eq!((watcher.text("a"), watcher.text("b")), ("12".to_owned(), "12".to_owned()));
    });
}

#[test]
fn what_a_prompt_left_at_work_goes_on_until_the_session_is_closed() {
    let text = "var count = 0\n\
                pipeline default(task) {\n\
                if task == \"start\" { spawn { while true { count = count + 1; sleep(1) } } }\n\
                return \"x\" }";
    let (host, _) = host(text, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        assert_eq!(session.prompt(says("start")).await.unwrap().stop, PromptOutcome::Done);
        assert_eq!(session.prompt(says("go")).await.unwrap().stop, PromptOutcome::Done);
        host.close("s").await.unwrap();
    });
}

#[test]
fn many_sessions_in_rhai_wait_beside_one_another() {
    let (host, _) = host_of(served("a.rhai", "fn main(task) { sleep(50); task }", 1, None));
    block_on_runtime(async {
        let mut running = Vec::new();
        for i in 0..300 {
            let session = host.open(named(&format!("s{i}"))).await.unwrap();
            running.push(tokio::spawn(async move { session.prompt(says("go")).await }));
        }
        for ended in running {
            assert_eq!(ended.await.unwrap().unwrap().stop, PromptOutcome::Done);
        }
    });
}
