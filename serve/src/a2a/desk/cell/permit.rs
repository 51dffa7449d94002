//! Permission questions, which the session asks from its own thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::oneshot;

use super::super::life::Asking;
use super::Cell;
use crate::host::{PermissionQuestion, Verdict, Waiting};

impl Cell {
    /// Asks whether a tool may run. Dropping the future withdraws the question.
    pub(in crate::a2a::desk) fn permit(self: Arc<Self>, question: PermissionQuestion) -> Waiting<Verdict> {
        let number = self.questions.fetch_add(1, Ordering::Relaxed);
        let (verdict, answer) = oneshot::channel();
        self.change(|life, now| life.ask(Asking::Permission { number, question, verdict }, now));
        let asked = Asked { cell: self, number };
        Box::pin(async move {
            let verdict = answer.await.unwrap_or(Verdict::Cancelled);
            drop(asked);
            verdict
        })
    }
}

/// A pending permission question. Dropping it withdraws the question.
struct Asked {
    cell: Arc<Cell>,
    number: u64,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.cell.change(|life, now| life.take_back(self.number, now));
    }
}
