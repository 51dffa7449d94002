//! Every event, as a record of the log, validates against the published schema.

use std::sync::LazyLock;

use a2a::peer_task::{PeerTaskDirection, PeerTaskLink, PeerTaskState};
use boon::{Compiler, Schemas};
use eventlog::NewRecord;
use runtime::lifecycle::LifecycleKind;
use serde_json::{Value, json};

use super::super::event::{
    ChannelAcknowledgement, ChannelEvent, ChannelEventKind, DisconnectReason, DisconnectedChannel, ForwardedPermission,
    ResumeMethod, ResumedChannel, ReturnedPermission, ReturnedScope,
};
use super::super::{ChannelIdentity, ChannelTransport, PeerRole};
use super::*;
use crate::host::PermissionSide;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/schemas/channel-events.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
});

/// Returns the error of an event against the schema.
fn misfit(event: &Value) -> Option<String> {
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler.add_resource("mem:events", SCHEMA.clone()).unwrap();
    let index = compiler.compile("mem:events#/$defs/Event", &mut schemas).unwrap();
    schemas.validate(event, index).err().map(|error| format!("{error:#}"))
}

/// Returns a record as it is read from a file.
fn stored(new: NewRecord, cursor: u64) -> Record {
    Record {
        topic: new.topic,
        kind: new.kind,
        payload: Data::from_json(&new.payload.to_data().to_json()).unwrap().into(),
        headers: new.headers,
        occurred_at_ms: new.occurred_at_ms,
        id: 1,
        cursor,
    }
}

/// Returns the event of a record as JSON, after it was validated.
fn seen(record: &Record) -> Value {
    let envelope = EventEnvelope::of(record).unwrap();
    let event: Value = serde_json::from_str(&envelope.to_json()).unwrap();
    assert_eq!(misfit(&event), None, "{event:#}");
    assert_eq!(event["sequence"], record.cursor);
    event
}

fn session_record(topic: Topic, word: &str, payload: Value) -> Record {
    let payload = Data::from(payload).with("session_id", "sess_1".into());
    let new = NewRecord {
        topic: topic.into(),
        kind: topic.kind(word).into(),
        payload: payload.into(),
        headers: Data::dict([(RUN_ID, Data::from("sess_1"))]),
        occurred_at_ms: 1_000,
    };
    stored(new, 7)
}

fn identity() -> ChannelIdentity {
    ChannelIdentity {
        channel_id: "chan-1".into(),
        transport: ChannelTransport::WebSocket,
        peer_role: PeerRole::Client,
        account_ref: Some("local".into()),
        capabilities: vec!["streaming".into(), "resume".into()],
        last_seen_at: 5,
        resume_token_ref: None,
        native_protocol: Some("acp".into()),
    }
}

fn link() -> PeerTaskLink {
    PeerTaskLink {
        task_id: "local-1".into(),
        parent_task_id: Some("call-1".into()),
        direction: PeerTaskDirection::Outgoing,
        session_id: Some("sess_1".into()),
        channel_id: Some("chan-1".into()),
        remote_task_id: "remote-1".into(),
        remote_context_id: Some("context-1".into()),
        agent_card_ref: Some("https://peer.example/.well-known/agent-card.json".into()),
        native_status: TaskState::InputRequired,
        artifact_refs: vec!["artifact:local-1/a".into()],
        state: PeerTaskState::Waiting,
        cause: None,
    }
}

fn applies_to() -> Data {
    Data::dict([("session_id", Data::from("sess_1")), ("tool_call_id", "call-1".into()), ("tool", "deploy".into())])
}

/// Writes an event, reads it back, and returns it as a client sees it.
fn through_the_log(event: ChannelEvent) -> Value {
    let recorded = RecordedChannelEvent::new(&"chan-1".into(), Some(&"sess_1".into()), event);
    let record = stored(recorded.to_record(1_000), 7);
    assert_eq!(RecordedChannelEvent::read(&record), Some(Ok(recorded.clone())));
    let event = seen(&record);
    assert_eq!(event["type"], recorded.event.kind().as_str());
    assert_eq!((&event["sessionId"], &event["timestamp"]), (&json!("sess_1"), &json!("1970-01-01T00:00:01.000Z")));
    assert_eq!(event["payload"]["channelId"], "chan-1");
    event
}

#[test]
fn event_channel_connected() {
    let event = through_the_log(ChannelEvent::Connected(identity()));
    let expected = json!({
        "accountRef": "local", "capabilities": ["streaming", "resume"], "channelId": "chan-1", "lastSeenAt": 5,
        "nativeProtocol": "acp", "peerRole": "client", "transport": "websocket"
    });
    assert_eq!(event["payload"], expected);
}

#[test]
fn event_channel_disconnected() {
    for reason in DisconnectReason::ALL {
        let payload = DisconnectedChannel { reason: *reason, cursor: Some(41) };
        let event = through_the_log(ChannelEvent::Disconnected(payload));
        assert_eq!(event["payload"], json!({"channelId": "chan-1", "cursor": 41, "reason": reason.as_str()}));
    }
}

#[test]
fn event_channel_resumed() {
    let gap = Some(EventGap { from: 5, to: 9 });
    let event = through_the_log(ChannelEvent::Resumed(ResumedChannel { by: ResumeMethod::Cursor, after: 4, gap }));
    let expected = json!({"after": 4, "by": "cursor", "channelId": "chan-1", "gap": {"from": 5, "to": 9}});
    assert_eq!(event["payload"], expected);
}

#[test]
fn event_channel_message() {
    let data = Data::dict([("user_key", Data::from(1))]);
    let event = through_the_log(ChannelEvent::Message {
        text: "Back in 5 minutes.".into(),
        data,
        action: Some("chan-1/a".into()),
    });
    let expected = json!({"channelId": "chan-1", "data": {"user_key": 1}, "text": "Back in 5 minutes."});
    assert_eq!(event["payload"], expected);
}

#[test]
fn event_channel_permission_forwarded() {
    let event = through_the_log(ChannelEvent::PermissionForwarded(ForwardedPermission {
        request: "perm-1".into(),
        requested_by: "sess_1".into(),
        applies_to: applies_to(),
        forwarded_to: vec!["chan-1".into(), "chan-2".into()],
        reason: Some("it writes files".into()),
        covers: Data::dict([("tool", Data::from("deploy"))]),
        expires_at_ms: None,
    }));
    assert_eq!((&event["toolCallId"], &event["payload"]["forwardedTo"][1]), (&json!("call-1"), &json!("chan-2")));
    let applies_to = json!({"sessionId": "sess_1", "tool": "deploy", "toolCallId": "call-1"});
    assert_eq!(event["payload"]["appliesTo"], applies_to);
}

#[test]
fn event_channel_permission_returned() {
    for source in PermissionSource::ALL {
        let event = through_the_log(ChannelEvent::PermissionReturned(ReturnedPermission {
            request: "perm-1".into(),
            requested_by: "sess_1".into(),
            applies_to: applies_to(),
            decided_by: "chan-2".into(),
            side: PermissionSide::Remote,
            source: *source,
            scope: ReturnedScope { holds: "once".into(), channel_scoped: true, covers: Data::Nil },
            verdict: "allow_once".into(),
        }));
        let payload = &event["payload"];
        assert_eq!((&payload["decidedBy"], &payload["source"]), (&json!("chan-2"), &json!(source.as_str())));
        assert_eq!(payload["scope"], json!({"channelScoped": true, "covers": null, "holds": "once"}));
    }
}

#[test]
fn event_channel_peer_task_linked() {
    let event = through_the_log(ChannelEvent::PeerTaskLinked(link()));
    let expected = json!({
        "agentCardRef": "https://peer.example/.well-known/agent-card.json", "artifactRefs": ["artifact:local-1/a"],
        "channelId": "chan-1", "direction": "outgoing", "nativeStatus": "input-required", "parentTaskId": "call-1",
        "remoteContextId": "context-1", "remoteTaskId": "remote-1", "state": "waiting", "status": "waiting_input"
    });
    // The local id is the task of the event, and the peer's ids stay beside it.
    assert_eq!((&event["taskId"], event["payload"].clone()), (&json!("local-1"), expected));
}

#[test]
fn event_channel_peer_task_updated() {
    for state in PeerTaskState::ALL {
        let event = through_the_log(ChannelEvent::PeerTaskUpdated(PeerTaskLink { state: *state, ..link() }));
        assert_eq!(event["payload"]["state"], state.as_str());
    }
}

#[test]
fn every_kind_of_event_has_a_type_of_the_schema() {
    for kind in ChannelEventKind::ALL {
        assert!(kind.as_str().parse::<EventType>().is_ok(), "{kind}");
    }
    let types = ["PublishedType", "ExtensionType"].map(|name| SCHEMA["$defs"][name]["enum"].as_array().unwrap());
    let mut listed: Vec<&str> = types.into_iter().flatten().map(|name| name.as_str().unwrap()).collect();
    let mut ours = EventType::WORDS.to_vec();
    listed.sort_unstable();
    ours.sort_unstable();
    assert_eq!(listed, ours);
    let extensions = SCHEMA["$defs"]["ExtensionType"]["enum"].as_array().unwrap();
    for name in extensions {
        let name = name.as_str().unwrap();
        assert!(name.starts_with("channel.peer_task.") || name.starts_with("harn."), "{name}");
    }
}

#[test]
fn the_schema_rejects_events_without_required_fields_and_with_unknown_types() {
    let whole = seen(&session_record(Topic::Life, "prompted", json!({"turn_id": "turn_1"})));
    for field in ["type", "eventId", "timestamp"] {
        let mut event = whole.clone();
        event.as_object_mut().unwrap().remove(field);
        assert!(misfit(&event).is_some(), "{field}");
    }
    for (field, value) in [("type", json!("channel.flew")), ("sequence", json!(0)), ("session_id", json!("s"))] {
        let mut event = whole.clone();
        event[field] = value;
        assert!(misfit(&event).is_some(), "{field}");
    }
    let mut link = seen(&stored(link().to_record(true, 1), 1));
    link["payload"].as_object_mut().unwrap().remove("remoteTaskId");
    assert!(misfit(&link).is_some());
}

#[test]
fn records_of_a_session_become_events() {
    let call = json!({"id": "call-1", "name": "read", "arguments": {"file_name": "a"}});
    let turn = json!("turn_1");
    for (topic, word, payload, expected, content) in [
        (
            Topic::Life,
            "opened",
            json!({"protocol": "acp", "process": "p"}),
            "session.created",
            json!({"protocol": "acp"}),
        ),
        (Topic::Life, "title", json!({"title": "t"}), "session.updated", json!({"title": "t", "change": "title"})),
        (Topic::Life, "prompted", json!({"turn_id": turn}), "turn.submitted", json!({})),
        (Topic::Life, "answered", json!({"turn_id": turn, "stop": "done"}), "turn.completed", json!({"stop": "done"})),
        (
            Topic::Life,
            "answered",
            json!({"stop": "failed", "reason": "E"}),
            "turn.failed",
            json!({"stop": "failed", "reason": "E"}),
        ),
        (
            Topic::Shown,
            "user_message",
            json!({"message_id": "m", "content": [{"some_key": 1}]}),
            "harn.message",
            json!({"messageId": "m", "content": [{"some_key": 1}], "role": "user"}),
        ),
        (
            Topic::Shown,
            "text",
            json!({"message_id": "m", "text": "hi"}),
            "model.completed",
            json!({"messageId": "m", "text": "hi"}),
        ),
        (
            Topic::Shown,
            "thought",
            json!({"message_id": "m", "text": "hm"}),
            "reasoning.summary",
            json!({"messageId": "m", "text": "hm"}),
        ),
        (
            Topic::Shown,
            "data",
            json!({"message_id": "m", "data": {"a_b": 1}}),
            "model.completed",
            json!({"messageId": "m", "data": {"a_b": 1}}),
        ),
        (
            Topic::Shown,
            "tool_call",
            json!({"call": call, "annotations": null}),
            "tool.started",
            json!({"toolCallId": "call-1", "name": "read", "arguments": {"file_name": "a"}}),
        ),
        (
            Topic::Shown,
            "tool_ended",
            json!({"id": "call-1", "text": "x", "ok": true}),
            "tool.result",
            json!({"toolCallId": "call-1", "text": "x", "ok": true}),
        ),
        (
            Topic::Shown,
            "tool_ended",
            json!({"id": "call-1", "text": "x", "ok": false}),
            "tool.failed",
            json!({"toolCallId": "call-1", "text": "x", "ok": false}),
        ),
        (Topic::Shown, "plan", json!({"entries": []}), "run.status", json!({"plan": []})),
        (
            Topic::Shown,
            "question",
            json!({"message_id": "m", "text": "?"}),
            "action.required",
            json!({"messageId": "m", "text": "?", "kind": "question"}),
        ),
        (
            Topic::Shown,
            "artifact",
            json!({"message_id": "m", "name": "a", "parts": []}),
            "artifact.changed",
            json!({"messageId": "m", "name": "a", "parts": []}),
        ),
        (
            Topic::Injection,
            "delivered",
            json!({"id": "i", "at": "iteration_start"}),
            "queue.changed",
            json!({"id": "i", "at": "iteration_start", "change": "delivered"}),
        ),
        (
            Topic::Reminder,
            "fired",
            json!({"reminder_id": "r", "turn_number": 2}),
            "harn.reminder",
            json!({"reminderId": "r", "turnNumber": 2, "change": "fired"}),
        ),
        (
            Topic::Turn,
            "prompt",
            json!({"provider": "mock", "model": "m", "turn": 1, "reminders": []}),
            "model.requested",
            json!({"provider": "mock", "model": "m", "turn": 1}),
        ),
        (
            Topic::Task,
            "status",
            json!({"task_id": "t", "context_id": "c", "state": "input-required"}),
            "task.updated",
            json!({"contextId": "c", "status": "waiting_input", "nativeStatus": "input-required", "change": "status"}),
        ),
        (
            Topic::Task,
            "status",
            json!({"task_id": "t", "context_id": "c", "state": "rejected"}),
            "task.failed",
            json!({"contextId": "c", "status": "failed", "nativeStatus": "rejected", "change": "status"}),
        ),
        (
            Topic::Channel,
            "permission",
            json!({
                "request": "perm-1", "requested_by": "sess_1", "decided_by": "acp", "side": "remote", "source": "user",
                "applies_to": {"session_id": "sess_1", "tool_call_id": "call-1", "tool": "read"}, "verdict": "allow_once",
                "scope": {"holds": "once", "channel_scoped": false, "covers": null}
            }),
            "permission.resolved",
            json!({
                "request": "perm-1", "requestedBy": "sess_1", "decidedBy": "acp", "side": "remote", "source": "user",
                "appliesTo": {"sessionId": "sess_1", "toolCallId": "call-1", "tool": "read"}, "verdict": "allow_once",
                "scope": {"holds": "once", "channelScoped": false, "covers": null}
            }),
        ),
    ] {
        let event = seen(&session_record(topic, word, payload.clone()));
        assert_eq!((&event["type"], &event["payload"]), (&json!(expected), &content), "{topic} {word}");
        assert_eq!((&event["sessionId"], &event["threadId"]), (&json!("sess_1"), &json!("sess_1")));
        assert_eq!(event.get("turnId"), payload.get("turn_id"), "{topic} {word}");
        let is_of_call = payload.to_string().contains("call-1");
        assert_eq!(event.get("toolCallId").is_some(), is_of_call, "{topic} {word}");
    }
}

#[test]
fn every_change_of_a_reminder_is_an_event() {
    let changes = LifecycleKind::ALL.iter().filter(|kind| kind.topic() == Topic::Reminder);
    for kind in changes {
        let record = session_record(Topic::Reminder, kind.as_str(), json!({"reminder_id": "r"}));
        match kind {
            LifecycleKind::ProviderEvaluated => assert_eq!(EventEnvelope::of(&record), None),
            kind => assert_eq!(seen(&record)["payload"]["change"], kind.as_str()),
        }
    }
}

#[test]
fn a_sub_agent_is_a_thread_of_the_served_session() {
    let mut record = session_record(Topic::Reminder, "fired", json!({"reminder_id": "r"}));
    record.payload = record.payload.to_data().with("session_id", "sub-1".into()).into();
    let event = seen(&record);
    assert_eq!((&event["sessionId"], &event["threadId"]), (&json!("sess_1"), &json!("sub-1")));
}

#[test]
fn internal_records_are_not_events() {
    for (topic, word) in [
        (Topic::Message, "appended"),
        (Topic::State, "described"),
        (Topic::Activity, "model_began"),
        (Topic::Permission, "answered"),
        (Topic::TaskContent, "artifact"),
        (Topic::Hub, "submitted"),
        (Topic::Turn, "passed"),
        (Topic::Channel, "enrolled"),
        (Topic::Channel, "artifact"),
    ] {
        assert_eq!(EventEnvelope::of(&session_record(topic, word, json!({}))), None, "{topic} {word}");
    }
    let script = NewRecord {
        topic: "deploys".into(),
        kind: "deploys.done".into(),
        payload: Data::Nil.into(),
        headers: Data::Nil,
        occurred_at_ms: 1,
    };
    assert_eq!(EventEnvelope::of(&stored(script, 1)), None);
    assert_eq!(EventEnvelope::of(&stored(identity().to_record(1), 1)), None);
}

#[test]
fn an_event_depends_on_its_record_alone() {
    let record = session_record(Topic::Shown, "text", json!({"message_id": "m", "text": "hi"}));
    let again = Record { payload: record.payload.to_data().into(), ..record.clone() };
    assert_eq!(EventEnvelope::of(&record).unwrap().to_json(), EventEnvelope::of(&again).unwrap().to_json());
    assert_eq!(&*EventEnvelope::of(&record).unwrap().event_id, "evt_7");
}

#[test]
fn transient_events_and_gaps_are_events_too() {
    let session: Arc<str> = "sess_1".into();
    let piece = Data::dict([("messageId", Data::from("m")), ("text", "h".into())]);
    let delta = EventEnvelope::transient(EventType::ModelDelta, &session, piece, 1);
    let delta: Value = serde_json::from_str(&delta.to_json()).unwrap();
    assert_eq!((misfit(&delta), delta.get("sequence")), (None, None));
    let repaired = EventEnvelope::repaired(&session, EventGap { from: 3, to: 9 }, 1);
    let repaired: Value = serde_json::from_str(&repaired.to_json()).unwrap();
    assert_eq!(misfit(&repaired), None);
    assert_eq!((&repaired["sequence"], &repaired["payload"]), (&json!(9), &json!({"from": 3, "to": 9})));
}

#[test]
fn identities_and_acknowledgements_are_read_as_they_were_written() {
    let record = stored(identity().to_record(1), 1);
    assert_eq!(ChannelIdentity::read(&record), Some(Ok(identity())));
    let fields = record.payload.to_data();
    let fields: Vec<_> = fields.as_dict().unwrap().keys().map(ToString::to_string).collect();
    let expected = [
        "account_ref",
        "capabilities",
        "channel_id",
        "last_seen_at",
        "native_protocol",
        "peer_role",
        "resume_token_ref",
        "transport",
    ];
    assert_eq!(fields, expected);
    let ack = ChannelAcknowledgement { channel_id: "chan-1".into(), session_id: Some("sess_1".into()), cursor: 7 };
    let record = stored(ack.to_record(1), 1);
    assert_eq!(ChannelAcknowledgement::read(&record), Some(Ok(ack)));
    assert_eq!((ChannelIdentity::read(&record), RecordedChannelEvent::read(&record)), (None, None));
    let mut broken = record.clone();
    broken.payload = Data::Nil.into();
    assert!(ChannelAcknowledgement::read(&broken).unwrap().is_err());
}
