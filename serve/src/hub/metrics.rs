//! The metrics of a hub. Labels have fixed values: names of queues and agents come from clients.

use hub::StoreStats;
use hub::broker::HubStats;
use hub::proto::a2a::TaskState;

use super::health::HealthCounts;
use crate::metrics::Exposition;

/// The priorities of the queues, as they are counted.
const PRIORITIES: [&str; 4] = ["low", "medium", "high", "critical"];

/// Writes the metrics.
pub(super) fn expose(stats: &HubStats, health: &HealthCounts, to: &mut Exposition) {
    let states: Vec<(String, u64)> =
        stats.tasks.iter().enumerate().skip(1).map(|(state, n)| (name(state), *n as u64)).collect();
    let rows = states.iter().map(|(name, n)| (name.as_str(), *n));
    to.labelled("harn_hub_tasks", "gauge", "Kept tasks, by state.", "state", rows);
    let queued = |level: usize| stats.queues.iter().map(|queue| queue.depths[level] as u64).sum::<u64>();
    let rows = PRIORITIES.into_iter().enumerate().map(|(level, name)| (name, queued(level)));
    to.labelled("harn_hub_queued_tasks", "gauge", "Tasks that wait for a worker, by priority.", "priority", rows);
    let waiting = stats.queues.iter().filter(|queue| queue.depths.iter().any(|n| *n > 0)).count();
    to.value("harn_hub_queues", "gauge", "Queues with waiting tasks, inboxes of agents included.", waiting);
    to.value("harn_hub_held_tasks", "gauge", "Tasks that a worker holds.", stats.held);
    to.value("harn_hub_leases", "gauge", "Leases that end by time.", stats.leases);
    to.value("harn_hub_deadlines", "gauge", "Unfinished tasks with a deadline.", stats.deadlines);
    to.value("harn_hub_agents", "gauge", "Registered agents.", stats.agents);
    let help = "Registered agents whose health check failed.";
    to.value("harn_hub_unhealthy_agents", "gauge", help, stats.unhealthy);
    let rows = [("ok", health.ok.get()), ("failed", health.failed.get())];
    to.labelled("harn_hub_health_checks_total", "counter", "Health checks of agents.", "outcome", rows);
    to.value("harn_hub_subscriptions", "gauge", "Open subscriptions.", stats.subscriptions);
    to.value("harn_hub_receipts", "gauge", "Results kept for repeated messages.", stats.receipts);
    let kept = [("tasks", stats.finished_bytes), ("receipts", stats.receipt_bytes), ("events", stats.event_bytes)];
    let help = "Approximate memory of finished tasks, results of messages and past events.";
    to.labelled("harn_hub_kept_bytes", "gauge", help, "of", kept.map(|(of, bytes)| (of, bytes as u64)));
    to.value("harn_hub_submitted_total", "counter", "Submitted tasks.", stats.submitted);
    to.value("harn_hub_attempts_total", "counter", "Attempts of workers.", stats.attempts);
    to.value("harn_hub_requeued_total", "counter", "Tasks that returned to a queue.", stats.requeued);
    to.value("harn_hub_rejections_total", "counter", "Rejections by workers.", stats.rejected);
    to.value("harn_hub_dead_letters_total", "counter", "Tasks that failed in every attempt.", stats.dead_letters);
    let help = "Tasks that failed because of their deadline.";
    to.value("harn_hub_deadlines_exceeded_total", "counter", help, stats.deadlines_exceeded);
}

/// Writes the metrics of a store in a file.
pub(super) fn expose_store(store: &StoreStats, to: &mut Exposition) {
    to.value("harn_hub_store_bytes", "gauge", "Size of the store's file and write-ahead log.", store.bytes);
    let help = "Checkpoints of the store since the process began.";
    to.value("harn_hub_checkpoints_total", "counter", help, store.checkpoints);
    if let Some(at_ms) = store.last_checkpoint_ms {
        let help = "Time of the last checkpoint, in seconds since 1970-01-01 UTC.";
        to.value("harn_hub_last_checkpoint_timestamp_seconds", "gauge", help, at_ms / 1_000);
        to.value("harn_hub_checkpoint_bytes", "gauge", "Size of the last checkpoint.", store.checkpoint_bytes);
    }
    let help = "Records that checkpoints replaced and that were removed.";
    to.value("harn_hub_removed_records_total", "counter", help, store.removed);
}

/// Returns the name of a state of the wire, such as `working`.
fn name(state: usize) -> String {
    let state = i32::try_from(state).ok().and_then(|state| TaskState::try_from(state).ok()).unwrap_or_default();
    state.as_str_name().trim_start_matches("TASK_STATE_").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use hub::broker::QueueDepth;

    use super::*;

    #[test]
    fn queues_are_summed_by_priority_and_states_are_named() {
        let queue = |name: &str, depths| QueueDepth { queue: name.to_owned(), is_inbox: false, depths };
        let mut stats = HubStats {
            finished_bytes: 3,
            queues: vec![queue("a", [1, 0, 0, 2]), queue("b", [1, 0, 0, 0]), queue("c", [0; 4])],
            ..HubStats::default()
        };
        stats.tasks[TaskState::Working as usize] = 7;
        let mut text = Exposition::default();
        expose(&stats, &HealthCounts::default(), &mut text);
        let text = text.into_text();
        for line in [
            "harn_hub_tasks{state=\"working\"} 7",
            "harn_hub_tasks{state=\"auth_required\"} 0",
            "harn_hub_queued_tasks{priority=\"low\"} 2",
            "harn_hub_queued_tasks{priority=\"critical\"} 2",
            "harn_hub_queues 2",
            "harn_hub_kept_bytes{of=\"tasks\"} 3",
            "harn_hub_kept_bytes{of=\"events\"} 0",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
        }
    }
}
