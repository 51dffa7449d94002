//! Values that do not have their shape, and their error messages.

use base::data::Data;

use super::json;
use crate::{ShapeError, Version};

/// A row: the parameters or the result, then field, message and suggestion.
type ShapeErrorCase<'a> = (&'a str, &'a str, &'a str, Option<&'a str>);

fn hold<T: std::fmt::Debug>(rows: &[ShapeErrorCase<'_>], read: impl Fn(&Data) -> Result<T, ShapeError>) {
    for (text, field, message, suggestion) in rows {
        let shape_error = read(&json(text)).expect_err(text);
        let told = (shape_error.field.as_str(), shape_error.message.as_str(), shape_error.suggestion.as_deref());
        assert_eq!(told, (*field, *message, *suggestion), "{text}");
    }
}

/// The parameters of sending, with a message of these fields.
fn of_message(fields: &str) -> String {
    format!(r#"{{"message": {{{fields}}}}}"#)
}

/// Returns the error for a message with `part` as its first part.
fn of_part(version: Version, part: &str) -> String {
    match version {
        Version::V1_0 => of_message(&format!(r#""messageId": "m", "role": "ROLE_USER", "parts": [{part}]"#)),
        Version::V0_3 => of_message(&format!(r#""messageId": "m", "role": "user", "parts": [{part}]"#)),
    }
}

fn hold_parts(version: Version, rows: &[ShapeErrorCase<'_>]) {
    for (part, field, message, suggestion) in rows {
        let text = of_part(version, part);
        hold(&[(&text, field, message, *suggestion)], |data| version.read_send(data));
    }
}

#[test]
fn a_request_as_a_whole() {
    for version in [Version::V0_3, Version::V1_0] {
        let rows: &[ShapeErrorCase<'_>] = &[
            ("null", "", "the parameters must be an object, not null", None),
            ("[]", "", "the parameters must be an object, not an array", None),
            ("\"x\"", "", "the parameters must be an object, not a string", None),
            ("{}", "message", "`message` is missing", None),
            (r#"{"message": null}"#, "message", "`message` must not be null", None),
            (r#"{"message": 1}"#, "message", "`message` must be an object, not a number", None),
            (r#"{"mesage": {}}"#, "mesage", "`mesage` is unknown, and `message` is missing", Some("message")),
        ];
        hold(rows, |data| version.read_send(data));
    }
}

#[test]
fn a_message() {
    let rows: &[ShapeErrorCase<'_>] = &[
        (
            r#""role": "ROLE_USER", "parts": [{"text": "x"}]"#,
            "message.messageId",
            "`message.messageId` is missing",
            None,
        ),
        (
            r#""id": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]"#,
            "message.id",
            "`message.id` is unknown, and `messageId` is missing",
            Some("messageId"),
        ),
        (
            r#""messageid": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]"#,
            "message.messageid",
            "`message.messageid` is unknown, and `messageId` is missing",
            Some("messageId"),
        ),
        (
            r#""messageId": "", "role": "ROLE_USER", "parts": [{"text": "x"}]"#,
            "message.messageId",
            "`message.messageId` must not be empty",
            None,
        ),
        (
            r#""message_id": 7, "role": "ROLE_USER", "parts": [{"text": "x"}]"#,
            "message.message_id",
            "`message.message_id` must be a string, not a number",
            None,
        ),
        (r#""messageId": "m", "parts": [{"text": "x"}]"#, "message.role", "`message.role` is missing", None),
        (
            r#""messageId": "m", "role": "user", "parts": [{"text": "x"}]"#,
            "message.role",
            "`message.role` must be one of `ROLE_USER`, `ROLE_AGENT`",
            Some("ROLE_USER"),
        ),
        (
            r#""messageId": "m", "role": "ROLE_UNSPECIFIED", "parts": [{"text": "x"}]"#,
            "message.role",
            "`message.role` must be one of `ROLE_USER`, `ROLE_AGENT`",
            None,
        ),
        (
            r#""messageId": "m", "role": true, "parts": [{"text": "x"}]"#,
            "message.role",
            "`message.role` must be one of `ROLE_USER`, `ROLE_AGENT`, not a boolean",
            None,
        ),
        (r#""messageId": "m", "role": "ROLE_USER""#, "message.parts", "`message.parts` is missing", None),
        (
            r#""messageId": "m", "role": "ROLE_USER", "content": [{"text": "x"}]"#,
            "message.content",
            "`message.content` is unknown, and `parts` is missing",
            Some("parts"),
        ),
        (
            r#""messageId": "m", "role": "ROLE_USER", "parts": []"#,
            "message.parts",
            "`message.parts` must have at least one part",
            None,
        ),
        (
            r#""messageId": "m", "role": "ROLE_USER", "parts": {"text": "x"}"#,
            "message.parts",
            "`message.parts` must be an array, not an object",
            None,
        ),
        (
            r#""messageId": "m", "role": "ROLE_USER", "parts": ["x"]"#,
            "message.parts.0",
            "`message.parts.0` must be an object, not a string",
            None,
        ),
        (
            r#""messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}], "contextId": "a b""#,
            "message.contextId",
            "`message.contextId` must be 1 to 128 visible ASCII characters",
            None,
        ),
        (
            r#""messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}], "metadata": [1]"#,
            "message.metadata",
            "`message.metadata` must be an object, not an array",
            None,
        ),
        (
            r#""messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}], "referenceTaskIds": ["a", 1]"#,
            "message.referenceTaskIds.1",
            "`message.referenceTaskIds.1` must be a string, not a number",
            None,
        ),
    ];
    for (fields, field, message, suggestion) in rows {
        let text = of_message(fields);
        hold(&[(&text, field, message, *suggestion)], |data| Version::V1_0.read_send(data));
    }
}

#[test]
fn a_message_without_end() {
    let many = |item: &str, n: usize| vec![item; n].join(", ");
    let part = r#"{"text": "x"}"#;
    let rows = [
        (
            format!(r#""messageId": "m", "role": "ROLE_USER", "parts": [{}]"#, many(part, 1_001)),
            "`message.parts` must not have more than 1000 parts; it has 1001",
        ),
        (
            format!(
                r#""messageId": "m", "role": "ROLE_USER", "parts": [{part}], "extensions": [{}]"#,
                many("\"x\"", 101)
            ),
            "`message.extensions` must not have more than 100 items",
        ),
        (
            format!(r#""messageId": "{}", "role": "ROLE_USER", "parts": [{part}]"#, "m".repeat(257)),
            "`message.messageId` must not have more than 256 bytes",
        ),
        (
            format!(r#""messageId": "m", "role": "ROLE_USER", "parts": [{part}], "contextId": "{}""#, "c".repeat(129)),
            "`message.contextId` must be 1 to 128 visible ASCII characters",
        ),
    ];
    for (fields, message) in rows {
        assert_eq!(Version::V1_0.read_send(&json(&of_message(&fields))).unwrap_err().message, message);
    }
    let fits = format!(r#""messageId": "m", "role": "ROLE_USER", "parts": [{}]"#, many(part, 1_000));
    assert_eq!(Version::V1_0.read_send(&json(&of_message(&fits))).unwrap().message.parts.len(), 1_000);
}

#[test]
fn parts_of_1_0() {
    hold_parts(
        Version::V1_0,
        &[
            ("{}", "message.parts.0", "`message.parts.0` needs one of `text`, `raw`, `url` and `data`", None),
            (
                r#"{"text": "x", "url": "y"}"#,
                "message.parts.0",
                "`message.parts.0` has several of `text`, `raw`, `url` and `data`, but only one is allowed",
                None,
            ),
            (
                r#"{"kind": "file", "file": {"uri": "x"}}"#,
                "message.parts.0",
                "`message.parts.0` needs one of `text`, `raw`, `url` and `data`; version 1.0 does not support `file`",
                None,
            ),
            (
                r#"{"txt": "x"}"#,
                "message.parts.0.txt",
                "`message.parts.0.txt` is unknown, and `text` is missing",
                Some("text"),
            ),
            (
                r#"{"uri": "x"}"#,
                "message.parts.0.uri",
                "`message.parts.0.uri` is unknown, and `url` is missing",
                Some("url"),
            ),
            (r#"{"text": 1}"#, "message.parts.0.text", "`message.parts.0.text` must be a string, not a number", None),
            (r#"{"raw": "a*b"}"#, "message.parts.0.raw", "`message.parts.0.raw` must be base64", None),
            (
                r#"{"text": "x", "mediaType": []}"#,
                "message.parts.0.mediaType",
                "`message.parts.0.mediaType` must be a string, not an array",
                None,
            ),
        ],
    );
}

#[test]
fn parts_of_the_older_versions() {
    let kind = "`message.parts.0.kind` is missing: a part is `text`, `file` or `data`";
    hold_parts(
        Version::V0_3,
        &[
            ("{}", "message.parts.0.kind", kind, None),
            (
                r#"{"text": "x"}"#,
                "message.parts.0.kind",
                &format!("{kind} (parts without it belong to version 1.0, which a request selects with `A2A-Version`)"),
                None,
            ),
            (
                r#"{"type": "text", "text": "x"}"#,
                "message.parts.0.type",
                "`message.parts.0.type` is unknown, and `kind` is missing",
                Some("kind"),
            ),
            (
                r#"{"kind": "txt", "text": "x"}"#,
                "message.parts.0.kind",
                "`message.parts.0.kind` must be one of `text`, `file`, `data`",
                Some("text"),
            ),
            (
                r#"{"kind": "text", "test": "x"}"#,
                "message.parts.0.test",
                "`message.parts.0.test` is unknown, and `text` is missing",
                Some("text"),
            ),
            (r#"{"kind": "data"}"#, "message.parts.0.data", "`message.parts.0.data` is missing", None),
            (
                r#"{"kind": "data", "data": [1]}"#,
                "message.parts.0.data",
                "`message.parts.0.data` must be an object, not an array",
                None,
            ),
            (r#"{"kind": "file"}"#, "message.parts.0.file", "`message.parts.0.file` is missing", None),
            (
                r#"{"kind": "file", "file": {}}"#,
                "message.parts.0.file",
                "`message.parts.0.file` needs `bytes` or `uri`",
                None,
            ),
            (
                r#"{"kind": "file", "file": {"url": "x"}}"#,
                "message.parts.0.file.url",
                "`message.parts.0.file.url` is unknown, and `uri` is missing",
                Some("uri"),
            ),
            (
                r#"{"kind": "file", "file": {"uri": "x", "bytes": ""}}"#,
                "message.parts.0.file",
                "`message.parts.0.file` has both `bytes` and `uri`, but only one is allowed",
                None,
            ),
            (
                r#"{"kind": "file", "file": {"bytes": "*"}}"#,
                "message.parts.0.file.bytes",
                "`message.parts.0.file.bytes` must be base64",
                None,
            ),
        ],
    );
}

#[test]
fn how_it_is_to_be_answered() {
    let with = |configuration: &str| {
        let message = r#""message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}"#;
        format!(r#"{{{message}, "configuration": {configuration}}}"#)
    };
    let rows = [
        ("1", "configuration", "`configuration` must be an object, not a number"),
        (
            r#"{"historyLength": -1}"#,
            "configuration.historyLength",
            "`configuration.historyLength` must be from 0 to 2147483647",
        ),
        (
            r#"{"history_length": "many"}"#,
            "configuration.history_length",
            "`configuration.history_length` must be an integer, not a string",
        ),
        (
            r#"{"returnImmediately": "yes"}"#,
            "configuration.returnImmediately",
            "`configuration.returnImmediately` must be true or false, not a string",
        ),
        (
            r#"{"acceptedOutputModes": "text"}"#,
            "configuration.acceptedOutputModes",
            "`configuration.acceptedOutputModes` must be an array, not a string",
        ),
    ];
    for (configuration, field, message) in rows {
        hold(&[(&with(configuration), field, message, None)], |data| Version::V1_0.read_send(data));
    }
}

#[test]
fn what_names_a_task() {
    let rows: &[ShapeErrorCase<'_>] = &[
        ("{}", "id", "`id` is missing", None),
        (r#"{"taskId": "t"}"#, "taskId", "`taskId` is unknown, and `id` is missing", Some("id")),
        (r#"{"id": ""}"#, "id", "`id` must not be empty", None),
        (r#"{"id": 5}"#, "id", "`id` must be a string, not a number", None),
        (r#"{"id": "t", "historyLength": 1.5}"#, "historyLength", "`historyLength` must be an integer", None),
        (
            r#"{"id": "t", "historyLength": 2147483648}"#,
            "historyLength",
            "`historyLength` must be from 0 to 2147483647",
            None,
        ),
    ];
    for version in [Version::V0_3, Version::V1_0] {
        hold(rows, |data| version.read_get(data));
    }
}

#[test]
fn asking_for_tasks() {
    let states = "`TASK_STATE_SUBMITTED`, `TASK_STATE_WORKING`, `TASK_STATE_INPUT_REQUIRED`, `TASK_STATE_AUTH_REQUIRED`, \
                  `TASK_STATE_COMPLETED`, `TASK_STATE_CANCELED`, `TASK_STATE_FAILED`, `TASK_STATE_REJECTED`, \
                  `TASK_STATE_UNSPECIFIED`";
    let message = format!("`status` must be one of {states}");
    hold(
        &[
            (r#"{"pageSize": 0}"#, "pageSize", "`pageSize` must be from 1 to 100", None),
            (r#"{"page_size": 101}"#, "page_size", "`page_size` must be from 1 to 100", None),
            (r#"{"status": "input-required"}"#, "status", &message, Some("TASK_STATE_INPUT_REQUIRED")),
            (r#"{"status": "TASK_STATE_CANCELLED"}"#, "status", &message, Some("TASK_STATE_CANCELED")),
            (
                r#"{"statusTimestampAfter": "yesterday"}"#,
                "statusTimestampAfter",
                "`statusTimestampAfter` must be an RFC 3339 time since 1970, such as `2026-01-31T12:00:00.000Z`",
                None,
            ),
            ("[]", "", "the parameters must be an object, not an array", None),
        ],
        |data| Version::V1_0.read_list(data),
    );
}

#[test]
fn results() {
    hold(
        &[
            ("{}", "", "the result needs one of `task`, `message`, `statusUpdate` and `artifactUpdate`", None),
            (r#"{"task": {}}"#, "task.id", "`task.id` is missing", None),
            (r#"{"task": {"id": "t"}}"#, "task.status", "`task.status` is missing", None),
            (
                r#"{"task": {"id": "t", "status": {"stat": "TASK_STATE_WORKING"}}}"#,
                "task.status.stat",
                "`task.status.stat` is unknown, and `state` is missing",
                Some("state"),
            ),
            (
                r#"{"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING", "timestamp": "now"}}}"#,
                "task.status.timestamp",
                "`task.status.timestamp` must be an RFC 3339 time since 1970, such as `2026-01-31T12:00:00.000Z`",
                None,
            ),
            (
                r#"{"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": {"parts": []}}}"#,
                "artifactUpdate.artifact.artifactId",
                "`artifactUpdate.artifact.artifactId` is missing",
                None,
            ),
        ],
        |data| Version::V1_0.read_frame(data),
    );
    hold(
        &[
            ("{}", "kind", "`kind` is missing", None),
            (
                r#"{"kind": "task", "id": "t", "contextId": "c", "status": {}}"#,
                "status.state",
                "`status.state` is missing",
                None,
            ),
            (
                r#"{"kind": "status_update"}"#,
                "kind",
                "`kind` must be one of `task`, `message`, `status-update`, `artifact-update`",
                Some("status-update"),
            ),
            (
                r#"{"kind": "status-update", "id": "t"}"#,
                "id",
                "`id` is unknown, and `taskId` is missing",
                Some("taskId"),
            ),
        ],
        |data| Version::V0_3.read_frame(data),
    );
    hold(&[("3", "", "the result must be an object, not a number", None)], |data| Version::V0_3.read_frame(data));
}
