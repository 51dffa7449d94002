//! Extensions of the protocol by harn: methods of reminders, their updates, and the members of
//! every error.

use crate::harn::root;
use serde_json::{Value, json};
use std::fs;

/// Our schemas, as the documents show them.
const FILE: &str = "docs/reference/schemas/acp.json";

/// The types of the answers to methods of ours.
pub(super) const RESPONSES: [(&str, &str); 6] = [
    ("session/inject_reminder", "harn.InjectReminderResponse"),
    ("session/remind", "harn.InjectReminderResponse"),
    ("session/inject", "harn.InjectResponse"),
    ("session/pending_injections", "harn.PendingInjectionsResponse"),
    ("session/revoke_reminder", "harn.RevokeReminderResponse"),
    ("session/clear_reminders", "harn.ClearRemindersResponse"),
];

/// Updates that the protocol does not have yet.
const UPDATES: [&str; 3] = ["harn.ReminderEmitted", "harn.ReminderDeduped", "harn.ReminderExpired"];

/// Adds our definitions, with a prefix, to those of the protocol, and allows them at their places.
pub(super) fn extend(definitions: &mut Value) {
    let text = fs::read_to_string(root().join(FILE)).unwrap();
    let ours: Value = serde_json::from_str(&text.replace("\"#/$defs/", "\"#/$defs/harn.")).unwrap();
    let all = definitions.as_object_mut().unwrap();
    for definition in all.values_mut() {
        if let Some(meta) = definition.pointer_mut("/properties/_meta") {
            *meta = json!({"$ref": "#/$defs/harn.Meta"});
        }
    }
    for (name, definition) in ours["$defs"].as_object().unwrap() {
        all.insert(format!("harn.{name}"), definition.clone());
    }
    definitions["AgentCapabilities"]["properties"]["reminders"] = json!({"$ref": "#/$defs/harn.RemindersCapability"});
    let updates = definitions["SessionUpdate"]["oneOf"].as_array_mut().unwrap();
    updates.extend(UPDATES.map(|name| json!({"$ref": format!("#/$defs/{name}")})));
}

/// Returns the problem with the words of an error, beyond its shape: a sentence for a person, a
/// code for a program.
pub(super) fn error(error: &Value) -> Result<(), String> {
    let message = error["message"].as_str().unwrap_or_default();
    if message.trim() != message || message.is_empty() || message.contains('\n') {
        return Err(format!("`message` is no sentence: {message:?}"));
    }
    if error["data"]["code"].is_string() { Ok(()) } else { Err(format!("no `data.code` in {error}")) }
}
