//! The states of a worker.

use base::words::words;

words! {
    /// The status of a worker.
    pub enum WorkerStatus {
        /// It is running.
        Running = "running",
        /// It is parked until it is resumed.
        Suspended = "suspended",
        /// It completed its task.
        Completed = "completed",
        /// It ended without completing its task: an error, a budget, a refusal.
        Failed = "failed",
        /// It was closed, or its parent work was cancelled.
        Cancelled = "cancelled",
    }
}

impl WorkerStatus {
    /// Returns whether it has ended. Unless it was cancelled, it may get a new task.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, WorkerStatus::Completed | WorkerStatus::Failed | WorkerStatus::Cancelled)
    }

    /// Returns whether `next` may follow.
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
