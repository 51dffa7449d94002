//! Giving a worker something to read, and closing it.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::data::Data;
use crate::hooks::EventKind;
use crate::message::Message;
use crate::reminder::bridge::{MessagePayload, Mode, QueueError};
use crate::seam::{Outcome, Scope, fault};

use super::{Worker, WorkerError, WorkerStatus};

/// The outcome of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// It waits in the session's queue for the next border of an iteration; of a suspended worker until it goes on.
    Queued,
    /// The worker had ended: it is its next task, and [`super::work`] is to run.
    NextTask,
}

/// Why an input was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GiveError {
    /// The worker takes none.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The queue takes none.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

/// Sends input to a worker: a user message, recorded before any loop sees it.
pub fn give(worker: &Rc<Worker>, text: &Arc<str>, scope: &Scope) -> Result<Given, GiveError> {
    match worker.status() {
        WorkerStatus::Running | WorkerStatus::Suspended => {
            let message = Arc::new(Message::user(text.clone()));
            let payload = MessagePayload { message, mode: Mode::FinishStep, meta: Data::Nil };
            worker.session.accept_message(scope, payload)?;
            Ok(Given::Queued)
        }
        _ if worker.is_closed() => Err(closed(worker).into()),
        _ => {
            worker.turn_to(WorkerStatus::Running, "take input")?;
            worker.set_next_task(text.clone());
            Ok(Given::NextTask)
        }
    }
}

fn closed(worker: &Worker) -> WorkerError {
    WorkerError::State {
        name: worker.name.clone(),
        status: worker.status(),
        what: "accept input after it was \
        closed",
    }
}

/// Closes a worker: a running one is stopped (with its tool and its request), a suspended one cannot be resumed any
/// more. Use [`Worker::stopped`] to wait for its end.
pub async fn close(worker: &Rc<Worker>, scope: &Scope) -> Outcome<()> {
    if worker.is_closed() {
        return Ok(());
    }
    worker.close();
    match worker.status() {
        WorkerStatus::Running => {
            worker.stop("closed");
            Ok(())
        }
        WorkerStatus::Suspended => {
            worker.turn_to(WorkerStatus::Cancelled, "be closed").map_err(fault)?;
            if let Some(path) = worker.snapshot_path() {
                super::snapshot::discard(Path::new(path.as_ref()));
            }
            let told = worker.tell(scope, EventKind::WorkerCancelled, Data::dict([("reason", "closed".into())])).await;
            worker.rest();
            told
        }
        _ => Ok(()),
    }
}
