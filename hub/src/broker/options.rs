//! [`BrokerOptions`]: times and limits.

/// Memory of finished tasks and results by default, in bytes.
const KEPT: usize = 24 << 20;

/// Times and limits of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerOptions {
    /// Duration of a lease, unless a claim names another one.
    pub lease_ms: u64,
    /// Longest lease that a claim can name.
    pub max_lease_ms: u64,
    /// Maximum number of attempts of a task, unless its message names a smaller one.
    pub max_attempts: u32,
    /// Time for which the result of a `message_id` is kept.
    pub dedupe_ms: u64,
    /// Maximum number of results kept for repeated messages; the oldest are dropped first.
    pub max_dedupe: usize,
    /// Approximate memory of the results kept for repeated messages, in bytes.
    pub dedupe_bytes: usize,
    /// Time after which a waiting task rises by one priority.
    pub ageing_ms: u64,
    /// Time after which a task that its agent has not acknowledged is delivered again.
    pub redelivery_ms: u64,
    /// Time for which finished tasks are kept.
    pub retention_ms: u64,
    /// Maximum number of finished tasks that are kept; the oldest are dropped first.
    pub max_finished: usize,
    /// Approximate memory of the finished tasks that are kept, in bytes; the oldest are dropped first. A task that has just
    /// been finished is kept for a moment, while they take less than four times as much.
    pub finished_bytes: usize,
    /// Maximum number of tasks that are not finished.
    pub max_tasks: usize,
    /// Maximum number of registered agents.
    pub max_agents: usize,
    /// Maximum size of an agent card, in bytes.
    pub max_card_bytes: usize,
    /// Maximum number of copies of a broadcast task.
    pub max_copies: usize,
    /// Maximum number of messages of a task.
    pub max_history: usize,
    /// Maximum size of a task with its history and artifacts, in bytes.
    pub max_task_bytes: usize,
    /// Maximum number of agents that can reject a competitive task before the task itself is rejected.
    pub max_rejections: usize,
    /// Maximum number of subscriptions.
    pub max_subscriptions: usize,
    /// Number of events that a subscription buffers, unless it names another one.
    pub subscription_events: usize,
    /// Size of the events that a subscription buffers, in bytes. A single event may be larger.
    pub subscription_bytes: usize,
    /// Number of events kept to resume subscriptions. A subscription whose buffer is full resumes from them.
    pub kept_events: usize,
    /// Approximate memory of the events kept to resume subscriptions, in bytes.
    pub kept_bytes: usize,
    /// Amount by which a store can grow before it is compacted, in bytes, in addition to twice the size of the last
    /// checkpoint.
    pub compact_bytes: u64,
}

impl Default for BrokerOptions {
    fn default() -> BrokerOptions {
        BrokerOptions {
            lease_ms: 30_000,
            max_lease_ms: 3_600_000,
            max_attempts: 3,
            dedupe_ms: 24 * 3_600_000,
            max_dedupe: 1_000_000,
            dedupe_bytes: KEPT / 3,
            ageing_ms: 30_000,
            redelivery_ms: 30_000,
            retention_ms: 7 * 24 * 3_600_000,
            max_finished: 100_000,
            finished_bytes: KEPT - KEPT / 3,
            max_tasks: 500_000,
            max_agents: 10_000,
            max_card_bytes: 256 << 10,
            max_copies: 1_000,
            max_history: 1_000,
            max_task_bytes: 16 << 20,
            max_rejections: 64,
            max_subscriptions: 10_000,
            subscription_events: 1_024,
            subscription_bytes: 16 << 20,
            kept_events: 8_192,
            kept_bytes: 64 << 20,
            compact_bytes: 64 << 20,
        }
    }
}

impl BrokerOptions {
    /// Sets the approximate memory of finished tasks and of the results of messages, in bytes: two thirds are for tasks, and a
    /// third for results.
    #[must_use]
    pub fn keeping(self, bytes: usize) -> BrokerOptions {
        BrokerOptions { finished_bytes: bytes - bytes / 3, dedupe_bytes: bytes / 3, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_the_memory_are_its_whole() {
        let options = BrokerOptions::default();
        assert_eq!(options.finished_bytes + options.dedupe_bytes, KEPT);
        assert_eq!(options.clone().keeping(KEPT), options);
    }

    #[test]
    fn a_subscription_that_overflowed_can_resume() {
        let options = BrokerOptions::default();
        assert!(options.kept_events >= 2 * options.subscription_events);
        assert!(options.kept_bytes >= 2 * options.subscription_bytes);
    }
}
