use std::collections::BTreeSet;
use std::rc::Rc;

use base::clock::ManualClock;
use eventlog::{MemoryLog, Record, SharedLog};
use proptest::prelude::*;

use crate::lifecycle::Selector;
use crate::message::Message;
use crate::reminder::bridge::{DeliveryMode, Seam};
use crate::reminder::{ReminderCode, ReminderSpec};
use crate::scope::Scope;
use crate::session::{Session, Sessions};
use crate::testing::block_on;

use super::*;

fn reminder(body: &str, key: Option<&str>, mode: DeliveryMode) -> RemindPayload {
    let spec = ReminderSpec { dedupe_key: key.map(Arc::from), ..ReminderSpec::new(body) };
    RemindPayload { spec, mode, meta: Data::Nil }
}

fn open(log: &MemoryLog) -> (Rc<Session>, Scope, Inbox) {
    let scope = Scope::new(Rc::new(ManualClock::new(5)), log.here());
    let session = Sessions::new(7).open(Some("s"), 5);
    let inbox = session.inbox(Arc::new(log.clone()), || 5);
    (session, scope, inbox)
}

/// Returns the last words of the records' kinds.
fn words(records: &[Arc<Record>]) -> Vec<String> {
    records.iter().map(|r| r.kind.rsplit('.').next().unwrap().to_owned()).collect()
}

#[test]
fn an_inbox_goes_to_another_thread() {
    fn send<T: Send + Sync>() {}
    send::<Inbox>();
}

#[test]
fn what_is_accepted_on_another_thread_is_delivered_here() {
    let log = MemoryLog::new();
    let (session, scope, inbox) = open(&log);
    let there = inbox.clone();
    let accepted = std::thread::spawn(move || {
        let message =
            MessagePayload { message: Arc::new(Message::user("hi")), mode: DeliveryMode::FinishStep, meta: Data::Nil };
        [
            there.accept_reminder(reminder("b", None, DeliveryMode::FinishStep)).unwrap(),
            there.accept_message(message).unwrap(),
        ]
    });
    let accepted = accepted.join().unwrap().map(|injected| injected.id);
    assert_eq!(block_on(inbox.durable()), Ok(()));
    let pending: Vec<_> = inbox.pending().into_iter().map(|item| item.id).collect();
    assert_eq!(pending, accepted);
    assert_eq!(session.deliver(&scope, Seam::IterationStart).len(), 2);
    assert!(inbox.pending().is_empty());
    assert_eq!(words(&log.records()), ["queued", "queued", "injected", "delivered", "delivered"]);
    assert_eq!(inbox.revoke(&accepted[0]), Err(QueueError::AlreadyDelivered(accepted[0].clone())));
}

#[test]
fn an_answer_counts_what_is_queued_and_what_is_pending() {
    let (session, scope, inbox) = open(&MemoryLog::new());
    let count = |key: Option<&str>, mode| inbox.accept_reminder(reminder("b", key, mode)).unwrap().deduped_count;
    assert_eq!((count(Some("k"), DeliveryMode::FinishStep), count(None, DeliveryMode::FinishStep)), (0, 0));
    assert_eq!(count(Some("k"), DeliveryMode::FinishStep), 1, "the queued one");
    session.deliver(&scope, Seam::IterationStart);
    assert_eq!(count(Some("k"), DeliveryMode::FinishStep), 1, "the pending one");
    assert_eq!(count(Some("k"), DeliveryMode::AuditOnly), 2, "both");
    session.deliver(&scope, Seam::LoopExit);
    assert_eq!(count(Some("k"), DeliveryMode::FinishStep), 1, "what is on record only is not pending");
    session.deliver(&scope, Seam::IterationStart);
    session.clear_reminders(&scope, &Selector { dedupe_key: Some("k".into()), ..Selector::default() });
    assert_eq!(count(Some("k"), DeliveryMode::FinishStep), 0, "it was cleared");
    assert_eq!(session.transcript().pending_count(), 1);
}

#[test]
fn both_ways_in_count_alike() {
    let (session, scope, inbox) = open(&MemoryLog::new());
    for round in 0..4 {
        let here = session.accept_reminder(&scope, reminder("b", Some("k"), DeliveryMode::FinishStep)).unwrap();
        let there = inbox.accept_reminder(reminder("b", Some("k"), DeliveryMode::FinishStep)).unwrap();
        let pending = usize::from(round > 0);
        assert_eq!((here.deduped_count, there.deduped_count), (pending, pending + 1));
        session.deliver(&scope, Seam::IterationEnd);
    }
}

#[test]
fn revoking_twice_puts_one_record_down() {
    let log = MemoryLog::new();
    let (_, _, inbox) = open(&log);
    let id = inbox.accept_reminder(reminder("b", None, DeliveryMode::FinishStep)).unwrap().id;
    assert_eq!((inbox.revoke(&id), inbox.revoke(&id)), (Ok(Revocation::Now), Ok(Revocation::Already)));
    assert_eq!(inbox.revoke("x"), Err(QueueError::Unknown("x".into())));
    assert_eq!(words(&log.records()), ["queued", "revoked"]);
}

#[test]
fn a_notification_that_is_no_reminder_is_dropped_on_the_log() {
    let log = MemoryLog::new();
    let (_, _, inbox) = open(&log);
    let told =
        inbox.refuse_notification(&ReminderError::new(ReminderCode::Bridge, "body", "missing `body` of a reminder"));
    assert_eq!(told, "a host's reminder for the session `s` was dropped: missing `body` of a reminder");
    let records = log.records();
    assert_eq!(words(&records), ["dropped"]);
    assert_eq!(records[0].payload.get("session_id").as_str(), Some("s"));
    assert_eq!(records[0].payload.get("detail").as_str(), Some("missing `body` of a reminder"));
}

#[derive(Debug, Clone)]
enum InboxCommand {
    Accept {
        key: Option<u8>,
        mode: DeliveryMode,
    },
    Say {
        mode: DeliveryMode,
    },
    /// Revokes the n-th accepted item, counted from the end.
    Revoke(usize),
    List,
}

fn command() -> impl Strategy<Value = InboxCommand> {
    let mode = || prop::sample::select(DeliveryMode::ALL.to_vec());
    prop_oneof![
        5 => (prop::option::of(0..4_u8), mode()).prop_map(|(key, mode)| InboxCommand::Accept { key, mode }),
        1 => mode().prop_map(|mode| InboxCommand::Say { mode }),
        2 => (0..6_usize).prop_map(InboxCommand::Revoke),
        1 => Just(InboxCommand::List),
    ]
}

/// Results reported to the host: accepted ids with their modes in order, and the ids that it revoked.
type Reported = (Vec<(Arc<str>, DeliveryMode)>, BTreeSet<Arc<str>>);

fn host(inbox: &Inbox, commands: Vec<InboxCommand>) -> Reported {
    let (mut accepted, mut revoked) = (Vec::<(Arc<str>, DeliveryMode)>::new(), BTreeSet::new());
    for command in commands {
        match command {
            InboxCommand::Accept { key, mode } => {
                let key = key.map(|n| n.to_string());
                if let Ok(injected) = inbox.accept_reminder(reminder("b", key.as_deref(), mode)) {
                    accepted.push((injected.id, mode));
                }
            }
            InboxCommand::Say { mode } => {
                let message = Arc::new(Message::user("m"));
                if let Ok(injected) = inbox.accept_message(MessagePayload { message, mode, meta: Data::Nil }) {
                    accepted.push((injected.id, mode));
                }
            }
            InboxCommand::Revoke(back) => {
                if let Some((id, _)) = accepted.iter().rev().nth(back)
                    && inbox.revoke(id) == Ok(Revocation::Now)
                {
                    revoked.insert(id.clone());
                }
            }
            InboxCommand::List => assert!(inbox.pending().len() <= Queue::CAPACITY),
        }
    }
    (accepted, revoked)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn whatever_two_threads_do_nothing_is_lost_and_nothing_overtakes(
        commands in prop::collection::vec(command(), 1..200),
        seams in prop::collection::vec(prop::sample::select(Seam::ALL.to_vec()), 1..40),
    ) {
        let log = MemoryLog::new();
        let (session, scope, inbox) = open(&log);
        let thread = std::thread::spawn(move || host(&inbox, commands));
        for seam in seams {
            session.deliver(&scope, seam);
            std::thread::yield_now();
        }
        let (accepted, revoked) = thread.join().unwrap();
        for seam in [Seam::IterationEnd, Seam::LoopExit, Seam::DaemonIdlePre] {
            session.deliver(&scope, seam);
        }
        let records = log.records();
        let ids = |word: &str| -> Vec<Arc<str>> {
            let kind = Topic::Injection.kind(word);
            let of_kind = records.iter().filter(|r| *r.kind == *kind);
            of_kind.map(|r| r.payload.get("id").as_str().unwrap().into()).collect()
        };
        let (queued, delivered) = (ids("queued"), ids("delivered"));
        let told: Vec<_> = accepted.iter().map(|(id, _)| id.clone()).collect();
        prop_assert_eq!(&queued, &told, "the log has what the host was told, in that order");
        prop_assert_eq!(ids("revoked").into_iter().collect::<BTreeSet<_>>(), revoked);
        let mut ends: Vec<_> = [ids("replaced"), ids("revoked"), delivered.clone()].concat();
        ends.sort();
        let mut all = queued;
        all.sort();
        prop_assert_eq!(ends, all, "each ends once, in one way");
        for mode in DeliveryMode::ALL {
            let of_mode = |ids: &[Arc<str>]| -> Vec<Arc<str>> {
                ids.iter().filter(|id| accepted.contains(&((*id).clone(), *mode))).cloned().collect()
            };
            let order = of_mode(&delivered);
            let mut sorted = order.clone();
            sorted.sort_by_key(|id| told.iter().position(|known| known == id));
            prop_assert_eq!(order, sorted, "first in first, of one mode");
        }
        let at = |word: &str, id: &Arc<str>| {
            let kind = Topic::Injection.kind(word);
            records.iter().position(|r| *r.kind == *kind && r.payload.get("id").as_str() == Some(id))
        };
        for id in &delivered {
            prop_assert!(at("queued", id) < at("delivered", id));
        }
    }
}

#[test]
fn a_reader_on_another_thread_misses_nothing() {
    let log = MemoryLog::new();
    let (session, scope, inbox) = open(&log);
    let mut reader = scope.log.subscribe(eventlog::RecordFilter::topic(Topic::Injection));
    let thread = std::thread::spawn(move || {
        for _ in 0..200 {
            inbox.accept_reminder(reminder("b", None, DeliveryMode::FinishStep)).unwrap();
        }
    });
    let mut queued = 0;
    while queued < 200 {
        queued += usize::from(block_on_thread(reader.next()).unwrap().is_some());
    }
    thread.join().unwrap();
    assert_eq!(session.deliver(&scope, Seam::IterationEnd).len(), 200);
}

/// Runs a future, sleeping until it is woken, so that a lost wake-up shows.
fn block_on_thread<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            return value;
        }
        std::thread::park();
    }
}
