//! Writing one batch to the file, as a whole or not at all, and removing old records.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::log::{AppendError, Batch, LeaseClock, Written};
use crate::{NewRecord, RUN_ID, RecordPosition};

use super::queue::QueuedContent;

use super::row::{encode, stored};
use super::subjects::{SubjectCounters, note_swept};

/// Maximum number of records that are removed at a time: batches wait meanwhile.
const REMOVED: u32 = 500;

/// The counters of a topic within this transaction.
struct TopicCounters {
    key: i64,
    last_id: u64,
}

/// The place where content was written.
#[derive(Debug)]
pub(super) enum Placed {
    /// The place of a record.
    Record(RecordPosition),
    /// The places of the records of a batch, or the condition that did not hold.
    Batch(Result<Written, AppendError>),
}

/// Writes items in order and returns their places. Reads counters inside the transaction, because another process may
/// have advanced them.
pub(super) fn commit<'a>(
    connection: &Connection,
    items: impl Iterator<Item = &'a QueuedContent>,
    clock: &LeaseClock,
) -> rusqlite::Result<Vec<Placed>> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let mut writing = Transfer::begin(&transaction)?;
    let mut places = Vec::new();
    for item in items {
        places.push(match item {
            QueuedContent::Record(record, _) => Placed::Record(writing.record(record)?),
            QueuedContent::Batch(batch, _) => Placed::Batch(writing.batch(batch, clock)?),
            QueuedContent::Mark(_) => Placed::Record(RecordPosition { id: 0, cursor: writing.cursor }),
        });
    }
    writing.end()?;
    transaction.commit()?;
    Ok(places)
}

/// Items on their way into the file, with the counters that they advance.
struct Transfer<'a> {
    transaction: &'a Transaction<'a>,
    insert: CachedStatement<'a>,
    cursor: u64,
    topics: HashMap<Arc<str>, TopicCounters>,
    subjects: SubjectCounters<'a>,
    payload: Vec<u8>,
    headers: Vec<u8>,
}

impl<'a> Transfer<'a> {
    fn begin(transaction: &'a Transaction<'a>) -> rusqlite::Result<Transfer<'a>> {
        let last: i64 = transaction.prepare_cached("SELECT last_cursor FROM head")?.query_row([], |row| row.get(0))?;
        let insert = transaction.prepare_cached(
            "INSERT INTO records (cursor, topic, id, kind, payload, headers, occurred_at_ms, run_id) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        Ok(Transfer {
            transaction,
            insert,
            cursor: u64::try_from(last).unwrap_or(0),
            topics: HashMap::new(),
            subjects: SubjectCounters::of(transaction),
            payload: Vec::new(),
            headers: Vec::new(),
        })
    }

    fn record(&mut self, record: &NewRecord) -> rusqlite::Result<RecordPosition> {
        let place = self.put(record)?;
        if let Some(subject) = record.headers.get(RUN_ID).as_str() {
            self.subjects.note_single(subject, place.cursor)?;
        }
        Ok(place)
    }

    /// Writes a batch if its conditions hold.
    fn batch(&mut self, batch: &Batch, clock: &LeaseClock) -> rusqlite::Result<Result<Written, AppendError>> {
        match self.subjects.check(batch, clock)? {
            Err(error) => return Ok(Err(error)),
            Ok(Some(repeated)) => return Ok(Ok(repeated)),
            Ok(None) => {}
        }
        let mut cursors = Vec::with_capacity(batch.records.len());
        for record in &batch.records {
            cursors.push(self.put(record)?.cursor);
        }
        self.subjects.note(batch, cursors).map(Ok)
    }

    fn put(&mut self, record: &NewRecord) -> rusqlite::Result<RecordPosition> {
        let topic = match self.topics.get_mut(&record.topic) {
            Some(known) => known,
            None => {
                let found = find(self.transaction, &record.topic)?;
                self.topics.entry(record.topic.clone()).or_insert(found)
            }
        };
        self.cursor += 1;
        topic.last_id += 1;
        let (key, place) = (topic.key, RecordPosition { id: topic.last_id, cursor: self.cursor });
        put(&mut self.insert, record, key, place, &mut self.payload, &mut self.headers)?;
        Ok(place)
    }

    fn end(self) -> rusqlite::Result<()> {
        let mut move_topic = self.transaction.prepare_cached("UPDATE topics SET last_id = ? WHERE key = ?")?;
        for topic in self.topics.values() {
            move_topic.execute(params![stored(topic.last_id), topic.key])?;
        }
        self.subjects.end()?;
        self.transaction.prepare_cached("UPDATE head SET last_cursor = ?")?.execute([stored(self.cursor)])?;
        Ok(())
    }
}

/// Removes the oldest records of a topic before a cursor, up to a number. Returns how many they are, and whether more
/// may follow.
pub(super) fn trim(connection: &Connection, topic: &str, before: u64) -> rusqlite::Result<(u64, bool)> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let removed = transaction
        .prepare_cached(
            "DELETE FROM records WHERE cursor IN (SELECT cursor FROM records \
             WHERE topic = (SELECT key FROM topics WHERE name = ?) AND cursor < ? ORDER BY cursor LIMIT ?)",
        )?
        .execute(params![topic, stored(before), REMOVED])?;
    if removed > 0 {
        note_swept(&transaction, before)?;
    }
    transaction.commit()?;
    Ok((removed as u64, removed >= REMOVED as usize))
}

fn put(
    insert: &mut CachedStatement<'_>,
    record: &NewRecord,
    topic: i64,
    place: RecordPosition,
    payload: &mut Vec<u8>,
    headers: &mut Vec<u8>,
) -> rusqlite::Result<()> {
    let run_id = record.headers.get(RUN_ID).as_str();
    let headers = (!record.headers.is_nil()).then(|| encode(&record.headers, headers));
    payload.clear();
    record.payload.write_json(payload);
    insert.execute(params![
        stored(place.cursor),
        topic,
        stored(place.id),
        record.kind.as_ref(),
        std::str::from_utf8(payload).unwrap_or("null"),
        headers,
        stored(record.occurred_at_ms),
        run_id,
    ])?;
    Ok(())
}

fn find(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<TopicCounters> {
    let found = transaction
        .prepare_cached("SELECT key, last_id FROM topics WHERE name = ?")?
        .query_row([name], |row| Ok(TopicCounters { key: row.get(0)?, last_id: super::row::number(row, 1)? }))
        .optional()?;
    if let Some(topic) = found {
        return Ok(topic);
    }
    transaction.prepare_cached("INSERT INTO topics (name, last_id) VALUES (?, 0)")?.execute([name])?;
    Ok(TopicCounters { key: transaction.last_insert_rowid(), last_id: 0 })
}
