//! [`call`]: the methods of the extension. What is put in is accepted on this thread; a session that is at work is not waited
//! for, only one that is being opened.

use std::sync::Arc;

use runtime::data::Data;
use runtime::reminder::bridge::{Injection, QueueError, Revoked};
use runtime::reminder::{ReminderField, Surface};
use serde::Serialize;

use super::injections::revoked;
use super::{Given, Incoming, Injections, params};
use crate::a2a::{Desk, Refusal};
use crate::bridge;
use crate::host::{HostError, ReminderEvent};

/// Puts a reminder into a task.
pub const INJECT: &str = "tasks/inject_reminder";

/// Lists what waits.
pub const PENDING: &str = "tasks/pending_injections";

/// Takes back what waits.
pub const REVOKE: &str = "tasks/revoke_reminder";

/// Clears reminders, queued and delivered.
pub const CLEAR: &str = "tasks/clear_reminders";

/// All methods.
pub const METHODS: [&str; 4] = [INJECT, PENDING, REVOKE, CLEAR];

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
        INJECT => {
            let injected = inject(params, desk).await;
            if injected.is_err() {
                desk.count_refusal();
            }
            Ok(Answer::Given(injected?))
        }
        PENDING => Ok(Answer::Data(pending(params, desk).await?)),
        REVOKE => Ok(Answer::Data(revoke(params, desk).await?)),
        CLEAR => Ok(Answer::Data(clear(params, desk).await?)),
        _ => Err(Refusal::Unsupported("this method")),
    }
}

async fn inject(given: &Data, desk: &Desk) -> Result<Accepted, Refusal> {
    params::check(given, &["taskId", "reminder", "metadata"]).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let metadata = params::metadata(given).map_err(Refusal::Reminder)?;
    let read = Incoming::read(given.get("reminder"), &metadata);
    let incoming = read.map_err(|error| Refusal::Reminder(error.under("reminder")))?;
    let reminders = desk.reminders(&task_id).await?;
    let known = reminders.injections();
    if let Some(given) = known.again(&incoming)? {
        // Told again even where the task is over by now.
        if let Ok(inbox) = reminders.inbox().await {
            inbox.durable().await.map_err(Refusal::Log)?;
        }
        return Ok(answer(&given));
    }
    let inbox = reminders.inbox().await?;
    let (given, is_new) = match known.accept(incoming, &inbox).await {
        Err(Refusal::Queue(QueueError::Closed)) => return Err(closed(&task_id, desk).await),
        accepted => accepted?,
    };
    if is_new && let Err(refusal) = reminders.injected(|| given.to_data()).await {
        known.undo(&given, &inbox);
        return Err(refusal);
    }
    // A task that has ended meanwhile has emptied its queue before this one came, and its session may go on with another.
    if is_new && let Err(refusal) = reminders.inbox().await {
        known.undo(&given, &inbox);
        return Err(refusal);
    }
    if is_new && let Some(event) = given.displacement() {
        reminders.show(event);
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
    let reminders = desk.reminders(&task_id).await?;
    let waiting = reminders.inbox().await?.pending();
    let rows = waiting.iter().map(|item| row(item, reminders.injections()));
    Ok(Data::dict([("pendingCount", Data::from(waiting.len())), ("injections", rows.collect())]))
}

/// A row as every host sees it, with the source that the peer named.
fn row(item: &Injection, known: &Injections) -> Data {
    let mut row = item.to_data(Surface::A2a);
    if let Some(source) = known.echo(&item.id).and_then(|echo| echo.source) {
        row.set(ReminderField::Source.key(Surface::A2a).clone(), Data::from(&source));
    }
    row
}

async fn revoke(given: &Data, desk: &Desk) -> Result<Data, Refusal> {
    params::check(given, &["taskId", "reminderId", "metadata"]).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let id = params::id(given, "reminderId", "the item to revoke").map_err(Refusal::Reminder)?;
    let reminders = desk.reminders(&task_id).await?;
    let inbox = reminders.inbox().await?;
    let status = match reminders.injections().revoke(&id, &inbox) {
        Ok(Revoked::Now) => "revoked",
        // One that a newer one has replaced will not be delivered either.
        Ok(Revoked::Already | Revoked::Replaced) => "already_revoked",
        Err(QueueError::Closed) => return Err(closed(&task_id, desk).await),
        Err(error) => return Err(Refusal::Queue(error)),
    };
    inbox.durable().await.map_err(Refusal::Log)?;
    if status == "revoked" {
        reminders.injected(|| revoked(&id)).await?;
        reminders.show(ReminderEvent::cleared(id.clone()));
    }
    Ok(Data::dict([("status", Data::from(status)), ("reminderId", (&id).into())]))
}

async fn clear(given: &Data, desk: &Desk) -> Result<Data, Refusal> {
    let keys = ["taskId", "reminderId", "id", "tag", "dedupeKey", "dedupe_key", "metadata"];
    params::check(given, &keys).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let selector = bridge::selector(given).map_err(Refusal::Reminder)?;
    let reminders = desk.reminders(&task_id).await?;
    let inbox = reminders.inbox().await?;
    let (queued, cleared) = match reminders.clear(selector) {
        Err(Refusal::Host(HostError::Closed(_))) => return Err(closed(&task_id, desk).await),
        cleared => cleared?,
    };
    inbox.durable().await.map_err(Refusal::Log)?;
    for id in &queued {
        reminders.injections().forget(id);
        reminders.injected(|| revoked(id)).await?;
        reminders.show(ReminderEvent::cleared(id.clone()));
    }
    let Ok(delivered) = cleared.await else { return Err(closed(&task_id, desk).await) };
    Ok(Data::dict([("removedCount", Data::from(queued.len() + delivered))]))
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
