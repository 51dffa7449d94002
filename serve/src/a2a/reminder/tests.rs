use std::sync::Arc;

use a2a::{Frame, Message, Part, Role, Status, StatusUpdate, TaskState};
use base::data::Data;
use runtime::reminder::expectation::JudgedBy;
use runtime::reminder::{ExpireReason, ReminderSource, ReminderSpec};

use super::*;

fn emitted() -> ReminderEvent {
    let spec = ReminderSpec {
        tags: vec!["upstream".into()],
        dedupe_key: Some("upstream:pr-1234".into()),
        ttl_turns: Some(2),
        ..ReminderSpec::new("Rebase.")
    };
    let reminder = Arc::new(spec.into_reminder("r1".into(), ReminderSource::Bridge, 4));
    ReminderEvent::Emitted { reminder, turn: 5 }
}

fn reminded(event: ReminderEvent) -> PeerReminderEvent {
    let metadata = Data::dict([("origin", Data::from("workflow"))]);
    PeerReminderEvent { event, echo: Some(PeerEcho { source: Some("coordinator-agent".into()), metadata }) }
}

/// Returns the format of a stream that has received the task's status.
fn spelling(notifies: bool) -> ReminderFormat {
    let mut spelling = ReminderFormat::new(notifies);
    let said = Message::new(Role::Agent, "m", vec![Part::text("I am at it.")]);
    spelling.saw(&Frame::Status(StatusUpdate {
        task_id: "t".into(),
        context_id: "c".into(),
        status: Status { state: TaskState::Working, message: Some(said.into()), at_ms: Some(1) },
        metadata: Data::Nil,
    }));
    spelling
}

fn report(notifies: bool, reminded: &PeerReminderEvent) -> Data {
    match spelling(notifies).spell(reminded) {
        Some(ReminderReport::Notification(notification)) => notification,
        Some(ReminderReport::Frame(Frame::Status(update))) => {
            assert_eq!((update.status.state, update.status.message), (TaskState::Working, None));
            update.metadata
        }
        other => panic!("{other:?}"),
    }
}

fn json(text: &str) -> Data {
    Data::from_json(text).unwrap()
}

#[test]
fn the_notification_is_the_drafts() {
    let expected = json(
        r#"{"jsonrpc": "2.0", "method": "tasks/reminderEmitted", "params": {"taskId": "t",
        "reminder": {"id": "r1", "body": "Rebase.", "tags": ["upstream"], "dedupeKey": "upstream:pr-1234",
            "source": "coordinator-agent", "firedAtTurn": 4},
        "metadata": {"origin": "workflow", "harn.reminder": {"ttlTurns": 2, "preserveOnCompact": false,
            "propagate": "session", "roleHint": "system", "turn": 5}}}}"#,
    );
    assert_eq!(report(true, &reminded(emitted())), expected);
}

#[test]
fn others_are_told_in_the_metadata_of_a_status() {
    let expected = json(
        r#"{"harn.reminder": {"event": "emitted", "id": "r1", "body": "Rebase.", "tags": ["upstream"],
        "dedupeKey": "upstream:pr-1234", "source": "coordinator-agent", "firedAtTurn": 4, "ttlTurns": 2,
        "preserveOnCompact": false, "propagate": "session", "roleHint": "system", "turn": 5,
        "metadata": {"origin": "workflow"}}}"#,
    );
    assert_eq!(report(false, &reminded(emitted())), expected);
}

#[test]
fn what_nobody_put_in_has_the_source_of_the_wires_table() {
    let ReminderEvent::Emitted { reminder, .. } = emitted() else { unreachable!() };
    for (source, word) in [
        (ReminderSource::StdlibProvider, "provider"),
        (ReminderSource::InPipeline, "bridge"),
        (ReminderSource::Hook, "hook"),
    ] {
        let reminder =
            Arc::new(runtime::reminder::Reminder { source, producer: Some("p".into()), ..(*reminder).clone() });
        let event = ReminderEvent::Emitted { reminder, turn: 1 };
        let report = report(false, &PeerReminderEvent { event, echo: None });
        assert_eq!(report.get("harn.reminder").get("source").as_str(), Some(word));
        assert_eq!(report.get("harn.reminder").get("providerId").as_str(), Some("p"));
    }
}

#[test]
fn the_end_of_a_reminder_is_told_in_the_words_of_the_wire() {
    let deduped =
        ReminderEvent::Deduped { reminder_id: "new".into(), dedupe_key: "k".into(), dropped_ids: vec!["old".into()] };
    let report_of = |event, notifies| report(notifies, &PeerReminderEvent { event, echo: None });
    let notification = report_of(deduped, true);
    assert_eq!(notification.get("method").as_str(), Some("tasks/reminderDeduped"));
    assert_eq!(
        notification.at("params.reminder"),
        &json(r#"{"id": "new", "dedupeKey": "k", "droppedReminderIds": ["old"]}"#)
    );
    for (reason, phase) in [
        (ExpireReason::Ttl, "ttl_expired"),
        (ExpireReason::Cleared, "cleared"),
        (ExpireReason::Compaction, "compacted_out"),
    ] {
        let expired = ReminderEvent::Expired { reminder_id: "r".into(), reason, turn: Some(3) };
        let notification = report_of(expired.clone(), true);
        assert_eq!(notification.get("method").as_str(), Some("tasks/reminderExpired"));
        let expected = json(&format!(r#"{{"id": "r", "phase": "{phase}", "expiredAtTurn": 3}}"#));
        assert_eq!(notification.at("params.reminder"), &expected);
        assert_eq!(report_of(expired, false).get("harn.reminder").get("event").as_str(), Some("expired"));
    }
}

#[test]
fn a_verdict_is_reported_without_the_reason_of_a_judge() {
    for (heeded, method, word) in
        [(true, "tasks/reminderHeeded", "heeded"), (false, "tasks/reminderIgnored", "ignored")]
    {
        let event = ReminderEvent::Judged { reminder_id: "r".into(), heeded, judged_by: JudgedBy::Judge, turn: 2 };
        let report_of = |notifies| report(notifies, &PeerReminderEvent { event: event.clone(), echo: None });
        assert_eq!(report_of(true).get("method").as_str(), Some(method));
        assert_eq!(report_of(true).at("params.reminder"), &json(r#"{"id": "r", "turn": 2, "judgedBy": "judge"}"#));
        assert_eq!(
            report_of(false).get("harn.reminder"),
            &json(&format!(r#"{{"event": "{word}", "id": "r", "turn": 2, "judgedBy": "judge"}}"#))
        );
    }
}

#[test]
fn nothing_is_told_before_the_first_frame() {
    assert_eq!(ReminderFormat::new(true).spell(&reminded(emitted())), None);
}
