//! The load that a task manager reports.

use super::*;
use crate::a2a::tasks::TaskLoad;
use crate::host::HostError;
use crate::host::testing::block_on_runtime;
use crate::metrics::Exposition;

#[test]
fn the_load_counts_tasks_that_started_and_those_that_are_open() {
    let settings = TaskSettings { open: 2, ..TaskSettings::default() };
    let manager =
        desk_with("pipeline default(task) {\n  if task == \"wait\" { sleep(3600000) }\n  return task\n}\n", settings);
    block_on_runtime(async {
        let load = |open, started| TaskLoad { open, most: 2, started, is_stopping: false };
        assert_eq!(manager.load(), load(0, 0));
        is(&say(&manager, message("done")).await, TaskState::Completed);
        assert_eq!(manager.load(), load(0, 1));
        for open in 1..=2 {
            manager.send(request(message("wait")), ASKER).await.unwrap();
            assert_eq!(manager.load(), load(open, 1 + open as u64));
        }
        // A task beyond the limit is rejected and never starts.
        is(&say(&manager, message("wait")).await, TaskState::Rejected);
        assert_eq!(manager.load(), load(2, 3));
        assert_eq!(manager.load().readiness(), Err("task limit reached"));
        let mut text = Exposition::default();
        manager.expose(&mut text);
        let text = text.into_text();
        for line in [
            "harn_a2a_tasks_started_total 3",
            "harn_a2a_tasks_open 2",
            "harn_a2a_tasks_ended_total{state=\"completed\"} 1",
            "harn_a2a_tasks_ended_total{state=\"rejected\"} 1",
            "harn_a2a_tasks_ended_total{state=\"failed\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not among:\n{text}");
        }
        let by_state = text.lines().filter_map(|line| line.strip_prefix("harn_a2a_tasks{")?.split_once("} "));
        assert_eq!(by_state.map(|(_, count)| count.parse::<u64>().unwrap()).sum::<u64>(), 2, "{text}");
        manager.stop().await;
        assert!(manager.load().is_stopping);
        assert_eq!(manager.load().readiness(), Err("draining"));
        assert_eq!(manager.load().open, 0);
    });
}

#[test]
fn a_manager_that_drains_begins_nothing_and_lets_tasks_end() {
    let manager = desk_with("pipeline default(task) {\n  sleep(200)\n  return task\n}\n", TaskSettings::default());
    block_on_runtime(async {
        let (id, _) = manager.send(request(message("slow")), ASKER).await.unwrap();
        let exposes = |line: &str| {
            let mut text = Exposition::default();
            manager.expose(&mut text);
            text.into_text().lines().any(|found| found == line)
        };
        assert!(exposes("harn_draining 0"));
        manager.begin_drain();
        assert!(exposes("harn_draining 1"));
        assert_eq!(manager.waits().tasks, 1);
        let refused = manager.send(request(message("late")), ASKER).await.map(|_| ());
        assert!(matches!(refused, Err(Refusal::Host(HostError::Stopping))), "{refused:?}");
        manager.idle().await;
        assert_eq!(manager.waits().tasks, 0);
        is(&manager.task(&id).await.unwrap(), TaskState::Completed);
        manager.stop().await;
    });
}
