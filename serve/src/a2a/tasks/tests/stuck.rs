//! Tasks whose driver is gone.

use tokio::sync::oneshot;

use super::super::runner::{TaskRun, run};
use super::super::shared_task::SharedTask;
use super::super::{NoJournal, TaskOrigin};
use super::*;
use crate::host::testing::block_on_runtime;

#[test]
fn where_looking_after_a_task_breaks_off_nothing_of_it_is_left() {
    let manager = manager("pipeline default(task) { return task.ask(\"Who?\") }");
    block_on_runtime(async {
        let shared = manager.0.clone();
        let task = Task {
            id: "t".into(),
            context_id: "a".into(),
            status: a2a::Status { state: TaskState::Submitted, message: None, at_ms: None },
            artifacts: Vec::new(),
            history: Vec::new(),
            metadata: Data::Nil,
        };
        let lease = shared.contexts.lease(&shared.contexts.session_of(&task.context_id).of_all(), &task.id);
        let begun = TaskOrigin { metadata: Data::Nil, deadline_ms: None, is_alone: false, peer: None };
        let shared_task = SharedTask::new(task, ASKER.version, None, begun, Arc::new(NoJournal));
        shared.directory().begin(&shared_task);
        let (created, _) = oneshot::channel();
        let (message, metadata) = (message("go"), Data::Nil);
        let start = TaskRun { message, metadata, deadline: None, lease, created, resumed: false };
        tokio::select! {
            () = run(shared.clone(), shared_task.clone(), start) => panic!("it asks"),
            _ = shared_task.settled() => {}
        }
        is(&shared_task.task(), TaskState::Failed);
        assert_eq!(shared.sessions.count(), 0);
        until_clean(&manager).await;
        assert_eq!(shared.contexts.counts(), (0, 0), "a session in the middle of something is for nobody");
    });
}
