//! Errors around tasks, and their clean-up.

use super::*;
use crate::host::testing::block_on_runtime;

#[test]
fn a_top_level_that_fails_fails_the_task() {
    let manager = manager("throw \"not now\"\npipeline default(task) {}");
    block_on_runtime(async {
        let task = say(&manager, message("go")).await;
        is(&task, TaskState::Failed);
        assert!(said(&task).starts_with("the task failed: ") && !said(&task).contains("not now"), "{}", said(&task));
        until_clean(&manager).await;
    });
}

#[test]
fn a_session_that_is_closed_under_its_task_ends_it() {
    let manager = manager("pipeline default(task) { if task == \"ask\" { task.ask(\"Who?\") }\nsleep(60000) }");
    block_on_runtime(async {
        for text in ["ask", "sleep"] {
            let (id, _) = manager.send(request(message(text)), ASKER).await.unwrap();
            let shared_task = manager.shared_task(&id).await.unwrap();
            shared_task.inbox().await.unwrap();
            if text == "ask" {
                shared_task.settled().await.unwrap();
            }
            let session = shared_task.handle().unwrap().id().clone();
            manager.0.host.close(&session).await.unwrap();
            is(&shared_task.over().await.unwrap(), TaskState::Failed);
        }
        until_clean(&manager).await;
    });
}

#[test]
fn a_task_whose_session_is_only_being_opened_is_cancelled() {
    let manager = manager("sleep(60000)\npipeline default(task) {}");
    block_on_runtime(async {
        let (id, _) = manager.send(request(message("go")), ASKER).await.unwrap();
        is(&manager.task(&id).await.unwrap(), TaskState::Submitted);
        is(&manager.cancel(&id).await.unwrap(), TaskState::Canceled);
        until_clean(&manager).await;
    });
}

#[test]
fn a_client_that_goes_away_stops_nothing() {
    let manager = manager("pipeline default(task) { return task.ask(\"Who?\") }");
    block_on_runtime(async {
        // The caller disconnects while its task is being accepted.
        let message = Message { context_id: Some("mine".into()), ..message("go") };
        let sending = manager.send(request(message), ASKER);
        assert!(futures_util::FutureExt::now_or_never(sending).is_none());
        let shared_task = manager.0.directory().all().pop().unwrap();
        let task = shared_task.settled().await.unwrap();
        is(&task, TaskState::InputRequired);
        is(&say(&manager, to(&task, "Ada")).await, TaskState::Completed);
        until_clean(&manager).await;
    });
}

#[test]
fn stopping_ends_every_task_wherever_it_is() {
    let text = "pipeline default(task) {\n\
                if task == \"ask\" { task.ask(\"Who?\") }\n\
                if task == \"done\" { return 1 }\n\
                try { sleep(60000) } finally { sleep(100) }\n}";
    let manager = manager(text);
    block_on_runtime(async {
        let mut ids = Vec::new();
        for text in ["ask", "sleep", "done", "new"] {
            let (id, _) = manager.send(request(message(text)), ASKER).await.unwrap();
            if text == "ask" || text == "done" {
                manager.settled(&id).await.unwrap();
            }
            if text == "sleep" {
                manager.inbox(&id).await.unwrap();
            }
            ids.push(id);
        }
        manager.stop().await;
        for (id, state) in
            ids.iter().zip([TaskState::Failed, TaskState::Failed, TaskState::Completed, TaskState::Failed])
        {
            is(&manager.task(id).await.unwrap(), state);
        }
        let refused = manager.send(request(message("go")), ASKER).await.err().unwrap();
        assert_eq!(refused, Refusal::Host(crate::host::HostError::Stopping));
        let left = (manager.0.directory().open(), manager.0.sessions.count(), manager.0.host.sessions().len());
        assert_eq!(left, (0, 0, 0));
    });
}

#[test]
fn cancels_and_answers_at_once_come_to_one_end() {
    let manager = manager("pipeline default(task) { return task.ask(\"Who?\") }");
    block_on_runtime(async {
        let mut ends = std::collections::BTreeMap::new();
        for round in 0..40 {
            let task = say(&manager, message("go")).await;
            let (answering, other, cancelling) = (manager.clone(), manager.clone(), manager.clone());
            let (answer, second, id) = (to(&task, "Ada"), to(&task, "Bob"), task.id.clone());
            let answer = tokio::spawn(async move { answering.send(request(answer), ASKER).await.map(drop) });
            let second = tokio::spawn(async move { other.send(request(second), ASKER).await.map(drop) });
            if round % 2 == 1 {
                tokio::task::yield_now().await;
            }
            let cancel = tokio::spawn(async move { cancelling.cancel(&id).await.map(drop) });
            let (answer, second, cancel) = (answer.await.unwrap(), second.await.unwrap(), cancel.await.unwrap());
            let over = manager.shared_task(&task.id).await.unwrap().over().await.unwrap();
            for (name, accepted) in [("Ada", answer.is_ok()), ("Bob", second.is_ok())] {
                assert_eq!(history(&over).contains(&format!("user: {name}")), accepted, "{over:?}");
            }
            // One is the answer; the other came to a running task without a loop.
            let undelivered = over.metadata.get("harn.undelivered").as_list().map_or(0, <[Data]>::len);
            assert_eq!(undelivered, usize::from(answer.is_ok() && second.is_ok()), "{over:?}");
            let state = over.status.state;
            assert_eq!(cancel.is_ok(), state == TaskState::Canceled, "{cancel:?}");
            assert!(matches!(state, TaskState::Canceled | TaskState::Completed), "{state:?}");
            *ends.entry(state.as_str()).or_insert(0) += 1;
        }
        assert_eq!(ends.values().sum::<i32>(), 40);
        until_clean(&manager).await;
    });
}

#[test]
fn a_permission_is_asked_and_answered_by_the_next_message() {
    let text = "fn of(reg, name) {\n\
                return tool_define(reg, name, \"A tool.\", {handler: { args -> \"${name} ran\" }, parameters: {}, annotations: {permission: \"it costs money\"}})\n}\n\
                var tools = of(of(tool_registry(), \"pay\"), \"tip\")\n\
                pipeline default(task, context) {\n\
                llm_mock_clear()\n\
                llm_mock({tool_calls: [\"pay\", \"tip\"].map({ name -> {id: name, name: name, arguments: {}} })})\n\
                llm_mock({text: \"done\"})\n\
                let result = agent_loop(task, nil, {provider: \"mock\", tools: tools, reminders: false})\n\
                return {said: result.transcript.messages.filter({ m -> m.role == \"tool\" }).map({ m -> m.content })}\n}";
    let manager = manager(text);
    block_on_runtime(async {
        let mut task = say(&manager, message("go")).await;
        for (answer, still) in [("perhaps", true), ("deny", true), ("allow", false)] {
            is(&task, TaskState::InputRequired);
            let asked = task.status.message.as_ref().unwrap();
            let model::Content::Data(data) = &asked.parts[1].content else { panic!("{asked:?}") };
            assert_eq!(data.at("permission.reason").as_str(), Some("it costs money"));
            assert_eq!(data.at("permission.options").as_list().map(<[Data]>::len), Some(4));
            task = say(&manager, to(&task, answer)).await;
            assert_eq!(task.status.state.is_interrupted(), still, "{}", said(&task));
        }
        is(&task, TaskState::Completed);
        let answer = artifact(&task, "answer");
        assert!(answer.contains("the user refused it") && answer.contains("tip ran"), "{answer}");
        // Cancelling withdraws the question.
        let task = say(&manager, message("go")).await;
        is(&task, TaskState::InputRequired);
        is(&manager.cancel(&task.id).await.unwrap(), TaskState::Canceled);
        until_clean(&manager).await;
    });
}
