//! How busy a desk says that it is.

use super::*;
use crate::a2a::desk::Load;
use crate::host::testing::front;

#[test]
fn the_load_counts_tasks_that_started_and_those_that_are_open() {
    let settings = Settings { open: 2, ..Settings::default() };
    let desk =
        desk_with("pipeline default(task) {\n  if task == \"wait\" { sleep(3600000) }\n  return task\n}\n", settings);
    front(async {
        let load = |open, started| Load { open, most: 2, started, is_stopping: false };
        assert_eq!(desk.load(), load(0, 0));
        is(&say(&desk, message("done")).await, TaskState::Completed);
        assert_eq!(desk.load(), load(0, 1));
        for open in 1..=2 {
            desk.send(request(message("wait")), ASKER).await.unwrap();
            assert_eq!(desk.load(), load(open, 1 + open as u64));
        }
        // One that does not fit is rejected and never starts.
        is(&say(&desk, message("wait")).await, TaskState::Rejected);
        assert_eq!(desk.load(), load(2, 3));
        desk.stop().await;
        assert!(desk.load().is_stopping);
        assert_eq!(desk.load().open, 0);
    });
}
