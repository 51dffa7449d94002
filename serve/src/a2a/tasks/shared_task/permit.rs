//! Permission questions, which the session asks from its own thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::oneshot;

use super::super::state_machine::TaskQuestion;
use super::SharedTask;
use crate::host::{PermissionQuestion, Verdict, Waiting};

impl SharedTask {
    /// Asks whether a tool may run. Dropping the future withdraws the question.
    pub(in crate::a2a::tasks) fn permit(self: Arc<Self>, question: PermissionQuestion) -> Waiting<Verdict> {
        let number = self.questions.fetch_add(1, Ordering::Relaxed);
        let (verdict, answer) = oneshot::channel();
        self.change(|machine, now| machine.ask(TaskQuestion::Permission { number, question, verdict }, now));
        let asked = PendingPermission { shared_task: self, number };
        Box::pin(async move {
            let verdict = answer.await.unwrap_or(Verdict::Cancelled);
            drop(asked);
            verdict
        })
    }
}

/// A pending permission question. Dropping it withdraws the question.
struct PendingPermission {
    shared_task: Arc<SharedTask>,
    number: u64,
}

impl Drop for PendingPermission {
    fn drop(&mut self) {
        self.shared_task.change(|machine, now| machine.take_back(self.number, now));
    }
}
