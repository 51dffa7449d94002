//! [`RecordRows`]: the records of a log in memory. Most are never read, so they are kept in their original form: records
//! appended together are one row and are built on demand. Rows are stored in blocks, so a growing log moves none of
//! them.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::{NewRecord, RUN_ID, Record, RecordBatch, RecordFilter, RecordPosition};
use super::topics::TopicIndex;

/// Number of rows of a block.
const BLOCK: usize = 64;

/// The kept records.
#[derive(Default)]
pub(super) struct RecordRows {
    /// None of them is empty.
    blocks: VecDeque<VecDeque<RecordRow>>,
    /// Number of records thrown away, which is the cursor before the first that is kept.
    pub(super) gone: u64,
    /// The cursor of the last record.
    pub(super) last: u64,
    /// Approximate size of the kept records, in bytes.
    pub(super) weight: usize,
}

/// Consecutive records of one topic.
pub(super) struct RecordRow {
    /// Cursor before the first record.
    before: u64,
    /// Number of the first record within its topic.
    id: u64,
    what: RowContent,
}

enum RowContent {
    /// A record that was removed before its turn.
    Removed,
    Single(Box<NewRecord>),
    Batch(BatchSlice),
}

/// Some of the records of a batch.
struct BatchSlice {
    batch: Arc<dyn RecordBatch>,
    /// Index of the first record.
    place: u32,
    count: u32,
    occurred_at_ms: u64,
}

impl RecordRows {
    /// Appends a record.
    pub(super) fn put(&mut self, record: NewRecord, weight: usize, topics: &mut TopicIndex) -> RecordPosition {
        let (before, id) = (self.last, topics.next_ids(&record.topic, 1));
        self.push(RecordRow { before, id, what: RowContent::Single(Box::new(record)) });
        self.last += 1;
        self.weight += weight;
        RecordPosition { id, cursor: self.last }
    }

    /// Appends all records of a batch: a row for each run of one topic.
    pub(super) fn tell(&mut self, batch: &Arc<dyn RecordBatch>, occurred_at_ms: u64, topics: &mut TopicIndex) {
        let most = u32::try_from(batch.count()).unwrap_or(u32::MAX);
        let mut first = 0;
        for place in 0..most {
            let (topic, kind) = batch.names(place as usize);
            self.weight += weight_of(batch.as_ref(), place, topic, kind);
            let goes_on = place + 1 < most && Arc::ptr_eq(batch.names(place as usize + 1).0, topic);
            if !goes_on {
                let count = place + 1 - first;
                let (before, id) = (self.last, topics.next_ids(topic, count.into()));
                let told = BatchSlice { batch: batch.clone(), place: first, count, occurred_at_ms };
                self.push(RecordRow { before, id, what: RowContent::Batch(told) });
                self.last += u64::from(count);
                first = place + 1;
            }
        }
    }

    fn push(&mut self, row: RecordRow) {
        match self.blocks.back_mut().filter(|block| block.len() < block.capacity()) {
            Some(block) => block.push_back(row),
            None => {
                let mut block = VecDeque::with_capacity(BLOCK);
                block.push_back(row);
                self.blocks.push_back(block);
            }
        }
    }

    /// Returns the number of records kept.
    pub(super) fn len(&self) -> usize {
        usize::try_from(self.last - self.gone).unwrap_or(usize::MAX)
    }

    /// Moves the `count` oldest records into `old`, which the caller drops when nothing is borrowed.
    pub(super) fn take_oldest(&mut self, count: usize, old: &mut Vec<RecordRow>) {
        let mut left = count as u64;
        while left > 0
            && let Some(row) = self.blocks.front_mut().and_then(VecDeque::front_mut)
        {
            let here = row.count().min(left);
            self.weight -= row.weight_of_first(here);
            self.gone += here;
            left -= here;
            if here == row.count() {
                old.extend(self.pop_front());
            } else {
                row.skip(here);
            }
        }
    }

    /// Removes the records of a subject before a cursor and returns them, for the caller to drop when nothing is borrowed.
    pub(super) fn remove_of(&mut self, subject: &str, before: u64) -> Vec<NewRecord> {
        let mut removed = Vec::new();
        for row in self.blocks.iter_mut().flatten().take_while(|row| row.before + 1 < before) {
            let is_its =
                matches!(&row.what, RowContent::Single(record) if record.headers.get(RUN_ID).as_str() == Some(subject));
            if is_its && let RowContent::Single(record) = std::mem::replace(&mut row.what, RowContent::Removed) {
                self.weight -= record.weight();
                removed.push(*record);
            }
        }
        removed
    }

    fn pop_front(&mut self) -> Option<RecordRow> {
        let block = self.blocks.front_mut()?;
        let row = block.pop_front();
        if block.is_empty() {
            self.blocks.pop_front();
        }
        row
    }

    /// Returns the selected records after a cursor whose successors are still kept.
    pub(super) fn behind<'a>(
        &'a self,
        cursor: u64,
        filter: &'a RecordFilter,
    ) -> impl Iterator<Item = Arc<Record>> + 'a {
        let is_over = |row: &RecordRow| row.before + row.count() <= cursor;
        let block = self.blocks.partition_point(|block| block.back().is_some_and(is_over));
        let first = self.blocks.get(block).map_or(0, |block| block.partition_point(is_over));
        let rows = self.blocks.range(block..).flatten().skip(first);
        let wanted = rows.filter(|row| row.is_of(filter));
        wanted.flat_map(move |row| {
            let skipped = cursor.saturating_sub(row.before);
            (skipped..row.count()).filter_map(move |place| row.wanted_record(place, filter))
        })
    }
}

impl RecordRow {
    fn count(&self) -> u64 {
        match &self.what {
            RowContent::Removed | RowContent::Single(_) => 1,
            RowContent::Batch(told) => told.count.into(),
        }
    }

    /// Returns the approximate size of its first records, in bytes.
    fn weight_of_first(&self, count: u64) -> usize {
        match &self.what {
            RowContent::Removed => 0,
            RowContent::Single(record) => record.weight(),
            RowContent::Batch(told) => {
                let end = told.place + u32::try_from(count).unwrap_or(u32::MAX).min(told.count);
                let weight = |place: u32| {
                    let (topic, kind) = told.batch.names(place as usize);
                    weight_of(told.batch.as_ref(), place, topic, kind)
                };
                (told.place..end).map(weight).sum()
            }
        }
    }

    /// Removes its first records, which must be fewer than all.
    fn skip(&mut self, count: u64) {
        if let RowContent::Batch(told) = &mut self.what {
            let skipped = u32::try_from(count).unwrap_or(u32::MAX).min(told.count);
            told.place += skipped;
            told.count -= skipped;
            self.before += count;
            self.id += count;
        }
    }

    /// Returns whether any of its records can match.
    fn is_of(&self, filter: &RecordFilter) -> bool {
        let topic = match &self.what {
            RowContent::Removed => return false,
            RowContent::Single(record) => &record.topic,
            RowContent::Batch(told) => told.batch.names(told.place as usize).0,
        };
        filter.topic.as_deref().is_none_or(|wanted| wanted == topic.as_ref())
    }

    /// Returns the record at `place`, counted from the first, if it is selected.
    fn wanted_record(&self, place: u64, filter: &RecordFilter) -> Option<Arc<Record>> {
        let (id, cursor) = (self.id + place, self.before + place + 1);
        match &self.what {
            RowContent::Single(record) if filter.takes(&record.topic, &record.kind) => {
                let NewRecord { topic, kind, payload, headers, occurred_at_ms } = record.as_ref().clone();
                Some(Arc::new(Record { topic, kind, payload, headers, occurred_at_ms, id, cursor }))
            }
            RowContent::Removed | RowContent::Single(_) => None,
            RowContent::Batch(told) => {
                let place = told.place as usize + usize::try_from(place).ok()?;
                let (topic, kind) = told.batch.names(place);
                if !filter.takes(topic, kind) {
                    return None;
                }
                let NewRecord { topic, kind, payload, headers, occurred_at_ms } =
                    NewRecord::of(&told.batch, place, told.occurred_at_ms);
                Some(Arc::new(Record { topic, kind, payload, headers, occurred_at_ms, id, cursor }))
            }
        }
    }
}

fn weight_of(batch: &dyn RecordBatch, place: u32, topic: &str, kind: &str) -> usize {
    NewRecord::FRAME + topic.len() + kind.len() + batch.weight(place as usize) + NewRecord::NO_HEADERS
}
