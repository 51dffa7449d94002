//! [`Hub`]: the broker for many threads. It executes commands one after another, and delivers their events once the
//! store has them, so that no agent sees a change that a crash could undo.
//!
//! - `clock`: the time, which does not jump with the system's.
//! - `compaction`: checkpoints of the state, and the removal of the batches that they replace.
//! - `feed`: the events kept to resume subscriptions.
//! - `follow`: the events of one task, and waiting for it.
//! - `subscriber`: the buffer of a subscription.
//! - `subscription`: reading it.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use base::failures::{FailedOperation, report};
use base::ids::IdStream;
use tokio::sync::Notify;

use crate::broker::change::{AgentRecord, ChangeBatch, ChangeKind};
use crate::broker::query::CursorSeal;
use crate::broker::task::Assignment;
use crate::broker::{
    AgentPage, Broker, BrokerError, BrokerOptions, Caller, Claim, ClaimedTask, Command, DeadLetterPage, ErrorKind,
    Executed, HubStats, ListTasks, RecentPage, RecentTasks, Reply, RoutedEvent, TaskPage,
};
use crate::proto::a2a::Task;
use crate::store::{Durability, MemoryStore, Store, StoreError};

mod clock;
mod compaction;
mod feed;
mod follow;
mod subscriber;
mod subscription;

pub use clock::{HubClock, TimeSource};
pub use compaction::StoreStats;
pub use follow::{FollowEnd, FollowerPlace, TaskFollower};
pub use subscriber::{DeliveryOrder, SubscribeRequest, SubscriptionEnd, SubscriptionKind};
pub use subscription::{Delivery, EventSubscription};

use clock::HubTime;
use compaction::{CheckpointReader, Checkpoints};
use feed::EventFeed;
use follow::FollowerQueue;
use subscriber::Subscriber;

/// Longest time between two checks of the timers.
const TICK: Duration = Duration::from_secs(1);
/// Time after which events are delivered whose command was abandoned by its caller.
const ABANDONED: Duration = Duration::from_millis(20);

/// A function that gets batches of changes.
pub type ChangeObserver = Box<dyn Fn(&ChangeBatch) + Send + Sync>;

/// A broker for many threads. Clones are the same hub.
#[derive(Clone)]
pub struct Hub(Arc<HubInner>);

struct HubInner {
    state: Mutex<HubState>,
    store: Box<dyn Store>,
    time: HubTime,
    /// Signals that a timer became due earlier than the others.
    timers: Notify,
    /// Signals that no task is leased any more, while the hub shuts down.
    unleased: Notify,
    /// Held by the caller that waits for the store on behalf of all.
    settling: tokio::sync::Mutex<()>,
    /// Gets every batch of changes, before it is stored.
    observer: OnceLock<ChangeObserver>,
}

struct HubState {
    broker: Broker,
    /// The commands that are not known to be stored, the first of which follows `settled`.
    outbox: VecDeque<UnsettledCommand>,
    appended: u64,
    /// Number of the last command that is known to be stored.
    settled: u64,
    feed: EventFeed,
    subscribers: HashMap<u64, Arc<Subscriber>>,
    last_subscriber: u64,
    /// The followers of tasks.
    followers: HashMap<String, Vec<Arc<FollowerQueue>>>,
    /// Number of places of followers that are taken.
    following: usize,
    /// Signals for the workers that wait for a task of a queue.
    work: HashMap<Assignment, Arc<Notify>>,
    last_ms: u64,
    /// Source of the ids of events and leases.
    ids: IdStream,
    checkpoints: Checkpoints,
    /// The cursors of the hub.
    seal: CursorSeal,
    /// Whether no more tasks are leased.
    is_draining: bool,
    failed: Option<BrokerError>,
}

/// A command whose changes are not known to be stored.
struct UnsettledCommand {
    /// Number of its batch in the store; 0 if it is stored.
    batch: u64,
    events: Vec<Arc<RoutedEvent>>,
}

impl Hub {
    /// Creates a hub whose state is lost with the process.
    #[must_use]
    pub fn memory(options: BrokerOptions) -> Hub {
        let feed = EventFeed::new(options.kept_events, options.kept_bytes);
        let time = HubTime::new(HubClock::system(), 0);
        Hub::create(Box::new(MemoryStore), Broker::new(options), feed, Checkpoints::default(), time)
    }

    /// Opens a hub with the state of a store. Waits for the disk.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn open(store: Box<dyn Store>, options: BrokerOptions) -> Result<Hub, StoreError> {
        Hub::open_with_clock(store, options, HubClock::system())
    }

    /// Opens a hub like [`Hub::open`], with other clocks.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn open_with_clock(store: Box<dyn Store>, options: BrokerOptions, clock: HubClock) -> Result<Hub, StoreError> {
        let mut feed = EventFeed::new(options.kept_events, options.kept_bytes);
        let mut broker = Broker::new(options);
        let mut reader = CheckpointReader::default();
        let mut stored_ms = 0;
        store.replay(&mut |batch| {
            let last_ms = batch.changes.last().map(|change| change.at_ms);
            let saved_ms = batch.checkpoint.as_ref().map(|part| part.at_ms);
            stored_ms = stored_ms.max(last_ms.max(saved_ms).unwrap_or(0));
            reader.take(&*store, batch);
            broker.replay(batch, |events| feed.extend(events.into_iter().map(Arc::new).collect()));
        })?;
        let (checkpoints, missing) = reader.finish()?;
        feed.begin_after(missing);
        broker.reset_counters();
        Ok(Hub::create(store, broker, feed, checkpoints, HubTime::new(clock, stored_ms)))
    }

    fn create(store: Box<dyn Store>, broker: Broker, feed: EventFeed, checkpoints: Checkpoints, time: HubTime) -> Hub {
        let state = HubState {
            broker,
            outbox: VecDeque::new(),
            appended: 0,
            settled: 0,
            feed,
            subscribers: HashMap::new(),
            last_subscriber: 0,
            followers: HashMap::new(),
            following: 0,
            work: HashMap::new(),
            last_ms: 0,
            // The system's randomness is asked once: ids need to be unique, not secret.
            ids: IdStream::new(uuid::Uuid::now_v7().as_u64_pair().1, "hub"),
            checkpoints,
            seal: if store.keeps() { CursorSeal::new("") } else { CursorSeal::new(&uuid::Uuid::now_v7().to_string()) },
            is_draining: false,
            failed: None,
        };
        Hub(Arc::new(HubInner {
            state: Mutex::new(state),
            store,
            time,
            timers: Notify::new(),
            unleased: Notify::new(),
            settling: tokio::sync::Mutex::default(),
            observer: OnceLock::new(),
        }))
    }

    /// Executes a command. Its changes are stored when this returns.
    ///
    /// # Errors
    /// Fails if the broker refuses the command, or the store failed. After a failure of the store every command fails.
    pub async fn execute(&self, caller: &Caller, command: Command) -> Result<Reply, BrokerError> {
        let (reply, written) = self.begin(caller, command)?;
        if let Some(number) = written {
            self.settle(number).await?;
        }
        reply
    }

    /// Claims a task like [`Command::Claim`], and waits for one. A claim that waits skips the tasks whose deadline its
    /// estimate exceeds.
    ///
    /// # Errors
    /// Fails like [`Hub::execute`].
    pub async fn claim_within(
        &self,
        caller: &Caller,
        claim: Claim,
        wait: Option<Duration>,
    ) -> Result<Option<ClaimedTask>, BrokerError> {
        let end = tokio::time::Instant::now() + wait.unwrap_or_default();
        let key = claim.assignment();
        let waiting = WorkWait { hub: self, notify: self.lock().work.entry(key.clone()).or_default().clone(), key };
        loop {
            let signal = waiting.notify.notified();
            match self.execute(caller, Command::Claim(claim.clone())).await {
                Ok(Reply::Claimed(Some(task))) => return Ok(Some(*task)),
                Err(error) if error.kind != ErrorKind::DeadlineImpossible || wait.is_none() => return Err(error),
                _ => {}
            }
            let now = tokio::time::Instant::now();
            if now >= end {
                return Ok(None);
            }
            // Priorities, rejections and lanes can free a task without a signal for this worker.
            let _ = tokio::time::timeout_at(end.min(now + TICK), signal).await;
        }
    }

    /// Returns a task with at most `history_length` messages, the latest ones; 0 means all.
    ///
    /// # Errors
    /// Fails if the task does not exist, the length is negative, or the store failed.
    pub async fn task(&self, task_id: &str, history_length: i32) -> Result<Task, BrokerError> {
        self.read(|broker| broker.task_with_history(task_id, history_length)).await
    }

    /// Returns a page of tasks.
    ///
    /// # Errors
    /// Fails if the page token is invalid or the store failed.
    pub async fn tasks(&self, request: &ListTasks) -> Result<TaskPage, BrokerError> {
        self.read(|broker| broker.list(request)).await
    }

    /// Returns a page of tasks, those that changed last first.
    ///
    /// # Errors
    /// Fails if the store failed.
    pub async fn recent_tasks(&self, request: &RecentTasks) -> Result<RecentPage, BrokerError> {
        self.read(|broker| Ok(broker.recent(request))).await
    }

    /// Returns a page of the tasks of which every attempt was lost, the newest first. An empty queue means all.
    ///
    /// # Errors
    /// Fails if the page token is invalid or the store failed.
    pub async fn dead_letters(&self, queue: &str, size: i32, page_token: &str) -> Result<DeadLetterPage, BrokerError> {
        self.read(|broker| broker.dead_letters(queue, size, page_token)).await
    }

    /// Returns a registered agent.
    #[must_use]
    pub fn agent(&self, agent_id: &str) -> Option<AgentRecord> {
        self.lock().broker.agent(agent_id).cloned()
    }

    /// Returns a page of the registered agents, by their ids.
    ///
    /// # Errors
    /// Fails if the page token is invalid or the store failed.
    pub async fn agent_page(&self, size: i32, page_token: &str) -> Result<AgentPage, BrokerError> {
        self.read(|broker| broker.agent_page(size, page_token)).await
    }

    /// Returns all registered agents by their ids.
    #[must_use]
    pub fn agents(&self) -> Vec<AgentRecord> {
        self.lock().broker.agents().cloned().collect()
    }

    /// Returns statistics.
    #[must_use]
    pub fn stats(&self) -> HubStats {
        let state = self.lock();
        let (subscriptions, event_bytes) = (state.subscribers.len(), state.feed.bytes());
        HubStats { subscriptions, event_bytes, ..state.broker.stats() }
    }

    /// Reads the state of the broker, with what is not stored yet.
    pub fn inspect<T>(&self, read: impl FnOnce(&Broker) -> T) -> T {
        read(&self.lock().broker)
    }

    /// Opens a subscription. It starts with the tasks that wait for the agent, or after a cursor.
    ///
    /// # Errors
    /// Fails if the caller may not act as the agent, a limit is reached, or events after the cursor are gone.
    pub fn subscribe(&self, caller: &Caller, request: SubscribeRequest) -> Result<EventSubscription, BrokerError> {
        EventSubscription::open(self, caller, request)
    }

    /// Passes every batch of changes to a function from now on, in order. It must not wait. A hub has one observer; later
    /// ones are ignored.
    pub fn observe(&self, observer: ChangeObserver) {
        let _ = self.0.observer.set(observer);
    }

    /// Ends all subscriptions, before the process ends. Commands are still executed.
    pub fn close(&self) {
        let state = self.lock();
        state.subscribers.values().for_each(|subscriber| subscriber.end(SubscriptionEnd::Closed));
        state.end_followers(&FollowEnd::Closed);
    }

    /// Leases no more tasks, before the process ends. Workers can finish those that they have.
    pub fn drain(&self) {
        let mut state = self.lock();
        state.is_draining = true;
        // The workers that wait are refused.
        state.work.values().for_each(|notify| notify.notify_waiters());
    }

    /// Waits after [`Hub::drain`] until no task is leased.
    pub async fn drained(&self) {
        loop {
            let mut unleased = pin!(self.0.unleased.notified());
            // From here on no signal is missed.
            unleased.as_mut().enable();
            if self.stats().leases == 0 {
                return;
            }
            unleased.await;
        }
    }

    /// Returns a future that handles leases, deadlines and redelivery, and compacts the store. It ends with the last
    /// clone of the hub.
    pub fn drive(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        let (timers, compaction) = (drive(Arc::downgrade(&self.0)), compaction::run(Arc::downgrade(&self.0)));
        async move {
            tokio::join!(timers, compaction);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a command up to the write.
    #[allow(clippy::type_complexity)]
    fn begin(
        &self,
        caller: &Caller,
        command: Command,
    ) -> Result<(Result<Reply, BrokerError>, Option<u64>), BrokerError> {
        let mut state = self.lock();
        let state = &mut *state;
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        // Nothing is changed that cannot be stored.
        self.0.store.availability().map_err(|_| no_room())?;
        if state.is_draining && matches!(command, Command::Claim(_)) {
            let text = "the hub is shutting down; claim again later";
            return Err(BrokerError::new(ErrorKind::Unavailable, text));
        }
        state.last_ms = self.0.time.now_ms();
        state.broker.set_ahead(self.0.time.ahead_ms());
        let next = state.broker.next_timer_ms();
        let (now_ms, ids) = (state.last_ms, &mut state.ids);
        let mut ids = || ids.draw(now_ms).simple().to_string();
        let Executed { reply, batch, events } = state.broker.execute(caller, command, now_ms, &mut ids);
        if state.broker.next_timer_ms().is_some_and(|at_ms| next.is_none_or(|next| at_ms < next)) {
            self.0.timers.notify_one();
        }
        let Some(batch) = batch else { return Ok((reply, None)) };
        if let Some(observer) = self.0.observer.get() {
            observer(&batch);
        }
        for change in &batch.changes {
            state.signal_work(change.kind.as_ref());
        }
        if state.is_draining && state.broker.stats().leases == 0 {
            self.0.unleased.notify_waiters();
        }
        // Inside the lock: the order in the store is that of the commands.
        let batch = match self.0.store.append(batch) {
            Durability::Done => 0,
            Durability::Pending(number) => number,
        };
        state.appended += 1;
        state.outbox.push_back(UnsettledCommand { batch, events: events.into_iter().map(Arc::new).collect() });
        if batch == 0 && state.outbox.len() == 1 {
            state.deliver();
            return Ok((reply, None));
        }
        Ok((reply, Some(state.appended)))
    }

    /// Waits until a command is stored, and delivers the events of all that are.
    ///
    /// One caller waits for the store, and the others for that caller: the store's thread wakes one task for each batch
    /// of records that it writes. The caller waits for its own command only, the first of those that wait, so that the
    /// others of the same write go on while the next one is written.
    async fn settle(&self, number: u64) -> Result<(), BrokerError> {
        let _settling = self.0.settling.lock().await;
        let batch = {
            let state = self.lock();
            if state.settled >= number {
                return Ok(());
            }
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            let place = usize::try_from(number - state.settled - 1).unwrap_or(usize::MAX);
            state.outbox.get(place).map_or(0, |command| command.batch)
        };
        let stored = if batch == 0 { Ok(0) } else { self.0.store.stored(batch).await };
        let mut state = self.lock();
        let error = match stored {
            Ok(upto) => {
                while state.settled < number || state.outbox.front().is_some_and(|first| first.batch <= upto) {
                    state.deliver();
                }
                return Ok(());
            }
            Err(error) => error,
        };
        if error.is_temporary() {
            // The store goes on with what it has accepted, and reports its state itself.
            return Err(no_room());
        }
        let message = format_args!("the hub's store failed: {error}; restart the hub");
        report(FailedOperation::Write, "hub store", message);
        // Callers may be on other machines, and the error of the store has the path of its file.
        let text = "the hub's store failed; its log has the reason, and it must be restarted";
        let error = BrokerError::new(ErrorKind::Unavailable, text);
        let failed = state.failed.get_or_insert(error).clone();
        state.subscribers.values().for_each(|subscriber| subscriber.end(SubscriptionEnd::Failed(failed.clone())));
        state.end_followers(&FollowEnd::Failed(failed.clone()));
        Err(failed)
    }

    /// Returns the error of the store, after which no command is executed.
    #[must_use]
    pub fn failure(&self) -> Option<BrokerError> {
        self.lock().failed.clone()
    }

    /// Returns whether commands can be stored.
    ///
    /// # Errors
    /// The error that commands get.
    pub fn availability(&self) -> Result<(), BrokerError> {
        self.failure().map_or(Ok(()), Err)?;
        self.0.store.availability().map_err(|_| no_room())
    }

    /// Reads the state once all of it is stored.
    async fn read<T>(&self, read: impl FnOnce(&Broker) -> Result<T, BrokerError>) -> Result<T, BrokerError> {
        let (result, unsettled) = {
            let state = self.lock();
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            let unsettled = (!state.outbox.is_empty()).then_some(state.appended);
            (read(&state.broker), unsettled)
        };
        if let Some(number) = unsettled {
            self.settle(number).await?;
        }
        result
    }
}

impl HubState {
    /// Delivers the events of the next command, whose changes are stored.
    fn deliver(&mut self) {
        self.settled += 1;
        let Some(UnsettledCommand { events, .. }) = self.outbox.pop_front() else { return };
        for subscriber in self.subscribers.values() {
            events.iter().for_each(|event| subscriber.offer(event, self.last_ms));
        }
        self.offer_to_followers(&events);
        self.feed.extend(events);
    }

    /// Wakes workers that wait for a task.
    fn signal_work(&mut self, change: Option<&ChangeKind>) {
        let (task_id, is_for_all) = match change {
            Some(ChangeKind::TaskSubmitted(submitted)) => (submitted.task.as_ref().map(|task| task.id.as_str()), false),
            Some(ChangeKind::TaskRequeued(requeued)) => (Some(requeued.task_id.as_str()), true),
            _ => return,
        };
        let Some(entry) = task_id.and_then(|id| self.broker.task(id)) else { return };
        match self.work.get(&entry.assignment) {
            Some(notify) if is_for_all => notify.notify_waiters(),
            Some(notify) => notify.notify_one(),
            None => {}
        }
    }
}

/// A worker that waits for a task; the entry of its queue is removed with the last of them.
struct WorkWait<'a> {
    hub: &'a Hub,
    key: Assignment,
    notify: Arc<Notify>,
}

impl Drop for WorkWait<'_> {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        // One reference here, one in the map.
        if Arc::strong_count(&self.notify) <= 2 {
            state.work.remove(&self.key);
        }
    }
}

/// Returns the error of what cannot be stored for now. Clients do not repeat it at once, because only a person can make room.
fn no_room() -> BrokerError {
    let text = "the hub cannot write to its store (its log has the reason); try again when it is ready";
    BrokerError::new(ErrorKind::ResourceExhausted, text)
}

async fn drive(hub: Weak<HubInner>) {
    loop {
        let Some(inner) = hub.upgrade() else { return };
        let hub_now = Hub(inner);
        let ticked = hub_now.execute(&Caller::Operator, Command::Tick).await;
        // A failed store ends the hub's work; its error is returned by every command.
        if hub_now.failure().is_some() {
            return;
        }
        let (wait, is_unsettled) = {
            let state = hub_now.lock();
            let now_ms = hub_now.0.time.now_ms();
            let next = state.broker.next_timer_ms().map(|at_ms| Duration::from_millis(at_ms.saturating_sub(now_ms)));
            (next.unwrap_or(TICK).min(TICK), !state.outbox.is_empty())
        };
        let wait = match ticked {
            // The store has no room, and tries again by itself.
            Err(_) => TICK,
            Ok(_) if is_unsettled => wait.min(ABANDONED),
            Ok(_) => wait,
        };
        // The hub must not be kept alive by its own timer.
        let weak = Arc::downgrade(&hub_now.0);
        let timers = tokio::time::timeout(wait.max(Duration::from_millis(1)), hub_now.0.timers.notified());
        if Arc::strong_count(&hub_now.0) == 1 {
            return;
        }
        let _ = timers.await;
        if is_unsettled {
            // Its error is that of the next command.
            let _ = hub_now.read(|_| Ok(())).await;
        }
        drop(hub_now);
        if weak.upgrade().is_none() {
            return;
        }
    }
}
