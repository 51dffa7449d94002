//! Tasks whose driver is gone.

use tokio::sync::oneshot;

use super::super::cell::Cell;
use super::super::drive::{Start, drive};
use super::super::{Begun, Unkept};
use super::*;
use crate::host::testing::front;

#[test]
fn where_looking_after_a_task_breaks_off_nothing_of_it_is_left() {
    let desk = desk("pipeline default(task) { return task.ask(\"Who?\") }");
    front(async {
        let shared = desk.0.clone();
        let task = Task {
            id: "t".into(),
            context_id: "a".into(),
            status: a2a::Status { state: TaskState::Submitted, message: None, at_ms: None },
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
