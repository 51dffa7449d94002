//! Delivery: acknowledgement, order, buffers and cursors.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::FutureExt as _;

use hub::broker::change::ChangeBatch;
use hub::broker::{
    BrokerError, BrokerOptions, Caller, Claim, Command, ErrorKind, Publish, RecentPage, RecentTasks, Register, Reply,
};
use hub::proto::a2a::TaskState;
use hub::proto::agenthub::agent_event::Payload;
use hub::store::{Durability, MemoryStore, Store, StoreError, StoreFuture};
use hub::{
    DeliveryOrder, EventSubscription, FollowEnd, Hub, HubClock, SubscribeRequest, SubscriptionEnd, SubscriptionKind,
};
use tokio::sync::oneshot;

use crate::common::{PublishExt, START, message, status};
use crate::tokio_wait::{LIMIT, find, others_wait};

struct Served {
    hub: Hub,
    clock: Arc<AtomicU64>,
}

impl Served {
    fn new(options: BrokerOptions) -> Served {
        Served::on(Box::new(MemoryStore), options)
    }

    fn on(store: Box<dyn Store>, options: BrokerOptions) -> Served {
        let clock = Arc::new(AtomicU64::new(START));
        let read = clock.clone();
        let now = HubClock::of(move || read.load(Ordering::SeqCst));
        Served { hub: Hub::open_with_clock(store, options, now).unwrap(), clock }
    }

    async fn run(&self, command: Command) -> Result<Reply, BrokerError> {
        self.hub.execute(&Caller::Operator, command).await
    }

    async fn register(&self, agent: &str, tags: &[&str]) {
        let subscriptions = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let register = Register { agent_id: agent.to_owned(), subscriptions, ..Register::default() };
        self.run(Command::Register(register)).await.unwrap();
    }

    async fn publish(&self, publish: Publish) {
        self.run(Command::Publish(publish)).await.unwrap();
    }

    async fn status(&self, agent: &str, task: &str, state: TaskState) {
        self.run(Command::UpdateStatus(status(agent, task, state, None))).await.unwrap();
    }

    async fn advance(&self, ms: u64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
        self.run(Command::Tick).await.unwrap();
    }

    fn subscribe(&self, agent: &str, kind: SubscriptionKind) -> EventSubscription {
        self.resume(agent, kind, None, None).unwrap()
    }

    fn resume(
        &self,
        agent: &str,
        kind: SubscriptionKind,
        cursor: Option<String>,
        capacity: Option<usize>,
    ) -> Result<EventSubscription, BrokerError> {
        let order = DeliveryOrder::Priority;
        let request = SubscribeRequest { agent_id: agent.to_owned(), kind, cursor, order, capacity };
        self.hub.subscribe(&Caller::Operator, request)
    }
}

fn tasks() -> SubscriptionKind {
    SubscriptionKind::Tasks { types: Vec::new(), states: Vec::new() }
}

fn messages() -> SubscriptionKind {
    SubscriptionKind::Messages { types: Vec::new(), contexts: Vec::new() }
}

/// Reads what is there now.
fn drain(subscription: &mut EventSubscription) -> Vec<String> {
    // The step from past events to new ones yields nothing once.
    let mut shown = Vec::new();
    let mut misses = 0;
    while misses < 2 {
        match subscription.try_next().unwrap() {
            Some(delivery) => shown.push(show(delivery.event.payload.as_ref().unwrap())),
            None => misses += 1,
        }
    }
    shown
}

fn show(payload: &Payload) -> String {
    match payload {
        Payload::Message(message) => format!("message {}", message.message_id),
        Payload::Task(task) => format!("task {}", task.id),
        Payload::StatusUpdate(update) => {
            let state = update.status.as_ref().unwrap().state();
            format!("{} {}", update.task_id, state.as_str_name().trim_start_matches("TASK_STATE_"))
        }
        Payload::ArtifactUpdate(update) => format!("artifact of {}", update.task_id),
        Payload::AgentCard(event) => format!("{} {}", event.agent_id, event.event_type),
    }
}

#[tokio::test]
async fn a_task_is_delivered_until_it_is_acknowledged() {
    let served = Served::new(BrokerOptions::default());
    served.register("w", &[]).await;
    // Before any subscription.
    served.publish(message("t", "boss", "w")).await;
    let mut first = served.subscribe("w", tasks());
    assert_eq!(drain(&mut first), ["task t"]);
    // The subscription stays open and the task is not acknowledged.
    served.advance(29_999).await;
    assert_eq!(drain(&mut first), [""; 0]);
    served.advance(1).await;
    assert_eq!(drain(&mut first), ["task t"]);
    drop(first);
    let mut second = served.subscribe("w", tasks());
    assert_eq!(drain(&mut second), ["task t"]);
    served.run(Command::Acknowledge { agent_id: "w".to_owned(), task_id: "t".to_owned() }).await.unwrap();
    served.advance(120_000).await;
    assert_eq!(drain(&mut second), [""; 0]);
    // Work acknowledges it for subscriptions too.
    served.status("w", "t", TaskState::Working).await;
    assert_eq!(drain(&mut served.subscribe("w", tasks())), [""; 0]);
}

#[tokio::test]
async fn a_hub_is_drained_once_the_last_lease_has_ended() {
    let served = Served::new(BrokerOptions::default());
    served.register("w", &[]).await;
    for id in ["done", "lost"] {
        served.publish(message(id, "boss", "w")).await;
        let claimed = served.run(Command::Claim(Claim { agent_id: "w".to_owned(), ..Claim::default() })).await;
        assert!(matches!(claimed, Ok(Reply::Claimed(Some(_)))));
    }
    served.hub.drain();
    let mut drained = pin!(served.hub.drained());
    assert!(drained.as_mut().now_or_never().is_none());
    served.status("w", "done", TaskState::Working).await;
    served.status("w", "done", TaskState::Completed).await;
    assert!(drained.as_mut().now_or_never().is_none());
    // The worker of the other one is gone.
    served.advance(30_000).await;
    assert!(drained.as_mut().now_or_never().is_some());
}

#[tokio::test]
async fn the_events_of_a_task_stay_in_order() {
    let served = Served::new(BrokerOptions::default());
    served.register("w", &[]).await;
    served.register("boss", &[]).await;
    let mut boss = served.subscribe("boss", tasks());
    for place in 0..20 {
        let id = format!("t{place}");
        served.publish(message(&id, "boss", "w").priority(place % 4 + 1).context("c")).await;
        served.status("w", &id, TaskState::Working).await;
        served.status("w", &id, TaskState::Completed).await;
    }
    let seen = drain(&mut boss);
    assert_eq!(seen.len(), 40);
    let wanted = (0..20).flat_map(|place| [format!("t{place} WORKING"), format!("t{place} COMPLETED")]);
    assert_eq!(seen, wanted.collect::<Vec<_>>());
}

#[tokio::test]
async fn an_urgent_event_overtakes_others_in_a_buffer() {
    let served = Served::new(BrokerOptions::default());
    served.register("w", &[]).await;
    let mut subscription = served.subscribe("w", messages());
    for (id, priority) in [("low", 1), ("high", 3), ("critical", 4)] {
        served.publish(message("", "boss", "w").id(id).context(id).priority(priority)).await;
    }
    let seen = drain(&mut subscription);
    assert_eq!(seen, ["message critical", "message high", "message low"]);
}

#[tokio::test]
async fn an_overflow_ends_that_subscription_with_a_cursor_to_resume_from() {
    let served = Served::new(BrokerOptions::default());
    served.register("slow", &[]).await;
    served.register("fast", &[]).await;
    let mut slow = served.resume("slow", messages(), None, Some(4)).unwrap();
    let mut fast = served.resume("fast", messages(), None, Some(4)).unwrap();
    let mut seen_fast = Vec::new();
    for place in 0..3 {
        served.publish(message("", "boss", "").id(&format!("m{place}"))).await;
        seen_fast.extend(drain(&mut fast));
    }
    let first = slow.try_next().unwrap().unwrap();
    assert_eq!(show(first.event.payload.as_ref().unwrap()), "message m0");
    for place in 3..10 {
        served.publish(message("", "boss", "").id(&format!("m{place}"))).await;
        seen_fast.extend(drain(&mut fast));
    }
    assert_eq!(seen_fast.len(), 10);
    let Err(SubscriptionEnd::Overflow { cursor }) = slow.try_next() else { panic!("no overflow") };
    drop(slow);
    let mut resumed = served.resume("slow", messages(), Some(cursor), Some(4)).unwrap();
    let wanted: Vec<String> = (1..10).map(|place| format!("message m{place}")).collect();
    assert_eq!(drain(&mut resumed), wanted);
    served.publish(message("", "boss", "").id("new")).await;
    assert_eq!(drain(&mut resumed), ["message new"]);
    let invalid = served.resume("slow", messages(), Some("x".to_owned()), None).err().unwrap();
    assert_eq!(invalid.kind, ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn a_cursor_skips_no_event_that_an_urgent_one_has_overtaken() {
    let served = Served::new(BrokerOptions::default());
    served.register("w", &[]).await;
    let mut subscription = served.subscribe("w", messages());
    for (id, priority) in [("low", 1), ("medium", 2), ("critical", 4)] {
        served.publish(message("", "boss", "w").id(id).context(id).priority(priority)).await;
    }
    let urgent = subscription.try_next().unwrap().unwrap();
    assert_eq!(show(urgent.event.payload.as_ref().unwrap()), "message critical");
    assert!(urgent.complete < urgent.sequence);
    drop(subscription);
    let mut resumed = served.resume("w", messages(), Some(urgent.cursor), None).unwrap();
    // The urgent one is delivered again; its number says so.
    let mut again = Vec::new();
    for _ in 0..3 {
        again.push(resumed.try_next().unwrap().unwrap());
    }
    let shown: Vec<String> = again.iter().map(|it| show(it.event.payload.as_ref().unwrap())).collect();
    assert_eq!(shown, ["message low", "message medium", "message critical"]);
    assert_eq!((again[2].sequence, again[2].complete), (urgent.sequence, urgent.sequence));
    // Its id does not say what was not delivered before it.
    let by_id = served.resume("w", messages(), Some(urgent.event.event_id.clone()), None).err().unwrap();
    assert_eq!(by_id.kind, ErrorKind::InvalidArgument);
    assert!(by_id.message.contains("`sequence`"), "{by_id}");
}

#[tokio::test]
async fn in_the_order_of_the_sequence_an_event_id_is_a_cursor() {
    let served = Served::new(BrokerOptions::default());
    served.register("w", &[]).await;
    let ordered = |cursor| {
        let order = DeliveryOrder::Sequence;
        let request = SubscribeRequest { agent_id: "w".to_owned(), kind: messages(), cursor, order, capacity: None };
        served.hub.subscribe(&Caller::Operator, request).unwrap()
    };
    let mut subscription = ordered(None);
    for (id, priority) in [("low", 1), ("medium", 2), ("critical", 4)] {
        served.publish(message("", "boss", "w").id(id).context(id).priority(priority)).await;
    }
    let first = subscription.try_next().unwrap().unwrap();
    assert_eq!(show(first.event.payload.as_ref().unwrap()), "message low");
    assert_eq!(drain(&mut subscription), ["message medium", "message critical"]);
    let mut resumed = ordered(Some(first.event.event_id.clone()));
    assert_eq!(drain(&mut resumed), ["message medium", "message critical"]);
}

#[tokio::test]
async fn a_cursor_of_another_hub_is_an_error() {
    let (one, other) = (Served::new(BrokerOptions::default()), Served::new(BrokerOptions::default()));
    one.register("w", &[]).await;
    let cursor = one.subscribe("w", messages()).cursor().0;
    other.register("w", &[]).await;
    for number in 0..5 {
        other.register(&format!("w{number}"), &[]).await;
    }
    let foreign = other.resume("w", messages(), Some(cursor.clone()), None).err().unwrap();
    assert_eq!(foreign.kind, ErrorKind::OutOfRange, "{foreign}");
    assert!(one.resume("w", messages(), Some(cursor), None).is_ok());
    // Hubs with stores have the same cursors, but one has not come so far.
    let stored = || Served::on(Box::new(SlowStore::default()), BrokerOptions::default());
    let (ahead, behind) = (stored(), stored());
    for hub in [&ahead, &behind] {
        let command = Command::Register(Register { agent_id: "v".to_owned(), ..Register::default() });
        // It is never confirmed.
        assert!(hub.run(command).now_or_never().is_none());
    }
    // It is not stored yet, so it is no part of the cursor.
    let cursor = ahead.subscribe("v", messages()).cursor();
    assert_eq!(cursor.1, 0);
    assert!(behind.resume("v", messages(), Some(cursor.0), None).is_ok());
    let mut bytes = URL_SAFE_NO_PAD.decode(behind.subscribe("v", messages()).cursor().0).unwrap();
    bytes[7] = 2;
    let early = behind.resume("v", messages(), Some(URL_SAFE_NO_PAD.encode(bytes)), None).err().unwrap();
    assert_eq!(early.kind, ErrorKind::OutOfRange, "{early}");
}

#[tokio::test]
async fn a_claim_with_an_estimate_waits_beside_a_task_that_it_cannot_finish() {
    let served = Arc::new(Served::new(BrokerOptions::default()));
    served.publish(message("late", "boss", "").with("queue", "q").with("deadline", "2027-01-15T08:00:10Z")).await;
    let claim = Claim {
        agent_id: "w".to_owned(),
        queue: "q".to_owned(),
        estimate: Some(Duration::from_secs(60)),
        ..Claim::default()
    };
    let hub = served.hub.clone();
    let impossible = hub.claim_within(&Caller::Operator, claim.clone(), None).await.unwrap_err();
    assert_eq!(impossible.kind, ErrorKind::DeadlineImpossible);
    let none = hub.claim_within(&Caller::Operator, claim.clone(), Some(Duration::from_millis(1))).await.unwrap();
    assert_eq!(none, None);
    let wait = Some(Duration::from_secs(30));
    let worker = tokio::spawn(async move { hub.claim_within(&Caller::Operator, claim, wait).await.unwrap() });
    others_wait().await;
    served.publish(message("t", "boss", "").with("queue", "q")).await;
    let claimed = tokio::time::timeout(LIMIT, worker).await.unwrap().unwrap();
    assert_eq!(claimed.unwrap().task.id, "t");
}

#[tokio::test(start_paused = true)]
async fn a_hub_that_drains_leases_nothing_and_lets_workers_finish() {
    let served = Arc::new(Served::new(BrokerOptions::default()));
    served.publish(message("held", "boss", "").with("queue", "q")).await;
    let claim = |queue: &str| Claim { agent_id: "w".to_owned(), queue: queue.to_owned(), ..Claim::default() };
    let hub = served.hub.clone();
    assert!(hub.claim_within(&Caller::Operator, claim("q"), None).await.unwrap().is_some());
    let waiting = tokio::spawn({
        let (hub, claim) = (hub.clone(), claim("idle"));
        async move { hub.claim_within(&Caller::Operator, claim, Some(Duration::from_secs(30))).await }
    });
    others_wait().await;
    hub.drain();
    // The clock of this test stands still while a task can run.
    let begun = tokio::time::Instant::now();
    let refused = waiting.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO, "it was not woken");
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Unavailable);
    served.publish(message("next", "boss", "").with("queue", "q")).await;
    let error = served.run(Command::Claim(claim("q"))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    served.status("w", "held", TaskState::Working).await;
    served.status("w", "held", TaskState::Completed).await;
    assert_eq!(hub.stats().leases, 0);
}

#[tokio::test]
async fn a_buffer_is_bounded_by_size_too() {
    let served = Served::new(BrokerOptions { subscription_bytes: 1_000, ..BrokerOptions::default() });
    served.register("w", &[]).await;
    let mut subscription = served.subscribe("w", messages());
    let large = |id: &str| {
        let mut publish = message("", "boss", "w").id(id);
        publish.message.content = vec![crate::common::text_part(&"x".repeat(2_000))];
        publish
    };
    served.publish(large("a")).await;
    assert_eq!(drain(&mut subscription), ["message a"]);
    served.publish(large("b")).await;
    served.publish(large("c")).await;
    assert!(matches!(subscription.try_next(), Err(SubscriptionEnd::Overflow { .. })));
}

#[tokio::test]
async fn kept_events_are_bounded_and_a_lost_cursor_is_an_error() {
    let served = Served::new(BrokerOptions { kept_events: 10, max_subscriptions: 2, ..BrokerOptions::default() });
    served.register("w", &[]).await;
    let mut subscription = served.subscribe("w", messages());
    served.publish(message("", "boss", "w").id("first")).await;
    let cursor = subscription.try_next().unwrap().unwrap().cursor;
    for place in 0..20 {
        served.publish(message("", "boss", "w").id(&format!("m{place}"))).await;
    }
    let gone = served.resume("w", messages(), Some(cursor), None).err().unwrap();
    assert_eq!(gone.kind, ErrorKind::OutOfRange);
    let _second = served.subscribe("w", messages());
    let full = served.resume("w", messages(), None, None).err().unwrap();
    assert_eq!(full.kind, ErrorKind::ResourceExhausted);
    drop(subscription);
    assert_eq!(served.hub.stats().subscriptions, 1);
}

#[tokio::test]
async fn the_memory_of_kept_events_is_bounded() {
    let most = 128 << 10;
    let served = Served::new(BrokerOptions { kept_bytes: most, ..BrokerOptions::default() });
    served.register("w", &[]).await;
    let mut subscription = served.subscribe("w", messages());
    let mut cursors = Vec::new();
    for place in 0..1_000 {
        served.publish(message("", "boss", "w").id(&format!("m{place}"))).await;
        cursors.push(subscription.try_next().unwrap().unwrap().cursor);
    }
    let bytes = served.hub.stats().event_bytes;
    assert!((most * 3 / 4..=most).contains(&bytes), "{bytes}");
    let resumes = |place: usize| served.resume("w", messages(), Some(cursors[place].clone()), None).is_ok();
    assert!(resumes(980) && !resumes(500), "an event takes about a kilobyte");
}

#[tokio::test]
async fn subscriptions_and_tags_are_honoured() {
    let served = Served::new(BrokerOptions::default());
    served.register("a", &["red"]).await;
    served.register("b", &["blue"]).await;
    let mut all = served.subscribe("a", messages());
    let kind = SubscriptionKind::Messages { types: vec!["x".to_owned()], contexts: vec!["c".to_owned()] };
    let mut some = served.subscribe("a", kind);
    let mut other = served.subscribe("b", messages());
    let mut publish = message("", "boss", "a").id("1").context("c");
    publish.routing.event_type = "x".to_owned();
    served.publish(publish.clone()).await;
    publish.routing.event_type = "y".to_owned();
    publish.message.message_id = "2".to_owned();
    served.publish(publish).await;
    served.publish(message("", "boss", "").id("3").tags(&["red"])).await;
    served.publish(message("", "boss", "").id("4").tags(&["blue"])).await;
    assert_eq!(drain(&mut all), ["message 1", "message 2", "message 3"]);
    assert_eq!(drain(&mut some), ["message 1"]);
    assert_eq!(drain(&mut other), ["message 4"]);

    served.register("boss", &[]).await;
    let states = SubscriptionKind::Tasks { types: Vec::new(), states: vec![TaskState::Completed] };
    let mut completed = served.subscribe("boss", states);
    let types = SubscriptionKind::Tasks { types: vec!["resize".to_owned()], states: Vec::new() };
    let mut resizes = served.subscribe("boss", types);
    for (id, kind) in [("t", "resize"), ("u", "crop")] {
        let mut publish = message(id, "boss", "a");
        publish.routing.event_type = kind.to_owned();
        served.publish(publish).await;
        served.status("a", id, TaskState::Working).await;
        served.status("a", id, TaskState::Completed).await;
    }
    assert_eq!(drain(&mut completed), ["t COMPLETED", "u COMPLETED"]);
    assert_eq!(drain(&mut resizes), ["t WORKING", "t COMPLETED"]);
    let thief = Caller::Agent("thief".to_owned());
    let request = SubscribeRequest {
        agent_id: "a".to_owned(),
        kind: tasks(),
        cursor: None,
        order: DeliveryOrder::Priority,
        capacity: None,
    };
    let denied = served.hub.subscribe(&thief, request).err().unwrap();
    assert_eq!(denied.kind, ErrorKind::PermissionDenied);
}

#[tokio::test]
async fn a_subscription_to_all_events_sees_cards_tasks_and_messages_once() {
    let served = Served::new(BrokerOptions::default());
    served.register("w", &[]).await;
    let mut all = served.subscribe("w", SubscriptionKind::Events { types: Vec::new() });
    let types = vec!["agent.registered".to_owned()];
    let mut cards = served.subscribe("w", SubscriptionKind::Events { types });
    served.register("boss", &[]).await;
    served.publish(message("t", "boss", "w").id("m")).await;
    served.publish(message("t", "boss", "w").id("n")).await;
    assert_eq!(drain(&mut all), ["boss registered", "task t", "message n"]);
    assert_eq!(drain(&mut cards), ["boss registered"]);
}

#[tokio::test]
async fn an_agent_that_the_hub_does_not_know_is_refused() {
    let served = Served::new(BrokerOptions::default());
    let refused = |result: Result<(), BrokerError>| {
        let error = result.unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::NotFound, "agent not found: `w`; register it first")
        );
    };
    let kinds = || [tasks(), messages(), SubscriptionKind::Events { types: Vec::new() }];
    for kind in kinds() {
        refused(served.resume("w", kind, None, None).map(|_| ()));
    }
    let claim = |queue: &str| Claim { agent_id: "w".to_owned(), queue: queue.to_owned(), ..Claim::default() };
    let wait = Some(Duration::from_secs(60));
    refused(served.hub.claim_within(&Caller::Operator, claim(""), wait).await.map(|_| ()));
    // A queue has no members.
    assert_eq!(served.hub.claim_within(&Caller::Operator, claim("q"), None).await, Ok(None));
    // The sender of a task can follow it, and so can its worker.
    served.publish(message("t", "w", "").with("queue", "q")).await;
    kinds().into_iter().for_each(|kind| drop(served.subscribe("w", kind)));
    served.status("v", "t", TaskState::Working).await;
    drop(served.subscribe("v", tasks()));
    served.status("v", "t", TaskState::Completed).await;
    assert!(served.resume("v", tasks(), None, None).is_err());
    // Until the hub forgets the task.
    served.advance(8 * 24 * 3_600_000).await;
    refused(served.resume("w", tasks(), None, None).map(|_| ()));
    // A worker that waits is refused once it is unregistered.
    served.register("w", &[]).await;
    let hub = served.hub.clone();
    let waiting = tokio::spawn(async move { hub.claim_within(&Caller::Operator, claim(""), wait).await });
    tokio::task::yield_now().await;
    served.run(Command::Unregister { agent_id: "w".to_owned() }).await.unwrap();
    refused(tokio::time::timeout(LIMIT, waiting).await.unwrap().unwrap().map(|_| ()));
}

#[tokio::test]
async fn a_queue_with_the_name_of_an_agent_is_not_its_inbox() {
    let served = Served::new(BrokerOptions::default());
    served.register("resize", &[]).await;
    served.publish(message("queued", "boss", "").with("queue", "resize")).await;
    served.publish(message("sent", "boss", "resize")).await;
    for (queue, task) in [("resize", Some("queued")), ("resize", None), ("", Some("sent")), ("", None)] {
        let claim = Claim { agent_id: "resize".to_owned(), queue: queue.to_owned(), ..Claim::default() };
        let claimed = served.hub.claim_within(&Caller::Operator, claim, None).await.unwrap();
        assert_eq!(
            claimed.map(|claimed| (claimed.task.id, claimed.queue)),
            task.map(|task| (task.to_owned(), queue.to_owned()))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_waits_for_a_task() {
    let served = Arc::new(Served::new(BrokerOptions::default()));
    let claim = Claim { agent_id: "w".to_owned(), queue: "q".to_owned(), ..Claim::default() };
    let hub = served.hub.clone();
    let now = hub.claim_within(&Caller::Operator, claim.clone(), None).await.unwrap();
    assert_eq!(now, None);
    let worker = tokio::spawn(async move {
        hub.claim_within(&Caller::Operator, claim, Some(Duration::from_secs(30))).await.unwrap()
    });
    others_wait().await;
    // The clock of this test stands still while a task can run.
    let begun = tokio::time::Instant::now();
    served.publish(message("t", "boss", "").with("queue", "q")).await;
    assert_eq!(worker.await.unwrap().unwrap().task.id, "t");
    assert_eq!(begun.elapsed(), Duration::ZERO, "it was not woken");
}

#[tokio::test]
async fn a_follower_sees_what_comes_after_the_task_that_it_got() {
    let hub = Hub::memory(BrokerOptions::default());
    let run = async |command: Command| hub.execute(&Caller::Operator, command).await.unwrap();
    run(Command::Publish(message("t", "boss", "").with("queue", "q"))).await;
    run(Command::Publish(message("u", "boss", "").with("queue", "q"))).await;
    let (task, mut follower) = hub.follow("t").await.unwrap();
    assert_eq!(task.status.unwrap().state(), TaskState::Submitted);
    for id in ["u", "t"] {
        run(Command::UpdateStatus(status("w", id, TaskState::Working, None))).await;
    }
    run(Command::UpdateStatus(status("w", "t", TaskState::Completed, None))).await;
    let mut states = Vec::new();
    for _ in 0..2 {
        let event = follower.next().await.unwrap();
        let Some(Payload::StatusUpdate(update)) = &event.payload else { panic!("{event:?}") };
        assert_eq!(update.task_id, "t");
        states.push(update.status.as_ref().unwrap().state());
    }
    assert_eq!(states, [TaskState::Working, TaskState::Completed]);
    hub.close();
    assert_eq!(follower.next().await, Err(FollowEnd::Closed));
    assert!(hub.follow("none").await.is_err());
}

#[tokio::test]
async fn a_caller_that_waits_for_a_task_gets_it_when_it_is_over() {
    let hub = Hub::memory(BrokerOptions::default());
    let publish = Command::Publish(message("t", "boss", "").with("queue", "q"));
    hub.execute(&Caller::Operator, publish).await.unwrap();
    let (early, is_settled) = hub.settled_task("t", Duration::from_millis(10)).await.unwrap();
    assert!(!is_settled);
    assert_eq!(early.status.unwrap().state(), TaskState::Submitted);
    let waiting = tokio::spawn({
        let hub = hub.clone();
        async move { hub.settled_task("t", Duration::from_secs(60)).await }
    });
    tokio::task::yield_now().await;
    for state in [TaskState::Working, TaskState::InputRequired] {
        hub.execute(&Caller::Operator, Command::UpdateStatus(status("w", "t", state, None))).await.unwrap();
    }
    let (task, is_settled) = tokio::time::timeout(LIMIT, waiting).await.unwrap().unwrap().unwrap();
    assert!(is_settled);
    assert_eq!(task.status.unwrap().state(), TaskState::InputRequired);
    // Once it is answered, it does not wait for its requester any more, although its state is the same.
    let answer = Command::Publish(message("t", "boss", "").id("answer"));
    hub.execute(&Caller::Operator, answer.clone()).await.unwrap();
    let (task, is_settled) = hub.settled_task("t", Duration::from_millis(10)).await.unwrap();
    assert_eq!((task.status.unwrap().state(), is_settled), (TaskState::InputRequired, false));
    assert!(!hub.follow("t").await.unwrap().1.was_settled());
    let waiting = tokio::spawn({
        let hub = hub.clone();
        async move { hub.settled_task("t", Duration::from_secs(60)).await }
    });
    tokio::task::yield_now().await;
    for state in [TaskState::Working, TaskState::AuthRequired] {
        hub.execute(&Caller::Operator, Command::UpdateStatus(status("w", "t", state, None))).await.unwrap();
    }
    let (task, is_settled) = tokio::time::timeout(LIMIT, waiting).await.unwrap().unwrap().unwrap();
    assert_eq!((task.status.unwrap().state(), is_settled), (TaskState::AuthRequired, true));
    // The same answer again is not one to the next question.
    hub.execute(&Caller::Operator, answer).await.unwrap();
    assert!(hub.settled_task("t", Duration::ZERO).await.unwrap().1);
}

#[tokio::test]
async fn recent_tasks_are_those_that_changed_last() {
    let now = Arc::new(AtomicU64::new(1_000));
    let clock = now.clone();
    let tick = HubClock::of(move || clock.fetch_add(1, Ordering::SeqCst));
    let hub = Hub::open_with_clock(Box::new(MemoryStore), BrokerOptions::default(), tick);
    let hub = hub.unwrap();
    for id in ["a", "b", "c", "d"] {
        let publish = Command::Publish(message(id, "boss", "").with("queue", "q"));
        hub.execute(&Caller::Operator, publish).await.unwrap();
    }
    hub.execute(&Caller::Operator, Command::UpdateStatus(status("w", "a", TaskState::Working, None))).await.unwrap();
    let mut request = RecentTasks { size: 3, ..RecentTasks::default() };
    let page = hub.recent_tasks(&request).await.unwrap();
    let ids = |page: &RecentPage| page.tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(&page), page.is_last, page.total), (["a", "d", "c"].map(str::to_owned).to_vec(), false, 4));
    let at = page.tasks[2].status.as_ref().unwrap().timestamp.unwrap();
    request.after = Some((at.seconds as u64 * 1_000 + at.nanos as u64 / 1_000_000, "c".to_owned()));
    let page = hub.recent_tasks(&request).await.unwrap();
    assert_eq!((ids(&page), page.is_last), (vec!["b".to_owned()], true));
    request = RecentTasks { state: Some(TaskState::Working), size: 3, ..RecentTasks::default() };
    assert_eq!(ids(&hub.recent_tasks(&request).await.unwrap()), ["a"]);
}

#[tokio::test]
async fn leases_end_without_any_command() {
    let hub = Hub::memory(BrokerOptions { lease_ms: 50, ..BrokerOptions::default() });
    let timers = tokio::spawn(hub.drive());
    let publish = message("t", "boss", "").with("queue", "q");
    hub.execute(&Caller::Operator, Command::Publish(publish)).await.unwrap();
    let claim = Claim { agent_id: "w".to_owned(), queue: "q".to_owned(), ..Claim::default() };
    for attempt in 1..=3 {
        let claimed = hub.claim_within(&Caller::Operator, claim.clone(), Some(Duration::from_secs(20))).await.unwrap();
        assert_eq!(claimed.unwrap().attempt, attempt);
    }
    find("a task that failed", async || {
        let state = hub.task("t", 0).await.unwrap().status.unwrap().state();
        if state == TaskState::Failed { Ok(()) } else { Err(format!("{state:?}")) }
    })
    .await;
    hub.close();
    drop(hub);
    tokio::time::timeout(LIMIT, timers).await.unwrap().unwrap();
}

/// A store whose writes are confirmed when the test says so.
#[derive(Clone, Default)]
struct SlowStore {
    appended: Arc<AtomicU64>,
    waiting: Arc<Mutex<Vec<Confirmation>>>,
}

type Confirmation = oneshot::Sender<Result<(), StoreError>>;

impl SlowStore {
    /// Confirms what a command writes.
    async fn confirm_while(&self, command: impl Future<Output = ()>) {
        let confirm = async {
            loop {
                self.confirm(&Ok(()));
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = command => {}
            () = confirm => {}
        }
    }

    fn confirm(&self, result: &Result<(), StoreError>) {
        self.waiting.lock().unwrap().drain(..).for_each(|waiting| waiting.send(result.clone()).unwrap_or_default());
    }
}

impl Store for SlowStore {
    fn append(&self, _batch: ChangeBatch) -> Durability {
        Durability::Pending(self.appended.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn stored(&self, number: u64) -> StoreFuture<u64> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap().push(sender);
        Box::pin(async move { receiver.await.unwrap().map(|()| number) })
    }

    fn replay(&self, _each: &mut dyn FnMut(&ChangeBatch)) -> Result<(), StoreError> {
        Ok(())
    }
}

#[tokio::test]
async fn an_event_is_delivered_only_once_it_is_stored() {
    let store = SlowStore::default();
    let served = Arc::new(Served::on(Box::new(store.clone()), BrokerOptions::default()));
    store.confirm_while(served.register("w", &[])).await;
    let mut subscription = served.subscribe("w", tasks());
    let publisher = tokio::spawn({
        let served = served.clone();
        async move { served.publish(message("t", "boss", "w")).await }
    });
    let reader = tokio::spawn({
        let hub = served.hub.clone();
        async move {
            others_wait().await;
            hub.task("t", 0).await.map(|task| task.id)
        }
    });
    others_wait().await;
    others_wait().await;
    assert!(!publisher.is_finished() && !reader.is_finished());
    assert_eq!(drain(&mut subscription), [""; 0]);
    // A subscription that opens now must not see it twice.
    let mut second = served.subscribe("w", tasks());
    assert_eq!(drain(&mut second), [""; 0]);
    store.confirm(&Ok(()));
    publisher.await.unwrap();
    assert_eq!(reader.await.unwrap(), Ok("t".to_owned()));
    assert_eq!(drain(&mut subscription), ["task t"]);
    assert_eq!(drain(&mut second), ["task t"]);
}

#[tokio::test]
async fn a_failed_store_fails_every_command_and_ends_subscriptions() {
    let store = SlowStore::default();
    let served = Arc::new(Served::on(Box::new(store.clone()), BrokerOptions::default()));
    store.confirm_while(served.register("w", &[])).await;
    let mut subscription = served.subscribe("w", tasks());
    let publisher = tokio::spawn({
        let served = served.clone();
        async move { served.run(Command::Publish(message("t", "boss", "w"))).await }
    });
    others_wait().await;
    store.confirm(&Err(StoreError::Incomplete));
    let error = publisher.await.unwrap().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert_eq!(served.hub.failure(), Some(error));
    assert_eq!(served.run(Command::Tick).await.unwrap_err().kind, ErrorKind::Unavailable);
    assert_eq!(served.hub.task("t", 0).await.unwrap_err().kind, ErrorKind::Unavailable);
    assert!(matches!(subscription.next().await, Err(SubscriptionEnd::Failed(_))));
}

#[tokio::test]
async fn closing_ends_subscriptions() {
    let served = Served::new(BrokerOptions::default());
    served.register("w", &[]).await;
    let mut subscription = served.subscribe("w", tasks());
    served.hub.close();
    assert_eq!(subscription.next().await, Err(SubscriptionEnd::Closed));
}
