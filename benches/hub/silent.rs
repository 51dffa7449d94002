//! A thousand subscribers of which a hundred never read: the others must not notice, and memory stays bounded.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hub::broker::{BrokerOptions, Caller, Command, Register};
use hub::{DeliveryOrder, EventSubscription, Hub, SubscribeRequest, SubscriptionKind};

use crate::options::Options;
use crate::work::{message, must};

/// Number of subscribers that read.
const READERS: usize = 900;
/// Number of subscribers that never read.
const SILENT: usize = 100;
/// Number of messages, each to all.
const MESSAGES: usize = 2_000;
/// Largest ratio of the 99th percentiles.
const MOST: f64 = 2.0;
/// Most memory that the silent ones may cost, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// Measures without and with silent subscribers in turns.
pub(crate) fn run(options: &Options) -> bool {
    let mut delays = (Vec::new(), Vec::new());
    let mut growth = 0;
    for _ in 0..options.runs.min(5) {
        delays.0.push(delay(0));
        let before = resident();
        delays.1.push(delay(SILENT));
        growth = growth.max(resident().saturating_sub(before));
    }
    let (alone, beside) = (crate::median(delays.0), crate::median(delays.1));
    let ratio = beside / alone;
    let text =
        format!("99 % within {beside:.2} ms beside {SILENT} silent subscribers, {ratio:.2} times {alone:.2} ms alone");
    let mut held = crate::say(ratio <= MOST, &format!("{text}, at most {MOST}"));
    let megabytes = growth >> 20;
    held &= crate::say(growth <= MOST_BYTES, &format!("{megabytes} MiB more, at most {}", MOST_BYTES >> 20));
    held
}

/// Returns the 99th percentile of the time from a publish to its delivery, in milliseconds.
fn delay(silent: usize) -> f64 {
    let hub = Hub::memory(BrokerOptions::default());
    let names = (0..silent).map(|place| format!("s{place}")).chain((0..READERS).map(|place| format!("r{place}")));
    crate::block_on(async {
        for agent_id in names {
            must(&hub, Command::Register(Register { agent_id, ..Register::default() })).await;
        }
    });
    let quiet: Vec<EventSubscription> = (0..silent).map(|place| subscribe(&hub, &format!("s{place}"))).collect();
    let sent = Rc::new(RefCell::new(Vec::new()));
    let times = Rc::new(RefCell::new(Vec::new()));
    let local = tokio::task::LocalSet::new();
    crate::block_on(local.run_until(async {
        let readers: Vec<_> = (0..READERS)
            .map(|place| {
                let mut subscription = subscribe(&hub, &format!("r{place}"));
                let (sent, times) = (sent.clone(), times.clone());
                tokio::task::spawn_local(async move {
                    for number in 0..MESSAGES {
                        subscription.next().await.expect("a reader keeps up");
                        let sent: Instant = sent.borrow()[number];
                        times.borrow_mut().push(sent.elapsed());
                    }
                })
            })
            .collect();
        for number in 0..MESSAGES {
            sent.borrow_mut().push(Instant::now());
            must(&hub, Command::Publish(message(number, "", "", 2))).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for reader in readers {
            reader.await.expect("a reader");
        }
    }));
    drop(quiet);
    let mut times = times.borrow_mut();
    assert_eq!(times.len(), READERS * MESSAGES, "an event is lost");
    times.sort();
    times[times.len() * 99 / 100].as_secs_f64() * 1_000.0
}

fn subscribe(hub: &Hub, agent: &str) -> EventSubscription {
    let kind = SubscriptionKind::Messages { types: Vec::new(), contexts: Vec::new() };
    let request = SubscribeRequest {
        agent_id: agent.to_owned(),
        kind,
        cursor: None,
        order: DeliveryOrder::Priority,
        capacity: None,
    };
    hub.subscribe(&Caller::Operator, request).expect("a subscription")
}

/// Returns the resident memory of this process in bytes; 0 where the system does not report it.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}
