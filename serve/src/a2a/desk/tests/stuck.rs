//! Tasks whose code does not hear that it is to stop.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::oneshot;

use super::super::cell::Cell;
use super::super::drive::{Start, drive};
use super::super::{Begun, Unkept};
use super::*;
use crate::host::testing::front;

/// A pipe that nobody writes to: who reads it waits until this is dropped.
struct Pipe(PathBuf);

impl Pipe {
    fn new() -> Pipe {
        let path = std::env::temp_dir().join(format!("harn-pipe-{}", uuid::Uuid::new_v4()));
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        Pipe(path)
    }

    /// Says what it was asked; the task `stuck` waits in plain code first, and tells of itself after that.
    fn script(&self) -> String {
        format!(
            "pipeline default(task) {{\n\
             if task == \"ask\" {{ task.ask(\"Who?\") }}\n\
             if task != \"stuck\" {{ return \"I am ${{task}}\" }}\n\
             try {{ read_file(\"{}\") }} finally {{ task.artifact({{name: \"stale\", parts: [\"of stuck\"]}}) }}\n}}",
            self.0.display()
        )
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // To open it for both waits for nobody, and who reads it comes to its end then.
        drop(std::fs::OpenOptions::new().read(true).write(true).open(&self.0));
        std::thread::sleep(Duration::from_millis(50));
        let _ = std::fs::remove_file(&self.0);
    }
}

fn of_context(text: &str) -> Message {
    Message { context_id: Some("a".into()), ..message(text) }
}

/// Waits until the session of the task is in the middle of it.
async fn at_work(desk: &Desk, id: &str) {
    while desk.task(id).await.unwrap().status.state != TaskState::Working {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
}

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(2), what).await.expect("nothing waits for a session that is stuck")
}

#[test]
fn what_a_cancelled_task_still_does_is_none_of_the_next_one() {
    let pipe = Pipe::new();
    let desk = desk(&pipe.script());
    front(async {
        let (stuck, _) = desk.send(request(of_context("stuck")), ASKER).await.unwrap();
        at_work(&desk, &stuck).await;
        is(&desk.cancel(&stuck).await.unwrap(), TaskState::Canceled);
        let asks = soon(say(&desk, of_context("ask"))).await;
        drop(pipe);
        assert_eq!(artifact(&say(&desk, to(&asks, "Ada")).await, "answer"), "I am ask");
        for id in [&stuck, &asks.id] {
            assert!(!history(&desk.task(id).await.unwrap()).concat().contains("stale"));
            assert!(desk.task(id).await.unwrap().artifacts.iter().all(|made| made.name.as_deref() != Some("stale")));
        }
        assert!(is_clean(&desk).await);
        assert_eq!(desk.0.contexts.counts(), (0, 0), "the context is free again");
        is(&say(&desk, of_context("last")).await, TaskState::Completed);
        assert_eq!(desk.0.contexts.counts(), (1, 1));
    });
}

#[test]
fn a_task_is_cancelled_while_those_that_it_refers_to_do_not_answer() {
    let pipe = Pipe::new();
    let desk = desk(&pipe.script());
    front(async {
        let (stuck, _) = desk.send(request(message("stuck")), ASKER).await.unwrap();
        at_work(&desk, &stuck).await;
        let reference_task_ids = (0..4).flat_map(|_| [stuck.clone(), "unknown".into()]).collect();
        let (child, _) =
            desk.send(request(Message { reference_task_ids, ..of_context("child") }), ASKER).await.unwrap();
        at_work(&desk, &child).await;
        is(&soon(desk.cancel(&child)).await.unwrap(), TaskState::Canceled);
        assert_eq!(desk.0.contexts.counts().1, 1, "its session is as good as before");
        drop(pipe);
        is(&desk.settled(&stuck).await.unwrap(), TaskState::Completed);
        assert!(is_clean(&desk).await);
    });
}

#[test]
fn where_looking_after_a_task_breaks_off_nothing_of_it_is_left() {
    let desk = desk("pipeline default(task) { return task.ask(\"Who?\") }");
    front(async {
        let shared = desk.0.clone();
        let task = Task {
            id: "t".into(),
            context_id: "a".into(),
            status: stdlib::a2a::Status { state: TaskState::Submitted, message: None, at_ms: None },
            artifacts: Vec::new(),
            history: Vec::new(),
            metadata: Data::Nil,
        };
        let seat = shared.contexts.seat(&task.context_id, &task.id);
        let begun = Begun { metadata: Data::Nil, deadline_ms: None, is_alone: false };
        let cell = Cell::new(task, ASKER.version, None, begun, Arc::new(Unkept));
        shared.directory().begin(&cell);
        let (created, _) = oneshot::channel();
        let (message, metadata) = (message("go"), Data::Nil);
        let start = Start { message, metadata, deadline: None, seat, created, resumed: false };
        tokio::select! {
            () = drive(shared.clone(), cell.clone(), start) => panic!("it asks"),
            _ = cell.settled() => {}
        }
        is(&cell.task(), TaskState::Failed);
        assert_eq!(shared.sessions.count(), 0);
        assert!(is_clean(&desk).await);
        assert_eq!(shared.contexts.counts(), (0, 0), "a session in the middle of something is for nobody");
    });
}
