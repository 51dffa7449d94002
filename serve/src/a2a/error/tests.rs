use a2a::{ShapeError, TaskState, Version};
use serde_json::{Value, json};

use runtime::reminder::bridge::QueueError;
use runtime::reminder::policy::PolicyRefusal;
use runtime::reminder::{ReminderCode, ReminderError};

use super::{Refusal, RpcError};

fn error_of(fault: impl Into<RpcError>, version: Version) -> Value {
    Value::from(&fault.into().to_data(version))
}

#[test]
fn details_are_typed_in_version_1_0_and_plain_before() {
    let refusal = || {
        Refusal::Params(ShapeError {
            field: "message.parts.0".to_owned(),
            message: "a part holds text, a file or data".to_owned(),
            suggestion: Some("text".to_owned()),
        })
    };
    let message = "a part holds text, a file or data; did you mean `text`?";
    assert_eq!(
        error_of(refusal(), Version::V1_0),
        json!({"code": -32602, "message": message, "data": [{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "INVALID_PARAMS",
            "domain": "a2a-protocol.org",
            "metadata": {"code": "HARN-A2A-005", "field": "message.parts.0", "suggestion": "text"},
        }]})
    );
    assert_eq!(
        error_of(refusal(), Version::V0_3),
        json!({"code": -32602, "message": message, "data": {
            "code": "HARN-A2A-005", "reason": "invalid_params", "field": "message.parts.0", "suggestion": "text",
        }})
    );
}

#[test]
fn a_task_that_is_not_there_has_a_code_of_the_protocol_and_another_of_the_extension() {
    let refusal = Refusal::UnknownTask("t".into());
    assert_eq!(error_of(refusal.clone(), Version::V0_3)["code"], -32001);
    for version in [Version::V0_3, Version::V1_0] {
        let error = error_of(RpcError::of_extension(refusal.clone()), version);
        assert_eq!((&error["code"], &error["data"][0]["reason"]), (&json!(-32004), &json!("TASK_NOT_FOUND")));
    }
    let over = Refusal::Over { task_id: "t".into(), state: TaskState::Failed };
    let error = error_of(RpcError::of_extension(over), Version::V0_3);
    assert_eq!((&error["code"], &error["data"][0]["reason"]), (&json!(-32004), &json!("TASK_TERMINAL")));
    assert_eq!(error["data"][0]["metadata"]["state"], "failed");
}

#[test]
fn a_reminder_that_is_refused_keeps_its_own_code() {
    let error = ReminderError::new(ReminderCode::Shape, "dedupKey", "unknown reminder option `dedupKey`");
    let error = error_of(Refusal::Reminder(error.suggest(Some("dedupe_key"))), Version::V0_3);
    assert_eq!(
        error,
        json!({"code": -32602, "message": "unknown reminder option `dedupKey`; did you mean `dedupeKey`?", "data": {
            "code": "HARN-RMD-001", "reason": "invalid_params", "field": "dedupKey",
            "message": "unknown reminder option `dedupKey`", "suggestion": "dedupeKey",
        }})
    );
}

#[test]
fn what_a_queue_refuses_has_its_code_and_reason() {
    for (error, code, reason) in [
        (QueueError::Full(256), -32000, "queue_full"),
        (QueueError::AlreadyDelivered("r".into()), -32010, "already_delivered"),
        (QueueError::Unknown("r".into()), -32602, "unknown_reminder"),
        (QueueError::Closed, -32004, "closed"),
        (QueueError::Refused(PolicyRefusal("x".into())), -32602, "policy"),
    ] {
        let error = error_of(Refusal::Queue(error), Version::V0_3);
        assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(code), &json!(reason)));
    }
}

#[test]
fn an_unknown_reminder_is_an_error_of_its_own() {
    for (error, own, reason) in [
        (QueueError::Unknown("r".into()), "HARN-SES-004", "unknown_reminder"),
        (QueueError::Full(256), "HARN-SES-003", "queue_full"),
    ] {
        let error = error_of(Refusal::Queue(error), Version::V0_3);
        assert_eq!((&error["data"]["code"], &error["data"]["reason"]), (&json!(own), &json!(reason)));
    }
}

#[test]
fn a_media_type_has_the_code_of_the_protocol() {
    let error = error_of(Refusal::MediaType { part: 1, media_type: "image/png".to_owned() }, Version::V0_3);
    assert_eq!((&error["code"], &error["data"]["field"]), (&json!(-32005), &json!("message.parts.1")));
    assert_eq!(error["data"]["reason"], "content_type_not_supported");
}
