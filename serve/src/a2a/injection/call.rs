//! [`call`]: the methods of the extension. An injection is accepted on this thread; it waits only for a session that
//! is opening, not for a busy one.

use std::sync::Arc;

use base::data::Data;
use runtime::reminder::bridge::{Injection, QueueError, Revocation};
use runtime::reminder::{ReminderField, Surface};
use serde::Serialize;

use super::injections::revoked;
use super::{PeerReminder, TaskInjection, TaskInjections, params};
use crate::a2a::{Refusal, TaskManager};
use crate::bridge;
use crate::host::{HostError, ReminderEvent};

/// Injects a reminder into a task.
pub const INJECT: &str = "tasks/inject_reminder";

/// Lists pending injections.
pub const PENDING: &str = "tasks/pending_injections";

/// Revokes a pending injection.
pub const REVOKE: &str = "tasks/revoke_reminder";

/// Clears reminders, queued and delivered.
pub const CLEAR: &str = "tasks/clear_reminders";

/// All methods.
pub const METHODS: [&str; 4] = [INJECT, PENDING, REVOKE, CLEAR];

/// The result of a method.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum InjectionResponse {
    /// The result of an injection.
    Given(AcceptedReminder),
    /// The result of any other method.
    Data(Data),
}

/// An accepted reminder.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedReminder {
    /// The time of acceptance, in RFC 3339.
    accepted_at: String,
    /// The number of older reminders that it replaced.
    deduped_count: usize,
    /// The id of the reminder.
    reminder_id: Arc<str>,
}

/// Executes a request.
///
/// # Errors
/// The parameters are invalid, the task is not found or over, or its queue refuses.
pub async fn call(method: &str, params: &Data, manager: &TaskManager) -> Result<InjectionResponse, Refusal> {
    match method {
        INJECT => {
            let injected = inject(params, manager).await;
            if injected.is_err() {
                manager.count_refusal();
            }
            Ok(InjectionResponse::Given(injected?))
        }
        PENDING => Ok(InjectionResponse::Data(pending(params, manager).await?)),
        REVOKE => Ok(InjectionResponse::Data(revoke(params, manager).await?)),
        CLEAR => Ok(InjectionResponse::Data(clear(params, manager).await?)),
        _ => Err(Refusal::Unsupported("this method")),
    }
}

async fn inject(given: &Data, manager: &TaskManager) -> Result<AcceptedReminder, Refusal> {
    params::check(given, &["taskId", "reminder", "metadata"]).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let metadata = params::metadata(given).map_err(Refusal::Reminder)?;
    let read = PeerReminder::read(given.get("reminder"), &metadata);
    let incoming = read.map_err(|error| Refusal::Reminder(error.under("reminder")))?;
    let reminders = manager.reminders(&task_id).await?;
    let known = reminders.injections();
    if let Some(given) = known.again(&incoming)? {
        // Reported again even if the task is over by now.
        if let Ok(inbox) = reminders.inbox().await {
            inbox.durable().await.map_err(Refusal::Log)?;
        }
        return Ok(answer(&given));
    }
    let inbox = reminders.inbox().await?;
    let (given, is_new) = match known.accept(incoming, &inbox).await {
        Err(Refusal::Queue(QueueError::Closed)) => return Err(closed(&task_id, manager).await),
        accepted => accepted?,
    };
    if is_new && let Err(refusal) = reminders.injected(|| given.to_data()).await {
        known.undo(&given, &inbox);
        return Err(refusal);
    }
    // If the task has ended meanwhile, its queue was emptied before this reminder came, and its session may go on with
    // another task.
    if is_new && let Err(refusal) = reminders.inbox().await {
        known.undo(&given, &inbox);
        return Err(refusal);
    }
    if is_new && let Some(event) = given.displacement() {
        reminders.show(event);
    }
    Ok(answer(&given))
}

fn answer(given: &TaskInjection) -> AcceptedReminder {
    AcceptedReminder {
        accepted_at: stdlib::rfc3339(given.at_ms),
        deduped_count: given.deduped_count,
        reminder_id: given.id.clone(),
    }
}

async fn pending(given: &Data, manager: &TaskManager) -> Result<Data, Refusal> {
    params::check(given, &["taskId", "metadata"]).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let reminders = manager.reminders(&task_id).await?;
    let waiting = reminders.inbox().await?.pending();
    let rows = waiting.iter().map(|item| row(item, reminders.injections()));
    Ok(Data::dict([("pendingCount", Data::from(waiting.len())), ("injections", rows.collect())]))
}

/// Returns a row in the common format of all hosts, with the source that the peer named.
fn row(item: &Injection, known: &TaskInjections) -> Data {
    let mut row = item.to_data(Surface::A2a);
    if let Some(source) = known.echo(&item.id).and_then(|echo| echo.source) {
        row.set(ReminderField::Source.key(Surface::A2a).clone(), Data::from(&source));
    }
    row
}

async fn revoke(given: &Data, manager: &TaskManager) -> Result<Data, Refusal> {
    params::check(given, &["taskId", "reminderId", "metadata"]).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let id = params::id(given, "reminderId", "the item to revoke").map_err(Refusal::Reminder)?;
    let reminders = manager.reminders(&task_id).await?;
    let inbox = reminders.inbox().await?;
    let status = match reminders.injections().revoke(&id, &inbox) {
        Ok(Revocation::Now) => "revoked",
        // A reminder that a newer one replaced is not delivered either.
        Ok(Revocation::Already | Revocation::Replaced) => "already_revoked",
        Err(QueueError::Closed) => return Err(closed(&task_id, manager).await),
        Err(error) => return Err(Refusal::Queue(error)),
    };
    inbox.durable().await.map_err(Refusal::Log)?;
    if status == "revoked" {
        reminders.injected(|| revoked(&id)).await?;
        reminders.show(ReminderEvent::cleared(id.clone()));
    }
    Ok(Data::dict([("status", Data::from(status)), ("reminderId", (&id).into())]))
}

async fn clear(given: &Data, manager: &TaskManager) -> Result<Data, Refusal> {
    let keys = ["taskId", "reminderId", "id", "tag", "dedupeKey", "dedupe_key", "metadata"];
    params::check(given, &keys).map_err(Refusal::Reminder)?;
    let task_id = task_id(given)?;
    let selector = bridge::selector(given).map_err(Refusal::Reminder)?;
    let reminders = manager.reminders(&task_id).await?;
    let inbox = reminders.inbox().await?;
    let (queued, cleared) = match reminders.clear(selector) {
        Err(Refusal::Host(HostError::Closed(_))) => return Err(closed(&task_id, manager).await),
        cleared => cleared?,
    };
    inbox.durable().await.map_err(Refusal::Log)?;
    for id in &queued {
        reminders.injections().forget(id);
        reminders.injected(|| revoked(id)).await?;
        reminders.show(ReminderEvent::cleared(id.clone()));
    }
    let Ok(delivered) = cleared.await else { return Err(closed(&task_id, manager).await) };
    Ok(Data::dict([("removedCount", Data::from(queued.len() + delivered))]))
}

fn task_id(given: &Data) -> Result<Arc<str>, Refusal> {
    params::id(given, "taskId", "the task with `taskId`").map_err(Refusal::Reminder)
}

/// Returns the refusal for a closed queue: its task has just ended.
async fn closed(task_id: &Arc<str>, manager: &TaskManager) -> Refusal {
    match manager.task(task_id).await {
        Ok(task) if task.status.state.is_terminal() => {
            Refusal::Over { task_id: task_id.clone(), state: task.status.state }
        }
        _ => Refusal::Queue(QueueError::Closed),
    }
}
