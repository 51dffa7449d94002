//! Leases and deadlines while the clock of the system is set.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hub::broker::{BrokerError, BrokerOptions, Caller, Claim, ClaimedTask, Command, Publish, Renew, Reply};
use hub::store::{MemoryStore, SqliteStore, Store};
use hub::{Hub, HubClock};

use crate::common::{PublishExt, START, message};

const DAYS: u64 = 30 * 86_400_000;

/// A hub whose clocks a test sets.
struct Timed {
    hub: Hub,
    wall: Arc<AtomicU64>,
    steady: Arc<AtomicU64>,
}

impl Timed {
    fn open(store: Box<dyn Store>, wall_ms: u64) -> Timed {
        let (wall, steady) = (Arc::new(AtomicU64::new(wall_ms)), Arc::new(AtomicU64::new(7)));
        let (read_wall, read_steady) = (wall.clone(), steady.clone());
        let clock = HubClock {
            wall: Box::new(move || read_wall.load(Ordering::SeqCst)),
            steady: Box::new(move || read_steady.load(Ordering::SeqCst)),
        };
        Timed { hub: Hub::open_with_clock(store, BrokerOptions::default(), clock).unwrap(), wall, steady }
    }

    fn pass(&self, ms: u64) {
        self.wall.fetch_add(ms, Ordering::SeqCst);
        self.steady.fetch_add(ms, Ordering::SeqCst);
    }

    async fn run(&self, command: Command) -> Result<Reply, BrokerError> {
        self.hub.execute(&Caller::Operator, command).await
    }

    async fn publish(&self, publish: Publish) -> Result<Reply, BrokerError> {
        self.run(Command::Publish(publish)).await
    }

    async fn claim(&self, agent: &str) -> Option<ClaimedTask> {
        let claim = Claim { agent_id: agent.to_owned(), queue: "q".to_owned(), ..Claim::default() };
        match self.run(Command::Claim(claim)).await.unwrap() {
            Reply::Claimed(task) => task.map(|task| *task),
            other => panic!("{other:?}"),
        }
    }
}

fn queued(id: &str) -> Publish {
    message(id, "boss", "").with("queue", "q")
}

/// A deadline as a client writes it.
fn until(id: &str, at_ms: u64) -> Publish {
    let at = jiff::Timestamp::from_millisecond(i64::try_from(at_ms).unwrap()).unwrap();
    queued(id).with("deadline", &at.to_string())
}

#[tokio::test]
async fn a_lease_has_its_length_while_the_clock_jumps() {
    let timed = Timed::open(Box::new(MemoryStore), START);
    timed.publish(queued("t")).await.unwrap();
    assert_eq!(timed.claim("w1").await.unwrap().attempt, 1);
    timed.wall.fetch_add(DAYS, Ordering::SeqCst);
    timed.pass(1_000);
    assert!(timed.claim("w2").await.is_none(), "the lease of the first worker ended with the clock's jump");
    // The clock of the system is right again; the lease of 30 s ends when it should.
    timed.wall.fetch_sub(DAYS, Ordering::SeqCst);
    timed.pass(28_000);
    assert!(timed.claim("w2").await.is_none());
    timed.pass(1_100);
    assert_eq!(timed.claim("w2").await.unwrap().attempt, 2);
}

#[tokio::test]
async fn a_jump_that_is_over_leaves_no_long_lease_and_no_missed_deadline() {
    let timed = Timed::open(Box::new(MemoryStore), START);
    timed.wall.fetch_add(DAYS, Ordering::SeqCst);
    timed.publish(queued("first")).await.unwrap();
    timed.wall.fetch_sub(DAYS, Ordering::SeqCst);
    timed.pass(10);
    timed.publish(until("second", START + 3_600_000)).await.unwrap();
    let claimed = timed.claim("w1").await.unwrap();
    assert_eq!(claimed.lease_until_ms, START + 10 + 30_000);
}

#[tokio::test]
async fn deadlines_are_times_of_the_system_although_the_hub_began_with_a_wrong_clock() {
    let timed = Timed::open(Box::new(MemoryStore), START + DAYS);
    timed.publish(queued("any")).await.unwrap();
    timed.wall.store(START, Ordering::SeqCst);
    timed.pass(1_000);
    let past = timed.publish(until("past", START)).await.unwrap_err();
    assert_eq!(past.message, "`metadata.deadline` is in the past");
    timed.publish(until("hour", START + 3_600_000)).await.unwrap();
    timed.claim("w1").await.unwrap();
    let claimed = timed.claim("w1").await.unwrap();
    assert_eq!((claimed.task.id.as_str(), claimed.deadline_ms), ("hour", Some(START + 3_600_000)));
    // Within the milliseconds that the hub's time has approached that of the system.
    assert!(claimed.lease_until_ms.abs_diff(START + 1_000 + 30_000) <= 100, "{}", claimed.lease_until_ms);
    let renew = Renew {
        agent_id: "w1".to_owned(),
        task_id: "hour".to_owned(),
        lease: Some(claimed.lease_id.clone()),
        duration: None,
    };
    let Reply::Renewed(until_ms) = timed.run(Command::Renew(renew)).await.unwrap() else { panic!() };
    assert!(until_ms.abs_diff(START + 1_000 + 30_000) <= 100, "{until_ms}");
}

#[tokio::test]
async fn a_store_from_the_future_delays_no_lease() {
    let folder = std::env::temp_dir().join(format!("harn-hub-clock-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("hub.db");
    let store = || Box::new(SqliteStore::open(&path, &eventlog::SqliteOptions::default()).unwrap());
    let ahead = Timed::open(store(), START + DAYS);
    ahead.publish(queued("t")).await.unwrap();
    ahead.claim("w1").await.unwrap();
    drop(ahead);
    let timed = Timed::open(store(), START);
    timed.pass(10_000);
    assert!(timed.claim("w2").await.is_none());
    // The time of the hub approaches that of the system: 34 s are more than 30 s of it.
    timed.pass(24_000);
    assert_eq!(timed.claim("w2").await.unwrap().attempt, 2);
    drop(timed);
    std::fs::remove_dir_all(folder).unwrap();
}
