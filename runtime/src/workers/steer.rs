//! Sending input to a worker, and closing it.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use base::call::{Outcome, call_error};
use base::data::Data;

use crate::events::EventKind;
use crate::message::Message;
use crate::reminder::bridge::{DeliveryMode, MessagePayload, QueueError};
use crate::scope::Scope;
use crate::stop::{GRACE_MS, until_stopped};

use super::{Worker, WorkerError, WorkerStatus};

/// The outcome of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputOutcome {
    /// It is queued in the session for the start of the next iteration; a suspended worker reads it once resumed.
    Queued,
    /// The worker had ended: the input is its next task, and [`super::work()`] must run.
    NextTask,
}

/// The reason an input was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GiveError {
    /// The worker accepts none.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The queue accepts none.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

/// Sends input to a worker: a user message, recorded before any loop sees it.
pub fn give(worker: &Rc<Worker>, text: &Arc<str>, scope: &Scope) -> Result<InputOutcome, GiveError> {
    match worker.status() {
        WorkerStatus::Running | WorkerStatus::Suspended => {
            let message = Arc::new(Message::user(text.clone()));
            let payload = MessagePayload { message, mode: DeliveryMode::FinishStep, meta: Data::Nil };
            worker.session.accept_message(scope, payload)?;
            Ok(InputOutcome::Queued)
        }
        _ if worker.is_closed() => Err(closed(worker).into()),
        _ => {
            worker.turn_to(WorkerStatus::Running, "take input")?;
            worker.set_next_task(text.clone());
            Ok(InputOutcome::NextTask)
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
            worker.turn_to(WorkerStatus::Cancelled, "be closed").map_err(call_error)?;
            if let Some(path) = worker.snapshot_path() {
                let _ = until_stopped(scope, GRACE_MS, worker.storage.discard(Path::new(&*path))).await;
            }
            let told = worker.tell(scope, EventKind::WorkerCancelled, Data::dict([("reason", "closed".into())])).await;
            worker.rest();
            told
        }
        _ => Ok(()),
    }
}
