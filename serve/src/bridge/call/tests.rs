use std::cell::RefCell;
use std::rc::Rc;

use eventlog::{MemoryLog, SharedLog};
use runtime::reminder::bridge::{Queue, Seam};
use runtime::scope::Scope;
use runtime::session::{Session, Sessions};

use super::*;

/// Sessions on this thread, and the inboxes of some of them.
struct BridgeBench {
    sessions: Vec<Rc<Session>>,
    scope: Scope,
    log: MemoryLog,
    shown: RefCell<Vec<ReminderEvent>>,
}

impl BridgeBench {
    fn new(ids: &[&str]) -> BridgeBench {
        let (all, log) = (Sessions::new(1), MemoryLog::new());
        let scope = Scope::new(Rc::new(base::clock::ManualClock::new(5)), log.here());
        BridgeBench {
            sessions: ids.iter().map(|id| all.open(Some(id), 5)).collect(),
            scope,
            log,
            shown: RefCell::default(),
        }
    }

    fn ask(&self, method: BridgeMethod, params: Value) -> Result<Value, BridgeError> {
        let answer = call(method, &Data::from(params), self)?;
        futures_util::FutureExt::now_or_never(answer.settled()).expect("a log in memory is durable at once")
    }

    /// Returns the code, the reason and the field of a refusal.
    fn refused(&self, method: BridgeMethod, params: Value) -> (i64, String, String) {
        let error = self.ask(method, params).expect_err("it is wrong");
        let data = error.to_data();
        let word = |path: &str| data.at(path).as_str().unwrap_or_default().to_owned();
        (
            error.code(),
            if word("data.reason").is_empty() { word("data.code") } else { word("data.reason") },
            word("data.field"),
        )
    }
}

impl SessionInboxes for BridgeBench {
    fn inbox(&self, session_id: &str) -> Result<Inbox, HostError> {
        let found = self.sessions.iter().find(|session| session.id().as_ref() == session_id);
        let session = found.ok_or_else(|| HostError::UnknownSession(session_id.into()))?;
        Ok(session.inbox(Arc::new(self.log.clone()), || 5))
    }

    fn open_ids(&self) -> Vec<Arc<str>> {
        self.sessions.iter().map(|session| session.id().clone()).collect()
    }

    fn clear(&self, session_id: &str, selector: Selector) -> Result<(Vec<Arc<str>>, ClearedCount), HostError> {
        let queued = self.inbox(session_id)?.clear(&selector);
        let session = self.sessions.iter().find(|session| **session.id() == *session_id).unwrap();
        let (number, cleared) = tokio::sync::oneshot::channel();
        let _ = number.send(session.clear_reminders(&self.scope, &selector));
        Ok((queued, cleared))
    }

    fn show(&self, _: &Arc<str>, event: ReminderEvent) {
        self.shown.borrow_mut().push(event);
    }
}

#[test]
fn every_name_is_known_with_and_without_the_mark_of_an_extension() {
    for method in BridgeMethod::ALL {
        assert_eq!(BridgeMethod::of(method.name()), Some(method));
        assert_eq!(BridgeMethod::of(&format!("_{}", method.name())), Some(method));
    }
    assert_eq!((BridgeMethod::of("__session/remind"), BridgeMethod::of("session/prompt")), (None, None));
}

#[test]
fn a_reminder_goes_in_is_listed_and_taken_back() {
    let bench = BridgeBench::new(&["a", "b"]);
    let put = |key: Value| {
        let params = json!({"sessionId": "a", "body": "x", "dedupeKey": key, "ttlTurns": 2, "mode": "audit_only"});
        bench.ask(BridgeMethod::InjectReminder, params).unwrap()
    };
    let (one, two) = (put(json!("k")), put(json!("k")));
    assert_eq!((&one["dedupedCount"], &two["dedupedCount"]), (&json!(0), &json!(1)));
    let displaced = |id: &Value| vec![id.as_str().unwrap().into()];
    assert!(
        matches!(&bench.shown.borrow()[..], [ReminderEvent::Deduped { dropped_ids, .. }] if *dropped_ids == displaced(&one["reminderId"]))
    );
    assert_eq!(two.as_object().unwrap().keys().collect::<Vec<_>>(), ["reminderId", "dedupedCount"]);
    let said = bench.ask(BridgeMethod::Inject, json!({"sessionId": "a", "content": "hi"})).unwrap();
    let listed = bench.ask(BridgeMethod::PendingInjections, json!({"sessionId": "a"})).unwrap();
    assert_eq!(
        listed,
        json!({"pendingCount": 2, "injections": [
            {"kind": "reminder", "reminderId": two["reminderId"], "mode": "audit_only", "body": "x", "tags": [],
             "dedupeKey": "k", "ttlTurns": 2, "roleHint": "system", "source": "host"},
            {"kind": "user_message", "injectionId": said["injectionId"], "mode": "finish_step", "content": "hi"},
        ]})
    );
    assert_eq!(bench.ask(BridgeMethod::PendingInjections, json!({"session_id": "b"})).unwrap()["pendingCount"], 0);
    let revoke =
        |id: &Value| bench.ask(BridgeMethod::RevokeReminder, json!({"sessionId": "a", "reminderId": id})).unwrap();
    let (first, again, replaced) = (revoke(&two["reminderId"]), revoke(&two["reminderId"]), revoke(&one["reminderId"]));
    assert_eq!(first, json!({"status": "revoked", "reminderId": two["reminderId"]}));
    assert_eq!(again, json!({"status": "already_revoked", "reminderId": two["reminderId"]}));
    assert_eq!(replaced, json!({"status": "already_revoked", "reminderId": one["reminderId"]}));
    let said =
        bench.ask(BridgeMethod::RevokeReminder, json!({"sessionId": "a", "injectionId": said["injectionId"]})).unwrap();
    assert_eq!(said["status"], "revoked");
}

#[test]
fn what_was_delivered_or_never_was_there_is_not_taken_back() {
    let bench = BridgeBench::new(&["a"]);
    let put = bench.ask(BridgeMethod::Remind, json!({"body": "x"})).unwrap();
    bench.sessions[0].deliver(&bench.scope, Seam::IterationStart);
    let revoke = |id: Value| bench.refused(BridgeMethod::RevokeReminder, json!({"sessionId": "a", "reminderId": id}));
    assert_eq!(revoke(put["reminderId"].clone()), (-32010, "already_delivered".into(), String::new()));
    assert_eq!(revoke(json!("x")), (-32002, "unknown_reminder".into(), String::new()));
}

#[test]
fn only_one_open_session_need_not_be_named() {
    let body = || json!({"body": "x"});
    let place = |code, field: &str| (code, "HARN-RMD-002".to_owned(), field.to_owned());
    assert_eq!(BridgeBench::new(&[]).refused(BridgeMethod::Remind, body()), place(-32602, "sessionId"));
    assert!(BridgeBench::new(&["a"]).ask(BridgeMethod::Remind, body()).is_ok());
    assert_eq!(BridgeBench::new(&["a"]).refused(BridgeMethod::InjectReminder, body()), place(-32602, "sessionId"));
    assert_eq!(BridgeBench::new(&["a", "b"]).refused(BridgeMethod::Remind, body()), place(-32602, "sessionId"));
    let unknown = BridgeBench::new(&["a"]).refused(BridgeMethod::Remind, json!({"sessionId": "x", "body": "b"}));
    assert_eq!((unknown.0, &*unknown.2), (-32002, "sessionId"));
}

#[test]
fn a_full_queue_refuses_and_keeps_what_it_has() {
    let bench = BridgeBench::new(&["a"]);
    for n in 0..Queue::CAPACITY + 3 {
        match bench.ask(BridgeMethod::Remind, json!({"body": n.to_string()})) {
            Ok(_) => assert!(n < Queue::CAPACITY),
            Err(error) => {
                assert!(n >= Queue::CAPACITY);
                assert_eq!((error.code(), error.to_data().at("data.reason").as_str()), (-32000, Some("queue_full")));
            }
        }
    }
    assert_eq!(bench.ask(BridgeMethod::PendingInjections, json!({})).unwrap()["pendingCount"], Queue::CAPACITY);
}

#[test]
fn each_field_that_is_wrong_is_named() {
    let bench = BridgeBench::new(&["a"]);
    let (shape, bridge) = ("HARN-RMD-001", "HARN-RMD-002");
    for (method, params, code, field) in [
        (BridgeMethod::PendingInjections, json!([]), bridge, ""),
        (BridgeMethod::PendingInjections, json!({"sessionId": 7}), bridge, "sessionId"),
        (BridgeMethod::PendingInjections, json!({"sesionId": "a"}), shape, "sesionId"),
        (BridgeMethod::PendingInjections, json!({"sessionId": "a", "_meta": 7}), bridge, "_meta"),
        (BridgeMethod::RevokeReminder, json!({"sessionId": "a"}), bridge, "reminderId"),
        (BridgeMethod::RevokeReminder, json!({"sessionId": "a", "reminderId": ""}), bridge, "reminderId"),
        (BridgeMethod::RevokeReminder, json!({"sessionId": "a", "reminderId": 7}), bridge, "reminderId"),
        (BridgeMethod::RevokeReminder, json!({"sessionId": "a", "reminderID": "x"}), shape, "reminderID"),
        (BridgeMethod::Inject, json!({"sessionId": 7, "content": "x"}), bridge, "sessionId"),
        (BridgeMethod::Inject, json!({"sessionId": "a", "body": "x"}), shape, "body"),
        (BridgeMethod::InjectReminder, json!({"sessionId": 7, "body": "x"}), bridge, "sessionId"),
        (
            BridgeMethod::InjectReminder,
            json!({"sessionId": "a", "body": "x", "propagate": "al"}),
            "HARN-RMD-005",
            "propagate",
        ),
    ] {
        assert_eq!(bench.refused(method, params.clone()), (-32602, code.into(), field.into()), "{params}");
    }
}

#[test]
fn a_bad_notification_is_on_the_log_and_told_in_a_sentence() {
    let bench = BridgeBench::new(&["a"]);
    let notice = notify(BridgeMethod::Remind, &Data::from(json!({"body": 7})), &bench).unwrap_err();
    assert!(notice.contains("`a` was dropped: `body` of a reminder must be a string, got int"), "{notice}");
    let kinds: Vec<_> = bench.log.records().iter().map(|record| record.kind.to_string()).collect();
    assert_eq!(kinds, ["transcript.reminder.dropped"]);
    let notice =
        notify(BridgeMethod::InjectReminder, &Data::from(json!({"sessionId": "x", "body": 7})), &bench).unwrap_err();
    assert!(notice.contains("must be a string"), "{notice}");
    let notice = notify(BridgeMethod::Remind, &Data::from(json!({"sessionId": "x", "body": "b"})), &bench).unwrap_err();
    assert_eq!(notice, "the session 'x' is not open");
    assert_eq!(notify(BridgeMethod::Remind, &Data::from(json!({"body": "b"})), &bench), Ok(()));
    assert_eq!(bench.log.records().len(), 2, "the queued one");
}

#[test]
fn reminders_are_cleared_queued_and_delivered() {
    let bench = BridgeBench::new(&["a"]);
    let put =
        |tag: &str| bench.ask(BridgeMethod::Remind, json!({"body": "x", "tags": [tag], "dedupeKey": tag})).unwrap();
    put("delivered");
    bench.sessions[0].deliver(&bench.scope, Seam::IterationStart);
    let queued = put("queued");
    put("other");
    let clear = |params: Value| bench.ask(BridgeMethod::ClearReminders, params);
    assert_eq!(clear(json!({"sessionId": "a", "tag": "queued"})).unwrap(), json!({"removedCount": 1}));
    let id: Arc<str> = queued["reminderId"].as_str().unwrap().into();
    assert_eq!(bench.shown.borrow()[..], [ReminderEvent::cleared(id)]);
    assert_eq!(clear(json!({"dedupeKey": "delivered"})).unwrap(), json!({"removedCount": 1}));
    assert_eq!(clear(json!({"tag": "queued"})).unwrap(), json!({"removedCount": 0}));
    assert_eq!(bench.ask(BridgeMethod::PendingInjections, json!({})).unwrap()["pendingCount"], 1);
    let refused = |params: Value| bench.refused(BridgeMethod::ClearReminders, params);
    assert_eq!(refused(json!({})), (-32602, "HARN-RMD-001".into(), String::new()));
    assert_eq!(refused(json!({"tag": 7})), (-32602, "HARN-RMD-001".into(), "tag".into()));
    assert_eq!(refused(json!({"tags": "x"})), (-32602, "HARN-RMD-001".into(), "tags".into()));
}
