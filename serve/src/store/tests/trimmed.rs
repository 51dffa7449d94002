use eventlog::{LogError, LogFile, RecordRemover};

use super::*;
use crate::trim::{TrimError, TrimOptions, TrimReport, removal_order, trim};
use runtime::session::Recovered;

/// The options for which every record of a test is old.
fn all() -> TrimOptions {
    TrimOptions { before_ms: u64::MAX, ..TrimOptions::default() }
}

fn trimmed(folder: &StoreFolder, options: &TrimOptions) -> TrimReport {
    trim(&folder.path(), options).unwrap()
}

/// Writes a session that has been compacted twice, with pending reminders and a queue, and closes it.
fn write_waiting(folder: &StoreFolder) {
    let store = folder.store();
    let served = ServedSession::open(&store, ID);
    served.remind("thrice", Some(3));
    served.remind("always", None);
    served.put_in("soon", DeliveryMode::FinishStep);
    served.prompt("look", [calls("c1"), calls("c2"), says("seen")]);
    served.compact();
    served.prompt("again", [calls("c3"), says("seen")]);
    // A process wrote a part of an answer before it was killed.
    let payload = Data::dict([("session_id", Data::from(ID)), ("text", "in p".into())]);
    let (topic, kind) = (Topic::Message.into(), Topic::Message.kind("streamed").into());
    let streamed = NewRecord { topic, kind, payload: payload.into(), headers: Data::Nil, occurred_at_ms: 1 };
    store.log_of(ID).append(streamed);
    served.compact();
    served.remind("twice", Some(2));
    served.prompt("and now", [calls("c1"), says("done")]);
    served.put_in("left", DeliveryMode::FinishStep);
    served.journal.note(&SessionEvent::Title("a title".into()));
    for n in 1..4 {
        served.session.with(|state| {
            state.provider_memory.insert("p".into(), Data::from(n));
        });
        served.journal.see(&served.session);
    }
    served.journal.closed();
}

/// Returns all that a process gets of the session.
fn restored(folder: &StoreFolder) -> String {
    let stored = folder.store().load(ID).unwrap();
    let left = Recovered { seed: 0, ..stored.left() };
    format!("{:?}\n{left:?}\n{:?}\n{:?}\n{}", stored.about(), stored.shown(), stored.ends(), stored.created_at_ms())
}

fn records(folder: &StoreFolder) -> Vec<Arc<Record>> {
    LogFile::open(folder.path()).unwrap().read(&RecordFilter::default(), usize::MAX).unwrap()
}

#[test]
fn a_session_for_which_something_waits_continues_as_it_was() {
    let folder = StoreFolder::new();
    write_waiting(&folder);
    let before = restored(&folder);
    let count = records(&folder).len();
    let appended = records(&folder).iter().filter(|record| &*record.kind == "session.message.appended").count();
    let dry = trimmed(&folder, &TrimOptions { dry_run: true, ..all() });
    assert_eq!(records(&folder).len(), count);
    let report = trimmed(&folder, &all());
    assert_eq!((report.removed, report.kept), (dry.removed, dry.kept));
    assert_eq!((report.kept.sessions, report.kept.waiting_sessions, report.removed.sessions), (1, 1, 0));
    let left = records(&folder);
    assert_eq!((left.len() as u64, report.kept.records), (report.kept.records, count as u64 - report.removed.records));
    let of = |kind: &str| left.iter().filter(|record| &*record.kind == kind).count();
    assert_eq!(
        (of("session.state.remembered"), of("session.message.replaced")),
        (1, 2),
        "the second one keeps the first message"
    );
    assert!(of("session.message.appended") < appended);
    assert_eq!(of("session.message.streamed"), 0);
    assert_eq!(restored(&folder), before);
    assert_eq!(trimmed(&folder, &all()).removed.records, 0, "nothing is left to remove");
    let store = folder.store();
    let served = ServedSession::load(&store, store.claim(ID).unwrap());
    served.prompt("go on", [says("done")]);
    let stored = store.load(ID).unwrap();
    assert_eq!((pending(&stored), stored.messages()), (served.pending(), &served.messages()[..]));
    assert_eq!(stored.queue().len(), 0, "the item that waited was delivered");
}

#[test]
fn a_removal_that_is_interrupted_leaves_a_session_that_continues_or_none() {
    let folder = StoreFolder::new();
    write_waiting(&folder);
    let before = restored(&folder);
    let order = removal_order(&LogFile::open(folder.path()).unwrap(), &all());
    assert!(order.len() > 5, "{order:?}");
    for cursor in order {
        folder.log().remover().unwrap().remove(&[cursor]).unwrap();
        assert_eq!(restored(&folder), before, "after the removal of {cursor}");
    }
    // A session for which nothing waits is gone with its first record.
    let folder = StoreFolder::new();
    {
        let store = folder.store();
        let about = SessionDescription::default();
        let served = ServedSession::with(&store, ID, SessionJournal::new(&store, &ID.into(), about));
        // Its top level runs before it is open.
        served.journal.note(&SessionEvent::Question { message_id: "m".into(), text: "which?".into() });
        served.journal.opened(&store);
        served.prompt("look", [calls("c1"), says("seen")]);
        served.journal.closed();
    }
    let order = removal_order(&LogFile::open(folder.path()).unwrap(), &all());
    assert_eq!(order.len(), records(&folder).len());
    for cursor in order {
        folder.log().remover().unwrap().remove(&[cursor]).unwrap();
        // A part of its messages cannot be read, which does not matter any more.
        assert!(folder.store().load(ID).is_err(), "after {cursor}");
    }
    assert!(records(&folder).is_empty());
}

#[test]
fn sessions_that_are_used_or_waited_for_stay_and_others_go() {
    let folder = StoreFolder::new();
    {
        let store = folder.store();
        for (n, body) in [(1, None), (2, Some("remember"))] {
            let served = ServedSession::open(&store, &format!("sess_{n:032x}"));
            body.into_iter().for_each(|body| served.remind(body, None));
            served.prompt("look", [says("seen")]);
            // A killed process leaves no other trace than that it does not live.
        }
        // A part of a session whose beginning was deleted.
        let id: Arc<str> = format!("sess_{:032x}", 3).into();
        SessionJournal::new(&store, &id, SessionDescription::default()).prompted("lost", None);
    }
    let count = records(&folder).len();
    let none = trimmed(&folder, &TrimOptions { before_ms: 1, ..TrimOptions::default() });
    assert_eq!((none.removed.records, none.kept.sessions, records(&folder).len()), (0, 2, count));
    let report = trimmed(&folder, &all());
    assert_eq!((report.removed.sessions, report.removed.runs, report.kept.waiting_sessions), (1, 1, 1));
    let ids: Vec<_> = folder.store().list(None, None, 9).unwrap().rows.into_iter().map(|row| row.id).collect();
    assert_eq!(ids, [format!("sess_{:032x}", 2).into()]);
    let (before, after) = report.size.unwrap();
    assert!(after < before, "{before} {after}");
}

#[test]
fn a_server_and_a_trim_exclude_each_other() {
    let folder = StoreFolder::new();
    write_waiting(&folder);
    let count = records(&folder).len();
    let link = folder.path().with_file_name("other.db");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    let server = SessionStore::new(SqliteLog::open(&link, &SqliteOptions::default()).unwrap()).unwrap();
    let refused = trim(&folder.path(), &all()).unwrap_err();
    let holder = Some(std::process::id());
    assert_eq!(refused, TrimError::from(LogError::Owned { path: folder.path().into(), holder }));
    assert_eq!(records(&folder).len(), count);
    drop(server);
    let exclusive = exclude_servers(&folder.path()).unwrap();
    let refused = SessionStore::new(folder.log()).err();
    assert_eq!(refused, Some(LogError::Owned { path: folder.path().into(), holder }.into()));
    assert_eq!(folder.log().own().unwrap_err().code().as_str(), "HARN-LOG-018");
    drop(exclusive);
    assert!(RecordRemover::MOST > 1 && trimmed(&folder, &all()).removed.records > 0);
}

#[test]
fn the_owner_of_a_session_is_in_every_record_of_its_life() {
    let folder = StoreFolder::new();
    let store = folder.store();
    let about = SessionDescription { account: Some("bob".into()), ..SessionDescription::default() };
    let served = ServedSession::with(&store, ID, SessionJournal::new(&store, &ID.into(), about));
    served.journal.opened(&store);
    served.prompt("look", [says("seen")]);
    served.journal.closed();
    ServedSession::load(&store, store.claim(ID).unwrap()).journal.closed();
    let records = store.log().read(&RecordFilter::topic(Topic::Life), usize::MAX).unwrap();
    assert!(records.len() >= 6);
    assert!(records.iter().all(|record| record.payload.get("account").as_str() == Some("bob")), "{records:?}");
    assert_eq!(store.list(None, None, 9).unwrap().rows[0].account.as_deref(), Some("bob"));
}

#[test]
fn an_earlier_version_left_the_owner_to_the_protocol() {
    for (protocol, owner) in
        [("acp", Some("local")), ("a2a", Some("local")), ("mcp", Some("local")), ("channels", None)]
    {
        let folder = StoreFolder::new();
        let store = folder.store();
        let about = SessionDescription { protocol: protocol.into(), ..SessionDescription::default() };
        let served = ServedSession::with(&store, ID, SessionJournal::new(&store, &ID.into(), about));
        served.journal.opened(&store);
        assert_eq!(store.load(ID).unwrap().about().account.as_deref(), owner, "{protocol}");
    }
}

#[test]
fn what_peers_and_channels_wait_for_keeps_its_session() {
    let folder = StoreFolder::new();
    let id = |n: usize| -> Arc<str> { format!("sess_{n:032x}").into() };
    {
        let store = folder.store();
        for n in 1..=4 {
            ServedSession::open(&store, &id(n)).prompt("look", [says("seen")]);
        }
        let log = store.log();
        let link = |n: usize, state: &str, status: &str| {
            let fields = [
                ("task_id", Data::from(format!("ptask_{n}"))),
                ("direction", "outgoing".into()),
                ("session_id", (&id(n)).into()),
                ("remote_task_id", format!("remote-{n}").into()),
                ("native_status", status.into()),
                ("state", state.into()),
            ];
            crate::channels::PeerTaskLink::from_data(&Data::dict(fields)).unwrap().to_record(true, 1)
        };
        for record in [link(1, "running", "working"), link(2, "completed", "completed")] {
            log.append(record);
        }
        for (n, action, word) in [(3, "left", "action"), (4, "done", "action"), (4, "done", "result")] {
            let payload = Data::dict([
                ("channel_id", Data::from("chan")),
                ("action_id", action.into()),
                ("kind", "prompt".into()),
                ("session_id", (&id(n)).into()),
                ("digest", "d".into()),
                ("status", "done".into()),
            ]);
            let (topic, kind) = (Topic::Channel.into(), Topic::Channel.kind(word).into());
            let headers = Data::dict([("run_id", Data::from(&id(n)))]);
            log.append(NewRecord { topic, kind, payload: payload.into(), headers, occurred_at_ms: 1 });
        }
    }
    let report = trimmed(&folder, &all());
    assert_eq!((report.removed.sessions, report.kept.sessions, report.kept.links), (2, 2, 1));
    let mut left: Vec<_> = folder.store().list(None, None, 9).unwrap().rows.into_iter().map(|row| row.id).collect();
    left.sort();
    assert_eq!(left, [id(1), id(3)]);
    let of = |kind: &str| records(&folder).iter().filter(|record| &*record.kind == kind).count();
    assert_eq!((of("channel.link"), of("channel.action"), of("channel.result")), (1, 1, 0));
}
