use std::rc::Rc;

use base::clock::ManualClock;
use eventlog::MemoryLog;

use crate::message::Message;
use crate::reminder::bridge::{DeliveryMode, QueueError, RemindPayload, Seam};
use crate::reminder::{ReminderSource, ReminderSpec};
use crate::scope::Scope;

use super::*;

fn bench() -> (Sessions, Scope, MemoryLog) {
    let log = MemoryLog::new();
    (Sessions::new(7), Scope::new(Rc::new(ManualClock::new(5)), Rc::new(log.clone())), log)
}

/// Returns each record as `session:word`.
fn told(log: &MemoryLog) -> Vec<String> {
    let word = |kind: &str| kind.rsplit('.').next().unwrap_or_default().to_owned();
    log.records().iter().map(|r| format!("{}:{}", r.payload.get("session_id").to_text(), word(&r.kind))).collect()
}

fn inject(session: &Session, scope: &Scope, body: &str) {
    session.inject_reminder(scope, ReminderSpec::new(body), ReminderSource::InPipeline, None);
}

#[test]
fn opening_twice_gives_the_same_session() {
    let (sessions, _, _) = bench();
    assert!(Rc::ptr_eq(&sessions.open(Some("a"), 1), &sessions.open(Some("a"), 2)));
    assert_ne!(sessions.open(None, 1).id(), sessions.open(None, 1).id());
    assert_eq!(sessions.get("b").unwrap_err().to_string(), "unknown session id 'b'");
    assert!(sessions.snapshot("b").is_nil());
}

#[test]
fn ids_follow_from_seed_and_name_however_sessions_interleave() {
    let draw = |first: &str, second: &str| {
        let (sessions, scope, _) = bench();
        for name in [first, second] {
            inject(&sessions.open(Some(name), 5), &scope, "x");
        }
        ["a", "b"].map(|name| sessions.get(name).unwrap().transcript().pending().next().unwrap().reminder.id.clone())
    };
    assert_eq!(draw("a", "b"), draw("b", "a"));
}

#[test]
fn an_anchor_is_checked() {
    let (sessions, _, _) = bench();
    sessions.open(Some("a"), 1);
    let set = |json: &str| sessions.set_workspace_anchor("a", &Data::from_json(json).unwrap());
    assert_eq!(set(r#"{"primary":"src","additional_roots":[{"path":"docs","mount_mode":"read"}]}"#), Ok(()));
    assert!(set(r#"{"primary":1}"#).unwrap_err().to_string().ends_with("`primary` must be a path, got int"));
    assert!(set(r#"{"primary":"src","additional_roots":[{}]}"#).is_err());
    assert_eq!(sessions.snapshot("a").at("workspace_anchor.primary").as_str(), Some("src"));
}

#[test]
fn a_fork_takes_reminders_along_and_goes_its_own_way() {
    let (sessions, scope, log) = bench();
    let parent = sessions.open(Some("p"), 5);
    parent.with(|s| s.transcript.push_message(std::sync::Arc::new(Message::user("1"))));
    inject(&parent, &scope, "first");
    parent.with(|s| s.transcript.push_message(std::sync::Arc::new(Message::user("2"))));
    inject(&parent, &scope, "second");
    let whole = sessions.fork("p", Some("whole"), &scope).unwrap();
    let early = sessions.fork_at("p", 1, Some("early"), &scope).unwrap();
    inject(&whole, &scope, "own");
    let counts = [&parent, &whole, &early].map(|s| s.transcript().pending_count());
    assert_eq!(counts, [2, 3, 1]);
    assert_eq!(told(&log)[2..], ["whole:forked", "whole:forked", "early:forked", "whole:injected"]);
    let ancestry = sessions.ancestry("early");
    assert_eq!((ancestry.get("parent_id").as_str(), ancestry.get("root_id").as_str()), (Some("p"), Some("p")));
    assert_eq!(sessions.snapshot("p").get("child_ids").to_json(), r#"["whole","early"]"#);
    let taken = sessions.fork("p", Some("whole"), &scope).unwrap_err();
    assert_eq!(taken, SessionError::Exists("whole".into()));
}

#[test]
fn a_session_lists_its_newest_children() {
    let (sessions, _, _) = bench();
    let parent = sessions.open(Some("p"), 5);
    for n in 0..SessionState::MOST_CHILDREN + 3 {
        sessions.open_child(Some(&parent), Some(&format!("c{n}")), 5);
    }
    let listed = sessions.ancestry("p").get("child_ids").clone();
    let listed = listed.as_list().unwrap();
    assert_eq!((listed.len(), listed[0].as_str()), (SessionState::MOST_CHILDREN, Some("c3")));
}

#[test]
fn reset_trim_and_close_account_for_what_they_discard() {
    let (sessions, scope, log) = bench();
    let session = sessions.open(Some("s"), 5);
    inject(&session, &scope, "before all");
    for text in ["1", "2", "3"] {
        session.with(|s| s.transcript.push_message(std::sync::Arc::new(Message::user(text))));
    }
    inject(&session, &scope, "late");
    sessions.trim("s", 2, &scope).unwrap();
    assert_eq!((session.transcript().messages().len(), session.transcript().pending_count()), (2, 1));
    sessions.reset("s", &scope).unwrap();
    inject(&session, &scope, "again");
    sessions.close("s", &scope).unwrap();
    let words = ["s:injected", "s:injected", "s:discarded", "s:discarded", "s:injected", "s:discarded"];
    assert_eq!(told(&log), words);
    assert!(!sessions.exists("s"));
}

#[test]
fn what_a_host_has_queued_is_put_on_record_when_the_session_closes() {
    let (sessions, scope, log) = bench();
    let session = sessions.open(Some("s"), 5);
    inject(&session, &scope, "pending");
    let mut queue = session.queue().lock().unwrap();
    let queued = queue.push_reminder(ReminderSpec::new("queued"), DeliveryMode::FinishStep, 5).unwrap().id;
    drop(queue);
    sessions.close("s", &scope).unwrap();
    assert_eq!(told(&log), ["s:injected", "s:audited", "s:expired", "s:discarded"]);
    assert_eq!(log.records()[1].payload.get("reminder_id").as_str(), Some(queued.as_ref()));
    let refused = session.queue().lock().unwrap().push_reminder(ReminderSpec::new("late"), DeliveryMode::FinishStep, 5);
    assert_eq!(refused, Err(QueueError::Closed));
}

#[test]
fn a_reminder_handed_in_as_a_message_never_becomes_one() {
    let (sessions, scope, log) = bench();
    let session = sessions.open(Some("s"), 5);
    let event =
        Data::from_json(r#"{"kind":"system_reminder","role":"user","content":"x","reminder":{"body":"b"}}"#).unwrap();
    sessions.inject("s", &event, &scope).unwrap();
    sessions.inject("s", &Data::from_json(r#"{"role":"user","content":"hi"}"#).unwrap(), &scope).unwrap();
    let transcript = session.transcript();
    assert_eq!((transcript.messages().len(), transcript.pending_count()), (1, 1));
    assert_eq!(told(&log), ["s:injected"]);
    assert!(matches!(sessions.inject("s", &Data::from(1), &scope), Err(SessionError::Message(_))));
}

#[test]
fn a_bad_notification_is_on_the_log_and_in_the_notes() {
    let (sessions, scope, log) = bench();
    let session = sessions.open(Some("s"), 5);
    let error = RemindPayload::from_data(&Data::from_json(r#"{"body":"b","mode":"now"}"#).unwrap()).unwrap_err();
    session.refuse_notification(&scope, &error);
    let record = &log.records()[0];
    assert_eq!(
        (record.kind.as_ref(), record.payload.get("reason").as_str()),
        ("transcript.reminder.dropped", Some("invalid"))
    );
    let note = scope.notes.all()[0].clone();
    assert_eq!(note.code.map(base::codes::CodeRef::as_str), Some("HARN-RMD-002"));
    assert_eq!(note.message, "a host's reminder for the session `s` was dropped: unknown `mode` \"now\"");
    assert_eq!(session.queue().lock().unwrap().pending().len(), 0);
}

#[test]
fn what_a_host_put_in_tells_what_it_replaces() {
    let (sessions, scope, _) = bench();
    let session = sessions.open(Some("s"), 5);
    let keyed = || ReminderSpec { dedupe_key: Some("k".into()), ..ReminderSpec::new("b") };
    session.inject_reminder(&scope, keyed(), ReminderSource::InPipeline, None);
    let put = || RemindPayload { spec: keyed(), mode: DeliveryMode::FinishStep, meta: Data::Nil };
    let count = || session.accept_reminder(&scope, put()).unwrap().deduped_count;
    assert_eq!((count(), count()), (1, 2), "the pending one, then the queued one too");
    assert_eq!(session.deliver(&scope, Seam::IterationStart).len(), 1);
    assert_eq!(session.transcript().pending_count(), 1);
}
