//! [`SqliteStore`]: batches as records of an event log. A record has readable facts for people and traces, and the batch
//! itself as Protocol Buffers.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::Message as _;

use base::data::Data;
use eventlog::{
    LogReader, NewRecord, PayloadSource, Record, RecordFilter, RecordPayload, SharedLog, SqliteLog, SqliteOptions,
    Ticket,
};
use runtime::event_log::Topic;

use crate::broker::change::{Change, ChangeBatch, ChangeKind};
use crate::broker::payload::state_name;
use crate::proto::a2a::TaskStatus;

use super::{Durability, Store, StoreError, StoreFuture, TrimmableStore};

/// Number of records that are read at a time.
const PAGE: usize = 1_000;

/// A store in the file of an event log. One hub at a time uses it.
pub struct SqliteStore {
    log: SqliteLog,
    path: PathBuf,
    /// Names of the kinds of records, by their last word.
    kinds: Mutex<HashMap<&'static str, Arc<str>>>,
    /// Approximate size of the batches appended and replayed.
    written: AtomicU64,
}

impl SqliteStore {
    /// Opens a store, and creates the file if it is missing.
    ///
    /// # Errors
    /// Fails if another process uses the file, or it cannot be opened, is not an event log, or has a later version.
    pub fn open(path: impl Into<PathBuf>, options: &SqliteOptions) -> Result<SqliteStore, StoreError> {
        let path = path.into();
        let log = SqliteLog::open(&path, options)?;
        log.own()?;
        log.serve();
        Ok(SqliteStore { log, path, kinds: Mutex::default(), written: AtomicU64::new(0) })
    }

    fn kind(&self, word: &'static str) -> Arc<str> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.entry(word).or_insert_with(|| Topic::Hub.kind(word).into()).clone()
    }

    /// Returns the event log.
    #[must_use]
    pub fn log(&self) -> &SqliteLog {
        &self.log
    }

    /// Returns the record of a batch; `None` if it is empty.
    fn record(&self, batch: &ChangeBatch) -> Option<NewRecord> {
        let (word, at_ms) = match (&batch.checkpoint, batch.changes.first()) {
            (Some(part), _) => ("checkpoint", part.at_ms),
            (None, Some(first)) => (word(first), first.at_ms),
            (None, None) => return None,
        };
        let payload = StoredBatch::new(batch);
        self.written.fetch_add(payload.weight as u64, Ordering::Relaxed);
        Some(NewRecord {
            topic: Topic::Hub.into(),
            kind: self.kind(word),
            occurred_at_ms: at_ms,
            payload: RecordPayload::of(payload),
            headers: Data::Nil,
        })
    }
}

impl Store for SqliteStore {
    fn append(&self, batch: ChangeBatch) -> Durability {
        let Some(record) = self.record(&batch) else { return Durability::Done };
        Durability::Pending(self.log.put(record).number())
    }

    fn stored(&self, number: u64) -> StoreFuture<u64> {
        let log = self.log.clone();
        Box::pin(async move {
            log.settled(Ticket::of_number(number)).await?;
            Ok(log.settled_upto().number())
        })
    }

    fn availability(&self) -> Result<(), StoreError> {
        Ok(self.log.accepts()?)
    }

    fn replay(&self, each: &mut dyn FnMut(&ChangeBatch)) -> Result<(), StoreError> {
        let reader = LogReader::from(self.log.clone());
        let mut filter = RecordFilter::topic(Topic::Hub);
        loop {
            let records = reader.read(&filter, PAGE)?;
            let Some(last) = records.last() else { return Ok(()) };
            filter.after = last.cursor;
            for record in &records {
                let batch = changes_of(record).ok_or_else(|| StoreError::Damaged {
                    path: self.path.display().to_string(),
                    cursor: record.cursor,
                })?;
                self.written.fetch_add(weight(&batch, batch.encoded_len()) as u64, Ordering::Relaxed);
                each(&batch);
            }
        }
    }

    fn trimmable(&self) -> Option<&dyn TrimmableStore> {
        Some(self)
    }
}

impl TrimmableStore for SqliteStore {
    fn place(&self, batch: ChangeBatch) -> StoreFuture<u64> {
        let Some(record) = self.record(&batch) else { return Box::pin(async { Ok(0) }) };
        let placed = self.log.place(record);
        Box::pin(async move { Ok(placed.await?.cursor) })
    }

    fn trim(&self, before: u64) -> StoreFuture<u64> {
        let trimmed = self.log.trim(Topic::Hub.into(), before);
        Box::pin(async move { Ok(trimmed.await?) })
    }

    fn written_bytes(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    fn size(&self) -> u64 {
        self.log.size()
    }
}

/// Returns the approximate size of a batch in the file.
fn weight(batch: &ChangeBatch, encoded: usize) -> usize {
    encoded / 3 * 4 + 128 * batch.changes.len()
}

/// Returns the changes in a record of the topic `hub.change`; `None` if it is damaged.
#[must_use]
pub fn changes_of(record: &Record) -> Option<ChangeBatch> {
    let bytes = STANDARD.decode(record.payload.get("batch").as_str()?).ok()?;
    ChangeBatch::decode(bytes.as_slice()).ok()
}

/// A batch as JSON. It is converted on the thread of the command: a batch is made of many small allocations, and the
/// allocator is slow where one thread makes them and another frees them.
#[derive(Debug)]
struct StoredBatch {
    json: Vec<u8>,
    weight: usize,
}

impl StoredBatch {
    fn new(batch: &ChangeBatch) -> StoredBatch {
        let length = batch.encoded_len();
        let weight = weight(batch, length);
        let mut json = Vec::with_capacity(weight);
        json.extend_from_slice(b"{\"changes\":[");
        for (place, change) in batch.changes.iter().enumerate() {
            if place > 0 {
                json.push(b',');
            }
            facts(change).write_json(&mut json);
        }
        json.extend_from_slice(b"],\"batch\":\"");
        let mut encoded = Vec::with_capacity(length);
        // A vector has room for any message.
        let _ = batch.encode(&mut encoded);
        let start = json.len();
        json.resize(start + encoded.len().div_ceil(3) * 4, 0);
        let written = STANDARD.encode_slice(&encoded, &mut json[start..]).unwrap_or(0);
        json.truncate(start + written);
        json.extend_from_slice(b"\"}");
        StoredBatch { json, weight }
    }
}

impl PayloadSource for StoredBatch {
    fn to_data(&self, _place: usize) -> Data {
        // It was written above, so it can be read.
        serde_json::from_slice(&self.json).unwrap_or(Data::Nil)
    }

    fn weight(&self, _place: usize) -> usize {
        self.weight
    }

    fn write_json(&self, _place: usize, json: &mut Vec<u8>) {
        json.extend_from_slice(&self.json);
    }
}

/// The facts of a change that a person looks for.
struct ChangeFacts<'a> {
    kind: &'static str,
    number: u64,
    texts: Vec<(&'static str, &'a str)>,
    attempt: Option<u32>,
}

impl ChangeFacts<'_> {
    fn write_json(&self, json: &mut Vec<u8>) {
        use std::io::Write as _;
        // Writing to a vector does not fail.
        let _ = write!(json, "{{\"kind\":\"{}\",\"number\":{}", self.kind, self.number);
        for (key, value) in &self.texts {
            let _ = write!(json, ",\"{key}\":");
            let _ = serde_json::to_writer(&mut *json, value);
        }
        if let Some(attempt) = self.attempt {
            let _ = write!(json, ",\"attempt\":{attempt}");
        }
        json.push(b'}');
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
fn facts(change: &Change) -> ChangeFacts<'_> {
    let mut texts = Vec::with_capacity(8);
    let mut attempt = None;
    let mut add = |key: &'static str, value| {
        if !str::is_empty(value) {
            texts.push((key, value));
        }
    };
    if let Some(routing) = &change.routing {
        add("from_agent_id", &routing.from_agent_id);
        add("to_agent_id", &routing.to_agent_id);
    }
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
            attempt = Some(claimed.attempt);
        }
        Some(ChangeKind::TaskRequeued(requeued)) => {
            add("task_id", &requeued.task_id);
            add("reason", &requeued.reason);
        }
        _ => {}
    }
    ChangeFacts { kind: word(change), number: change.number, texts, attempt }
}
