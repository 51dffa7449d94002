//! Permission questions, which the session asks from its own thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::oneshot;

use super::super::life::TaskQuestion;
use super::TaskCell;
use crate::host::{PermissionQuestion, Verdict, Waiting};

impl TaskCell {
    /// Asks whether a tool may run. Dropping the future withdraws the question.
    pub(in crate::a2a::tasks) fn permit(self: Arc<Self>, question: PermissionQuestion) -> Waiting<Verdict> {
        let number = self.questions.fetch_add(1, Ordering::Relaxed);
        let (verdict, answer) = oneshot::channel();
        self.change(|life, now| life.ask(TaskQuestion::Permission { number, question, verdict }, now));
        let asked = PendingPermission { cell: self, number };
        Box::pin(async move {
            let verdict = answer.await.unwrap_or(Verdict::Cancelled);
            drop(asked);
            verdict
        })
    }
}

/// A pending permission question. Dropping it withdraws the question.
struct PendingPermission {
    cell: Arc<TaskCell>,
    number: u64,
}

impl Drop for PendingPermission {
    fn drop(&mut self) {
        self.cell.change(|life, now| life.take_back(self.number, now));
    }
}
