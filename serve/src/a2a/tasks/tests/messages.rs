//! Messages in place of tasks.

use stdlib::Replies;

use super::*;
use crate::host::testing::block_on_runtime;

const TAKES: TaskCaller = TaskCaller { version: Version::V1_0, takes_message: true, names_tasks: false };

fn replying(text: &str) -> TaskManager {
    desk_with(text, TaskSettings { replies: Replies::Message, ..TaskSettings::default() })
}

/// Returns the events of a stream, or the message in place of it.
async fn heard(manager: &TaskManager, said: &str) -> Vec<String> {
    let (id, follows) = manager.send(request(message(said)), TAKES).await.unwrap();
    match manager.follow_or_message(&id, follows, TAKES).await.unwrap() {
        Ok(follows) => lines_of(follows).await,
        Err(message) => vec![format!("message {}", held(&message.parts))],
    }
}

#[test]
fn a_stream_begins_as_soon_as_there_is_something_to_tell_of_a_task() {
    let text = "pipeline default(task) {\n\
                if task == \"plain\" { return \"a, b\" }\n\
                if task == \"ask\" { return task.ask(\"Which?\") }\n\
                task.status(\"reading\")\n\
                sleep(60000)\n}";
    let manager = replying(text);
    block_on_runtime(async {
        assert_eq!(heard(&manager, "plain").await, ["message a, b"]);
        assert_eq!(heard(&manager, "ask").await, ["task submitted", "working", "input-required Which? ."]);
        let (id, follows) = manager.send(request(message("status")), TAKES).await.unwrap();
        // The task has been working for a long time.
        let follows = manager.follow_or_message(&id, follows, TAKES).await.unwrap().expect("it is a task");
        assert_eq!(manager.task(&id).await.unwrap().status.state, TaskState::Working);
        is(&manager.cancel(&id).await.unwrap(), TaskState::Canceled);
        assert_eq!(lines_of(follows).await, ["task submitted", "working", "working reading", "canceled ."]);
        manager.stop().await;
    });
}

#[test]
fn who_waits_for_a_message_is_told_of_a_cancelled_task_and_of_a_server_that_stops() {
    let manager = replying("pipeline default(task) { sleep(60000) }");
    block_on_runtime(async {
        for stops in [false, true] {
            let (id, follows) = manager.send(request(message("go")), TAKES).await.unwrap();
            let (heard, ()) = tokio::join!(manager.follow_or_message(&id, follows, TAKES), async {
                tokio::task::yield_now().await;
                if stops { manager.stop().await } else { drop(manager.cancel(&id).await) }
            });
            let state = if stops { "failed" } else { "canceled" };
            let lines = lines_of(heard.unwrap().expect("it is a task")).await;
            assert_eq!(lines.first().map(String::as_str), Some("task submitted"), "{lines:?}");
            assert!(lines.last().is_some_and(|line| line.starts_with(state) && line.ends_with('.')), "{lines:?}");
        }
    });
}

#[test]
fn a_caller_that_takes_tasks_gets_them() {
    let manager = replying("pipeline default(task) { return task }");
    block_on_runtime(async {
        let said = request(message("go"));
        let (id, _) = manager.send(said.clone(), ASKER).await.unwrap();
        let task = manager.settled(&id).await.unwrap();
        assert_eq!((manager.message(&task, ASKER), manager.message(&task, TAKES)), (None, None));
        // Sending the message again returns that task, in any response mode.
        assert_eq!(&*manager.send(said, TAKES).await.unwrap().0, &*id);
        let task =
            say(&manager, Message { metadata: Data::dict([("harn.message_id", Data::from("mine"))]), ..message("go") })
                .await;
        assert_eq!(manager.message(&task, TAKES), None, "a caller's own metadata makes it none");
    });
}

#[test]
fn a_task_that_was_meant_to_be_a_message_loses_no_update() {
    let text = "pipeline default(task) {\n\
                task.status(\"one\")\n\
                task.status(\"two\")\n\
                task.artifact({name: \"a\", parts: [\"x\"]})\n\
                task.status(\"three\")\n\
                return \"done\"\n}";
    let manager = replying(text);
    block_on_runtime(async {
        let (id, follows) = manager.send(request(message("go")), TAKES).await.unwrap();
        // The client reads when all is over.
        manager.settled(&id).await.unwrap();
        let follows = manager.follow_or_message(&id, follows, TAKES).await.unwrap().expect("it is a task");
        let lines = lines_of(follows).await;
        let place =
            |text: &str| lines.iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{lines:?}"));
        assert!(place("one") < place("two") && place("two") < place("three"), "{lines:?}");
    });
}
