//! Tasks whose driver is gone.

use tokio::sync::oneshot;

use super::super::cell::TaskCell;
use super::super::drive::{TaskRun, drive};
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
        let lease = shared.contexts.lease(&task.context_id, &task.id);
        let begun = TaskOrigin { metadata: Data::Nil, deadline_ms: None, is_alone: false };
        let cell = TaskCell::new(task, ASKER.version, None, begun, Arc::new(NoJournal));
        shared.directory().begin(&cell);
        let (created, _) = oneshot::channel();
        let (message, metadata) = (message("go"), Data::Nil);
        let start = TaskRun { message, metadata, deadline: None, lease, created, resumed: false };
        tokio::select! {
            () = drive(shared.clone(), cell.clone(), start) => panic!("it asks"),
            _ = cell.settled() => {}
        }
        is(&cell.task(), TaskState::Failed);
        assert_eq!(shared.sessions.count(), 0);
        assert!(is_clean(&manager).await);
        assert_eq!(shared.contexts.counts(), (0, 0), "a session in the middle of something is for nobody");
    });
}
