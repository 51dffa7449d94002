//! Recorded events that are sent again while the session goes on.

use std::sync::Mutex;

use super::*;
use crate::wait::until;

fn text(event: &SessionEvent) -> String {
    match event {
        SessionEvent::Text { text, .. } => text.to_string(),
        SessionEvent::Title(title) => format!("title {title}"),
        other => format!("{other:?}"),
    }
}

fn said(number: usize) -> SessionEvent {
    SessionEvent::Text { message_id: format!("m{number}").into(), text: format!("{number}").into() }
}

/// The disk does not respond while the history is to be read.
#[test]
fn a_session_does_not_wait_while_its_history_is_sent_again_and_each_event_is_sent_once() {
    let folder = StoreFolder::new();
    let options = SqliteOptions { lock_timeout: 2 * crate::wait::LIMIT, ..SqliteOptions::default() };
    let store = SessionStore::new(SqliteLog::open(folder.path(), &options).unwrap()).unwrap();
    let about = SessionDescription { title: Some("T".into()), protocol: "acp".into(), ..SessionDescription::default() };
    let journal = Arc::new(SessionJournal::new(&store, &ID.into(), about));
    journal.opened(&store);
    let (sent, before) = (Arc::new(Mutex::new(Vec::new())), Mutex::new(Vec::new()));
    journal.show(said(1), |event| before.lock().unwrap().push(text(&event)));
    block_on(journal.settled()).unwrap();
    let held = rusqlite::Connection::open(folder.path()).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (its, sends, its_store) = (journal.clone(), sent.clone(), store.clone());
    let replay = std::thread::spawn(move || its.again(&its_store, |event| sends.lock().unwrap().push(text(&event))));
    until("the replay has begun", || journal.is_replaying());
    for number in 2..50 {
        let sends = sent.clone();
        journal.show(said(number), move |event| sends.lock().unwrap().push(text(&event)));
    }
    assert!(sent.lock().unwrap().is_empty(), "they follow the earlier ones");
    held.execute_batch("ROLLBACK").unwrap();
    replay.join().unwrap().unwrap();
    journal.show(said(50), |event| sent.lock().unwrap().push(text(&event)));
    let expected: Vec<String> =
        ["1".into(), "title T".into()].into_iter().chain((2..=50).map(|number| number.to_string())).collect();
    assert_eq!(*sent.lock().unwrap(), expected);
    assert_eq!(*before.lock().unwrap(), ["1"]);
    // All of them are recorded.
    journal.again(&store, |_| {}).unwrap();
    let shown: Vec<String> = store.load(ID).unwrap().shown().iter().map(text).collect();
    assert_eq!(shown, (1..=50).map(|number| number.to_string()).collect::<Vec<_>>());
}
