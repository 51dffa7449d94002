//! The states of a worker.

use crate::words::words;

words! {
    /// The status of a worker.
    pub enum WorkerStatus {
        /// It works.
        Running = "running",
        /// It is parked until it is resumed.
        Suspended = "suspended",
        /// It did what it was asked.
        Completed = "completed",
        /// It ended without having done that: an error, a budget, a refusal.
        Failed = "failed",
        /// It was closed, or what it worked for was cancelled.
        Cancelled = "cancelled",
    }
}

impl WorkerStatus {
    /// Whether it has ended. One that was not cancelled may be given more to do.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, WorkerStatus::Completed | WorkerStatus::Failed | WorkerStatus::Cancelled)
    }

    /// Whether `next` may follow.
    #[must_use]
    pub fn may_become(self, next: WorkerStatus) -> bool {
        use WorkerStatus as S;
        match self {
            S::Running => next != S::Running,
            S::Suspended => matches!(next, S::Running | S::Cancelled),
            S::Completed | S::Failed => next == S::Running,
            S::Cancelled => false,
        }
    }
}

words! {
    /// The way a worker was started.
    pub enum WorkerMode {
        /// By `sub_agent_run`.
        SubAgent = "sub_agent",
        /// By `spawn_agent`.
        Agent = "agent",
        /// Not a worker but a loop that outlives its process.
        Loop = "loop",
    }
}
