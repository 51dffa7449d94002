use std::sync::LazyLock;

use boon::{Compiler, Schemas};
use runtime::reminder::expectation::JudgedBy;
use runtime::reminder::{ExpireReason, Reminder, ReminderSource, ReminderSpec};

use super::reminder::NO_CHANGE;
use super::*;
use crate::host::{Part, ReminderEvent, TaskArtifact};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/schemas/acp.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
});

/// Returns the error of a value against one of the crate's schemas.
fn misfit(name: &str, value: &Value) -> Option<String> {
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler.add_resource("mem:acp", SCHEMA.clone()).unwrap();
    let index = compiler.compile(&format!("mem:acp#/$defs/{name}"), &mut schemas).unwrap();
    schemas.validate(value, index).err().map(|error| format!("{error:#}"))
}

fn holds(name: &str, value: &Value) {
    assert_eq!(misfit(name, value), None, "{name}: {value:#}");
}

fn updates(wants: WantedUpdates) -> UpdateConverter {
    UpdateConverter::new("sess_1".into(), "/home/me/project".into(), wants)
}

fn reminder() -> Reminder {
    let spec = ReminderSpec {
        tags: vec!["workspace".into()],
        dedupe_key: Some("deps".into()),
        ttl_turns: Some(2),
        ..ReminderSpec::new("Dependencies changed.")
    };
    let producer = Some("workspace_guard".into());
    Reminder { producer, ..spec.into_reminder("r2".into(), ReminderSource::StdlibProvider, 3) }
}

fn reminder_events() -> Vec<ReminderEvent> {
    let emitted = |reminder: Reminder| ReminderEvent::Emitted { reminder: Arc::new(reminder), turn: 4 };
    let bare = ReminderSpec::new("Said once.").into_reminder("r3".into(), ReminderSource::Bridge, 0);
    let inherited = Reminder {
        originating_agent_id: Some("parent".into()),
        ..ReminderSpec::new("b").into_reminder("r4".into(), ReminderSource::Inherited, 1)
    };
    let expired = |reason, turn| ReminderEvent::Expired { reminder_id: "r2".into(), reason, turn };
    vec![
        emitted(reminder()),
        emitted(bare),
        emitted(inherited),
        ReminderEvent::Deduped {
            reminder_id: "r2".into(),
            dedupe_key: "deps".into(),
            dropped_ids: vec!["r0".into(), "r1".into()],
        },
        expired(ExpireReason::Ttl, Some(4)),
        expired(ExpireReason::Compaction, Some(5)),
        expired(ExpireReason::Cleared, None),
        ReminderEvent::Judged { reminder_id: "r2".into(), heeded: true, judged_by: JudgedBy::Judge, turn: 4 },
        ReminderEvent::Judged { reminder_id: "r2".into(), heeded: false, judged_by: JudgedBy::Function, turn: 5 },
    ]
}

/// Returns one event of each kind except reminders.
fn other_events() -> Vec<SessionEvent> {
    let call = ToolCall::new("c1", "edit_file", Data::from_json(r#"{"path":"a.rs","old":"x","new":"y"}"#).unwrap());
    let text = |text: &str| SessionEvent::Text { message_id: "m1".into(), text: text.into() };
    let blocks =
        r#"[{"type":"text","text":"look"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"x"}]"#;
    let file = |mime: Option<&str>, bytes: Option<&str>, uri: Option<&str>| Part::File {
        name: Some("f".into()),
        mime_type: mime.map(Into::into),
        bytes: bytes.map(Into::into),
        uri: uri.map(Into::into),
    };
    let parts = vec![
        Part::Text("t".into()),
        Part::Data(Data::dict([("a", Data::from(1))])),
        file(Some("image/png"), Some("aGk="), None),
        file(Some("audio/wav"), Some("aGk="), None),
        file(Some("application/pdf"), Some("aGk="), None),
        file(None, None, Some("file:///a")),
    ];
    let usage = Usage { input_tokens: 90, output_tokens: 10, cost_nano_usd: Some(5_000_000), ..Usage::default() };
    let entry = |priority, status| PlanEntry { content: "do it".into(), priority, status };
    vec![
        SessionEvent::UserMessage { message_id: "u1".into(), content: Data::from_json(blocks).unwrap() },
        SessionEvent::UserMessage { message_id: "u2".into(), content: "hello".into() },
        SessionEvent::Thought { message_id: "m1".into(), text: "hm".into() },
        text("hi"),
        SessionEvent::ToolCall { call, annotations: Data::Nil },
        SessionEvent::ToolBegan { id: "c1".into() },
        SessionEvent::ToolEnded { id: "c1".into(), text: "replaced".into(), value: "replaced".into(), ok: true },
        SessionEvent::Plan(vec![
            entry(Priority::High, Progress::Pending),
            entry(Priority::Medium, Progress::InProgress),
            entry(Priority::Low, Progress::Completed),
        ]),
        SessionEvent::Usage { call: usage, context_window: Some(1000) },
        SessionEvent::Mode("plan".into()),
        SessionEvent::Title("Fixing it".into()),
        SessionEvent::Status { message_id: "s1".into(), text: "reading".into(), partial: Data::Nil },
        SessionEvent::Artifact {
            message_id: "a1".into(),
            made: TaskArtifact { name: "report".into(), parts, last_chunk: true, ..TaskArtifact::default() },
        },
        SessionEvent::Question { message_id: "q1".into(), text: "which?".into() },
    ]
}

#[test]
fn each_reminder_event_is_one_frame() {
    for event in reminder_events() {
        let frames =
            updates(WantedUpdates { reminders: true, notices: false }).frames(SessionEvent::Reminder(event.clone()));
        let [asked] = frames.as_slice() else { panic!("{frames:?}") };
        assert_eq!(asked.method, "session/update");
        if !matches!(event, ReminderEvent::Judged { .. }) {
            holds("SessionNotification", &asked.params);
        }
        let update = asked.params["update"].as_object().unwrap();
        let meta = update["_meta"]["harn"]["reminder"].as_object().unwrap();
        assert!(meta.keys().all(|key| !update.contains_key(key)), "no field twice: {update:?}");

        let frames = updates(WantedUpdates::default()).frames(SessionEvent::Reminder(event));
        let [silent] = frames.as_slice() else { panic!("{frames:?}") };
        let known: acp::SessionNotification = serde_json::from_value(silent.params.clone()).unwrap();
        assert_eq!(serde_json::to_value(known).unwrap(), silent.params, "the protocol knows all of it");
        let told = silent.params["update"].as_object().unwrap();
        assert_eq!((silent.method, told.len(), &told["sessionUpdate"]), ("session/update", 2, &NO_CHANGE.into()));
        holds("Meta", &told["_meta"]);
        // All fields that the other client reads in two places.
        let mut all = update.clone();
        all.retain(|key, _| key != "sessionUpdate" && key != "_meta");
        all.extend(meta.clone());
        assert_eq!(told["_meta"], json!({"harn": {"reminder": all}}));
    }
}

#[test]
fn the_schemas_refuse_what_is_wrong() {
    let event = reminder_events().remove(0);
    let frames = updates(WantedUpdates { reminders: true, notices: false }).frames(SessionEvent::Reminder(event));
    for (field, wrong) in [
        ("reminderId", Value::Null),
        ("source", "bridge_json".into()),
        ("dedupeKey", 3.into()),
        ("firedAtTurn", "4".into()),
        ("dedupe_key", "k".into()),
        ("_meta", json!({"harn": {"reminder": {"event": "gone"}}})),
    ] {
        let mut update = frames[0].params["update"].clone();
        update[field] = wrong;
        assert!(misfit("ReminderEmitted", &update).is_some(), "{field}");
    }
}

#[test]
fn a_reminder_is_told_field_by_field() {
    let frames = updates(WantedUpdates { reminders: true, notices: false })
        .frames(SessionEvent::Reminder(reminder_events().remove(0)));
    let told = json!({
        "reminderId": "r2", "body": "Dependencies changed.", "tags": ["workspace"], "dedupeKey": "deps",
        "source": "provider", "providerId": "workspace_guard", "firedAtTurn": 3,
    });
    let mut update = frames[0].params["update"].clone();
    let meta = update.as_object_mut().unwrap().remove("_meta").unwrap();
    assert_eq!(update.as_object_mut().unwrap().remove("sessionUpdate"), Some("reminder_emitted".into()));
    assert_eq!(update, told);
    let more = json!({
        "event": "emitted", "turn": 4, "ttlTurns": 2, "preserveOnCompact": false, "propagate": "session",
        "roleHint": "system",
    });
    assert_eq!(meta, json!({"harn": {"reminder": more}}));
}

/// Checks that a user's chunk has only the user's text, whatever was reported on reminders before it.
#[test]
fn no_reminder_is_told_as_words_of_the_user() {
    for wants in [WantedUpdates::default(), WantedUpdates { reminders: true, notices: true }] {
        let mut session = updates(wants);
        let mut frames = Vec::new();
        for event in reminder_events() {
            frames.extend(session.frames(SessionEvent::Reminder(event)));
        }
        for frame in &frames {
            assert_ne!(frame.params["update"]["sessionUpdate"], "user_message_chunk");
        }
        let said = session.frames(SessionEvent::UserMessage { message_id: "u".into(), content: "hello".into() });
        assert_eq!(said[0].params["update"]["content"], json!({"type": "text", "text": "hello"}));
        assert_eq!(said[0].params["update"].as_object().unwrap().len(), 3, "{said:?}");
        let next = session.frames(SessionEvent::Text { message_id: "m".into(), text: "hi".into() });
        assert_eq!(next[0].params["update"].get("_meta"), None, "it is told once");
    }
}

#[test]
fn every_other_event_is_an_update_that_the_protocol_knows() {
    for wants in [WantedUpdates::default(), WantedUpdates { reminders: false, notices: true }] {
        let mut session = updates(wants);
        for event in other_events() {
            let frames = session.frames(event.clone());
            assert!(!frames.is_empty(), "{event:?}");
            for UpdateNotification { method, params } in frames {
                assert_eq!((method, &params["sessionId"]), ("session/update", &"sess_1".into()));
                let known: acp::SessionNotification = serde_json::from_value(params.clone()).unwrap();
                // The protocol's types drop no field.
                assert_eq!(serde_json::to_value(known).unwrap(), params);
                if let Some(meta) = params["update"].get("_meta") {
                    holds("Meta", meta);
                }
            }
        }
    }
}

#[test]
fn a_status_is_a_notice_to_who_shows_notices() {
    let kind = |wants| {
        let frames = updates(wants).frames(SessionEvent::Status {
            message_id: "s1".into(),
            text: "reading".into(),
            partial: Data::Nil,
        });
        frames[0].params["update"]["sessionUpdate"].as_str().unwrap().to_owned()
    };
    assert_eq!(kind(WantedUpdates { reminders: false, notices: true }), "notice");
    assert_eq!(kind(WantedUpdates::default()), "agent_message_chunk");
}

#[test]
fn a_client_says_what_it_wants() {
    let client = |json: Value| serde_json::from_value::<acp::ClientCapabilities>(json).unwrap();
    let asked = client(json!({"_meta": {"harn": {"reminders": true}}, "session": {"notices": {}}}));
    let silent = client(json!({"_meta": {"harn": {"reminders": "yes"}}}));
    let of = |client, said| WantedUpdates::of(client, said).reminders;
    assert_eq!(WantedUpdates::of(&asked, ReminderUpdates::Asked), WantedUpdates { reminders: true, notices: true });
    assert_eq!(WantedUpdates::of(&silent, ReminderUpdates::Asked), WantedUpdates::default());
    assert!(of(&silent, ReminderUpdates::Always) && !of(&asked, ReminderUpdates::Never));
}

fn call(name: &str, arguments: &str, annotations: &str) -> Value {
    let call = ToolCall::new("c", name, Data::from_json(arguments).unwrap());
    let annotations = Data::from_json(annotations).unwrap();
    let frames = updates(WantedUpdates::default()).frames(SessionEvent::ToolCall { call, annotations });
    frames[0].params["update"].clone()
}

#[test]
fn a_call_has_a_title_a_kind_and_places() {
    let read = call("read_file", r#"{"path":"src/../a.rs","first_line":7}"#, r#"{"read_only":true}"#);
    assert_eq!((&read["title"], &read["kind"]), (&"read_file: src/../a.rs".into(), &"read".into()));
    assert_eq!(read["locations"], json!([{"path": "/home/me/project/a.rs", "line": 7}]));
    assert_eq!(read["rawInput"], json!({"path": "src/../a.rs", "first_line": 7}));

    let own = r#"{"title":"Move","kind":"move","locations":["from","to"],"root":"sub"}"#;
    let moved = call("mv", r#"{"from":"a","to":"/b"}"#, own);
    assert_eq!((&moved["title"], &moved["kind"]), (&"Move".into(), &"move".into()));
    assert_eq!(moved["locations"], json!([{"path": "/home/me/project/sub/a"}, {"path": "/b"}]));

    let long = call("shell", &format!(r#"{{"command":"{}\nsecond"}}"#, "é".repeat(100)), r#"{"kind":"nonsense"}"#);
    assert_eq!(long["title"], format!("shell: {}…", "é".repeat(80)));
    assert_eq!(long.get("kind"), None, "a kind that is none");
    assert_eq!(call("look", "{}", r#"{"readOnlyHint":true}"#)["kind"], "read");
    // The model wrote invalid JSON.
    let broken = call("look", r#""{oh""#, "null");
    assert_eq!((&broken["rawInput"], &broken["title"]), (&"{oh".into(), &"look".into()));
}

#[test]
fn an_edit_shows_its_change_until_it_fails() {
    let edit = call("edit_file", r#"{"path":"a.rs","old":"x","new":"y"}"#, "null");
    let diff = json!([{"type": "diff", "path": "/home/me/project/a.rs", "oldText": "x", "newText": "y"}]);
    assert_eq!(edit["content"], diff);
    let write = call("put", r#"{"path":"a.rs","content":"z"}"#, r#"{"kind":"edit"}"#);
    assert_eq!(write["content"], json!([{"type": "diff", "path": "/home/me/project/a.rs", "newText": "z"}]));
    assert_eq!(call("put", r#"{"path":"a.rs","content":"z"}"#, "null").get("content"), None);

    for (ok, content) in
        [(true, Value::Null), (false, json!([{"type": "content", "content": {"type": "text", "text": "no"}}]))]
    {
        let mut session = updates(WantedUpdates::default());
        session.frames(other_events().remove(4));
        let ended = SessionEvent::ToolEnded { id: "c1".into(), text: "no".into(), value: Data::Nil, ok };
        let update = session.frames(ended)[0].params["update"].clone();
        assert_eq!((&update["content"], &update["rawOutput"]), (&content, &json!({"text": "no"})));
        assert_eq!(update["status"], if ok { "completed" } else { "failed" });
    }
}

#[test]
fn the_raw_output_is_an_object_whatever_a_tool_returns() {
    for (value, expected) in [
        ("null", json!({"text": "t"})),
        (r#""t""#, json!({"text": "t"})),
        (r#""other""#, json!({"value": "other"})),
        ("7", json!({"value": 7})),
        ("[1]", json!({"value": [1]})),
        (r#"{"a":1}"#, json!({"a": 1})),
    ] {
        let ended = SessionEvent::ToolEnded {
            id: "c".into(),
            text: "t".into(),
            value: Data::from_json(value).unwrap(),
            ok: true,
        };
        let update = updates(WantedUpdates::default()).frames(ended)[0].params["update"].clone();
        assert_eq!(update["rawOutput"], expected, "{value}");
    }
}

#[test]
fn a_call_with_an_id_that_has_come_before_is_another_call() {
    let mut session = updates(WantedUpdates::default());
    let mut ids = Vec::new();
    for _ in 0..2 {
        let begun = SessionEvent::ToolCall { call: ToolCall::new("call_1", "t", Data::Nil), annotations: Data::Nil };
        let ended = SessionEvent::ToolEnded { id: "call_1".into(), text: "t".into(), value: Data::Nil, ok: true };
        for event in [begun, SessionEvent::ToolBegan { id: "call_1".into() }, ended] {
            ids.push(session.frames(event)[0].params["update"]["toolCallId"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(ids, ["call_1", "call_1", "call_1", "call_1#2", "call_1#2", "call_1#2"]);
}

#[test]
fn only_so_many_ids_of_calls_are_remembered() {
    let mut updates = updates(WantedUpdates::default());
    for n in 0..=super::MAX_CALL_IDS {
        let call = ToolCall::new(format!("call_{n}"), "read_file", Data::empty_dict());
        updates.frames(SessionEvent::ToolCall { call, annotations: Data::Nil });
    }
    assert_eq!((updates.calls.len(), updates.call_ids.len()), (super::MAX_CALL_IDS, super::MAX_CALL_IDS));
    assert!(!updates.calls.contains_key("call_0") && updates.calls.contains_key("call_1"));
}

#[test]
fn data_that_nests_deep_is_told_as_text_alone() {
    let mut deep = Data::Nil;
    for _ in 0..200 {
        deep = Data::list([deep]);
    }
    let ended = SessionEvent::ToolEnded { id: "c".into(), text: "[[…]]".into(), value: deep, ok: true };
    let update = updates(WantedUpdates::default()).frames(ended)[0].params["update"].clone();
    assert_eq!(update.get("rawOutput"), None);
    assert_eq!(update["content"][0]["content"]["text"], "[[…]]");
}

#[test]
fn usage_adds_up_while_prices_are_known() {
    let mut session = updates(WantedUpdates::default());
    let mut ask = |cost_nano_usd, context_window| {
        let call = Usage { input_tokens: 90, output_tokens: 10, cost_nano_usd, ..Usage::default() };
        session.frames(SessionEvent::Usage { call, context_window }).pop().map(|frame| frame.params["update"].clone())
    };
    assert_eq!(ask(Some(1_000_000_000), None), None);
    let known = ask(Some(500_000_000), Some(1000)).unwrap();
    assert_eq!((&known["used"], &known["size"]), (&100.into(), &1000.into()));
    assert_eq!(known["cost"], json!({"amount": 1.5, "currency": "USD"}));
    assert_eq!(ask(None, Some(1000)).unwrap().get("cost"), None);
    assert_eq!(ask(Some(1), Some(1000)).unwrap().get("cost"), None);
}
