//! Writing one batch to the file, as a whole or not at all, and removing old records.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::{NewRecord, RUN_ID, RecordPosition};

use super::row::{encode, stored};

/// Maximum number of records that are removed at a time: batches wait meanwhile.
const REMOVED: u32 = 500;

/// The counters of a topic within this transaction.
struct TopicCounters {
    key: i64,
    last_id: u64,
}

/// Writes records in order and returns their places. Reads counters inside the transaction, because another process may
/// have advanced them.
pub(super) fn commit<'a>(
    connection: &Connection,
    records: impl Iterator<Item = &'a NewRecord>,
) -> rusqlite::Result<Vec<RecordPosition>> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let places = write(&transaction, records)?;
    transaction.commit()?;
    Ok(places)
}

fn write<'a>(
    transaction: &Transaction<'_>,
    records: impl Iterator<Item = &'a NewRecord>,
) -> rusqlite::Result<Vec<RecordPosition>> {
    let last: i64 = transaction.prepare_cached("SELECT last_cursor FROM head")?.query_row([], |row| row.get(0))?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO records (cursor, topic, id, kind, payload, headers, occurred_at_ms, run_id) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let mut cursor = u64::try_from(last).unwrap_or(0);
    let mut topics: HashMap<&Arc<str>, TopicCounters> = HashMap::new();
    let (mut payload, mut headers) = (Vec::new(), Vec::new());
    let mut places = Vec::new();
    for record in records {
        let topic = match topics.entry(&record.topic) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(find(transaction, &record.topic)?),
        };
        cursor += 1;
        topic.last_id += 1;
        let place = RecordPosition { id: topic.last_id, cursor };
        put(&mut insert, record, topic.key, place, &mut payload, &mut headers)?;
        places.push(place);
    }
    let mut move_topic = transaction.prepare_cached("UPDATE topics SET last_id = ? WHERE key = ?")?;
    for topic in topics.values() {
        move_topic.execute(params![stored(topic.last_id), topic.key])?;
    }
    transaction.prepare_cached("UPDATE head SET last_cursor = ?")?.execute([stored(cursor)])?;
    Ok(places)
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
