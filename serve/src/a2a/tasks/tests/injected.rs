//! Messages to a running task.

use runtime::reminder::bridge::{Queue, QueueError};

use super::*;
use crate::a2a::injection;
use crate::a2a::testing::GateFolder;
use crate::host::testing::block_on_runtime;

/// A loop whose first model call waits for a gate. The answer is what the user says in each prompt.
const LOOP: &str = r#"
pipeline default(task) {
  var seen = []
  var turn = 0
  agent_loop("Work.", nil, {max_iterations: 4, reminders: false, llm_caller: { asked ->
    turn = turn + 1
    seen = seen.push(asked.messages.filter({ m -> m.role == "user" }).map({ m -> json_stringify(m.content) }).join("+"))
    if turn == 1 {
      write_file(path_join(task, "began"), "")
      while !file_exists(path_join(task, "gate")) { sleep(2) }
    }
    return "step ${turn}"
  }})
  return seen.join("|")
}
"#;

/// A pipeline without a loop.
const NO_LOOP: &str = r#"
pipeline default(task) {
  write_file(path_join(task, "began"), "")
  while !file_exists(path_join(task, "gate")) { sleep(2) }
  return "done"
}
"#;

fn undelivered(task: &Task) -> Vec<&str> {
    task.metadata.get("harn.undelivered").as_list().into_iter().flatten().filter_map(Data::as_str).collect()
}

#[test]
fn a_message_to_a_running_task_reaches_its_loop() {
    let (folder, manager) = (GateFolder::new("message"), manager(LOOP));
    block_on_runtime(async {
        let (id, _) = manager.send(request(message(&folder.text())), ASKER).await.unwrap();
        folder.has("began").await;
        let task = manager.task(&id).await.unwrap();
        let parts = vec![
            Part::text("Also the tests."),
            Part::data(Data::dict([("n", Data::from(1))])),
            Part { filename: Some("a.txt".into()), ..Part::new(model::Content::Url("https://a.b/c".into())) },
        ];
        let more = Message { parts, ..to(&task, "") };
        let (same, follows) = manager.send(request(more.clone()), ASKER).await.unwrap();
        assert_eq!(same, id);
        // A caller that lost the response sends it again, without a further effect.
        manager.send(request(more.clone()), ASKER).await.unwrap();
        folder.open();
        let task = manager.settled(&id).await.unwrap();
        is(&task, TaskState::Completed);
        let expected = r#""Work."|"Work."+"Also the tests.\n{\"n\":1}\n[a.txt](https://a.b/c)""#;
        assert_eq!(artifact(&task, "answer"), expected);
        let said = [format!("user: {}", folder.text()), r#"user: Also the tests.{"n":1}<https://a.b/c>"#.to_owned()];
        assert_eq!(history(&task)[..2], said);
        assert!(undelivered(&task).is_empty());
        let lines = lines_of(follows).await;
        assert_eq!((lines[0].as_str(), lines.last().map(String::as_str)), ("task working", Some("completed .")));
        until_clean(&manager).await;
        manager.stop().await;
    });
}

#[test]
fn a_message_that_no_loop_takes_is_named_at_the_end_and_reaches_no_other_task() {
    let (folder, manager) = (GateFolder::new("undelivered"), manager(NO_LOOP));
    block_on_runtime(async {
        let first = Message { context_id: Some("c".into()), ..message(&folder.text()) };
        let (id, _) = manager.send(request(first), ASKER).await.unwrap();
        folder.has("began").await;
        let more = to(&manager.task(&id).await.unwrap(), "more");
        manager.send(request(more.clone()), ASKER).await.unwrap();
        let inbox = manager.inbox(&id).await.unwrap();
        assert_eq!(inbox.depth(), 1);
        folder.open();
        let task = manager.settled(&id).await.unwrap();
        assert_eq!(undelivered(&task), [&*more.message_id]);
        assert_eq!(inbox.depth(), 0, "the session goes on with another task");
        manager.stop().await;
    });
}

#[test]
fn a_message_that_cannot_be_injected_changes_nothing() {
    let (folder, manager) = (GateFolder::new("uninjectable"), manager(NO_LOOP));
    block_on_runtime(async {
        let (id, _) = manager.send(request(message(&folder.text())), ASKER).await.unwrap();
        folder.has("began").await;
        let before = manager.task(&id).await.unwrap();
        let inbox = manager.inbox(&id).await.unwrap();
        let raw = Part::new(model::Content::Raw("aGFybg==".into()));
        for (parts, field) in
            [(vec![Part::text("see"), raw], "message.parts.1"), (vec![Part::text(" \n")], "message.parts")]
        {
            let metadata = Data::from_json(r#"{"harn.reminder": {"body": "b"}}"#).unwrap();
            let refused = manager.send(request(Message { parts, metadata, ..to(&before, "") }), ASKER).await.err();
            assert!(matches!(&refused, Some(Refusal::Params(error)) if error.field == field), "{refused:?}");
        }
        let params = Data::from_json(&format!(r#"{{"taskId": "{id}", "reminder": {{"body": "b"}}}}"#)).unwrap();
        for _ in 0..Queue::CAPACITY {
            injection::call(injection::INJECT, &params, &manager).await.unwrap();
        }
        let refused = manager.send(request(to(&before, "more")), ASKER).await.err();
        assert_eq!(refused, Some(Refusal::Queue(QueueError::Full(Queue::CAPACITY))));
        assert_eq!(*manager.task(&id).await.unwrap(), *before);
        assert_eq!(inbox.depth(), Queue::CAPACITY);
        folder.open();
        assert!(undelivered(&manager.settled(&id).await.unwrap()).is_empty());
        manager.stop().await;
    });
}

#[test]
fn a_message_to_a_task_that_is_being_opened_waits_for_its_session() {
    let (folder, manager) = (GateFolder::new("opening"), manager(LOOP));
    block_on_runtime(async {
        let (id, _) = manager.send(request(message(&folder.text())), ASKER).await.unwrap();
        let task = manager.task(&id).await.unwrap();
        manager.send(request(to(&task, "Early.")), ASKER).await.unwrap();
        folder.open();
        let task = manager.settled(&id).await.unwrap();
        assert!(artifact(&task, "answer").contains("Early."), "{task:?}");
        manager.stop().await;
    });
}
