//! Refused requests and rejected tasks.

use super::*;
use crate::host::testing::front;

fn with(metadata: &str) -> SendMessage {
    SendMessage { metadata: Data::from_json(metadata).unwrap(), ..request(message("go")) }
}

/// Returns the reason why a task was rejected.
fn reason(task: &Task) -> String {
    let message = task.status.message.as_ref().unwrap();
    let model::Content::Data(data) = &message.parts[1].content else { panic!("{message:?}") };
    data.get("rejection_reason").to_text().to_string()
}

async fn sent(desk: &Desk, request: SendMessage) -> Arc<Task> {
    let (id, _) = desk.send(request, ASKER).await.unwrap();
    desk.settled(&id).await.unwrap()
}

#[test]
fn a_task_that_is_over_or_at_work_takes_no_message() {
    let desk = desk("pipeline default(task) { if task == \"sleep\" { sleep(60000) }\nreturn task }");
    front(async {
        let over = say(&desk, message("go")).await;
        let refused = desk.send(request(to(&over, "more")), ASKER).await.err().unwrap();
        assert_eq!(refused, Refusal::Over { task_id: over.id.clone(), state: TaskState::Completed });
        // A caller that repeats the message has lost the answer.
        let first = Message { task_id: Some(over.id.clone()), ..(*over.history[0]).clone() };
        assert_eq!(say(&desk, first).await, over);

        let (id, _) = desk.send(request(message("sleep")), ASKER).await.unwrap();
        let task = desk.task(&id).await.unwrap();
        assert_eq!(desk.send(request(to(&task, "more")), ASKER).await.err().unwrap(), Refusal::Busy(id.clone()));
        desk.cancel(&id).await.unwrap();

        let unknown = Message { task_id: Some("nope".into()), ..message("go") };
        let refused = desk.send(request(unknown.clone()), ASKER).await.err().unwrap();
        assert_eq!(refused, Refusal::UnknownTask("nope".into()));
        for refused in [
            desk.task("nope").await.err(),
            desk.cancel("nope").await.err(),
            desk.follow("nope").await.err(),
            desk.settled("nope").await.err(),
            desk.inbox("nope").await.err(),
        ] {
            assert_eq!(refused, Some(Refusal::UnknownTask("nope".into())));
        }
    });
}

#[test]
fn ids_of_callers_are_short_and_visible() {
    let desk = desk("pipeline default(task) { return task }");
    front(async {
        let long = "x".repeat(129);
        for id in ["", " ", "a b", "a\n", "é", long.as_str()] {
            let message = Message { context_id: Some(id.into()), ..message("go") };
            let Some(Refusal::Params(misfit)) = desk.send(request(message), ASKER).await.err() else { panic!("{id}") };
            assert_eq!(misfit.field, "message.contextId");
        }
        let fits = "x".repeat(128);
        let message = Message { context_id: Some(fits.as_str().into()), ..message("go") };
        is(&say(&desk, message).await, TaskState::Completed);
        assert!(is_clean(&desk).await);
    });
}

#[test]
fn a_deadline_ends_a_task_and_what_it_made_stays() {
    let text = "pipeline default(task) {\n\
                task.artifact({name: \"part\", parts: [\"half\"]})\n\
                if task == \"ask\" { task.ask(\"Who?\") }\n\
                sleep(60000)\n}";
    let desk = desk(text);
    front(async {
        for (metadata, expected) in [
            (r#"{"deadline": 1}"#, "DEADLINE_IMPOSSIBLE"),
            (r#"{"deadline": "2001-01-01T00:00:00Z"}"#, "DEADLINE_IMPOSSIBLE"),
            (r#"{"deadline": "soon"}"#, "INVALID_PARAMETERS"),
            (r#"{"deadline": []}"#, "INVALID_PARAMETERS"),
        ] {
            let task = sent(&desk, with(metadata)).await;
            is(&task, TaskState::Rejected);
            assert_eq!(reason(&task), expected, "{metadata}");
        }
        for text in ["sleep", "ask"] {
            let deadline = crate::a2a::clock::now_ms() + 200;
            let metadata = Data::dict([("deadline", Data::from(deadline))]);
            let (id, _) = desk.send(SendMessage { metadata, ..request(message(text)) }, ASKER).await.unwrap();
            let task = desk.cell(&id).await.unwrap().over().await.unwrap();
            is(&task, TaskState::Failed);
            assert_eq!((said(&task).as_str(), artifact(&task, "part").as_str()), ("Deadline exceeded", "half"));
        }
        assert!(is_clean(&desk).await);
    });
}

#[test]
fn more_tasks_than_may_be_are_rejected() {
    let desk = desk_with("pipeline default(task) { sleep(60000) }", Settings { open: 100, ..Settings::default() });
    front(async {
        let mut ids = Vec::new();
        let mut rejected = 0;
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..10_000 {
            let desk = desk.clone();
            all.spawn(async move {
                let (id, _) = desk.send(request(message("go")), ASKER).await.unwrap();
                desk.task(&id).await.unwrap()
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
            is(&desk.cancel(id).await.unwrap(), TaskState::Canceled);
        }
        assert!(is_clean(&desk).await);
        // One more task fits again.
        let (id, _) = desk.send(request(message("go")), ASKER).await.unwrap();
        assert!(!desk.task(&id).await.unwrap().status.state.is_terminal());
        desk.stop().await;
        is(&desk.task(&id).await.unwrap(), TaskState::Failed);
    });
}

#[test]
fn rejected_tasks_push_out_each_other_and_none_that_ran() {
    let text = "pipeline default(task) { if task == \"sleep\" { sleep(60000) }\nreturn task }";
    let most = super::super::directory::MOST_UNRUN;
    let desk = desk_with(text, Settings { open: 1, finished: most + 10, ..Settings::default() });
    front(async {
        let done = say(&desk, message("result")).await;
        let (id, _) = desk.send(request(message("sleep")), ASKER).await.unwrap();
        let mut rejected = Vec::new();
        for _ in 0..most + 20 {
            let task = say(&desk, message("go")).await;
            is(&task, TaskState::Rejected);
            rejected.push(task.id.clone());
        }
        assert_eq!(artifact(&desk.task(&done.id).await.unwrap(), "answer"), "result");
        assert_eq!(desk.0.directory().all().len(), most + 2, "they have a bound of their own");
        assert!(desk.task(&rejected[19]).await.is_err() && desk.task(&rejected[20]).await.is_ok());
        desk.cancel(&id).await.unwrap();
        // Tasks that ran do not evict the newest rejected ones.
        for _ in 0..3 {
            say(&desk, message("more")).await;
        }
        assert!(desk.task(&rejected[most + 19]).await.is_ok());
        assert!(is_clean(&desk).await);
    });
}

#[test]
fn only_so_many_that_are_over_are_kept() {
    let desk = desk_with("pipeline default(task) { return task }", Settings { finished: 3, ..Settings::default() });
    front(async {
        let mut ids = Vec::new();
        for number in 0..5 {
            ids.push(say(&desk, message(&format!("{number}"))).await.id.clone());
        }
        let mut known = Vec::new();
        for id in &ids {
            known.push(desk.task(id).await.is_ok());
        }
        assert_eq!(known, [false, false, true, true, true]);
        assert!(is_clean(&desk).await);
    });
}

#[test]
fn a_repeated_first_message_is_its_first_task_and_other_content_is_refused() {
    let desk = desk("pipeline default(task) { return task }");
    front(async {
        let first = message("echo");
        let task = say(&desk, first.clone()).await;
        assert_eq!(say(&desk, first.clone()).await.id, task.id);
        let (_, follows) = desk.send(request(first.clone()), ASKER).await.unwrap();
        assert_eq!(told(follows).await, ["task completed ."]);
        let in_its_context = Message { context_id: Some(task.context_id.clone()), ..first.clone() };
        assert_eq!(say(&desk, in_its_context).await.id, task.id);
        for other in [
            Message { parts: vec![Part::text("other")], ..first.clone() },
            Message { context_id: Some("other".into()), ..first.clone() },
            Message { parts: vec![Part::text("other")], task_id: Some(task.id.clone()), ..first.clone() },
        ] {
            let refused = desk.send(request(other), ASKER).await.err();
            assert_eq!(refused, Some(Refusal::OtherMessage(first.message_id.clone())));
        }
        assert_ne!(say(&desk, message("echo")).await.id, task.id);
        desk.stop().await;
    });
}

#[test]
fn a_media_type_that_the_agent_does_not_take_is_refused() {
    let agent = stdlib::Agent { input_modes: vec!["text/plain".to_owned()], ..stdlib::Agent::default() };
    let settings = Settings { input_modes: crate::a2a::desk::InputModes::of(&agent), ..Settings::default() };
    let desk = desk_with("pipeline default(task) { return task }", settings);
    front(async {
        let image =
            Part { media_type: Some("image/png".into()), ..Part::new(model::Content::Url("https://a.b/c".into())) };
        let said = Message { parts: vec![Part::text("look"), image], ..message("look") };
        let refused = desk.send(request(said), ASKER).await.err();
        assert_eq!(refused, Some(Refusal::MediaType { part: 1, media_type: "image/png".to_owned() }));
        say(&desk, message("look")).await;
        desk.stop().await;
    });
}
