//! Requests as one JSON document.

use super::text::{in_json, share};
use serde_json::{Value, json};
use stdlib::{HistoryRule, PreviewedReminder, PreviewedRequest, SourceRef};

/// Returns the document of all requests. The compact form of `body` has the bytes that a server would receive.
/// `explains` adds the rules that changed each request.
pub(super) fn document(source: &SourceRef, previews: &[Vec<PreviewedRequest>], explains: bool) -> String {
    let requests: Vec<Value> = previews
        .iter()
        .flat_map(|requests| requests.iter().enumerate())
        .map(|(i, request)| {
            let reminders: usize = request.reminders.iter().map(|reminder| in_json(&reminder.text)).sum();
            let mut document = json!({
                "provider": request.provider,
                "model": request.model,
                "wire": request.wire,
                "request": i + 1,
                "session_id": request.session_id,
                "turn": request.turn,
                "bytes": request.body.len(),
                "reminder_bytes": reminders,
                "reminder_percent": share(reminders, request.body.len()),
                "prompt_bytes": request.size,
                "shared_prefix_bytes": request.shared,
                "reminders": request.reminders.iter().map(reminder).collect::<Vec<_>>(),
                "dropped_reminders": request.dropped,
                // What was written as JSON is read as JSON.
                "body": serde_json::from_str::<Value>(&request.body).unwrap_or_default(),
            });
            if explains {
                document["rules"] = request.rules.iter().map(|rule| self::rule(rule)).collect();
            }
            document
        })
        .collect();
    format!("{:#}\n", json!({ "script": source.name(), "requests": requests }))
}

fn rule(rule: &HistoryRule) -> Value {
    json!({"name": rule.name, "routes": rule.routes, "done": rule.done, "source": rule.source})
}

fn reminder(reminder: &PreviewedReminder) -> Value {
    json!({
        "id": reminder.id,
        "name": reminder.name,
        "slot": reminder.slot,
        "ttl_left": reminder.ttl_left,
        "bytes": in_json(&reminder.text),
        "text": reminder.text,
    })
}
