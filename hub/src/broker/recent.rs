//! Tasks in the order of their last change.

use std::cmp::Reverse;

use super::Broker;
use super::query::MOST_PAGE_BYTES;
use super::task::TaskEntry;
use crate::proto::a2a::{Task, TaskState};

/// Selects a page of tasks, those that changed last first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentTasks {
    /// Only tasks of this context; empty means all.
    pub context_id: String,
    /// Only tasks in this state.
    pub state: Option<TaskState>,
    /// Only tasks that changed at this time or later, in milliseconds since 1970-01-01 UTC.
    pub changed_since_ms: u64,
    /// Time and id of the last task of the page before.
    pub after: Option<(u64, String)>,
    /// Maximum number of tasks. A page has fewer if they are large.
    pub size: usize,
}

/// A page of tasks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecentPage {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Whether no further page follows.
    pub is_last: bool,
    /// Number of tasks on all pages.
    pub total: usize,
}

impl Broker {
    /// Returns a page of tasks, those that changed last first.
    #[must_use]
    pub fn recent(&self, request: &RecentTasks) -> RecentPage {
        let takes = |entry: &&TaskEntry| {
            (request.context_id.is_empty() || entry.task.context_id == request.context_id)
                && request.state.is_none_or(|state| entry.state() == state)
                && changed_ms(entry) >= request.changed_since_ms
        };
        let mut found: Vec<(u64, &TaskEntry)> =
            self.tasks().filter(takes).map(|entry| (changed_ms(entry), entry)).collect();
        let total = found.len();
        if let Some((at_ms, id)) = &request.after {
            found.retain(|(changed, entry)| (*changed, &entry.task.id) < (*at_ms, id));
        }
        let mut is_last = found.len() <= request.size;
        let by_change = |(at_ms, entry): &(u64, &TaskEntry)| Reverse((*at_ms, entry.task.id.clone()));
        if !is_last {
            // Only the page itself is sorted.
            found.select_nth_unstable_by_key(request.size, by_change);
            found.truncate(request.size);
        }
        found.sort_by_cached_key(by_change);
        let mut bytes = 0;
        let fits = |(_, entry): &&(u64, &TaskEntry)| {
            bytes += entry.bytes;
            bytes <= MOST_PAGE_BYTES
        };
        let fitting = found.iter().take_while(fits).count().max(1);
        is_last &= fitting >= found.len();
        found.truncate(fitting);
        RecentPage { tasks: found.into_iter().map(|(_, entry)| entry.with_history(0)).collect(), is_last, total }
    }
}

/// Returns the time of the last status, in milliseconds since 1970-01-01 UTC.
fn changed_ms(entry: &TaskEntry) -> u64 {
    let timestamp = entry.task.status.as_ref().and_then(|status| status.timestamp);
    timestamp.map_or(0, |at| {
        let seconds = u64::try_from(at.seconds).unwrap_or(0);
        seconds.saturating_mul(1_000).saturating_add(u64::try_from(at.nanos).unwrap_or(0) / 1_000_000)
    })
}
