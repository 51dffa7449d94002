//! Reading tasks and statistics.

use std::ops::Bound;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use prost::Message as _;

use crate::proto::a2a::{Task, TaskState};

use super::change::AgentRecord;
use super::command::{ListTasks, TaskPage};
use super::error::{BrokerError, ErrorKind};
use super::task::{Assignment, TaskEntry, is_final};
use super::{Broker, payload};

/// Number of tasks of a page, if the request names none.
const PAGE: usize = 50;
/// Maximum number of tasks of a page.
const MOST_PAGE: usize = 500;
/// Size of a page after which it takes no more tasks, in bytes: clients of gRPC read messages of at most 4 MiB by
/// default.
pub(super) const MOST_PAGE_BYTES: usize = 2 << 20;

/// A task of which every attempt was lost.
#[derive(Debug, Clone, PartialEq)]
pub struct DeadLetterInfo {
    /// The task.
    pub task: Task,
    /// Its queue, or the agent that it was addressed to.
    pub queue: String,
    /// Number of attempts.
    pub attempts: u32,
    /// The reason.
    pub reason: String,
    /// Time at which it was given up, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// A page of dead letters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeadLetterPage {
    /// The dead letters, the newest first.
    pub dead_letters: Vec<DeadLetterInfo>,
    /// Token of the next page; empty after the last.
    pub next_page_token: String,
}

/// A page of agents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentPage {
    /// The agents, by their ids.
    pub agents: Vec<AgentRecord>,
    /// Token of the next page; empty after the last.
    pub next_page_token: String,
}

/// Number of waiting tasks of a queue, by priority.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueDepth {
    /// The queue, or the agent.
    pub queue: String,
    /// Whether it is the inbox of an agent.
    pub is_inbox: bool,
    /// Number of tasks, from low to critical.
    pub depths: [usize; 4],
}

/// Statistics of a hub.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HubStats {
    /// Number of tasks of each state of the wire, by its number.
    pub tasks: [usize; 9],
    /// Waiting tasks of each queue, by name.
    pub queues: Vec<QueueDepth>,
    /// Number of tasks with a worker.
    pub held: usize,
    /// Number of leases that end by time.
    pub leases: usize,
    /// Number of unfinished tasks with a deadline.
    pub deadlines: usize,
    /// Number of registered agents.
    pub agents: usize,
    /// Number of registered agents whose health check failed.
    pub unhealthy: usize,
    /// Number of results kept for repeated messages.
    pub receipts: usize,
    /// Approximate memory of the finished tasks, in bytes.
    pub finished_bytes: usize,
    /// Approximate memory of the results kept for repeated messages, in bytes.
    pub receipt_bytes: usize,
    /// Approximate memory of the events kept to resume subscriptions, in bytes.
    pub event_bytes: usize,
    /// Number of open subscriptions.
    pub subscriptions: usize,
    /// Number of submitted tasks, since the process began.
    pub submitted: u64,
    /// Number of attempts.
    pub attempts: u64,
    /// Number of returns to a queue.
    pub requeued: u64,
    /// Number of rejections.
    pub rejected: u64,
    /// Number of dead letters.
    pub dead_letters: u64,
    /// Number of tasks that failed because of their deadline.
    pub deadlines_exceeded: u64,
}

impl Broker {
    /// Returns a task with at most `history_length` messages, the latest ones; 0 means all.
    ///
    /// # Errors
    /// Fails if the task does not exist or the length is negative.
    pub fn task_with_history(&self, task_id: &str, history_length: i32) -> Result<Task, BrokerError> {
        let length = usize::try_from(history_length)
            .map_err(|_| BrokerError::invalid(format!("`history_length` is negative: {history_length}")))?;
        let entry = self.task(task_id).ok_or_else(|| BrokerError::not_found("task", task_id))?;
        Ok(entry.with_history(length))
    }

    /// Returns a page of tasks. Tasks that are submitted while a client reads pages appear on later pages only.
    ///
    /// # Errors
    /// Fails if the page token is invalid, or belongs to a list with another filter.
    pub fn list(&self, request: &ListTasks) -> Result<TaskPage, BrokerError> {
        let size = page_size(request.page_size)?;
        let filter = fingerprint(request);
        let after = read_token(&request.page_token, filter)?.unwrap_or(0);
        let mut page = TaskPage::default();
        let (mut last, mut bytes) = (0, 0);
        for (number, id) in self.order.range((Bound::Excluded(after), Bound::Unbounded)) {
            let Some(entry) = self.tasks.get(id).filter(|entry| takes(request, entry)) else { continue };
            bytes += entry.bytes;
            if page.tasks.len() == size || (bytes > MOST_PAGE_BYTES && !page.tasks.is_empty()) {
                page.next_page_token = token(last, filter);
                break;
            }
            last = *number;
            page.tasks.push(entry.with_history(0));
        }
        Ok(page)
    }

    /// Returns whether a task is a copy of a broadcast that is not finished.
    pub(super) fn is_counted_by_parent(&self, task_id: &str) -> bool {
        let parent = self.tasks.get(task_id).and_then(|copy| self.tasks.get(copy.parent.as_ref()?));
        parent.is_some_and(|parent| parent.assignment == Assignment::Copies && !is_final(parent.state()))
    }

    /// Returns a page of dead letters, the newest first.
    ///
    /// # Errors
    /// Fails if the page token is invalid, or belongs to another queue.
    pub fn dead_letters(&self, queue: &str, size: i32, page_token: &str) -> Result<DeadLetterPage, BrokerError> {
        let size = page_size(size)?;
        let filter = hash(["dead letters", queue]);
        let before = read_token(page_token, filter)?.unwrap_or(u64::MAX);
        let mut page = DeadLetterPage::default();
        let (mut last, mut bytes) = (0, 0);
        for number in self.dead_letters.range(..before).rev() {
            let Some(entry) = self.order.get(number).and_then(|id| self.tasks.get(id)) else { continue };
            if !queue.is_empty() && entry.queue_name() != queue {
                continue;
            }
            bytes += entry.bytes;
            if page.dead_letters.len() == size || (bytes > MOST_PAGE_BYTES && !page.dead_letters.is_empty()) {
                page.next_page_token = token(last, filter);
                break;
            }
            last = *number;
            let update = entry.task.status.as_ref().and_then(|status| status.update.as_ref());
            page.dead_letters.push(DeadLetterInfo {
                task: entry.with_history(0),
                queue: entry.queue_name().to_owned(),
                attempts: entry.attempt,
                reason: update.and_then(payload::first_text).unwrap_or_default().to_owned(),
                at_ms: entry.finished_ms,
            });
        }
        Ok(page)
    }

    /// Returns a page of the registered agents, by their ids. The page begins after an agent whose id is in the token.
    ///
    /// # Errors
    /// Fails if the page token is invalid.
    pub fn agent_page(&self, size: i32, page_token: &str) -> Result<AgentPage, BrokerError> {
        let size = page_size(size)?;
        let invalid = || BrokerError::invalid("invalid `page_token`");
        let after = URL_SAFE_NO_PAD.decode(page_token).map_err(|_| invalid())?;
        let after = String::from_utf8(after).map_err(|_| invalid())?;
        let mut page = AgentPage::default();
        let mut bytes = 0;
        for (id, agent) in self.agents.range::<str, _>((Bound::Excluded(after.as_str()), Bound::Unbounded)) {
            bytes += agent.encoded_len();
            if page.agents.len() == size || (bytes > MOST_PAGE_BYTES && !page.agents.is_empty()) {
                let last = page.agents.last().map_or(id, |last| &last.agent_id);
                page.next_page_token = URL_SAFE_NO_PAD.encode(last);
                break;
            }
            page.agents.push(agent.clone());
        }
        Ok(page)
    }

    /// Returns statistics.
    #[must_use]
    pub fn stats(&self) -> HubStats {
        let mut stats = HubStats {
            agents: self.agents.len(),
            unhealthy: self.agents.values().filter(|agent| !agent.healthy).count(),
            receipts: self.receipts.len(),
            finished_bytes: self.finished_bytes,
            receipt_bytes: self.receipt_bytes,
            submitted: self.counters.submitted,
            attempts: self.counters.attempts,
            requeued: self.counters.requeued,
            rejected: self.counters.rejected,
            dead_letters: self.counters.dead_letters,
            deadlines_exceeded: self.counters.deadlines_exceeded,
            ..HubStats::default()
        };
        stats.tasks = self.states;
        stats.held = self.held.values().map(std::collections::BTreeSet::len).sum();
        [stats.deadlines, stats.leases, _] = self.timed;
        let depths = self.queues.iter().map(|(assignment, queue)| {
            let (is_inbox, name) = match assignment {
                Assignment::Inbox(name) => (true, name.as_str()),
                Assignment::Queue(name) => (false, name.as_str()),
                Assignment::Copies => (false, ""),
            };
            QueueDepth { queue: name.to_owned(), is_inbox, depths: queue.depths() }
        });
        stats.queues = depths.collect();
        stats.queues.sort();
        stats
    }
}

fn takes(request: &ListTasks, entry: &TaskEntry) -> bool {
    (request.agent_id.is_empty() || entry.involves(&request.agent_id))
        && (request.context_id.is_empty() || entry.task.context_id == request.context_id)
        && (request.states.is_empty() || request.states.contains(&entry.state()))
}

fn page_size(size: i32) -> Result<usize, BrokerError> {
    match usize::try_from(size) {
        Ok(0) => Ok(PAGE),
        Ok(size) => Ok(size.min(MOST_PAGE)),
        Err(_) => Err(BrokerError::invalid(format!("`page_size` is negative: {size}"))),
    }
}

fn fingerprint(request: &ListTasks) -> u64 {
    let states: Vec<&str> = request.states.iter().map(TaskState::as_str_name).collect();
    hash([&*request.agent_id, &request.context_id, &states.join(",")])
}

/// Hashes texts with FNV-1a: tokens must mean the same in every process.
fn hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn token(number: u64, filter: u64) -> String {
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.extend(filter.to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn read_token(token: &str, filter: u64) -> Result<Option<u64>, BrokerError> {
    if token.is_empty() {
        return Ok(None);
    }
    match parse_token(token) {
        Some((number, of)) if of == filter => Ok(Some(number)),
        Some(_) => Err(BrokerError::invalid("`page_token` belongs to a list with another filter")),
        None => Err(BrokerError::invalid("invalid `page_token`")),
    }
}

fn parse_token(token: &str) -> Option<(u64, u64)> {
    let bytes = <[u8; 16]>::try_from(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (number, of) = bytes.split_at(8);
    let read = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte));
    Some((read(number), read(of)))
}

/// The cursors of a hub. Those of a hub that keeps nothing mean nothing to the next process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CursorSeal(u64);

impl CursorSeal {
    /// Creates the seal of the hubs that have the same state; an empty text is that of a hub with a store.
    pub(crate) fn new(state: &str) -> CursorSeal {
        CursorSeal(hash(["cursor", state]))
    }

    /// Returns the cursor of a subscription that has seen everything up to a change.
    pub(crate) fn cursor(self, number: u64) -> String {
        token(number, self.0)
    }

    /// Reads a cursor; `None` if it is not one of this hub.
    ///
    /// # Errors
    /// Fails if it is malformed.
    pub(crate) fn read(self, cursor: &str) -> Result<Option<u64>, BrokerError> {
        let invalid = || BrokerError::new(ErrorKind::InvalidArgument, "invalid cursor");
        let (number, of) = parse_token(cursor).ok_or_else(invalid)?;
        Ok((of == self.0).then_some(number))
    }
}
