//! [`SqliteStore`]: batches as records of an event log. A record has readable facts for people and traces, and the batch
//! itself as Protocol Buffers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::Message as _;

use runtime::data::Data;
use runtime::event_log::{
    LogReader, NewRecord, PayloadSource, RecordFilter, RecordPayload, SharedLog, SqliteLog, SqliteOptions, Ticket,
    Topic,
};
use runtime::lock::{LockError, LockFile};

use crate::broker::change::{Change, ChangeBatch, ChangeKind};
use crate::broker::payload::state_name;
use crate::proto::a2a::TaskStatus;

use super::{Durability, Store, StoreError};

/// Number of records that are read at a time.
const PAGE: usize = 1_000;

/// A store in the file of an event log. One hub at a time uses it.
pub struct SqliteStore {
    log: SqliteLog,
    path: PathBuf,
    _lock: LockFile,
}

impl SqliteStore {
    /// Opens a store, and creates the file if it is missing.
    ///
    /// # Errors
    /// Fails if another process uses the file, or it cannot be opened, is not an event log, or has a later version.
    pub fn open(path: impl Into<PathBuf>, options: &SqliteOptions) -> Result<SqliteStore, StoreError> {
        let path = path.into();
        let lock = LockFile::beside(&path).map_err(|error| locked(&path, &error))?;
        Ok(SqliteStore { log: SqliteLog::open(&path, options)?, path, _lock: lock })
    }

    fn durable(&self, upto: Ticket) -> Durability {
        let settled = self.log.settled(upto);
        Durability::Later(Box::pin(async move { settled.await.map_err(StoreError::Log) }))
    }
}

fn locked(path: &Path, error: &LockError) -> StoreError {
    let path = path.display().to_string();
    match error {
        LockError::Held => StoreError::InUse { path },
        LockError::Io(why) => StoreError::CannotLock { path, why: why.to_string() },
    }
}

impl Store for SqliteStore {
    fn append(&self, batch: &ChangeBatch) -> Durability {
        let Some(first) = batch.changes.first() else { return Durability::Done };
        let record = NewRecord {
            topic: Topic::Hub.into(),
            kind: Topic::Hub.kind(word(first)).into(),
            payload: RecordPayload::of(StoredBatch(batch.clone())),
            headers: Data::Nil,
            occurred_at_ms: first.at_ms,
        };
        self.durable(self.log.put(record))
    }

    fn settled(&self) -> Durability {
        self.durable(Ticket::ALL)
    }

    fn replay(&self, each: &mut dyn FnMut(&ChangeBatch)) -> Result<(), StoreError> {
        let reader = LogReader::from(self.log.clone());
        let mut filter = RecordFilter::topic(Topic::Hub);
        loop {
            let records = reader.read(&filter, PAGE)?;
            let Some(last) = records.last() else { return Ok(()) };
            filter.after = last.cursor;
            for record in &records {
                let batch = decode(&record.payload).ok_or_else(|| StoreError::Damaged {
                    path: self.path.display().to_string(),
                    cursor: record.cursor,
                })?;
                each(&batch);
            }
        }
    }
}

fn decode(payload: &Data) -> Option<ChangeBatch> {
    let bytes = STANDARD.decode(payload.get("batch").as_str()?).ok()?;
    ChangeBatch::decode(bytes.as_slice()).ok()
}

/// A batch that is converted to data on the thread of the writer.
#[derive(Debug)]
struct StoredBatch(ChangeBatch);

impl PayloadSource for StoredBatch {
    fn to_data(&self, _place: usize) -> Data {
        let facts: Vec<Data> = self.0.changes.iter().map(facts).collect();
        let encoded = STANDARD.encode(self.0.encode_to_vec());
        Data::dict([("changes", facts.into()), ("batch", Arc::<str>::from(encoded).into())])
    }

    fn weight(&self, _place: usize) -> usize {
        self.0.encoded_len() / 3 * 4 + 128 * self.0.changes.len()
    }
}

/// Returns the name of a change, as the kind of its record says it.
fn word(change: &Change) -> &'static str {
    match &change.kind {
        Some(ChangeKind::AgentRegistered(_)) => "agent_registered",
        Some(ChangeKind::AgentUnregistered(_)) => "agent_unregistered",
        Some(ChangeKind::HealthChanged(_)) => "agent_updated",
        Some(ChangeKind::MessagePublished(_)) => "message_published",
        Some(ChangeKind::TaskSubmitted(_)) => "task_submitted",
        Some(ChangeKind::MessageAppended(_)) => "message_appended",
        Some(ChangeKind::StatusChanged(_)) => "status_changed",
        Some(ChangeKind::ArtifactChanged(_)) => "artifact_changed",
        Some(ChangeKind::TaskClaimed(_)) => "task_claimed",
        Some(ChangeKind::LeaseRenewed(_)) => "lease_renewed",
        Some(ChangeKind::TaskRequeued(_)) => "task_requeued",
        Some(ChangeKind::TaskAcknowledged(_)) => "task_acknowledged",
        Some(ChangeKind::TasksForgotten(_)) => "tasks_forgotten",
        None => "unknown",
    }
}

/// Returns what a person looks for in a change.
fn facts(change: &Change) -> Data {
    let text = |text: &str| Data::from(Arc::<str>::from(text));
    let mut facts = vec![("kind", text(word(change))), ("number", change.number.into())];
    let mut add = |key: &'static str, value: &str| {
        if !value.is_empty() {
            facts.push((key, text(value)));
        }
    };
    let routing = change.routing.clone().unwrap_or_default();
    add("from_agent_id", &routing.from_agent_id);
    add("to_agent_id", &routing.to_agent_id);
    add("trace_id", &change.trace_id);
    match &change.kind {
        Some(ChangeKind::TaskSubmitted(submitted)) => {
            add("task_id", submitted.task.as_ref().map_or("", |task| &task.id));
            add("context_id", submitted.task.as_ref().map_or("", |task| &task.context_id));
            add("queue", &submitted.queue);
            add("parent_task_id", &submitted.parent);
        }
        Some(ChangeKind::MessagePublished(message) | ChangeKind::MessageAppended(message)) => {
            add("task_id", &message.task_id);
            add("context_id", &message.context_id);
        }
        Some(ChangeKind::StatusChanged(changed)) => {
            add("task_id", &changed.task_id);
            add("state", changed.status.as_ref().map_or("", |status: &TaskStatus| state_name(status.state())));
        }
        Some(ChangeKind::ArtifactChanged(changed)) => add("task_id", &changed.task_id),
        Some(ChangeKind::TaskClaimed(claimed) | ChangeKind::LeaseRenewed(claimed)) => {
            add("task_id", &claimed.task_id);
            facts.push(("attempt", u64::from(claimed.attempt).into()));
        }
        Some(ChangeKind::TaskRequeued(requeued)) => {
            add("task_id", &requeued.task_id);
            add("reason", &requeued.reason);
        }
        _ => {}
    }
    Data::dict(facts)
}
