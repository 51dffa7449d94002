//! [`call`]: the methods of the extension. What is put in is accepted on this thread; a session that is at work is not waited
//! for, only one that is being opened.

use std::sync::Arc;

use runtime::data::Data;
use runtime::reminder::bridge::{Injection, QueueError, Revoked};
use serde::Serialize;

use super::{Given, Incoming, Injections, params};
use crate::a2a::{Desk, Refusal};

/// Puts a reminder into a task.
pub const INJECT: &str = "tasks/inject_reminder";

/// Lists what waits.
pub const PENDING: &str = "tasks/pending_injections";

/// Takes back what waits.
pub const REVOKE: &str = "tasks/revoke_reminder";

/// All methods.
pub const METHODS: [&str; 3] = [INJECT, PENDING, REVOKE];

/// What is answered.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// To what puts a reminder in.
    Given(Accepted),
    /// To all else.
    Data(Data),
}

/// A reminder is in.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// When, as RFC 3339 writes it.
    accepted_at: String,
    /// How many older ones it took the place of.
    deduped_count: usize,
    /// Its id.
    reminder_id: Arc<str>,
}

/// Does what a request asks for.
///
/// # Errors
/// The parameters are wrong, there is no such task, it is over, or its queue refuses.
pub async fn call(method: &str, params: &Data, desk: &Desk) -> Result<Answer, Refusal> {
    match method {
        INJECT => Ok(Answer::Given(inject(params, desk).await?)),
        PENDING => Ok(Answer::Data(pending(params, desk).await?)),
        REVOKE => Ok(Answer::Data(revoke(params, desk).await?)),
        _ => Err(Refusal::Unsupported("this method")),
    }
}

async fn inject(given: &Data, desk: &Desk) -> Result<Accepted, Refusal> {
    params::check(given, &["taskId", "reminder", "metadata"]).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let metadata = params::metadata(given).map_err(Refusal::Reminder)?;
    let read = Incoming::read(given.get("reminder"), &metadata);
    let incoming = read.map_err(|error| Refusal::Reminder(error.under("reminder")))?;
    let known = desk.injections(&task_id).await?;
    if let Some(given) = known.again(&incoming)? {
        // Told again even where the task is over by now.
        if let Ok(inbox) = desk.inbox(&task_id).await {
            inbox.durable().await.map_err(Refusal::Log)?;
        }
        return Ok(answer(&given));
    }
    let inbox = desk.inbox(&task_id).await?;
    let (given, is_new) = match known.accept(incoming, &inbox).await {
        Err(Refusal::Queue(QueueError::Closed)) => return Err(closed(&task_id, desk).await),
        accepted => accepted?,
    };
    if is_new && let Err(refusal) = desk.injected(&task_id, || given.to_data()).await {
        known.undo(&given, &inbox);
        return Err(refusal);
    }
    Ok(answer(&given))
}

fn answer(given: &Given) -> Accepted {
    Accepted {
        accepted_at: stdlib::rfc3339(given.at_ms),
        deduped_count: given.deduped_count,
        reminder_id: given.id.clone(),
    }
}

async fn pending(given: &Data, desk: &Desk) -> Result<Data, Refusal> {
    params::check(given, &["taskId", "metadata"]).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let inbox = desk.inbox(&task_id).await?;
    let known = desk.injections(&task_id).await?;
    let waiting = inbox.pending();
    let rows = waiting.iter().map(|item| row(item, &known));
    Ok(Data::dict([("pendingCount", Data::from(waiting.len())), ("injections", rows.collect())]))
}

/// A row as every host sees it, with the source that the peer named.
fn row(item: &Injection, known: &Injections) -> Data {
    let mut row = item.to_data();
    if let Some(source) = known.echo(&item.id).and_then(|echo| echo.source) {
        row.set("source", Data::from(&source));
    }
    row
}

async fn revoke(given: &Data, desk: &Desk) -> Result<Data, Refusal> {
    params::check(given, &["taskId", "reminderId", "metadata"]).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let id = params::id(given, "reminderId", "what is to be taken back").map_err(Refusal::Reminder)?;
    let inbox = desk.inbox(&task_id).await?;
    let status = match inbox.revoke(&id) {
        Ok(Revoked::Now) => "revoked",
        // One that a newer one has replaced will not be delivered either.
        Ok(Revoked::Already | Revoked::Replaced) => "already_revoked",
        Err(QueueError::Closed) => return Err(closed(&task_id, desk).await),
        Err(error) => return Err(Refusal::Queue(error)),
    };
    inbox.durable().await.map_err(Refusal::Log)?;
    Ok(Data::dict([("status", Data::from(status)), ("reminderId", (&id).into())]))
}

fn task_id(given: &Data) -> Result<Arc<str>, Refusal> {
    params::id(given, "taskId", "the task with `taskId`").map_err(Refusal::Reminder)
}

/// A queue that is closed is that of a task that has just ended.
async fn closed(task_id: &Arc<str>, desk: &Desk) -> Refusal {
    match desk.task(task_id).await {
        Ok(task) if task.status.state.is_terminal() => {
            Refusal::Over { task_id: task_id.clone(), state: task.status.state }
        }
        _ => Refusal::Queue(QueueError::Closed),
    }
}
