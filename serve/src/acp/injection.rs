//! Data that an editor injects into a session beside its prompts: reminders, messages, and queries about them. They
//! are accepted on this thread, without waiting for a busy session.

use base::data::Data;

use super::AcpCode;
use jsonrpc::code;
use runtime::reminder::bridge::QueueError;
use runtime::reminder::{Propagate, RoleHint, Surface};
use serde_json::{Value, json};
use stdlib::from_core;

use super::content;
use super::error::{ErrorResponse, RESOURCE_NOT_FOUND};
use super::params::Params;
use crate::bridge::{self, BridgeError, BridgeMethod, BridgeResponse};
use crate::host::Host;

/// The queue is full. JSON-RPC reserves the codes from -32099 to -32000 for servers.
const QUEUE_FULL: i32 = -32000;

/// The reminder to be revoked was already delivered.
const ALREADY_DELIVERED: i32 = -32010;

/// Returns the `reminders` entry of the agent's capabilities.
pub(crate) fn capability() -> Value {
    json!({"inject": true, "emit": true, "propagate": Propagate::WORDS, "roleHints": RoleHint::WORDS})
}

/// Returns the names of the methods.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BridgeMethod::ALL.into_iter().map(BridgeMethod::name)
}

/// Accepts a request. Its response may be sent once it is settled.
pub(crate) fn accept(host: &Host, method: BridgeMethod, params: Value) -> Result<BridgeResponse, ErrorResponse> {
    let accepted = of_host(method, params)
        .and_then(|params| bridge::call(method, &Data::from(params), host).map_err(ErrorResponse::from));
    if accepted.is_err() && method.injects() {
        host.metrics().injections.refused.add();
    }
    accepted
}

/// Returns the parameters of a method as the bridge reads them.
///
/// # Errors
/// A block of a message is not accepted.
pub(crate) fn of_host(method: BridgeMethod, params: Value) -> Result<Value, ErrorResponse> {
    if method == BridgeMethod::Inject { converted(params) } else { Ok(params) }
}

/// Converts the blocks of an injected message to text, as those of a prompt: a model server accepts no others.
///
/// # Errors
/// A block is malformed, or has a kind that is not accepted.
pub(crate) fn converted(mut params: Value) -> Result<Value, ErrorResponse> {
    const KEY: &str = "content";
    // The bridge refuses an empty list.
    let has_blocks = params.get(KEY).and_then(Value::as_array).is_some_and(|blocks| !blocks.is_empty());
    if has_blocks {
        let text = content::read(&Params::of(&params)?, KEY)?.text;
        params[KEY] = text.into();
    }
    Ok(params)
}

/// Waits until a request is settled, and returns its response.
pub(crate) async fn settled(accepted: Result<BridgeResponse, ErrorResponse>) -> Result<Value, ErrorResponse> {
    Ok(accepted?.settled().await?)
}

impl From<BridgeError> for ErrorResponse {
    fn from(error: BridgeError) -> ErrorResponse {
        let message = error.to_string();
        match error {
            BridgeError::Json(_) => ErrorResponse::new(code::PARSE_ERROR, AcpCode::NoJson, message),
            BridgeError::Envelope { field, .. } => {
                ErrorResponse::new(code::INVALID_REQUEST, AcpCode::NoMessage, message).field(field)
            }
            BridgeError::Method { .. } => ErrorResponse::new(code::METHOD_NOT_FOUND, AcpCode::UnknownMethod, message),
            BridgeError::Reminder(error) => {
                let field = path(&error.field);
                let message = bridge::message_on(&error, Surface::Acp);
                let refusal = ErrorResponse::new(code::INVALID_PARAMS, from_core(error.code), message.as_str());
                let refusal = refusal.field(&field).with("message", message.as_str());
                refusal.suggestion(bridge::suggestion(&error, Surface::Acp))
            }
            BridgeError::Host(error) => error.into(),
            BridgeError::Queue(error) => of_queue(&error, message),
            BridgeError::Log(error) => ErrorResponse::new(code::INTERNAL_ERROR, from_core(error.code()), message),
        }
    }
}

/// Returns the path of a field in the format of this protocol: `tags[0]`.
fn path(field: &str) -> String {
    if field.is_empty() {
        return "params".to_owned();
    }
    let mut path = String::with_capacity(field.len() + 2);
    for (i, part) in field.split('.').enumerate() {
        match part.parse::<usize>() {
            Ok(index) => path.push_str(&format!("[{index}]")),
            Err(_) if i == 0 => path.push_str(part),
            Err(_) => {
                path.push('.');
                path.push_str(part);
            }
        }
    }
    path
}

fn of_queue(error: &QueueError, message: String) -> ErrorResponse {
    let rpc = match error {
        QueueError::Full(_) | QueueError::LogBehind => QUEUE_FULL,
        QueueError::AlreadyDelivered(_) => ALREADY_DELIVERED,
        QueueError::Unknown(_) | QueueError::Closed => RESOURCE_NOT_FOUND,
        QueueError::Refused(_) => code::INVALID_PARAMS,
    };
    let refusal = ErrorResponse::new(rpc, BridgeError::of_queue(error), message).reason(bridge::reason(error));
    match error {
        QueueError::AlreadyDelivered(id) | QueueError::Unknown(id) => {
            refusal.field("reminderId").with("reminderId", &**id)
        }
        QueueError::Full(_) | QueueError::LogBehind | QueueError::Closed | QueueError::Refused(_) => refusal,
    }
}

#[cfg(test)]
mod tests {
    use runtime::reminder::policy::PolicyRefusal;
    use runtime::reminder::{ReminderCode, ReminderError};

    use super::*;

    fn told(error: impl Into<BridgeError>) -> Value {
        ErrorResponse::from(error.into()).into_json()
    }

    #[test]
    fn the_capability_names_what_a_reminder_may_say() {
        let expected = json!({
            "inject": true,
            "emit": true,
            "propagate": ["all", "session", "none"],
            "roleHints": ["system", "developer", "user_block", "ephemeral_cache"],
        });
        assert_eq!(capability(), expected);
    }

    #[test]
    fn a_refusal_has_code_field_message_and_suggestion() {
        let error = ReminderError::new(ReminderCode::Shape, "dedupKey", "unknown reminder option `dedupKey`");
        assert_eq!(
            told(error.suggest(Some("dedupe_key"))),
            json!({"code": -32602, "message": "unknown reminder option `dedupKey`; did you mean `dedupeKey`?", "data": {
                "code": "HARN-RMD-001", "field": "dedupKey", "message": "unknown reminder option `dedupKey`",
                "suggestion": "dedupeKey",
            }})
        );
        let whole = told(ReminderError::new(ReminderCode::Bridge, "", "it is an object, got list"));
        assert_eq!((&whole["data"]["field"], &whole["data"]["suggestion"]), (&json!("params"), &Value::Null));
        // Another field than the invalid one is named as the wire does.
        let needs = ReminderError::new(ReminderCode::Shape, "", "a selector needs `id`, `tag` or `dedupe_key`");
        let message = "a selector needs `reminderId`, `tag` or `dedupeKey`";
        assert_eq!(
            (&told(needs.clone())["message"], &told(needs)["data"]["message"]),
            (&json!(message), &json!(message))
        );
        let written = ReminderError::new(ReminderCode::Bridge, "ttl_turns", "`ttl_turns` of a reminder must be an int");
        assert_eq!(told(written)["message"], "`ttl_turns` of a reminder must be an int", "as the host wrote it");
        assert_eq!((path("tags.0"), path("_meta.harn.reminder")), ("tags[0]".into(), "_meta.harn.reminder".into()));
    }

    #[test]
    fn what_a_queue_refuses_has_its_code_and_reason() {
        for (error, code, reason, own) in [
            (QueueError::Full(256), -32000, "queue_full", "HARN-SES-003"),
            (QueueError::AlreadyDelivered("r".into()), -32010, "already_delivered", "HARN-SES-003"),
            (QueueError::Unknown("r".into()), -32002, "unknown_reminder", "HARN-SES-004"),
            (QueueError::Refused(PolicyRefusal("x".into())), -32602, "policy", "HARN-SES-003"),
        ] {
            let told = told(error);
            assert_eq!((&told["code"], &told["data"]["reason"]), (&json!(code), &json!(reason)));
            assert_eq!(told["data"]["code"], own);
        }
    }
}
