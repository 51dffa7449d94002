//! Answers of handlers.

use super::*;

fn read(kind: EventKind, json: &str) -> Verdict {
    Verdict::from_data(kind, &Data::from_json(json).unwrap())
}

#[test]
fn all_four_shapes_of_effects_are_read() {
    for json in [
        r#"{"reminder":{"body":"x"}}"#,
        r#"{"effects":[{"body":"x"}]}"#,
        r#"[{"reminder":{"body":"x"}}]"#,
        r#"[{"body":"x"}]"#,
        r#"{"body":"x"}"#,
    ] {
        let verdict = read(EventKind::PostToolUse, json);
        assert_eq!(verdict.effects, [ReminderSpec::new("x")], "{json}");
        assert_eq!((verdict.decision, verdict.malformed), (Decision::Allow, vec![]), "{json}");
        let effects = read_effects(&Data::from_json(json).unwrap());
        assert_eq!((effects.specs, effects.malformed), (vec![ReminderSpec::new("x")], vec![]), "{json}");
    }
}

#[test]
fn decisions_are_read_beside_reminders() {
    let deny = read(EventKind::PreToolUse, r#"{"reminder":{"body":"x","ttl":1},"then":{"deny":"no"}}"#);
    assert_eq!(deny.decision, Decision::Block { reason: "no".into() });
    assert_eq!(deny.malformed[0].field, "reminder.ttl");
    assert_eq!(
        read(EventKind::PreToolUse, r#"{"args":{"a":1}}"#).decision,
        Decision::Modify(Data::dict([("a", 1.into())]))
    );
    assert_eq!(read(EventKind::PostToolUse, r#""short""#).decision, Decision::Modify("short".into()));
    for json in ["false", r#"{"block":true,"reason":"r"}"#, r#"{"decision":"deny"}"#] {
        assert!(matches!(read(EventKind::UserPromptSubmit, json).decision, Decision::Block { .. }), "{json}");
    }
    assert_eq!(read(EventKind::PostTurn, "null"), Verdict::allow());
}

#[test]
fn a_decision_beside_a_reminder_counts() {
    for json in [
        r#"{"reminder":{"body":"x"},"deny":"no"}"#,
        r#"{"reminder":{"body":"x"},"decision":"deny","reason":"no"}"#,
        r#"{"reminder":{"body":"x"},"block":true,"reason":"no"}"#,
        r#"{"reminder":{"body":"x"},"then":{"deny":"no"}}"#,
        r#"{"reminder":{"body":"x"},"then":{"deny":"no"},"decision":"allow"}"#,
        r#"{"effects":[{"body":"x"}],"then":{"deny":"no"}}"#,
        r#"{"effects":[{"reminder":{"body":"x"},"deny":"no"}]}"#,
        r#"[{"reminder":{"body":"x"}},{"deny":"no"}]"#,
    ] {
        let verdict = read(EventKind::PreToolUse, json);
        assert_eq!(verdict.decision, Decision::Block { reason: "no".into() }, "{json}");
        assert_eq!((verdict.effects.len(), verdict.malformed), (1, vec![]), "{json}");
    }
    let changed = read(EventKind::PreToolUse, r#"{"reminder":{"body":"x"},"args":{"a":1}}"#);
    assert_eq!(changed.decision, Decision::Modify(Data::dict([("a", 1.into())])));
}

#[test]
fn an_answer_that_is_no_decision_is_no_consent() {
    for json in [
        r#"{"dney":"no"}"#,
        r#"{"reminder":{"body":"x"},"dney":"no"}"#,
        r#"{"effects":[{"body":"x"}],"blok":true}"#,
        r#"{"effects":[{"blok":true}]}"#,
        r#"{"body":"x","blok":true}"#,
        r#"{"reminder":{"body":"x"},"then":{"dney":"no"}}"#,
        r#"{"decision":"dney"}"#,
        r#"{"decision":3}"#,
        r#"{"reason":"because"}"#,
        r#"[{"blok":true}]"#,
        r#""no""#,
        "3",
    ] {
        for kind in [EventKind::PreToolUse, EventKind::UserPromptSubmit] {
            let verdict = read(kind, json);
            assert!(matches!(verdict.decision, Decision::Block { .. }), "{kind} {json}: {verdict:?}");
            assert!(!verdict.malformed.is_empty(), "{kind} {json}");
        }
        // Compaction goes on, but the handler's author is notified.
        let verdict = read(EventKind::PreCompact, json);
        assert_eq!((verdict.decision, verdict.malformed.is_empty()), (Decision::Allow, false), "{json}");
    }
    for json in
        [r#"{"deny":null}"#, r#"{"block":false,"reason":"r"}"#, "{}", r#"{"reminder":{"body":"x"},"then":null}"#]
    {
        let verdict = read(EventKind::PreToolUse, json);
        assert_eq!((verdict.decision, verdict.malformed), (Decision::Allow, vec![]), "{json}");
    }
    // A malformed reminder alone decides nothing.
    let verdict = read(EventKind::PreToolUse, r#"{"reminder":{"bdy":"x"}}"#);
    assert_eq!((verdict.decision, verdict.malformed.len()), (Decision::Allow, 1));
    let suggested = read(EventKind::PreToolUse, r#"{"reminder":{"body":"x"},"dney":"no"}"#).malformed;
    assert_eq!(suggested[0].suggestion.as_deref(), Some("deny"));
}

#[test]
fn a_providers_good_reminders_survive_a_bad_one() {
    let effects = read_effects(&Data::from_json(r#"[{"body":"a"},{"bdy":"b"},{"reminder":{"body":"c"}}]"#).unwrap());
    assert_eq!(effects.specs, [ReminderSpec::new("a"), ReminderSpec::new("c")]);
    assert_eq!(effects.malformed[0].field, "1.bdy");
    let effects = read_effects(&Data::from_json(r#"{"reminder":{"body":""}}"#).unwrap());
    assert_eq!(effects.malformed[0].field, "reminder.body");
}

#[test]
fn worker_events_refuse_reminders() {
    let verdict = read(EventKind::WorkerResumed, r#"{"reminder":{"body":"x"}}"#);
    assert_eq!(verdict.malformed[0].code, ReminderCode::HookEvent);
    assert!(verdict.effects.is_empty());
    assert_eq!(read(EventKind::WorkerResumed, r#"{"noted":true}"#), Verdict::allow());
}

#[test]
fn an_answer_by_chance_is_one_mistake() {
    let verdict = read(EventKind::PostTurn, r#"{"status":"queued","count":1}"#);
    assert_eq!(verdict.malformed.len(), 1);
    assert!(verdict.malformed[0].help.as_deref().unwrap().contains("with `nil`"));
    let guard = read(EventKind::PreToolUse, r#"{"status":"queued","count":1}"#);
    assert!(matches!(guard.decision, Decision::Block { .. }));
}

#[test]
fn a_misspelt_reminder_is_not_swallowed() {
    assert_eq!(read(EventKind::PostTurn, r#"{"bdy":"x"}"#).malformed[0].suggestion.as_deref(), Some("body"));
    assert_eq!(read(EventKind::PostTurn, "3").malformed.len(), 1);
    assert_eq!(read(EventKind::PreToolUse, r#"{"decision":"dney"}"#).malformed[0].field, "decision");
}

#[test]
fn a_handler_clears_by_selector() {
    let verdict =
        read(EventKind::PostTurn, r#"[{"clear":{"tag":"a"}},{"clear":{"dedupe_key":"k"},"reminder":{"body":"x"}}]"#);
    assert_eq!((verdict.clears.len(), verdict.effects.len(), verdict.malformed.len()), (2, 1, 0));
    assert_eq!(verdict.clears[0].tag.as_deref(), Some("a"));
    let verdict = read(EventKind::PreToolUse, r#"{"clear":{"tag":"a"},"deny":"no"}"#);
    assert!(matches!(verdict.decision, Decision::Block { .. }) && verdict.clears.len() == 1);
    for json in [r#"{"clear":{}}"#, r#"{"clear":{"tagg":"a"}}"#, r#"{"clear":"a"}"#] {
        let verdict = read(EventKind::PostTurn, json);
        assert_eq!((verdict.clears.len(), verdict.malformed.len()), (0, 1), "{json}");
    }
    let verdict = read(EventKind::WorkerResumed, r#"{"clear":{"tag":"a"}}"#);
    assert_eq!((verdict.clears.len(), verdict.malformed[0].code), (0, ReminderCode::HookEvent));
}
