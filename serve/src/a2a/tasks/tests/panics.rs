//! A panic in the runtime under a task, on its worker.

use a2a::{ListTasks, TaskPage};
use eventlog::{DurableFuture, Ticket};

use super::super::{NoJournal, RestoredTask, TaskChange, TaskFilter, TaskJournal};
use super::*;
use crate::a2a::SessionTasks;
use crate::host::testing::block_on_runtime;
use crate::host::{Host, Waiting};
use crate::store::StoreError;

/// A journal that keeps nothing and panics on an artifact `boom`, on the session's thread.
struct PanickingJournal;

impl TaskJournal for PanickingJournal {
    fn note(&self, task_id: &Arc<str>, at_ms: u64, change: &TaskChange) -> Ticket {
        if let TaskChange::Artifact(update) = change {
            assert_ne!(&*update.artifact.artifact_id, "boom", "as it should");
        }
        NoJournal.note(task_id, at_ms, change)
    }

    fn keeps(&self) -> bool {
        false
    }

    fn settled(&self, upto: Ticket) -> DurableFuture {
        NoJournal.settled(upto)
    }

    fn find(&self, task_id: &str) -> Waiting<Result<Option<RestoredTask>, StoreError>> {
        NoJournal.find(task_id)
    }

    fn list(&self, asked: &ListTasks, sees: TaskFilter) -> Option<Waiting<Result<TaskPage, StoreError>>> {
        NoJournal.list(asked, sees)
    }

    fn left(&self, resumable: bool) -> Result<Vec<RestoredTask>, StoreError> {
        NoJournal.left(resumable)
    }

    fn leave(&self, task_id: &str, asks: bool) -> bool {
        NoJournal.leave(task_id, asks)
    }
}

const HARN: &str = "pipeline default(task) {\n\
                    if task == \"ask\" { return task.ask(\"Who?\") }\n\
                    task.artifact({name: \"half\", parts: [\"made\"]})\n\
                    if task == \"boom\" { task.artifact({name: \"boom\", parts: [\"x\"]}) }\n\
                    return task\n}";

#[test]
fn a_panic_under_a_task_fails_that_task_alone() {
    // One worker: all tasks are on the thread that panics.
    let served = served("test.harn", HARN, 1, None);
    let sessions = Arc::<SessionTasks>::default();
    let host = Host::start(served, sessions.clone());
    let manager = host
        .and_then(|host| TaskManager::on_host(host, sessions, TaskSettings::default(), Arc::new(PanickingJournal)))
        .unwrap_or_else(|found| panic!("{found:?}"));
    block_on_runtime(async {
        let asks = say(&manager, message("ask")).await;
        is(&asks, TaskState::InputRequired);
        let mine = |text: &str| Message { context_id: Some("mine".into()), ..message(text) };
        is(&say(&manager, mine("before")).await, TaskState::Completed);
        for _ in 0..3 {
            let (id, follows) = manager.send(request(mine("boom")), ASKER).await.unwrap();
            let task = manager.settled(&id).await.unwrap();
            is(&task, TaskState::Failed);
            assert!(
                said(&task).starts_with("the task failed: ") && !said(&task).contains("as it should"),
                "{}",
                said(&task)
            );
            assert_eq!(artifact(&task, "half"), "made", "what it had made by then is kept");
            let lines = lines_of(follows).await;
            assert!(lines.last().unwrap().starts_with("failed ") && lines.last().unwrap().ends_with(" ."), "{lines:?}");
            // Its context goes on in another session, and all other contexts go on.
            is(&say(&manager, mine("after")).await, TaskState::Completed);
            is(&say(&manager, message("another")).await, TaskState::Completed);
        }
        let asks = say(&manager, to(&asks, "Ada")).await;
        is(&asks, TaskState::Completed);
        assert_eq!(artifact(&asks, "answer"), "Ada");
        until_clean(&manager).await;
    });
}
