//! Tasks when the server stops, and the responses to clients that wait for them.

use eventlog::{SqliteLog, SqliteOptions};

use super::*;
use crate::host::HostError;
use crate::host::testing::block_on_runtime;

/// A pipeline whose end takes a while.
const SLOW: &str = "pipeline default(task, context) {\n\
                    if context.resumed { return \"again\" }\n\
                    try { task.status(\"at it\"); sleep(60000) } finally { sleep(300) }\n}";

/// Serves a script with a log in a folder of its own, which the test removes.
fn persistent_manager(folder: &std::path::Path, text: &str) -> TaskManager {
    std::fs::create_dir_all(folder).unwrap();
    let log = SqliteLog::open(folder.join("events.db"), &SqliteOptions::default()).unwrap();
    TaskManager::open(served("test.harn", text, 2, Some(log)), TaskSettings::default())
        .unwrap_or_else(|found| panic!("{found:?}"))
}

fn folder() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("harn-stopped-{}", uuid::Uuid::new_v4()))
}

#[test]
fn what_a_cancelled_task_throws_while_it_cleans_up_is_told() {
    let manager = manager(
        "pipeline default(task) { try { task.status(\"at it\"); sleep(60000) } finally { throw \"no space left\" } }",
    );
    block_on_runtime(async {
        let (id, _) = at_work(&manager, "go").await;
        let task = manager.cancel(&id).await.unwrap();
        is(&task, TaskState::Canceled);
        assert!(said(&task).starts_with("the task was cancelled, and its clean-up failed: "), "{}", said(&task));
        assert!(!said(&task).contains("no space left"), "{}", said(&task));
        assert_eq!(task.metadata.get("harn.diagnostics").as_list().map(<[Data]>::len), Some(1), "{:?}", task.metadata);
        until_clean(&manager).await;
    });
}

/// Returns a task that is inside its `try`.
async fn at_work(manager: &TaskManager, text: &str) -> (Arc<str>, Subscription) {
    at_work_on(manager, request(message(text))).await
}

async fn at_work_on(manager: &TaskManager, request: SendMessage) -> (Arc<str>, Subscription) {
    let (id, follows) = manager.send(request, ASKER).await.unwrap();
    find("a task that is at it", async || {
        let task = manager.task(&id).await.unwrap();
        if said(&task) == "at it" { Ok(()) } else { Err(said(&task)) }
    })
    .await;
    (id, follows)
}

#[test]
fn what_the_next_process_runs_again_has_no_end_here() {
    let (folder, text) = (folder(), format!("@resumable\n{SLOW}"));
    block_on_runtime(async {
        let manager = persistent_manager(&folder, &text);
        let (id, follows) = at_work(&manager, "go").await;
        let (waiting, waited) = (manager.clone(), id.clone());
        let waits = tokio::spawn(async move { waiting.settled(&waited).await });
        tokio::task::yield_now().await;
        manager.stop().await;
        let stopping = Some(Refusal::Host(HostError::Stopping));
        assert_eq!(lines_of(follows).await, ["task submitted", "working", "working at it", "left"]);
        assert_eq!(waits.await.unwrap().err(), stopping);
        is(&manager.task(&id).await.unwrap(), TaskState::Working);
        let task = manager.task(&id).await.unwrap();
        // Later requests do not wait either.
        assert_eq!(lines_of(manager.follow(&id).await.unwrap()).await, ["task working", "left"]);
        assert_eq!(manager.cancel(&id).await.err(), stopping);
        assert_eq!(manager.inbox(&id).await.err(), stopping);
        assert_eq!(manager.send(request(to(&task, "more")), ASKER).await.err(), stopping);
    });
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn what_has_another_end_while_the_server_stops_keeps_it() {
    let folder = folder();
    let cleans_up = |name: &str| folder.join(format!("{name} cleans up"));
    let written = format!("finally {{ write_file(\"{}/${{task}} cleans up\", \"\")\n", folder.display());
    let text = format!("@resumable\n{}", SLOW.replace("finally {", &written));
    block_on_runtime(async {
        let manager = persistent_manager(&folder, &text);
        let (cancelled, _) = at_work(&manager, "cancelled").await;
        let deadline = crate::clock::now_ms() + 3_000;
        let metadata = Data::dict([("deadline", Data::from(deadline))]);
        let (failed, _) = at_work_on(&manager, SendMessage { metadata, ..request(message("late")) }).await;
        until("the deadline", || cleans_up("late").exists()).await;
        let (cancels, id) = (manager.clone(), cancelled.clone());
        let cancels = tokio::spawn(async move { cancels.cancel(&id).await });
        until("the cancellation", || cleans_up("cancelled").exists()).await;
        manager.stop().await;
        is(&cancels.await.unwrap().unwrap(), TaskState::Canceled);
        is(&manager.task(&failed).await.unwrap(), TaskState::Failed);
        drop(manager);
        let log = SqliteLog::open(folder.join("events.db"), &SqliteOptions::default()).unwrap();
        let store = crate::a2a::store::TaskStore::new(crate::store::SessionStore::new(log).unwrap());
        for (id, state) in [(cancelled, TaskState::Canceled), (failed, TaskState::Failed)] {
            is(&store.load(&id).unwrap().unwrap().task, state);
        }
    });
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn what_nobody_runs_again_has_failed_by_a_stop() {
    let folder = folder();
    block_on_runtime(async {
        // Without a log no other process can continue the task.
        for manager in [persistent_manager(&folder, SLOW), self::manager(&format!("@resumable\n{SLOW}"))] {
            let (id, follows) = at_work(&manager, "go").await;
            manager.stop().await;
            let end = "failed the server was stopped; the results so far are kept{\"code\":\"SERVER_STOPPED\"} .";
            assert_eq!(lines_of(follows).await, ["task submitted", "working", "working at it", end]);
            is(&manager.settled(&id).await.unwrap(), TaskState::Failed);
        }
    });
    let _ = std::fs::remove_dir_all(folder);
}
