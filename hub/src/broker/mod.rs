//! The broker as a state machine without I/O: a command with the time and a source of ids goes in, a batch of changes
//! comes out. Applying the same changes to an empty broker results in the same state, so the store keeps the changes.
//!
//! - `command`: the commands and their results.
//! - [`change`]: the changes.
//! - `step`: deciding which changes a command makes.
//! - `apply`: applying a change to the state.
//! - `checkpoint`: the state in parts, so that a store need not keep all changes.
//! - `deliver`: from changes to the events that subscribers see.
//! - `query`: reading tasks and statistics. `recent`: tasks by their last change.
//! - `schedule`: queues with priorities. `sharded`: maps that grow in small steps.
//! - [`task`]: tasks, and the transitions between their states.
//! - `memory`: the memory that tasks and events take.
//! - `payload`: reading and writing the payload. `fingerprint`: whether a repeated message or request is the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use change::{AgentRecord, KeptReceipt};
use memory::{HeapUse as _, allocated};
pub(crate) use schedule::WeightedQueue;
use sharded::ShardedMap;
use task::{Assignment, TaskEntry};

use crate::proto::agenthub::AgentEventMetadata;

mod apply;
pub mod change;
mod checkpoint;
mod command;
mod deliver;
mod error;
mod fingerprint;
mod memory;
mod options;
pub(crate) mod payload;
pub(crate) mod query;
mod recent;
mod schedule;
mod sharded;
mod step;
pub mod task;

pub use checkpoint::CheckpointCursor;
pub use command::{
    Caller, Claim, ClaimedTask, Command, Finish, Level, ListTasks, Progress, Publish, PublishReceipt, PutArtifact,
    Register, Reject, Renew, Reply, TaskPage, TraceIds, UpdateStatus,
};
pub use deliver::{Audience, Channel, RoutedEvent, SharedEvent};
pub use error::{BrokerError, ErrorKind};
pub use options::BrokerOptions;
pub use payload::{first_text, state_name};
pub use query::{AgentPage, DeadLetterInfo, DeadLetterPage, HubStats, QueueDepth};
pub use recent::{RecentPage, RecentTasks};
pub use step::{Executed, HUB, MAX_ID_BYTES};

/// A timer of a task. The order is that in which timers of the same time are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TimerKind {
    Deadline,
    Lease,
    Redelivery,
}

/// The state of a hub.
#[derive(Debug)]
pub struct Broker {
    options: BrokerOptions,
    /// Number of the last change.
    last: u64,
    /// Milliseconds by which the time of commands is ahead of the system's, which is that of deadlines.
    ahead_ms: i64,
    agents: BTreeMap<String, AgentRecord>,
    /// Number of open subscriptions of each agent.
    attached: HashMap<String, usize>,
    /// The tasks by id. They are boxed, because a map has much free space.
    tasks: ShardedMap<String, Box<TaskEntry>>,
    /// Number of kept tasks of each agent that submitted one.
    senders: HashMap<String, usize>,
    /// Ids of tasks by their number.
    order: BTreeMap<u64, String>,
    /// Finished tasks by time and number.
    finished: BTreeSet<(u64, u64)>,
    /// Approximate memory of the finished tasks, in bytes.
    finished_bytes: usize,
    dead_letters: BTreeSet<u64>,
    queues: HashMap<Assignment, WeightedQueue<String>>,
    /// Tasks that each agent works on.
    held: HashMap<String, BTreeSet<u64>>,
    timers: BTreeSet<(u64, TimerKind, u64)>,
    /// The results by sender and id of their message.
    receipts: ShardedMap<ReceiptKey, StoredReceipt>,
    /// Keys of the receipts by time and place, the oldest first.
    receipt_order: BTreeMap<(u64, u64), ReceiptKey>,
    /// Approximate memory of the results, in bytes.
    receipt_bytes: usize,
    /// Place of the last receipt.
    last_receipt: u64,
    counters: BrokerCounters,
    /// Number of tasks of each state of the wire.
    states: [usize; 9],
    /// Number of timers of each kind.
    timed: [usize; 3],
}

/// Sender and id of a message, shared by the map of the results and their order.
type ReceiptKey = Arc<(String, String)>;

/// The first result for a message, without the message's sender and id.
#[derive(Debug, PartialEq, Eq)]
struct StoredReceipt {
    event_id: Box<str>,
    task_id: Box<str>,
    at_ms: u64,
    digest: u64,
}

/// Memory of the places of a result in the map and in the order.
const RECEIPT_PLACES: usize = 160;

impl StoredReceipt {
    fn new(kept: KeptReceipt) -> (ReceiptKey, StoredReceipt) {
        let KeptReceipt { from_agent_id, message_id, event_id, task_id, at_ms, digest } = kept;
        let receipt = StoredReceipt { event_id: event_id.into(), task_id: task_id.into(), at_ms, digest };
        (Arc::new((from_agent_id, message_id)), receipt)
    }

    fn to_kept(&self, key: &ReceiptKey) -> KeptReceipt {
        KeptReceipt {
            from_agent_id: key.0.clone(),
            message_id: key.1.clone(),
            event_id: (&*self.event_id).into(),
            task_id: (&*self.task_id).into(),
            at_ms: self.at_ms,
            digest: self.digest,
        }
    }

    /// Returns its approximate memory, in bytes.
    fn memory(&self, key: &ReceiptKey) -> usize {
        let texts = key.0.heap() + key.1.heap() + self.event_id.heap() + self.task_id.heap();
        texts + allocated(size_of::<(String, String)>() + 2 * size_of::<usize>()) + RECEIPT_PLACES
    }
}

/// Counts since the process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct BrokerCounters {
    submitted: u64,
    attempts: u64,
    requeued: u64,
    rejected: u64,
    dead_letters: u64,
    deadlines_exceeded: u64,
}

impl Broker {
    /// Creates an empty broker.
    #[must_use]
    pub fn new(options: BrokerOptions) -> Broker {
        Broker {
            options,
            last: 0,
            ahead_ms: 0,
            agents: BTreeMap::new(),
            attached: HashMap::new(),
            tasks: ShardedMap::new(),
            senders: HashMap::new(),
            order: BTreeMap::new(),
            finished: BTreeSet::new(),
            finished_bytes: 0,
            dead_letters: BTreeSet::new(),
            queues: HashMap::new(),
            held: HashMap::new(),
            timers: BTreeSet::new(),
            receipts: ShardedMap::new(),
            receipt_order: BTreeMap::new(),
            receipt_bytes: 0,
            last_receipt: 0,
            counters: BrokerCounters::default(),
            states: [0; 9],
            timed: [0; 3],
        }
    }

    /// Returns times and limits.
    #[must_use]
    pub fn options(&self) -> &BrokerOptions {
        &self.options
    }

    /// Sets the milliseconds by which the time of commands is ahead of the system's. Deadlines are times of the system,
    /// and are converted to that of commands.
    pub fn set_ahead(&mut self, ahead_ms: i64) {
        self.ahead_ms = ahead_ms;
    }

    /// Returns the number of the last change.
    #[must_use]
    pub fn last_number(&self) -> u64 {
        self.last
    }

    /// Returns a task.
    #[must_use]
    pub fn task(&self, task_id: &str) -> Option<&TaskEntry> {
        self.tasks.get(task_id).map(|entry| &**entry)
    }

    /// Returns all tasks, in the order of their submission.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskEntry> {
        self.order.values().filter_map(|id| self.task(id))
    }

    /// Returns a registered agent.
    #[must_use]
    pub fn agent(&self, agent_id: &str) -> Option<&AgentRecord> {
        self.agents.get(agent_id)
    }

    /// Returns all registered agents by their ids.
    pub fn agents(&self) -> impl Iterator<Item = &AgentRecord> {
        self.agents.values()
    }

    /// Notes that an agent opened a subscription.
    pub fn attach(&mut self, agent_id: &str) {
        *self.attached.entry(agent_id.to_owned()).or_default() += 1;
    }

    /// Notes that a subscription of an agent ended.
    pub fn detach(&mut self, agent_id: &str) {
        if let Some(count) = self.attached.get_mut(agent_id) {
            *count -= 1;
            if *count == 0 {
                self.attached.remove(agent_id);
            }
        }
    }

    /// Returns whether an agent is registered, has a subscription, or takes part in a kept task. The hub would never send
    /// anything to another one.
    #[must_use]
    pub fn knows(&self, agent_id: &str) -> bool {
        self.agents.contains_key(agent_id)
            || self.attached.contains_key(agent_id)
            || self.senders.contains_key(agent_id)
            || self.held.contains_key(agent_id)
            || self.queues.contains_key(&Assignment::Inbox(agent_id.to_owned()))
    }

    /// Returns the time of the next timer.
    #[must_use]
    pub fn next_timer_ms(&self) -> Option<u64> {
        self.timers.first().map(|(at_ms, ..)| *at_ms)
    }

    /// Returns the healthy agents with one of the tags of a message, except its sender; all, if it has no tags.
    fn matching<'a>(&'a self, routing: &'a AgentEventMetadata) -> impl Iterator<Item = &'a AgentRecord> {
        self.agents.values().filter(move |agent| {
            let tagged = routing.subscriptions.iter().any(|tag| agent.subscriptions.contains(tag));
            agent.healthy && agent.agent_id != routing.from_agent_id && (routing.subscriptions.is_empty() || tagged)
        })
    }

    /// Returns the healthy agents that subscribed to the queue of a task and have not rejected it.
    fn candidates(&self, entry: &TaskEntry) -> Vec<String> {
        let Assignment::Queue(queue) = &entry.assignment else { return Vec::new() };
        let candidates = self.agents.values().filter(|agent| {
            agent.healthy
                && agent.agent_id != entry.requester()
                && agent.subscriptions.contains(queue)
                && !entry.rejections.iter().any(|rejection| rejection.agent_id == agent.agent_id)
        });
        candidates.map(|agent| agent.agent_id.clone()).collect()
    }
}
