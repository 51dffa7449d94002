//! The store: a hub that opens it again has the same state, and one hub at a time uses it.

use std::path::PathBuf;
use std::task::{Context, Poll, Waker};

use eventlog::{LogError, SqliteLog, SqliteOptions};
use hub::broker::{BrokerOptions, Caller, Claim, Command, ErrorKind, Register, Reply};
use hub::proto::a2a::{AgentCard, TaskState};
use hub::store::{SqliteStore, Store, StoreError};
use hub::{DeliveryOrder, Hub, SubscribeRequest, SubscriptionKind};

use crate::common::{PublishExt, message, published, status};
use crate::tokio_wait::until;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("harn-hub-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn open(path: &PathBuf) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, &SqliteOptions::default())
}

#[tokio::test]
async fn a_hub_continues_from_its_file() {
    let folder = folder("continues");
    let path = folder.join("hub.db");
    let operator = Caller::Operator;
    let hub = Hub::open(Box::new(open(&path).unwrap()), BrokerOptions::default()).unwrap();
    let register = Register { agent_id: "w".to_owned(), ..Register::default() };
    hub.execute(&operator, Command::Register(register)).await.unwrap();
    let first =
        hub.execute(&operator, Command::Publish(message("t", "boss", "w").id("m"))).await.map(published).unwrap();
    hub.execute(&operator, Command::Publish(message("u", "boss", "").with("queue", "q"))).await.unwrap();
    let claim = Command::Claim(Claim { agent_id: "w".to_owned(), queue: "q".to_owned(), ..Claim::default() });
    let Ok(Reply::Claimed(Some(claimed))) = hub.execute(&operator, claim).await else { panic!("nothing claimed") };
    let before = hub.task("u", 0).await.unwrap();
    assert!(matches!(open(&path), Err(StoreError::Log(LogError::Owned { .. }))));
    drop(hub);

    let hub = Hub::open(Box::new(open(&path).unwrap()), BrokerOptions::default()).unwrap();
    assert_eq!(hub.task("u", 0).await.unwrap(), before);
    assert_eq!(hub.agents().len(), 1);
    // The first result, the lease and the events survive.
    let again =
        hub.execute(&operator, Command::Publish(message("t", "boss", "w").id("m"))).await.map(published).unwrap();
    assert_eq!(again, first);
    let working = status("w", "u", TaskState::Working, Some(&claimed.lease_id));
    hub.execute(&operator, Command::UpdateStatus(working)).await.unwrap();
    let kind = SubscriptionKind::Tasks { types: Vec::new(), states: Vec::new() };
    let cursor = Some(first.event_id);
    let request =
        SubscribeRequest { agent_id: "boss".to_owned(), kind, cursor, order: DeliveryOrder::Sequence, capacity: None };
    let mut subscription = hub.subscribe(&operator, request).unwrap();
    let event = subscription.next().await.unwrap().event;
    let Some(hub::proto::agenthub::agent_event::Payload::StatusUpdate(update)) = &event.payload else {
        panic!("{event:?}")
    };
    assert_eq!((update.task_id.as_str(), update.status.as_ref().unwrap().state()), ("u", TaskState::Working));
    drop(subscription);
    drop(hub);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_foreign_file_is_refused_and_a_damaged_record_is_named() {
    let folder = folder("foreign");
    let text = folder.join("notes.txt");
    std::fs::write(&text, "not a database, and long enough to have a header of SQLite's size: ".repeat(4)).unwrap();
    assert!(matches!(open(&text), Err(StoreError::Log(LogError::Foreign { .. }))));
    let path = folder.join("hub.db");
    let log = eventlog::SqliteLog::open(&path, &SqliteOptions::default()).unwrap();
    let record = eventlog::NewRecord {
        topic: runtime::event_log::Topic::Hub.into(),
        kind: "hub.change.task_submitted".into(),
        payload: base::data::Data::from("nonsense").into(),
        headers: base::data::Data::Nil,
        occurred_at_ms: 1,
    };
    eventlog::SharedLog::put(&log, record);
    drop(log);
    let store = open(&path).unwrap();
    let result = store.replay(&mut |_| {});
    assert!(matches!(result, Err(StoreError::Damaged { cursor: 1, .. })), "{result:?}");
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn a_hub_refuses_commands_while_its_store_is_not_in_its_place() {
    let folder = folder("moved");
    let (path, away) = (folder.join("hub.db"), folder.join("away.db"));
    let operator = Caller::Operator;
    let hub = Hub::open(Box::new(open(&path).unwrap()), BrokerOptions::default()).unwrap();
    let publish = |id: &str| Command::Publish(message(id, "boss", "").with("queue", "q"));
    hub.execute(&operator, publish("t")).await.unwrap();
    std::fs::rename(&path, &away).unwrap();
    for id in ["u", "v"] {
        let error = hub.execute(&operator, publish(id)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::ResourceExhausted, "{error}");
        assert!(!error.message.contains("hub.db"), "{error}");
    }
    assert!(hub.availability().is_err() && hub.failure().is_none());
    std::fs::rename(&away, &path).unwrap();
    until("the hub is available", || hub.availability().is_ok()).await;
    hub.execute(&operator, publish("w")).await.unwrap();
    // The command that was being stored is stored, and the refused one is not.
    drop(hub);
    let hub = Hub::open(Box::new(open(&path).unwrap()), BrokerOptions::default()).unwrap();
    for (id, is_known) in [("t", true), ("u", true), ("v", false), ("w", true)] {
        assert_eq!(hub.task(id, 0).await.is_ok(), is_known, "{id}");
    }
    drop(hub);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Commands are refused at once, and no thread waits for the disk.
#[tokio::test]
async fn a_hub_refuses_commands_while_its_store_does_not_respond_and_too_much_waits() {
    let folder = folder("stalled");
    let path = folder.join("hub.db");
    let patient = SqliteOptions { lock_timeout: 2 * crate::tokio_wait::LIMIT, ..SqliteOptions::default() };
    let hub = Hub::open(Box::new(SqliteStore::open(&path, &patient).unwrap()), BrokerOptions::default()).unwrap();
    let held = rusqlite::Connection::open(&path).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let renamed = |number: usize| {
        let name = format!("w{number}");
        Command::Register(Register {
            agent_id: "w".to_owned(),
            card: AgentCard { name, ..AgentCard::default() },
            ..Register::default()
        })
    };
    let mut waiting = Vec::new();
    let refused = loop {
        let mut command = Box::pin(hub.execute(&Caller::Operator, renamed(waiting.len())));
        match command.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => waiting.push(command),
            Poll::Ready(result) => break result.unwrap_err(),
        }
        assert!(waiting.len() < 50_000, "a queue without a bound");
    };
    assert_eq!(refused.kind, ErrorKind::ResourceExhausted, "{refused}");
    assert!(waiting.len() >= SqliteLog::QUEUE_RECORDS && hub.availability().is_err() && hub.failure().is_none());
    held.execute_batch("ROLLBACK").unwrap();
    let last = waiting.len() - 1;
    for command in waiting {
        command.await.unwrap();
    }
    hub.execute(&Caller::Operator, renamed(last + 1)).await.unwrap();
    drop(hub);
    let hub = Hub::open(Box::new(open(&path).unwrap()), BrokerOptions::default()).unwrap();
    assert_eq!(hub.agent("w").unwrap().card.unwrap().name, format!("w{}", last + 1));
    drop(hub);
    std::fs::remove_dir_all(folder).unwrap();
}
