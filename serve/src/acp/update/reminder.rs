//! Reminder events on the wire, one frame each: the RFC's update for a client that requests it, and for any other
//! client a standard update that changes nothing, with the event in `_meta.harn.reminder`.

use base::data::Data;
use runtime::reminder::Surface;
use runtime::reminder::codec::ReminderChange;
use serde_json::{Map, Value, json};

use super::{UpdateNotification, session_update};
use crate::host::ReminderEvent;
use crate::wire::ReminderUpdate;

/// The update that carries an event to a client that does not request reminder updates. All of its fields are
/// optional, and an absent one changes nothing. Another update of the session might never come, and several events
/// would have to share it.
pub(super) const NO_CHANGE: &str = "session_info_update";

/// Builds the frame for an event. No field is written twice: the `_meta` omits those that the RFC's update has.
pub(super) fn frame(session_id: &str, event: &ReminderEvent, wants_update: bool) -> UpdateNotification {
    let ReminderUpdate { change, fields, more } = ReminderUpdate::of(event, Surface::Acp);
    let mut meta = Map::from_iter([("event".to_owned(), change.as_str().into())]);
    let update = kind_of(change).filter(|_| wants_update);
    let kind = update.unwrap_or(NO_CHANGE);
    let mut out = Map::from_iter([("sessionUpdate".to_owned(), kind.into())]);
    if update.is_some() { &mut out } else { &mut meta }.extend(values(fields));
    meta.extend(values(more));
    out.insert("_meta".to_owned(), json!({"harn": {"reminder": meta}}));
    session_update(session_id, &out.into())
}

/// Returns the kind of the RFC's update, if it has one for the event.
fn kind_of(change: ReminderChange) -> Option<&'static str> {
    match change {
        ReminderChange::Emitted => Some("reminder_emitted"),
        ReminderChange::Deduped => Some("reminder_deduped"),
        ReminderChange::Expired => Some("reminder_expired"),
        ReminderChange::Heeded | ReminderChange::Ignored => None,
    }
}

fn values(fields: Vec<(&'static str, Data)>) -> impl Iterator<Item = (String, Value)> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), Value::from(&value)))
}
