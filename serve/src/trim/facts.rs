//! [`LogFacts`]: what is known of the runs of a log, and which of their records are needed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use eventlog::{RUN_ID, Record};
use runtime::agent_loop::snapshot::follow_pending;
use runtime::event_log::Topic;

use super::TrimOptions;
use super::channels::ChannelFacts;
use super::messages::MessageFacts;
use super::report::TrimReport;
use crate::gateway::channel_record_kind;
use crate::store::is_session;

/// The facts about a log.
pub(super) struct LogFacts {
    before_ms: u64,
    head: u64,
    topics: Vec<Arc<str>>,
    runs: HashMap<Arc<str>, RunFacts>,
    channels: ChannelFacts,
    hub_records: u64,
    /// The records that opened the sessions to remove, in order.
    openings: Vec<u64>,
    /// The superseded records about messages, of sessions that stay, in order.
    superseded: Vec<u64>,
}

/// The facts about a run.
#[derive(Default)]
struct RunFacts {
    kind: RunKind,
    last_at_ms: u64,
    /// The approximate size of the records, in bytes.
    bytes: u64,
    /// The cursor of the record that opened a session.
    opened: Option<u64>,
    /// The cursor of the first record that is not old.
    recent_from: Option<u64>,
    /// The pending reminders of a session.
    reminders: BTreeSet<Arc<str>>,
    /// The items of a session that no seam has delivered.
    queue: HashSet<Arc<str>>,
    messages: MessageFacts,
    /// The session of an unfinished or recent task.
    session_of_task: Option<Arc<str>>,
    is_unfinished: bool,
    stays: bool,
}

/// The kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum RunKind {
    /// Only records of channels: actions on a session that is gone.
    #[default]
    Empty,
    /// A run of a script, or records of a session or a task without their beginning.
    Other,
    Session,
    Task,
}

impl RunFacts {
    /// Takes the next record of the run.
    fn take(&mut self, run_id: &Arc<str>, record: &Record, is_old: bool) {
        self.last_at_ms = self.last_at_ms.max(record.occurred_at_ms);
        self.bytes += record.weight() as u64;
        if !is_old {
            self.recent_from.get_or_insert(record.cursor);
        }
        let Some(topic) = Topic::named(&record.topic) else { return };
        if self.kind == RunKind::Empty && topic != Topic::Channel {
            self.kind = RunKind::Other;
        }
        let Some(word) = topic.word_of(&record.kind) else { return };
        let payload = &*record.payload;
        if topic == Topic::Task {
            if let Some(task) = crate::a2a::store::task_state(payload) {
                (self.kind, self.is_unfinished) = (RunKind::Task, !task.is_terminal());
                self.session_of_task = payload.get("session_id").as_shared_str();
            }
            return;
        }
        // Sub-agents of a session, and sessions that a script opened, end with their process.
        if payload.get("session_id").as_str() != Some(run_id) {
            return;
        }
        match topic {
            Topic::Life if word == "opened" => {
                self.kind = RunKind::Session;
                self.opened.get_or_insert(record.cursor);
            }
            Topic::Reminder => follow_pending(&mut self.reminders, record, run_id),
            Topic::Injection => {
                let Some(id) = payload.get("id").as_shared_str() else { return };
                if word == "queued" {
                    self.queue.insert(id)
                } else {
                    self.queue.remove(&id)
                };
            }
            _ => {}
        }
        self.messages.take(topic, word, payload, record.cursor);
    }

    fn waits(&self) -> bool {
        self.is_unfinished || self.kind == RunKind::Session && !(self.reminders.is_empty() && self.queue.is_empty())
    }
}

impl LogFacts {
    pub(super) fn new(options: &TrimOptions, head: u64) -> LogFacts {
        LogFacts {
            before_ms: options.before_ms,
            head,
            topics: options.topics.clone(),
            runs: HashMap::new(),
            channels: ChannelFacts::default(),
            hub_records: 0,
            openings: Vec::new(),
            superseded: Vec::new(),
        }
    }

    /// Returns the cursor of the last record that was taken. Later ones stay.
    pub(super) fn head(&self) -> u64 {
        self.head
    }

    fn is_old(&self, record: &Record) -> bool {
        record.occurred_at_ms < self.before_ms
    }

    /// Takes the next record of the log.
    pub(super) fn take(&mut self, record: &Record) {
        let is_old = self.is_old(record);
        if let Some(kind) = channel_record_kind(record) {
            self.channels.take(kind, record, is_old);
        }
        if *record.topic == *Topic::Hub.as_str() {
            self.hub_records += 1;
        }
        if let Some(run_id) = record.headers.get(RUN_ID).as_shared_str() {
            self.runs.entry(run_id.clone()).or_default().take(&run_id, record, is_old);
        }
    }

    /// Decides, after the last record, which runs stay.
    pub(super) fn decide(&mut self) {
        let before_ms = self.before_ms;
        for run in self.runs.values_mut() {
            run.stays = run.last_at_ms >= before_ms || run.waits();
        }
        let mut needed = self.channels.needed_sessions();
        needed.extend(self.runs.values().filter(|run| run.stays).filter_map(|run| run.session_of_task.clone()));
        for session_id in needed {
            if let Some(run) = self.runs.get_mut(&session_id) {
                run.stays = true;
            }
        }
        let runs = &self.runs;
        let stays = |run_id: &str| {
            runs.get(run_id).is_some_and(|run| run.stays && matches!(run.kind, RunKind::Session | RunKind::Task))
        };
        self.channels.keep_links(stays);
        let sessions = self.runs.values().filter(|run| run.stays && run.kind == RunKind::Session);
        self.superseded =
            sessions.flat_map(|run| run.messages.superseded(run.recent_from.unwrap_or(u64::MAX))).collect();
        self.superseded.sort_unstable();
        self.openings = self.runs.values().filter(|run| !run.stays).filter_map(|run| run.opened).collect();
        self.openings.sort_unstable();
    }

    /// Returns the records that opened the sessions to remove, in order.
    pub(super) fn openings(&self) -> &[u64] {
        &self.openings
    }

    /// Returns the superseded records about messages that are old, in order.
    pub(super) fn superseded(&self) -> &[u64] {
        &self.superseded
    }

    /// Returns whether a record is removed, unless it is one of [`LogFacts::superseded`] or [`LogFacts::openings`].
    pub(super) fn removes(&self, record: &Record) -> bool {
        if !self.is_old(record) {
            return false;
        }
        let run_id = record.headers.get(RUN_ID).as_shared_str();
        let run = run_id.and_then(|id| self.runs.get(&id));
        let stays = run.is_some_and(|run| run.stays);
        if let Some(kind) = channel_record_kind(record) {
            return !self.channels.needs(kind, record, stays);
        }
        let Some(topic) = Topic::named(&record.topic) else {
            return self.topics.contains(&record.topic);
        };
        match (topic, run) {
            // The hub removes its records itself. Records of later versions may be needed.
            (Topic::Hub | Topic::Channel, _) => false,
            // Traces are made from it, and nothing else.
            (Topic::Activity, _) => true,
            (_, Some(run)) if run.stays && run.kind == RunKind::Session => {
                let word = topic.word_of(&record.kind).unwrap_or_default();
                let is_own = record.payload.get("session_id").as_str() == record.headers.get(RUN_ID).as_str();
                let is_evaluation = topic == Topic::Reminder && word == "provider_evaluated";
                is_evaluation || is_own && run.messages.has_later(topic, word, record.cursor)
            }
            _ => !stays,
        }
    }

    /// Returns the sessions and tasks to remove, also what earlier removals have left of them.
    pub(super) fn removed_units(&self) -> impl Iterator<Item = &Arc<str>> {
        self.units().filter(|(_, run)| !run.stays).map(|(id, _)| id)
    }

    /// Returns the time before which sessions and tasks must have been used last so that without them the log has `excess`
    /// fewer bytes, or as few as possible.
    pub(super) fn cutoff_for(&self, excess: u64) -> u64 {
        let mut ended: Vec<_> = self.units().filter(|(_, run)| !run.waits()).map(|(_, run)| run).collect();
        ended.sort_unstable_by_key(|run| run.last_at_ms);
        let mut removed = 0;
        let enough = ended.iter().find(|run| {
            removed += run.bytes;
            removed >= excess
        });
        enough.or(ended.last()).map_or(0, |last| last.last_at_ms.saturating_add(1))
    }

    /// Returns the runs that a server writes. Those of scripts may belong to a process that runs.
    fn units(&self) -> impl Iterator<Item = (&Arc<str>, &RunFacts)> {
        self.runs.iter().filter(|(id, _)| is_session(id) || crate::a2a::store::is_task_run(id))
    }

    /// Returns the report, without the records.
    pub(super) fn report(&self) -> TrimReport {
        let mut report = TrimReport::default();
        for run in self.runs.values() {
            let (removed, kept) = (&mut report.removed, &mut report.kept);
            match (run.kind, run.stays) {
                (RunKind::Session, true) => {
                    kept.sessions += 1;
                    kept.waiting_sessions += u64::from(run.last_at_ms < self.before_ms);
                }
                (RunKind::Session, false) => removed.sessions += 1,
                (RunKind::Task, true) => {
                    kept.tasks += 1;
                    kept.unfinished_tasks += u64::from(run.is_unfinished);
                }
                (RunKind::Task, false) => removed.tasks += 1,
                (RunKind::Empty, _) => {}
                (RunKind::Other, true) => kept.runs += 1,
                (RunKind::Other, false) => removed.runs += 1,
            }
        }
        report.kept.channels = self.channels.enrolled;
        report.kept.links = self.channels.links();
        report.kept.hub_records = self.hub_records;
        report
    }
}
