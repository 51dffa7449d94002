//! Documents of each version, letter by letter.

use std::sync::Arc;

use base::data::Data;

use super::json;
use crate::{
    Artifact, ArtifactUpdate, Content, Frame, ListTasks, Message, Part, Role, Status, StatusUpdate, Task, TaskPage,
    TaskState, Version,
};

const VERSIONS: [Version; 2] = [Version::V0_3, Version::V1_0];

fn question() -> Message {
    Message {
        context_id: Some("c1".into()),
        task_id: Some("t1".into()),
        metadata: json(r#"{"harn.reminder": {"body": "b"}}"#),
        extensions: vec!["urn:x".into()],
        reference_task_ids: vec!["t0".into()],
        ..Message::new(Role::User, "m1", parts())
    }
}

fn parts() -> Vec<Part> {
    let file =
        |content| Part { filename: Some("a.txt".into()), media_type: Some("text/plain".into()), ..Part::new(content) };
    vec![
        Part { metadata: json(r#"{"k": 1}"#), ..Part::text("hello") },
        file(Content::Raw("aGk=".into())),
        file(Content::Url("https://x/y".into())),
        Part::data(json(r#"{"n": [1, 2.5, null]}"#)),
        Part::data(json("[1]")),
    ]
}

fn task() -> Task {
    let said = Message::new(Role::Agent, "m2", vec![Part::text("which?")]);
    Task {
        id: "t1".into(),
        context_id: "c1".into(),
        status: Status { state: TaskState::InputRequired, message: Some(said.into()), at_ms: Some(1_735_689_599_999) },
        artifacts: vec![artifact()],
        history: vec![Message::new(Role::User, "m1", vec![Part::text("go")]).into()],
        metadata: json(r#"{"k": "v"}"#),
    }
}

fn artifact() -> Arc<Artifact> {
    Arc::new(Artifact {
        artifact_id: "answer".into(),
        name: Some("answer".into()),
        description: Some("what it says".into()),
        parts: vec![Part::text("yes")],
        metadata: Data::Nil,
        extensions: vec![],
    })
}

/// The message in each version; one in the spelling of the version is read as the model has it.
#[test]
fn a_message() {
    let v1_0 = r#"{"message": {"messageId": "m1", "contextId": "c1", "taskId": "t1", "role": "ROLE_USER", "parts": [
        {"text": "hello", "metadata": {"k": 1}},
        {"raw": "aGk=", "filename": "a.txt", "mediaType": "text/plain"},
        {"url": "https://x/y", "filename": "a.txt", "mediaType": "text/plain"},
        {"data": {"n": [1, 2.5, null]}},
        {"data": [1]}],
        "metadata": {"harn.reminder": {"body": "b"}}, "extensions": ["urn:x"], "referenceTaskIds": ["t0"]}}"#;
    let v0_3 = r#"{"message": {"kind": "message", "messageId": "m1", "contextId": "c1", "taskId": "t1", "role": "user", "parts": [
        {"kind": "text", "text": "hello", "metadata": {"k": 1}},
        {"kind": "file", "file": {"bytes": "aGk=", "name": "a.txt", "mimeType": "text/plain"}},
        {"kind": "file", "file": {"uri": "https://x/y", "name": "a.txt", "mimeType": "text/plain"}},
        {"kind": "data", "data": {"n": [1, 2.5, null]}},
        {"kind": "data", "data": {"value": [1]}, "metadata": {"data_part_compat": true}}],
        "metadata": {"harn.reminder": {"body": "b"}}, "extensions": ["urn:x"], "referenceTaskIds": ["t0"]},
        "configuration": {"blocking": true}}"#;
    for (version, text) in VERSIONS.into_iter().zip([v0_3, v1_0]) {
        let request = version.read_send(&json(text)).unwrap();
        assert_eq!(request.message, question());
        assert_eq!((&request.configuration, &request.metadata), (&Default::default(), &Data::Nil));
        assert_eq!(version.send(&request), json(text), "{version:?}");
    }
}

#[test]
fn how_it_is_to_be_answered() {
    let message = r#""message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": ""}]}"#;
    let v1_0 = format!(
        r#"{{{message}, "metadata": {{"deadline": 1}}, "tenant": "x", "configuration": {{"acceptedOutputModes": ["text"],
        "historyLength": 0, "returnImmediately": true, "taskPushNotificationConfig": {{"url": "https://x"}}}}}}"#
    );
    let read = Version::V1_0.read_send(&json(&v1_0)).unwrap();
    assert_eq!(read.metadata, json(r#"{"deadline": 1}"#));
    let asked = &read.configuration;
    assert_eq!((asked.accepted_output_modes.len(), asked.history_length), (1, Some(0)));
    assert!(asked.return_immediately && asked.push);

    let message = r#""message": {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": ""}]}"#;
    let v0_3 = format!(
        r#"{{{message}, "configuration": {{"acceptedOutputModes": ["text"], "historyLength": 0, "blocking": false,
        "pushNotificationConfig": {{"url": "https://x"}}}}}}"#
    );
    let read = Version::V0_3.read_send(&json(&v0_3)).unwrap().configuration;
    assert_eq!((read.accepted_output_modes.len(), read.history_length), (1, None), "0 is the whole history there");
    assert!(read.return_immediately && read.push);
}

/// The JSON of protocol buffers takes the names of the definition too, numbers of enums, numbers as text, and null for nothing.
#[test]
fn the_json_of_protocol_buffers() {
    let text = r#"{"message": {"message_id": "m1", "context_id": "c1", "task_id": "t1", "role": 1, "parts": [
        {"text": "hello", "metadata": {"k": 1}, "raw": null, "url": null},
        {"raw": "aGk", "filename": "a.txt", "media_type": "text/plain"},
        {"url": "https://x/y", "filename": "a.txt", "media_type": "text/plain"},
        {"data": {"n": [1, 2.5, null]}, "filename": ""},
        {"data": [1]}],
        "metadata": {"harn.reminder": {"body": "b"}}, "extensions": ["urn:x"], "reference_task_ids": ["t0"]},
        "configuration": {"history_length": "7", "return_immediately": null}, "metadata": null}"#;
    let request = Version::V1_0.read_send(&json(text)).unwrap();
    assert_eq!((&request.message, request.configuration.history_length), (&question(), Some(7)));
    let listed = json(
        r#"{"context_id": "", "status": "TASK_STATE_UNSPECIFIED", "page_size": 5.0, "page_token": "p",
        "status_timestamp_after": "2024-12-31T23:59:59.999999+00:00", "include_artifacts": true}"#,
    );
    let expected = ListTasks {
        page_size: Some(5),
        page_token: Some("p".into()),
        changed_since_ms: Some(1_735_689_599_999),
        include_artifacts: true,
        ..ListTasks::default()
    };
    assert_eq!(Version::V1_0.read_list(&listed), Ok(expected));
    let by_number = json(r#"{"status": 6}"#);
    assert_eq!(Version::V1_0.read_list(&by_number).unwrap().state, Some(TaskState::InputRequired));
}

/// The second name of a field, and what belongs to another kind of part, is not even read.
#[test]
fn members_that_do_not_count_are_ignored() {
    let text = r#"{"message": {"messageId": "m1", "message_id": 7, "role": "user", "contextId": "c", "context_id": "d", "parts": [
        {"kind": "text", "text": "hello", "data": [1], "file": 5},
        {"kind": "data", "data": {"text": [1], "context_id": 1, "contextId": 2}, "text": {}}]}}"#;
    let message = Version::V0_3.read_send(&json(text)).unwrap().message;
    assert_eq!((message.message_id.as_ref(), message.context_id.as_deref()), ("m1", Some("c")));
    let data = json(r#"{"text": [1], "context_id": 1, "contextId": 2}"#);
    assert_eq!(message.parts, [Part::text("hello"), Part::data(data)]);
    let text = r#"{"message": {"message_id": "m1", "contextId": null, "context_id": "d", "role": "ROLE_USER",
        "parts": [{"kind": "data", "text": "x"}]}}"#;
    let message = Version::V1_0.read_send(&json(text)).unwrap().message;
    assert_eq!((message.context_id, message.parts), (None, vec![Part::text("x")]));
}

#[test]
fn null_can_be_data_in_1_0() {
    let frame = |part: &str| {
        let text = format!(r#"{{"message": {{"messageId": "m", "role": "ROLE_AGENT", "parts": [{part}]}}}}"#);
        match Version::V1_0.read_frame(&json(&text)).unwrap() {
            Frame::Message(message) => message.parts[0].content.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(frame(r#"{"data": null}"#), Content::Data(Data::Nil));
    assert_eq!(frame(r#"{"data": null, "text": "x"}"#), Content::Text("x".into()));
}

#[test]
fn files_are_told_on_in_the_base64_that_all_read() {
    for (given, plain) in [("-_8=", "+/8="), ("-_8", "+/8="), ("+/8", "+/8="), ("aGl=", "aGk="), ("", "")] {
        let text =
            format!(r#"{{"message": {{"messageId": "m", "role": "ROLE_USER", "parts": [{{"raw": "{given}"}}]}}}}"#);
        let request = Version::V1_0.read_send(&json(&text)).unwrap();
        assert_eq!(request.message.parts[0].content, Content::Raw(plain.into()), "{given}");
    }
}

#[test]
fn a_task() {
    let v1_0 = r#"{"id": "t1", "contextId": "c1",
        "status": {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2024-12-31T23:59:59.999Z",
            "message": {"messageId": "m2", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}},
        "artifacts": [{"artifactId": "answer", "name": "answer", "description": "what it says", "parts": [{"text": "yes"}]}],
        "history": [{"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "go"}]}],
        "metadata": {"k": "v"}}"#;
    let v0_3 = r#"{"kind": "task", "id": "t1", "contextId": "c1",
        "status": {"state": "input-required", "timestamp": "2024-12-31T23:59:59.999Z",
            "message": {"kind": "message", "messageId": "m2", "role": "agent", "parts": [{"kind": "text", "text": "which?"}]}},
        "artifacts": [{"artifactId": "answer", "name": "answer", "description": "what it says",
            "parts": [{"kind": "text", "text": "yes"}]}],
        "history": [{"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "go"}]}],
        "metadata": {"k": "v"}}"#;
    for (version, text) in VERSIONS.into_iter().zip([v0_3, v1_0]) {
        assert_eq!(version.task(&task(), None), json(text), "{version:?}");
    }
    assert_eq!(Version::V1_0.sent(&task(), None), Data::dict([("task", json(v1_0))]));
    assert_eq!(Version::V0_3.sent(&task(), None), json(v0_3));
}

#[test]
fn what_a_stream_tells() {
    let status = Frame::Status(StatusUpdate {
        task_id: "t1".into(),
        context_id: "c1".into(),
        status: Status { state: TaskState::Completed, message: None, at_ms: Some(0) },
        metadata: json(r#"{"k": 1}"#),
    });
    let made = Frame::Artifact(ArtifactUpdate {
        task_id: "t1".into(),
        context_id: "c1".into(),
        artifact: artifact(),
        append: true,
        last_chunk: false,
        metadata: Data::Nil,
    });
    let rows = [
        (
            Version::V1_0,
            r#"{"statusUpdate": {"taskId": "t1", "contextId": "c1", "metadata": {"k": 1},
                "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "1970-01-01T00:00:00.000Z"}}}"#,
            r#"{"artifactUpdate": {"taskId": "t1", "contextId": "c1", "append": true, "lastChunk": false, "artifact":
                {"artifactId": "answer", "name": "answer", "description": "what it says", "parts": [{"text": "yes"}]}}}"#,
        ),
        (
            Version::V0_3,
            r#"{"kind": "status-update", "taskId": "t1", "contextId": "c1", "metadata": {"k": 1}, "final": true,
                "status": {"state": "completed", "timestamp": "1970-01-01T00:00:00.000Z"}}"#,
            r#"{"kind": "artifact-update", "taskId": "t1", "contextId": "c1", "append": true, "lastChunk": false, "artifact":
                {"artifactId": "answer", "name": "answer", "description": "what it says",
                 "parts": [{"kind": "text", "text": "yes"}]}}"#,
        ),
    ];
    for (version, status_text, artifact_text) in rows {
        assert_eq!(version.frame(&status, true), json(status_text), "{version:?}");
        assert_eq!(version.frame(&made, false), json(artifact_text), "{version:?}");
    }
}

#[test]
fn each_state_has_its_word() {
    let words = |version: Version| -> Vec<String> {
        let state = |state: &TaskState| {
            let status = Status { state: *state, message: None, at_ms: None };
            version.task(&Task { status, ..task() }, None).at("status.state").to_text().to_string()
        };
        TaskState::ALL.iter().map(state).collect()
    };
    let quiet = [
        "submitted",
        "working",
        "input-required",
        "auth-required",
        "completed",
        "canceled",
        "failed",
        "rejected",
        "unknown",
    ];
    assert_eq!(words(Version::V0_3), quiet);
    let loud = [
        "SUBMITTED",
        "WORKING",
        "INPUT_REQUIRED",
        "AUTH_REQUIRED",
        "COMPLETED",
        "CANCELED",
        "FAILED",
        "REJECTED",
        "UNSPECIFIED",
    ];
    assert_eq!(words(Version::V1_0), loud.map(|word| format!("TASK_STATE_{word}")));
}

#[test]
fn a_page() {
    let page = TaskPage { tasks: vec![], next_page_token: String::new(), page_size: 50, total_size: 0 };
    for version in VERSIONS {
        let text = r#"{"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}"#;
        assert_eq!(version.page(&page, &ListTasks::default()), json(text));
    }
    let asked = json(r#"{"contextId": "c", "status": "working", "pageSize": 100, "historyLength": 3}"#);
    let read = Version::V0_3.read_list(&asked).unwrap();
    assert_eq!((read.context_id.as_deref(), read.state), (Some("c"), Some(TaskState::Working)));
    assert_eq!((read.page_size, read.history_length, read.include_artifacts), (Some(100), Some(3), false));
    assert_eq!(Version::V1_0.read_list(&Data::Nil), Ok(ListTasks::default()));
}

#[test]
fn a_version_by_its_header() {
    let rows = [
        ("1.0", Some(Version::V1_0)),
        (" 1.0 ", Some(Version::V1_0)),
        ("1.0.0", Some(Version::V1_0)),
        ("1.0.12", Some(Version::V1_0)),
        ("0.3", Some(Version::V0_3)),
        ("0.3.0", Some(Version::V0_3)),
        ("0.1", None),
        ("0.1.7", None),
        ("", None),
        ("1", None),
        ("1.", None),
        ("1.0.", None),
        ("1.0.0.0", None),
        ("1.0.x", None),
        ("1.00", None),
        ("1.1", None),
        ("0.2", None),
        ("0.30", None),
        ("2.0", None),
        ("1.0, 0.3", None),
    ];
    for (value, version) in rows {
        assert_eq!(Version::of_header(value), version, "{value:?}");
    }
    for version in VERSIONS {
        assert_eq!(Version::of_header(version.as_str()), Some(version));
    }
}

/// Servers leave out what is empty, and write times that say nothing of where they are.
#[test]
fn results_are_read_with_leniency() {
    let task = Version::V1_0.read_task(&json(r#"{"id": "t", "status": {"state": "TASK_STATE_WORKING"}}"#)).unwrap();
    assert_eq!((task.context_id.as_ref(), task.artifacts.len(), task.history.len()), ("", 0, 0));
    let task = Version::V1_0.read_task(&json(r#"{"id": "t", "status": {}}"#)).unwrap();
    assert_eq!(task.status.state, TaskState::Unknown);
    let text = r#"{"kind": "status-update", "taskId": "t", "contextId": "c", "later": {"x": 1},
        "status": {"state": "working", "timestamp": "2025-01-01T00:00:00", "message":
        {"messageId": "m", "role": "agent", "parts": [], "kind": "message"}}}"#;
    let Ok(Frame::Status(update)) = Version::V0_3.read_frame(&json(text)) else { panic!("no status") };
    assert_eq!((update.status.at_ms, update.status.message.unwrap().parts.len()), (None, 0));
}
