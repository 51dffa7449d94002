//! What a handler is told, as the dict that it sees.

use crate::convert::{key, to_value};
use lang::value::{Dict, Value};
use runtime::hooks::HookEvent;
use std::sync::Arc;

/// The payload of an event; made field by field, without a [`runtime::data::Data`] of the whole in between.
pub(super) fn payload(event: &HookEvent<'_>, session_id: &Arc<str>) -> Value {
    let mut entries = Dict::with_capacity(8);
    event.each_field(&mut |name, value| {
        entries.insert(key(name), to_value(&value));
    });
    let session = key("session");
    if !entries.contains(&session) {
        let mut of_session = Dict::with_capacity(1);
        of_session.insert(key("id"), Value::str(session_id));
        entries.insert(session, Value::dict(of_session));
    }
    Value::dict(entries)
}
