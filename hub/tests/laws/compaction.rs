//! Compaction: a store that begins with a checkpoint results in the same state as one that has every batch, wherever
//! the hub was killed.

use std::fs;
use std::sync::{Arc, Mutex};

use eventlog::SqliteOptions;
use hub::broker::change::ChangeBatch;
use hub::broker::{
    Broker, BrokerOptions, Caller, CheckpointCursor, Claim, Command, ErrorKind, HubStats, ListTasks, Register, Reply,
};
use hub::proto::a2a::{AgentCard, TaskState};
use hub::proto::worker::RejectionReason;
use hub::store::{Durability, SqliteStore, Store, StoreError, StoreFuture, TrimmableStore};
use hub::{DeliveryOrder, Hub, HubClock, SubscribeRequest, SubscriptionKind};
use proptest::prelude::*;
use prost::Message as _;
use runtime::event_log::Topic;

use crate::common::{Bench, PublishExt, START, message, published, status};

const OPERATOR: Caller = Caller::Operator;

/// Options with which every replay is exact: ageing is not stored.
fn options(retention_ms: u64) -> BrokerOptions {
    BrokerOptions { max_finished: 3, retention_ms, ageing_ms: 1 << 60, ..BrokerOptions::default() }
}

/// A checkpoint whose parts are among the batches.
struct Written {
    begun_at: usize,
    ended_at: usize,
}

/// Writes the next batch of a checkpoint.
fn write_part(bench: &mut Bench, open: &mut Option<(CheckpointCursor, usize)>) -> Option<Written> {
    let (cursor, begun_at) = open.get_or_insert_with(|| (CheckpointCursor::default(), bench.batches.len()));
    let begun_at = *begun_at;
    if !cursor.is_saved() {
        bench.batches.push(bench.broker.checkpoint_part(cursor, bench.now_ms));
        return None;
    }
    bench.batches.push(bench.broker.checkpoint_end(cursor, begun_at as u64, bench.now_ms));
    *open = None;
    Some(Written { begun_at, ended_at: bench.batches.len() })
}

fn replayed<'a>(retention_ms: u64, batches: impl IntoIterator<Item = &'a ChangeBatch>) -> Broker {
    let mut broker = Broker::new(options(retention_ms));
    batches.into_iter().for_each(|batch| broker.replay(batch, |_| {}));
    broker
}

/// Everything that agents can notice of a state, with the order in which the waiting tasks are claimed.
fn noticed(mut broker: Broker, now_ms: u64) -> Vec<String> {
    let mut noticed: Vec<String> = broker.tasks().map(|entry| format!("{entry:?}")).collect();
    noticed.extend(broker.agents().map(|agent| format!("{agent:?}")));
    // The counters of the process are those of what it replayed.
    let stats = broker.stats();
    noticed.push(format!("{:?}", (stats.tasks, stats.queues, stats.held, stats.leases, stats.deadlines)));
    noticed.push(format!("{:?}", (stats.agents, stats.receipts, broker.last_number())));
    noticed.push(format!("{:?}", broker.dead_letters("", 0, "").unwrap()));
    let mut ids = 0;
    for (agent_id, queue) in [("another", "q"), ("w0", ""), ("w1", ""), ("w2", ""), ("w3", "")] {
        for _ in 0..10 {
            let claim = Claim { agent_id: agent_id.to_owned(), queue: queue.to_owned(), ..Claim::default() };
            let mut next = || {
                ids += 1;
                format!("later{ids}")
            };
            let executed = broker.execute(&OPERATOR, Command::Claim(claim), now_ms, &mut next);
            noticed.push(format!("{:?}", executed.reply));
        }
    }
    noticed
}

fn take(bench: &mut Bench, choice: u8, agent: u8, task: u8) {
    let priority = i32::from(task % 4) + 1;
    let (agent, task) = (format!("w{agent}"), format!("t{task}"));
    // Refused commands are part of the test.
    match choice {
        0 => bench.register(&agent, &["q"]),
        1 => drop(bench.run(Command::Unregister { agent_id: agent })),
        2 => drop(bench.publish(message(&task, "boss", &agent).id(&format!("m{agent}{task}")))),
        3 | 4 => drop(bench.publish(message(&task, "boss", "").with("queue", "q").priority(priority).context("c"))),
        5 => drop(bench.publish(message(&task, "boss", "").priority(priority))),
        6 => drop(bench.try_claim(&agent, "q")),
        7 => drop(bench.try_claim(&agent, "")),
        8 => drop(bench.status(&agent, &task, TaskState::Working)),
        9 => drop(bench.status(&agent, &task, TaskState::Completed)),
        10 => drop(bench.reject(&agent, &task, RejectionReason::CapacityExceeded)),
        11 => drop(bench.run(Command::Cancel { task_id: task, reason: String::new() })),
        12 => drop(bench.progress(&agent, &task, 0.5, "token")),
        13 => drop(bench.artifact(&agent, &task, "a", &["text"], true)),
        _ => bench.advance(10_000),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_compacted_store_results_in_the_same_state(
        choices in proptest::collection::vec((0_u8..19, 0_u8..4, 0_u8..12), 1..160),
        // Some finished tasks are forgotten by their number, and in some runs others by their age.
        retention_ms in prop_oneof![Just(15_000), Just(1 << 40)],
        trims in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 4),
    ) {
        let mut bench = Bench::new(options(retention_ms));
        (0..3).for_each(|agent| bench.register(&format!("w{agent}"), &["q"]));
        let (mut open, mut written) = (None, Vec::new());
        for (choice, agent, task) in choices {
            if choice >= 15 {
                written.extend(write_part(&mut bench, &mut open));
            } else {
                take(&mut bench, choice, agent, task);
            }
        }
        while open.is_some() || written.is_empty() {
            written.extend(write_part(&mut bench, &mut open));
        }
        let later_ms = bench.now_ms + 1;
        for checkpoint in written {
            for (trim, kill) in &trims {
                // Any number of batches before the checkpoint may be removed, and the hub be killed at any time after.
                let first = trim.index(checkpoint.begun_at + 1);
                let length = checkpoint.ended_at + kill.index(bench.batches.len() - checkpoint.ended_at + 1);
                let changes = bench.batches[..length].iter().filter(|batch| batch.checkpoint.is_none());
                let whole = noticed(replayed(retention_ms, changes), later_ms);
                prop_assert_eq!(&noticed(replayed(retention_ms, &bench.batches[first..length]), later_ms), &whole);
                // Nothing was removed: the parts repeat what is known.
                prop_assert_eq!(&noticed(replayed(retention_ms, &bench.batches[..length]), later_ms), &whole);
            }
        }
    }
}

#[test]
fn a_waiting_task_keeps_its_age() {
    let options = BrokerOptions { ageing_ms: 1_000, ..BrokerOptions::default() };
    let mut bench = Bench::new(options.clone());
    bench.publish(message("low", "boss", "").with("queue", "q").priority(1)).unwrap();
    bench.advance(3_500);
    // A claim raises the tasks of the queue; this one is not for it.
    bench.publish(message("critical", "boss", "").with("queue", "q").priority(4)).unwrap();
    let mut open = None;
    let checkpoint = loop {
        if let Some(written) = write_part(&mut bench, &mut open) {
            break written;
        }
    };
    let mut broker = Broker::new(options);
    bench.batches[checkpoint.begun_at..].iter().for_each(|batch| broker.replay(batch, |_| {}));
    bench.broker = broker;
    let claimed: Vec<String> = (0..3)
        .filter_map(|_| {
            bench.advance(1_000);
            bench.claim("w", "q")
        })
        .map(|claim| claim.task.id)
        .collect();
    assert_eq!(claimed, ["critical", "low"]);
}

/// A store in memory that remembers which batches it had after each step.
#[derive(Clone, Default)]
struct StepStore(Arc<Mutex<Steps>>);

#[derive(Default)]
struct Steps {
    all: Vec<ChangeBatch>,
    first: usize,
    steps: Vec<(usize, usize)>,
}

impl StepStore {
    fn with(batches: &[ChangeBatch]) -> StepStore {
        StepStore(Arc::new(Mutex::new(Steps { all: batches.to_vec(), ..Steps::default() })))
    }
}

impl Steps {
    fn add(&mut self, batch: ChangeBatch) -> u64 {
        self.all.push(batch);
        self.note();
        self.all.len() as u64
    }

    fn note(&mut self) {
        self.steps.push((self.first, self.all.len()));
    }
}

impl Store for StepStore {
    fn append(&self, batch: ChangeBatch) -> Durability {
        self.0.lock().unwrap().add(batch);
        Durability::Done
    }

    fn stored(&self, number: u64) -> StoreFuture<u64> {
        Box::pin(async move { Ok(number) })
    }

    fn replay(&self, each: &mut dyn FnMut(&ChangeBatch)) -> Result<(), StoreError> {
        let batches = self.0.lock().unwrap().all.clone();
        batches.iter().for_each(each);
        Ok(())
    }

    fn trimmable(&self) -> Option<&dyn TrimmableStore> {
        Some(self)
    }
}

impl TrimmableStore for StepStore {
    fn place(&self, batch: ChangeBatch) -> StoreFuture<u64> {
        let place = self.0.lock().unwrap().add(batch);
        Box::pin(async move { Ok(place) })
    }

    fn trim(&self, before: u64) -> StoreFuture<u64> {
        let mut steps = self.0.lock().unwrap();
        let mut removed = 0;
        while steps.first as u64 + 1 < before {
            steps.first += 1;
            removed += 1;
            steps.note();
        }
        Box::pin(async move { Ok(removed) })
    }

    fn written_bytes(&self) -> u64 {
        self.0.lock().unwrap().all.len() as u64
    }

    fn size(&self) -> u64 {
        0
    }
}

/// Everything that clients see of a hub.
async fn seen(store: StepStore) -> String {
    let hub = Hub::open(Box::new(store), BrokerOptions::default()).unwrap();
    let tasks = hub.tasks(&ListTasks { page_size: 500, ..ListTasks::default() }).await.unwrap();
    // A shorter history has fewer events to resume from.
    let stats = HubStats { event_bytes: 0, ..hub.stats() };
    format!("{:?}", (tasks, hub.agents(), stats))
}

#[tokio::test]
async fn a_kill_between_any_two_writes_loses_nothing() {
    let store = StepStore::default();
    let hub = Hub::open(Box::new(store.clone()), BrokerOptions::default()).unwrap();
    let register = Register { agent_id: "w".to_owned(), subscriptions: vec!["q".to_owned()], ..Register::default() };
    hub.execute(&OPERATOR, Command::Register(register)).await.unwrap();
    for round in 0..4 {
        for number in 0..6 {
            let task = format!("t{round}-{number}");
            hub.execute(&OPERATOR, Command::Publish(message(&task, "boss", "").with("queue", "q"))).await.unwrap();
        }
        let claim = Claim { agent_id: "w".to_owned(), queue: "q".to_owned(), ..Claim::default() };
        for _ in 0..4 {
            hub.execute(&OPERATOR, Command::Claim(claim.clone())).await.unwrap();
        }
        hub.compact().await.unwrap();
    }
    let stats = hub.store_stats().unwrap();
    assert_eq!(stats.checkpoints, 4);
    assert!(stats.removed > 20, "{stats:?}");
    let (all, steps) = {
        let steps = store.0.lock().unwrap();
        (steps.all.clone(), steps.steps.clone())
    };
    assert!(steps.iter().any(|(first, _)| *first > 20));
    for (first, length) in steps {
        let whole = seen(StepStore::with(&all[..length])).await;
        assert_eq!(seen(StepStore::with(&all[first..length])).await, whole, "killed with {first}..{length}");
    }
}

#[tokio::test]
async fn a_new_store_can_begin_with_a_checkpoint_that_was_interrupted() {
    let store = StepStore::default();
    let hub = Hub::open(Box::new(store.clone()), BrokerOptions::default()).unwrap();
    hub.compact().await.unwrap();
    let mut all = store.0.lock().unwrap().all.clone();
    all.pop();
    let hub = Hub::open(Box::new(StepStore::with(&all)), BrokerOptions::default()).unwrap();
    let task = message("t", "boss", "").with("queue", "q");
    hub.execute(&OPERATOR, Command::Publish(task)).await.unwrap();
    assert_eq!(hub.stats().submitted, 1);
}

#[tokio::test]
async fn a_store_without_its_first_batches_and_without_a_checkpoint_is_refused() {
    let store = StepStore::default();
    let hub = Hub::open(Box::new(store.clone()), BrokerOptions::default()).unwrap();
    for number in 0..3 {
        let task = message(&format!("t{number}"), "boss", "").with("queue", "q");
        hub.execute(&OPERATOR, Command::Publish(task)).await.unwrap();
    }
    hub.compact().await.unwrap();
    let all = store.0.lock().unwrap().all.clone();
    for missing_end in [&all[1..3], &all[3..all.len() - 1]] {
        let result = Hub::open(Box::new(StepStore::with(missing_end)), BrokerOptions::default());
        assert!(matches!(result.err(), Some(StoreError::Incomplete)));
    }
    assert!(Hub::open(Box::new(StepStore::with(&all[3..])), BrokerOptions::default()).is_ok());
}

#[tokio::test]
async fn a_file_is_compacted_and_keeps_results_tasks_and_cursors() {
    let folder = std::env::temp_dir().join(format!("harn-hub-compaction-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("hub.db");
    let open = || {
        let store = SqliteStore::open(&path, &SqliteOptions::default()).unwrap();
        let log = store.log().clone();
        (Hub::open(Box::new(store), BrokerOptions::default()).unwrap(), log)
    };
    let publish = async |hub: &Hub, id: &str| {
        let task = message(id, "boss", "").with("queue", "q").id(&format!("m{id}"));
        hub.execute(&OPERATOR, Command::Publish(task)).await.map(published).unwrap()
    };
    let (hub, log) = open();
    let register = Register { agent_id: "w".to_owned(), subscriptions: vec!["q".to_owned()], ..Register::default() };
    hub.execute(&OPERATOR, Command::Register(register)).await.unwrap();
    let first = publish(&hub, "first").await;
    for number in 0..300 {
        publish(&hub, &format!("t{number}")).await;
    }
    hub.compact().await.unwrap();
    assert_eq!(hub.store_stats().unwrap().removed, 0, "the first checkpoint removes nothing");
    let between = publish(&hub, "between").await;
    hub.compact().await.unwrap();
    let stats = hub.store_stats().unwrap();
    assert_eq!((stats.checkpoints, stats.removed), (2, 302));
    assert!(stats.last_checkpoint_ms.is_some() && stats.bytes > 0 && stats.checkpoint_bytes > 100_000, "{stats:?}");
    let tasks = hub.tasks(&ListTasks { page_size: 500, ..ListTasks::default() }).await.unwrap();
    drop((hub, log));

    // A removal that was interrupted is repeated by the next start.
    let (hub, log) = open();
    let stats = hub.store_stats().unwrap();
    assert_eq!((stats.checkpoints, stats.removed), (0, 0));
    assert!(stats.last_checkpoint_ms.is_some() && stats.checkpoint_bytes > 100_000, "{stats:?}");
    assert_eq!(hub.tasks(&ListTasks { page_size: 500, ..ListTasks::default() }).await.unwrap(), tasks);
    assert_eq!(hub.agents().len(), 1);
    assert_eq!(publish(&hub, "first").await, first, "the first result is kept");
    let subscribe = |cursor: &str| {
        let kind = SubscriptionKind::Tasks { types: Vec::new(), states: Vec::new() };
        hub.subscribe(
            &OPERATOR,
            SubscribeRequest {
                agent_id: "w".to_owned(),
                kind,
                cursor: Some(cursor.to_owned()),
                order: DeliveryOrder::Sequence,
                capacity: None,
            },
        )
    };
    assert_eq!(subscribe(&first.event_id).err().unwrap().kind, ErrorKind::OutOfRange);
    let mut subscription = subscribe(&between.event_id).unwrap();
    publish(&hub, "later").await;
    assert_eq!(subscription.next().await.unwrap().event.routing.as_ref().unwrap().from_agent_id, "boss");
    drop(subscription);

    // The beginning of the last checkpoint is removed, and the one before it is gone.
    drop(hub);
    log.trim(Topic::Hub.into(), u64::MAX).await.unwrap();
    drop(log);
    let store = SqliteStore::open(&path, &SqliteOptions::default()).unwrap();
    let mut batches = 0;
    store.replay(&mut |_| batches += 1).unwrap();
    assert_eq!(batches, 0);
    drop(store);
    fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_hub_compacts_its_store_by_itself() {
    let store = StepStore::default();
    // This store counts batches in place of bytes.
    let options = BrokerOptions { compact_bytes: 50, ..BrokerOptions::default() };
    let hub = Hub::open_with_clock(Box::new(store.clone()), options, HubClock::of(|| START)).unwrap();
    let driver = tokio::spawn(hub.drive());
    for number in 0..400 {
        let task = message(&format!("t{number}"), "boss", "").with("queue", "q");
        hub.execute(&OPERATOR, Command::Publish(task)).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let stats = hub.store_stats().unwrap();
    assert!(stats.checkpoints >= 3 && stats.removed > 100, "{stats:?}");
    let working = status("w", "t399", TaskState::Working, None);
    hub.execute(&OPERATOR, Command::UpdateStatus(working)).await.unwrap();
    drop(hub);
    driver.await.unwrap();
}

#[test]
fn a_checkpoint_has_answers_and_requests_of_workers_and_splits_large_cards() {
    let mut bench = Bench::new(BrokerOptions::default());
    for number in 0..20 {
        let card = AgentCard { description: "x".repeat(100 << 10), ..AgentCard::default() };
        let register = Register { agent_id: format!("a{number:02}"), card, ..Register::default() };
        bench.run(Command::Register(register)).unwrap();
    }
    bench.queue("t", "q");
    let claim = Claim {
        agent_id: "a00".to_owned(),
        queue: "q".to_owned(),
        operation: "op_claim".to_owned(),
        ..Claim::default()
    };
    let first = bench.run(Command::Claim(claim.clone())).unwrap();
    bench.status("a00", "t", TaskState::Working).unwrap();
    let mut asks = status("a00", "t", TaskState::InputRequired, None);
    asks.operation = "op_asks".to_owned();
    let asked = published(bench.run(Command::UpdateStatus(asks.clone())).unwrap());
    bench.publish(message("t", "boss", "").id("answer")).unwrap();
    let mut cursor = CheckpointCursor::default();
    let mut restored = Broker::new(BrokerOptions::default());
    while !cursor.is_saved() {
        let part = bench.broker.checkpoint_part(&mut cursor, bench.now_ms);
        assert!(part.encoded_len() < 512 << 10, "a part of {} bytes", part.encoded_len());
        restored.replay(&part, |_| {});
    }
    assert_eq!(restored.agents().count(), 20);
    assert_eq!(restored.task("t"), bench.broker.task("t"));
    assert!(restored.task("t").unwrap().answered && !restored.task("t").unwrap().is_settled());
    bench.broker = restored;
    assert_eq!(published(bench.run(Command::UpdateStatus(asks)).unwrap()).event_id, asked.event_id);
    let (Reply::Claimed(Some(before)), Reply::Claimed(Some(after))) =
        (first, bench.run(Command::Claim(claim)).unwrap())
    else {
        panic!("nothing claimed")
    };
    assert_eq!((before.lease_id, before.attempt), (after.lease_id, after.attempt));
}
