//! Refused requests and rejected tasks.

use super::*;
use crate::a2a::testing::GateFolder;
use crate::host::testing::block_on_runtime;

fn with(metadata: &str) -> SendMessage {
    SendMessage { metadata: Data::from_json(metadata).unwrap(), ..request(message("go")) }
}

/// Returns the reason why a task was rejected.
fn reason(task: &Task) -> String {
    let message = task.status.message.as_ref().unwrap();
    let model::Content::Data(data) = &message.parts[1].content else { panic!("{message:?}") };
    data.get("rejection_reason").to_text().to_string()
}

async fn sent(manager: &TaskManager, request: SendMessage) -> Arc<Task> {
    let (id, _) = manager.send(request, ASKER).await.unwrap();
    manager.settled(&id).await.unwrap()
}

#[test]
fn a_task_that_is_over_or_stopping_takes_no_message() {
    let text = "pipeline default(task) {\n\
                if task == \"go\" { return task }\n\
                write_file(path_join(task, \"began\"), \"\")\n\
                try { sleep(60000) } finally { while !file_exists(path_join(task, \"gate\")) { sleep(2) } }\n}";
    let (folder, manager) = (GateFolder::new("stopping"), manager(text));
    block_on_runtime(async {
        let over = say(&manager, message("go")).await;
        let refused = manager.send(request(to(&over, "more")), ASKER).await.err().unwrap();
        assert_eq!(refused, Refusal::Over { task_id: over.id.clone(), state: TaskState::Completed });
        // A caller that repeats the message has lost the answer.
        let first = Message { task_id: Some(over.id.clone()), ..(*over.history[0]).clone() };
        assert_eq!(say(&manager, first).await, over);

        let (id, _) = manager.send(request(message(&folder.text())), ASKER).await.unwrap();
        folder.has("began").await;
        let task = manager.task(&id).await.unwrap();
        let stopped = async {
            // The cancellation has begun, as it is polled first.
            tokio::task::yield_now().await;
            let refused = manager.send(request(to(&task, "more")), ASKER).await.err();
            assert_eq!(refused, Some(Refusal::Halting(id.clone())));
            folder.open();
        };
        let (cancelled, ()) = tokio::join!(manager.cancel(&id), stopped);
        assert_eq!(cancelled.unwrap().history.len(), 1, "what is refused is no part of the task");

        let unknown = Message { task_id: Some("nope".into()), ..message("go") };
        let refused = manager.send(request(unknown.clone()), ASKER).await.err().unwrap();
        assert_eq!(refused, Refusal::UnknownTask("nope".into()));
        for refused in [
            manager.task("nope").await.err(),
            manager.cancel("nope").await.err(),
            manager.follow("nope").await.err(),
            manager.settled("nope").await.err(),
            manager.inbox("nope").await.err(),
        ] {
            assert_eq!(refused, Some(Refusal::UnknownTask("nope".into())));
        }
    });
}

#[test]
fn ids_of_callers_are_short_and_visible() {
    let manager = manager("pipeline default(task) { return task }");
    block_on_runtime(async {
        let long = "x".repeat(129);
        for id in ["", " ", "a b", "a\n", "é", long.as_str()] {
            let message = Message { context_id: Some(id.into()), ..message("go") };
            let Some(Refusal::Params(misfit)) = manager.send(request(message), ASKER).await.err() else {
                panic!("{id}")
            };
            assert_eq!(misfit.field, "message.contextId");
        }
        let fits = "x".repeat(128);
        let message = Message { context_id: Some(fits.as_str().into()), ..message("go") };
        is(&say(&manager, message).await, TaskState::Completed);
        until_clean(&manager).await;
    });
}

#[test]
fn a_deadline_ends_a_task_and_what_it_made_stays() {
    let text = "pipeline default(task) {\n\
                task.artifact({name: \"part\", parts: [\"half\"]})\n\
                if task == \"ask\" { task.ask(\"Who?\") }\n\
                sleep(60000)\n}";
    let manager = manager(text);
    block_on_runtime(async {
        for (metadata, expected) in [
            (r#"{"deadline": 1}"#, "DEADLINE_IMPOSSIBLE"),
            (r#"{"deadline": "2001-01-01T00:00:00Z"}"#, "DEADLINE_IMPOSSIBLE"),
            (r#"{"deadline": "soon"}"#, "INVALID_PARAMETERS"),
            (r#"{"deadline": []}"#, "INVALID_PARAMETERS"),
        ] {
            let task = sent(&manager, with(metadata)).await;
            is(&task, TaskState::Rejected);
            assert_eq!(reason(&task), expected, "{metadata}");
        }
        for text in ["sleep", "ask"] {
            let deadline = crate::clock::now_ms() + 3_000;
            let metadata = Data::dict([("deadline", Data::from(deadline))]);
            let (id, _) = manager.send(SendMessage { metadata, ..request(message(text)) }, ASKER).await.unwrap();
            let task = manager.shared_task(&id).await.unwrap().over().await.unwrap();
            is(&task, TaskState::Failed);
            assert_eq!((said(&task).as_str(), artifact(&task, "part").as_str()), ("Deadline exceeded", "half"));
        }
        until_clean(&manager).await;
    });
}

#[test]
fn more_tasks_than_may_be_are_rejected() {
    let manager =
        desk_with("pipeline default(task) { sleep(60000) }", TaskSettings { open: 100, ..TaskSettings::default() });
    block_on_runtime(async {
        let mut ids = Vec::new();
        let mut rejected = 0;
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..10_000 {
            let manager = manager.clone();
            all.spawn(async move {
                let (id, _) = manager.send(request(message("go")), ASKER).await.unwrap();
                manager.task(&id).await.unwrap()
            });
        }
        while let Some(task) = all.join_next().await {
            let task = task.unwrap();
            let id = task.id.clone();
            if task.status.state == TaskState::Rejected {
                assert_eq!(reason(&task), "CAPACITY_EXCEEDED");
                rejected += 1;
            } else {
                ids.push(id);
            }
        }
        assert_eq!((ids.len(), rejected), (100, 9_900));
        for id in &ids {
            is(&manager.cancel(id).await.unwrap(), TaskState::Canceled);
        }
        until_clean(&manager).await;
        // One more task fits again.
        let (id, _) = manager.send(request(message("go")), ASKER).await.unwrap();
        assert!(!manager.task(&id).await.unwrap().status.state.is_terminal());
        manager.stop().await;
        is(&manager.task(&id).await.unwrap(), TaskState::Failed);
    });
}

#[test]
fn rejected_tasks_push_out_each_other_and_none_that_ran() {
    let text = "pipeline default(task) { if task == \"sleep\" { sleep(60000) }\nreturn task }";
    let most = super::super::directory::MOST_UNRUN;
    let manager = desk_with(text, TaskSettings { open: 1, finished: most + 10, ..TaskSettings::default() });
    block_on_runtime(async {
        let done = say(&manager, message("result")).await;
        let (id, _) = manager.send(request(message("sleep")), ASKER).await.unwrap();
        let mut rejected = Vec::new();
        for _ in 0..most + 20 {
            let task = say(&manager, message("go")).await;
            is(&task, TaskState::Rejected);
            rejected.push(task.id.clone());
        }
        assert_eq!(artifact(&manager.task(&done.id).await.unwrap(), "answer"), "result");
        assert_eq!(manager.0.directory().all().len(), most + 2, "they have a bound of their own");
        assert!(manager.task(&rejected[19]).await.is_err() && manager.task(&rejected[20]).await.is_ok());
        manager.cancel(&id).await.unwrap();
        // Tasks that ran do not evict the newest rejected ones.
        for _ in 0..3 {
            say(&manager, message("more")).await;
        }
        assert!(manager.task(&rejected[most + 19]).await.is_ok());
        until_clean(&manager).await;
    });
}

#[test]
fn only_so_many_that_are_over_are_kept() {
    let manager =
        desk_with("pipeline default(task) { return task }", TaskSettings { finished: 3, ..TaskSettings::default() });
    block_on_runtime(async {
        let mut ids = Vec::new();
        for number in 0..5 {
            ids.push(say(&manager, message(&format!("{number}"))).await.id.clone());
        }
        let mut known = Vec::new();
        for id in &ids {
            known.push(manager.task(id).await.is_ok());
        }
        assert_eq!(known, [false, false, true, true, true]);
        until_clean(&manager).await;
    });
}

#[test]
fn a_repeated_first_message_is_its_first_task_and_other_content_begins_another() {
    let manager = manager("pipeline default(task) { return task }");
    block_on_runtime(async {
        let first = message("echo");
        let task = say(&manager, first.clone()).await;
        assert_eq!(say(&manager, first.clone()).await.id, task.id);
        let (_, follows) = manager.send(request(first.clone()), ASKER).await.unwrap();
        assert_eq!(lines_of(follows).await, ["task completed ."]);
        let in_its_context = Message { context_id: Some(task.context_id.clone()), ..first.clone() };
        assert_eq!(say(&manager, in_its_context).await.id, task.id);
        let mut begun = vec![task.id.clone()];
        for other in [
            Message { parts: vec![Part::text("other")], ..first.clone() },
            Message { parts: vec![Part::data(1.into())], ..first.clone() },
            Message { context_id: Some("other".into()), ..first.clone() },
            Message { metadata: Data::dict([("n", Data::from(1))]), ..first.clone() },
            message("echo"),
        ] {
            let own = say(&manager, other.clone()).await;
            is(&own, TaskState::Completed);
            assert!(!begun.contains(&own.id), "{other:?}");
            // Each of them is its own task again, whatever came with the same id since.
            assert_eq!(say(&manager, other).await.id, own.id);
            begun.push(own.id.clone());
        }
        assert_eq!(say(&manager, first.clone()).await.id, task.id);
        let late = Message { parts: vec![Part::text("other")], task_id: Some(task.id.clone()), ..first };
        let refused = manager.send(request(late), ASKER).await.err();
        assert_eq!(refused, Some(Refusal::Over { task_id: task.id.clone(), state: TaskState::Completed }));
        manager.stop().await;
    });
}

#[test]
fn a_caller_from_before_0_3_chooses_the_ids_of_its_tasks() {
    const NAMES: TaskCaller = TaskCaller { names_tasks: true, ..ASKER };
    let manager = manager("pipeline default(task) { return task.ask(\"Which?\") }");
    block_on_runtime(async {
        let named = |text: &str| Message { task_id: Some("mine".into()), ..message(text) };
        assert!(manager.send(request(named("go")), ASKER).await.is_err(), "no other caller does");
        let (id, _) = manager.send(request(named("go")), NAMES).await.unwrap();
        assert_eq!(&*id, "mine");
        is(&manager.settled(&id).await.unwrap(), TaskState::InputRequired);
        // From then on, the id is that of a task like any other.
        let (id, _) = manager.send(request(named("red")), NAMES).await.unwrap();
        let task = manager.settled(&id).await.unwrap();
        assert_eq!((&*task.id, artifact(&task, "answer").as_str()), ("mine", "red"));
        let refused = manager.send(request(named("more")), NAMES).await.err();
        assert_eq!(refused, Some(Refusal::Over { task_id: "mine".into(), state: TaskState::Completed }));
        manager.stop().await;
    });
}

#[test]
fn a_media_type_that_the_agent_does_not_take_is_refused() {
    let agent = stdlib::Agent { input_modes: vec!["text/plain".to_owned()], ..stdlib::Agent::default() };
    let settings = TaskSettings { input_modes: crate::a2a::tasks::InputModes::of(&agent), ..TaskSettings::default() };
    let manager = desk_with("pipeline default(task) { return task }", settings);
    block_on_runtime(async {
        let image =
            Part { media_type: Some("image/png".into()), ..Part::new(model::Content::Url("https://a.b/c".into())) };
        let said = Message { parts: vec![Part::text("look"), image], ..message("look") };
        let refused = manager.send(request(said), ASKER).await.err();
        assert_eq!(refused, Some(Refusal::MediaType { part: 1, media_type: "image/png".to_owned() }));
        say(&manager, message("look")).await;
        manager.stop().await;
    });
}
