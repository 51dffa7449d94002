//! Executes a host's operations on a session's queue, on the host's thread without involving a worker.

use std::sync::Arc;

use base::data::Data;
use base::words::nearest;
use eventlog::DurableFuture;
use runtime::lifecycle::Selector;
use runtime::reminder::bridge::{InjectionPayload, MessagePayload, QueueError, Revocation};
use runtime::reminder::{ReminderCode, ReminderError, ReminderField, Surface};
use runtime::session::Inbox;
use serde_json::{Value, json};

use crate::host::{Host, HostError, ReminderEvent};

use super::{BridgeError, BridgeMethod, PendingInjections, RemindNotification};

/// Receives the number of reminders that were cleared from a transcript.
pub type ClearedCount = tokio::sync::oneshot::Receiver<usize>;

/// The open sessions that accept injections.
pub trait SessionInboxes {
    /// Returns the inbox of a session.
    ///
    /// # Errors
    /// No such session is open.
    fn inbox(&self, session_id: &str) -> Result<Inbox, HostError>;

    /// Returns the ids of all open sessions.
    fn open_ids(&self) -> Vec<Arc<str>>;

    /// Clears the reminders of a session that `selector` matches. See [`crate::host::SessionHandle::clear_reminders`].
    ///
    /// # Errors
    /// No such session is open, or too many clear requests are pending.
    fn clear(&self, session_id: &str, selector: Selector) -> Result<(Vec<Arc<str>>, ClearedCount), HostError>;

    /// Reports an event of a queued reminder to the session's client.
    fn show(&self, session_id: &Arc<str>, event: ReminderEvent);
}

impl SessionInboxes for Host {
    fn inbox(&self, session_id: &str) -> Result<Inbox, HostError> {
        self.session(session_id)?.inbox().cloned()
    }

    fn open_ids(&self) -> Vec<Arc<str>> {
        self.sessions().iter().map(|handle| handle.id().clone()).collect()
    }

    fn clear(&self, session_id: &str, selector: Selector) -> Result<(Vec<Arc<str>>, ClearedCount), HostError> {
        self.session(session_id)?.clear_reminders(selector)
    }

    fn show(&self, session_id: &Arc<str>, event: ReminderEvent) {
        self.show_reminder(session_id, event);
    }
}

/// The result of a call, available once it is durable.
pub struct BridgeResponse {
    result: Value,
    /// The inbox that was changed, and the accepted item.
    changed: Option<(Inbox, Option<Arc<str>>)>,
    settled: Option<DurableFuture>,
    /// The number of queued reminders that were cleared, the session, and the receiver for the number cleared from its
    /// transcript.
    cleared: Option<(usize, Arc<str>, ClearedCount)>,
}

impl BridgeResponse {
    fn now(result: Value) -> BridgeResponse {
        BridgeResponse { result, changed: None, settled: None, cleared: None }
    }

    /// Creates the answer to a change. An accepted item that cannot be stored is revoked.
    fn changed(result: Value, inbox: &Inbox, accepted: Option<Arc<str>>) -> BridgeResponse {
        let settled: DurableFuture = Box::pin(inbox.durable());
        BridgeResponse { result, changed: Some((inbox.clone(), accepted)), settled: Some(settled), cleared: None }
    }

    /// Waits until the change is durable, and returns the result. It must not be sent before.
    ///
    /// # Errors
    /// The log cannot be written.
    pub async fn settled(self) -> Result<Value, BridgeError> {
        if let Some(settled) = self.settled
            && let Err(error) = settled.await
        {
            if let Some((inbox, Some(id))) = self.changed {
                // If a seam was faster, the item is delivered, and the error still says that it is not recorded.
                let _ = inbox.revoke(&id);
            }
            return Err(BridgeError::Log(error));
        }
        if let Some((queued, session_id, cleared)) = self.cleared {
            // A session that ends first has no pending reminders.
            let delivered = cleared.await.map_err(|_| HostError::Closed(session_id))?;
            return Ok(json!({"removedCount": queued + delivered}));
        }
        Ok(self.result)
    }
}

/// Checks the parameters of an injection, without a session.
///
/// # Errors
/// They are invalid.
pub fn check(method: BridgeMethod, params: &Data) -> Result<(), BridgeError> {
    match method {
        BridgeMethod::InjectReminder | BridgeMethod::Remind => Ok(RemindNotification::from_params(params).map(drop)?),
        BridgeMethod::Inject => Ok(MessagePayload::from_data(params).map(drop)?),
        BridgeMethod::PendingInjections | BridgeMethod::RevokeReminder | BridgeMethod::ClearReminders => Ok(()),
    }
}

/// Executes a request. The queue has changed when this returns; the response may take longer.
///
/// # Errors
/// The parameters are invalid, no such session is open, or its queue refuses.
pub fn call(method: BridgeMethod, params: &Data, inboxes: &dyn SessionInboxes) -> Result<BridgeResponse, BridgeError> {
    match method {
        BridgeMethod::InjectReminder | BridgeMethod::Remind => {
            let read = RemindNotification::from_params(params)?;
            let inbox = find(method, read.session_id.as_deref(), inboxes)?;
            let key = read.payload.spec.dedupe_key.clone();
            let injected = inbox.accept_reminder(read.payload).map_err(|error| of_queue(error, &inbox))?;
            if let Some(event) = ReminderEvent::displaced(&injected.id, key.as_deref(), &injected.replaced) {
                inboxes.show(inbox.session_id(), event);
            }
            let result = json!({"reminderId": &*injected.id, "dedupedCount": injected.deduped_count});
            Ok(BridgeResponse::changed(result, &inbox, Some(injected.id)))
        }
        BridgeMethod::Inject => {
            let payload = MessagePayload::from_data(params)?;
            let inbox = find(method, session_id(params)?.as_deref(), inboxes)?;
            let injected = inbox.accept_message(payload).map_err(|error| of_queue(error, &inbox))?;
            Ok(BridgeResponse::changed(json!({"injectionId": &*injected.id}), &inbox, Some(injected.id)))
        }
        BridgeMethod::PendingInjections => {
            check_keys(params, &["sessionId", "_meta"])?;
            let inbox = find(method, session_id(params)?.as_deref(), inboxes)?;
            let pending = PendingInjections::rows(&inbox.pending());
            Ok(BridgeResponse::now(serde_json::to_value(pending).unwrap_or_default()))
        }
        BridgeMethod::RevokeReminder => {
            check_keys(params, &["sessionId", "reminderId", "injectionId", "_meta"])?;
            let id = item_id(params)?;
            let inbox = find(method, session_id(params)?.as_deref(), inboxes)?;
            let is_reminder = inbox.find(&id).is_some_and(|item| matches!(item.payload, InjectionPayload::Reminder(_)));
            let result = match inbox.revoke(&id).map_err(|error| of_queue(error, &inbox))? {
                Revocation::Now => {
                    if is_reminder {
                        inboxes.show(inbox.session_id(), ReminderEvent::cleared(id.clone()));
                    }
                    json!({"status": "revoked", "reminderId": &*id})
                }
                // A reminder that a newer one replaced is not delivered either.
                Revocation::Already | Revocation::Replaced => json!({"status": "already_revoked", "reminderId": &*id}),
            };
            Ok(BridgeResponse::changed(result, &inbox, None))
        }
        BridgeMethod::ClearReminders => {
            check_keys(params, &["sessionId", "reminderId", "id", "tag", "dedupeKey", "_meta"])?;
            let selector = selector(params)?;
            let inbox = find(method, session_id(params)?.as_deref(), inboxes)?;
            let (queued, cleared) = inboxes.clear(inbox.session_id(), selector)?;
            for id in &queued {
                inboxes.show(inbox.session_id(), ReminderEvent::cleared(id.clone()));
            }
            let cleared = Some((queued.len(), inbox.session_id().clone(), cleared));
            Ok(BridgeResponse { cleared, ..BridgeResponse::changed(Value::Null, &inbox, None) })
        }
    }
}

/// Reads the selector of reminders from `reminderId` (or `id`), `tag` and `dedupeKey`.
///
/// # Errors
/// None of them is set, or one is not a text.
pub fn selector(params: &Data) -> Result<Selector, ReminderError> {
    let written = |field: ReminderField| {
        let names = [Surface::Acp, Surface::Log, Surface::Script].map(|surface| field.name(surface));
        names.into_iter().find(|name| !params.get(name).is_nil())
    };
    let given = |field: ReminderField| {
        (field.name(Surface::Script), written(field).map_or(Data::Nil, |name| params.get(name).clone()))
    };
    let read = Selector::from_data(&Data::dict_of_present([
        given(ReminderField::Id),
        ("tag", params.get("tag").clone()),
        given(ReminderField::DedupeKey),
    ]));
    read.map_err(|error| {
        let named = ReminderField::of_script(&error.field).and_then(|field| Some((field, written(field)?)));
        match named {
            // An error names the field as the host wrote it.
            Some((field, name)) => {
                let quoted = |name: &str| format!("`{name}`");
                let message = error.message.replace(&quoted(field.name(Surface::Script)), &quoted(name));
                ReminderError { field: name.to_owned(), message, ..error }
            }
            None => error,
        }
    })
}

/// Executes a notification.
///
/// # Errors
/// The reason for a failure, as a sentence for the host's log: no caller waits for a response. The event log records
/// that the reminder was dropped.
pub fn notify(method: BridgeMethod, params: &Data, inboxes: &dyn SessionInboxes) -> Result<(), String> {
    match call(method, params, inboxes) {
        Ok(_) => Ok(()),
        Err(error @ (BridgeError::Reminder(_) | BridgeError::Queue(_)))
            if matches!(method, BridgeMethod::InjectReminder | BridgeMethod::Remind) =>
        {
            let id = session_id(params).ok().flatten();
            Err(match (find(method, id.as_deref(), inboxes), error) {
                (Ok(inbox), BridgeError::Reminder(error)) => inbox.refuse_notification(&error),
                (Ok(inbox), error) => {
                    inbox.refuse_notification(&ReminderError::new(ReminderCode::Bridge, "", error.to_string()))
                }
                (Err(_), error) => error.to_string(),
            })
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the inbox of the named session, or of the only open one.
fn find(method: BridgeMethod, id: Option<&str>, inboxes: &dyn SessionInboxes) -> Result<Inbox, BridgeError> {
    let missing = |message: String| {
        let error = ReminderError::new(ReminderCode::Bridge, "sessionId", message);
        BridgeError::from(error.help("set `sessionId` to the id of the session"))
    };
    if let Some(id) = id {
        return Ok(inboxes.inbox(id)?);
    }
    if method == BridgeMethod::InjectReminder {
        return Err(missing(format!("`{}` needs a `sessionId`", method.name())));
    }
    match inboxes.open_ids().as_slice() {
        [only] => Ok(inboxes.inbox(only)?),
        [] => Err(missing("no session is open, and `sessionId` is missing".to_owned())),
        several => Err(missing(format!("{} sessions are open, and `sessionId` is missing", several.len()))),
    }
}

/// Converts a queue error. A closed queue means that its session is closed.
fn of_queue(error: QueueError, inbox: &Inbox) -> BridgeError {
    match error {
        QueueError::Closed => BridgeError::Host(HostError::UnknownSession(inbox.session_id().clone())),
        other => BridgeError::Queue(other),
    }
}

fn session_id(params: &Data) -> Result<Option<Arc<str>>, ReminderError> {
    text(params, &["sessionId", "session_id"]).map(|found| found.map(|(_, id)| id))
}

fn item_id(params: &Data) -> Result<Arc<str>, ReminderError> {
    let keys = ["reminderId", "reminder_id", "injectionId", "injection_id"];
    match text(params, &keys)? {
        Some((key, id)) if id.trim().is_empty() => {
            Err(ReminderError::new(ReminderCode::Bridge, key, format!("`{key}` is empty")))
        }
        Some((_, id)) => Ok(id),
        None => {
            let error = ReminderError::new(ReminderCode::Bridge, "reminderId", "`reminderId` is missing");
            Err(error.help("name the item to revoke"))
        }
    }
}

/// Returns the first of these fields that is present, which must be a text.
fn text<'k>(params: &Data, keys: &[&'k str]) -> Result<Option<(&'k str, Arc<str>)>, ReminderError> {
    let Some(key) = keys.iter().find(|key| !params.get(key).is_nil()) else { return Ok(None) };
    match params.get(key) {
        Data::Str(text) => Ok(Some((key, text.clone()))),
        other => {
            let message = format!("`{key}` must be a string, got {}", other.type_name());
            Err(ReminderError::new(ReminderCode::Bridge, *key, message))
        }
    }
}

/// Checks that the parameters are an object with known keys only.
fn check_keys(params: &Data, known: &[&str]) -> Result<(), ReminderError> {
    if params.is_nil() {
        return Ok(());
    }
    let Some(given) = params.as_dict() else {
        let message = format!("the parameters must be an object, got {}", params.type_name());
        return Err(ReminderError::new(ReminderCode::Bridge, "", message));
    };
    let spelled = |key: &str| key.replace('_', "").to_lowercase();
    for key in given.keys() {
        if !known.iter().any(|name| *name == key.as_ref() || (key.contains('_') && spelled(name) == spelled(key))) {
            let error = ReminderError::new(ReminderCode::Shape, key.as_ref(), format!("unknown parameter `{key}`"));
            return Err(error.suggest(nearest(key, known.iter().copied())));
        }
    }
    match params.get("_meta") {
        Data::Nil | Data::Dict(_) => Ok(()),
        other => {
            let message = format!("`_meta` must be an object, got {}", other.type_name());
            Err(ReminderError::new(ReminderCode::Bridge, "_meta", message))
        }
    }
}

#[cfg(test)]
mod tests;
