//! The subjects of the file: counters, owners, and the requests that were accepted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::log::{AppendError, Batch, ClaimError, Lease, LeaseClock, Subject, SubjectQuery, Written};

use super::row::{number, stored};

/// Number of records that are removed in one transaction: batches wait meanwhile.
const REMOVED: u32 = 500;

const COLUMNS: &str = "SELECT name, sequence, last_cursor, state, epoch, owner, machine_start, until_ms FROM subjects";

/// A row of the table `subjects`.
#[derive(Default)]
struct SubjectRow {
    sequence: u64,
    last_cursor: u64,
    state: Option<Arc<str>>,
    epoch: u64,
    owner: Option<Arc<str>>,
    /// The start of the machine that `until_ms` counts from.
    machine_start: Option<Arc<str>>,
    until_ms: u64,
    /// Whether records were added within this transaction.
    is_changed: bool,
}

impl SubjectRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<SubjectRow> {
        Ok(SubjectRow {
            sequence: number(row, 1)?,
            last_cursor: number(row, 2)?,
            state: row.get(3)?,
            epoch: number(row, 4)?,
            owner: row.get(5)?,
            machine_start: row.get(6)?,
            until_ms: number(row, 7)?,
            is_changed: false,
        })
    }

    /// Returns the owner, if its lease has not ended.
    fn holder(&self, clock: &LeaseClock) -> Option<&Arc<str>> {
        let is_valid = self.machine_start.as_ref() == Some(clock.start()) && clock.now_ms() < self.until_ms;
        self.owner.as_ref().filter(|_| is_valid)
    }

    fn lease(&self, name: &Arc<str>, clock: &LeaseClock) -> Option<Lease> {
        let owner = self.holder(clock)?.clone();
        Some(Lease { subject: name.clone(), owner, epoch: self.epoch })
    }
}

fn find(connection: &Connection, name: &str) -> rusqlite::Result<Option<SubjectRow>> {
    let mut find = connection.prepare_cached(&format!("{COLUMNS} WHERE name = ?"))?;
    find.query_row([name], SubjectRow::read).optional()
}

/// The counters of subjects within a transaction that writes records.
pub(super) struct SubjectCounters<'a> {
    transaction: &'a Transaction<'a>,
    rows: HashMap<Arc<str>, SubjectRow>,
}

impl<'a> SubjectCounters<'a> {
    pub(super) fn of(transaction: &'a Transaction<'a>) -> SubjectCounters<'a> {
        SubjectCounters { transaction, rows: HashMap::new() }
    }

    fn row(&mut self, name: &str) -> rusqlite::Result<&mut SubjectRow> {
        if !self.rows.contains_key(name) {
            let found = find(self.transaction, name)?.unwrap_or_default();
            self.rows.insert(name.into(), found);
        }
        Ok(self.rows.entry(name.into()).or_default())
    }

    /// Checks the conditions of a batch. Returns the place of an earlier batch with its request id, which it repeats.
    pub(super) fn check(
        &mut self,
        batch: &Batch,
        clock: &LeaseClock,
    ) -> rusqlite::Result<Result<Option<Written>, AppendError>> {
        if let Some(written) = self.accepted(batch)? {
            return Ok(Ok(Some(written)));
        }
        if batch.epoch.is_none() && batch.expected.is_none() {
            return Ok(Ok(None));
        }
        let subject = self.row(&batch.subject)?;
        let is_owned = |epoch| epoch == subject.epoch && subject.holder(clock).is_some();
        Ok(match (batch.epoch, batch.expected) {
            (Some(epoch), _) if !is_owned(epoch) => Err(AppendError::Fenced { epoch: subject.epoch }),
            (_, Some(expected)) if expected != subject.sequence => {
                Err(AppendError::Unexpected { sequence: subject.sequence })
            }
            _ => Ok(None),
        })
    }

    fn accepted(&self, batch: &Batch) -> rusqlite::Result<Option<Written>> {
        let Some(request_id) = &batch.request_id else { return Ok(None) };
        let sql = "SELECT first_cursor, last_cursor, sequence FROM requests WHERE subject = ? AND request_id = ?";
        let read = |row: &Row<'_>| {
            // The records of a batch follow each other; one without records ends before it begins.
            let cursors = (number(row, 0)?..=number(row, 1)?).collect();
            Ok(Written { cursors, sequence: number(row, 2)?, repeated: true })
        };
        let mut find = self.transaction.prepare_cached(sql)?;
        find.query_row(params![batch.subject.as_ref(), request_id.as_ref()], read).optional()
    }

    /// Records that the records of a batch have got these cursors.
    pub(super) fn note(&mut self, batch: &Batch, cursors: Vec<u64>) -> rusqlite::Result<Written> {
        let subject = self.row(&batch.subject)?;
        subject.sequence += cursors.len() as u64;
        subject.last_cursor = cursors.last().copied().unwrap_or(subject.last_cursor);
        subject.is_changed = true;
        if batch.state.is_some() {
            subject.state.clone_from(&batch.state);
        }
        let written = Written { cursors, sequence: subject.sequence, repeated: false };
        if let Some(request_id) = &batch.request_id {
            let (first, last) = match (written.cursors.first(), written.cursors.last()) {
                (Some(first), Some(last)) => (*first, *last),
                _ => (1, 0),
            };
            let sql = "INSERT INTO requests (subject, request_id, first_cursor, last_cursor, sequence) VALUES (?, ?, ?, ?, ?)";
            self.transaction.prepare_cached(sql)?.execute(params![
                batch.subject.as_ref(),
                request_id.as_ref(),
                stored(first),
                stored(last),
                stored(written.sequence),
            ])?;
        }
        Ok(written)
    }

    /// Records that a record of a subject was appended without a batch.
    pub(super) fn note_single(&mut self, name: &str, cursor: u64) -> rusqlite::Result<()> {
        let subject = self.row(name)?;
        subject.sequence += 1;
        subject.last_cursor = cursor;
        subject.is_changed = true;
        Ok(())
    }

    /// Writes the counters.
    pub(super) fn end(self) -> rusqlite::Result<()> {
        let sql = "INSERT INTO subjects (name, sequence, last_cursor, state) VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (name) DO UPDATE SET sequence = ?2, last_cursor = ?3, state = ?4";
        let mut write = self.transaction.prepare_cached(sql)?;
        for (name, row) in self.rows.iter().filter(|(_, row)| row.is_changed) {
            write.execute(params![
                name.as_ref(),
                stored(row.sequence),
                stored(row.last_cursor),
                row.state.as_deref()
            ])?;
        }
        Ok(())
    }
}

/// Makes `owner` the owner of a subject, unless another one has it.
pub(super) fn claim(
    connection: &Connection,
    name: &Arc<str>,
    owner: &Arc<str>,
    ttl: Duration,
    clock: &LeaseClock,
) -> rusqlite::Result<Result<Lease, ClaimError>> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let subject = find(&transaction, name)?.unwrap_or_default();
    let epoch = match subject.holder(clock) {
        Some(holder) if holder != owner => {
            return Ok(Err(ClaimError::Held { owner: holder.clone(), epoch: subject.epoch }));
        }
        Some(_) => subject.epoch,
        None => subject.epoch + 1,
    };
    let sql = "INSERT INTO subjects (name, sequence, last_cursor, epoch, owner, machine_start, until_ms) \
               VALUES (?1, 0, 0, ?2, ?3, ?4, ?5) \
               ON CONFLICT (name) DO UPDATE SET epoch = ?2, owner = ?3, machine_start = ?4, until_ms = ?5";
    let until = stored(until(clock, ttl));
    transaction.execute(sql, params![name.as_ref(), stored(epoch), owner.as_ref(), clock.start().as_ref(), until])?;
    transaction.commit()?;
    Ok(Ok(Lease { subject: name.clone(), owner: owner.clone(), epoch }))
}

/// Moves the end of a lease; without a time it ends now.
pub(super) fn renew(
    connection: &Connection,
    lease: &Lease,
    ttl: Option<Duration>,
    clock: &LeaseClock,
) -> rusqlite::Result<Result<(), ClaimError>> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let subject = find(&transaction, &lease.subject)?.unwrap_or_default();
    if subject.epoch != lease.epoch || subject.holder(clock) != Some(&lease.owner) {
        return Ok(Err(ClaimError::Ended { epoch: subject.epoch }));
    }
    let until = ttl.map_or(0, |ttl| until(clock, ttl));
    let sql = "UPDATE subjects SET until_ms = ? WHERE name = ?";
    transaction.execute(sql, params![stored(until), lease.subject.as_ref()])?;
    transaction.commit()?;
    Ok(Ok(()))
}

fn until(clock: &LeaseClock, ttl: Duration) -> u64 {
    clock.now_ms().saturating_add(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
}

/// Returns the present lease of a subject.
pub(super) fn owner_of(
    connection: &Connection,
    name: &Arc<str>,
    clock: &LeaseClock,
) -> rusqlite::Result<Option<Lease>> {
    Ok(find(connection, name)?.and_then(|subject| subject.lease(name, clock)))
}

/// Returns the selected subjects, those with the newest records first.
pub(super) fn select(
    connection: &Connection,
    query: &SubjectQuery,
    clock: &LeaseClock,
) -> rusqlite::Result<Vec<Subject>> {
    // Found by one index each: the order of cursors, and states.
    let by_state = if query.state.is_some() { "state = ?2" } else { "?2 IS NULL" };
    let sql = format!("{COLUMNS} WHERE last_cursor > 0 AND last_cursor < ?1 AND {by_state} ORDER BY last_cursor DESC");
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(params![stored(query.before.unwrap_or(u64::MAX)), query.state.as_deref()])?;
    let mut found = Vec::new();
    while found.len() < query.limit
        && let Some(row) = rows.next()?
    {
        let name: Arc<str> = row.get(0)?;
        if query.prefix.as_deref().is_some_and(|prefix| !name.starts_with(prefix)) {
            continue;
        }
        let subject = SubjectRow::read(row)?;
        let lease = subject.lease(&name, clock);
        if query.owner.is_some() && query.owner.as_ref() != lease.as_ref().map(|lease| &lease.owner) {
            continue;
        }
        let SubjectRow { sequence, last_cursor, state, .. } = subject;
        found.push(Subject { name, sequence, last_cursor, state, lease });
    }
    Ok(found)
}

/// Removes the oldest records of a subject before a cursor, up to a number, and the requests that made them. Returns how
/// many records they are, and whether more may follow.
pub(super) fn trim(connection: &Connection, name: &str, before: u64) -> rusqlite::Result<(u64, bool)> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let removed = transaction
        .prepare_cached(
            "DELETE FROM records WHERE cursor IN \
             (SELECT cursor FROM records WHERE run_id = ? AND cursor < ? ORDER BY cursor LIMIT ?)",
        )?
        .execute(params![name, stored(before), REMOVED])?;
    // One without records ends before it begins.
    let requests = "DELETE FROM requests WHERE subject = ? AND (last_cursor < ? OR last_cursor < first_cursor)";
    transaction.prepare_cached(requests)?.execute(params![name, stored(before)])?;
    if removed > 0 {
        let told = "UPDATE subjects SET trimmed_before = max(trimmed_before, ?) WHERE name = ?";
        transaction.prepare_cached(told)?.execute(params![stored(before), name])?;
        let told = "UPDATE head SET trimmed_before = max(trimmed_before, ?)";
        transaction.prepare_cached(told)?.execute([stored(before)])?;
    }
    transaction.commit()?;
    Ok((removed as u64, removed >= REMOVED as usize))
}

/// Records that records with lower cursors were removed, whatever their subjects are.
pub(super) fn note_swept(transaction: &Connection, before: u64) -> rusqlite::Result<()> {
    let told = "UPDATE head SET trimmed_before = max(trimmed_before, ?1), swept_before = max(swept_before, ?1)";
    transaction.prepare_cached(told)?.execute([stored(before)])?;
    Ok(())
}

/// Returns the cursor up to which records of a subject, or any records, may have been removed.
pub(super) fn trimmed_before(connection: &Connection, subject: Option<&str>) -> rusqlite::Result<u64> {
    let head = "SELECT trimmed_before, swept_before FROM head";
    let read = |row: &Row<'_>| Ok((number(row, 0)?, number(row, 1)?));
    let (trimmed, swept) = connection.prepare_cached(head)?.query_row([], read)?;
    let Some(name) = subject else { return Ok(trimmed) };
    let mut find = connection.prepare_cached("SELECT trimmed_before FROM subjects WHERE name = ?")?;
    let its = find.query_row([name], |row| number(row, 0)).optional()?.unwrap_or(0);
    Ok(its.max(swept))
}
