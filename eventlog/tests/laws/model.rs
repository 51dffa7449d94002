//! A log as a list, to compare backends with. It is as simple as the contract allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::data::Data;
use eventlog::{
    AppendError, Batch, ClaimError, Lease, NewRecord, Query, RUN_ID, Record, Subject, SubjectQuery, Written,
};

/// A record, and whether it was removed.
pub(crate) struct ModelRecord {
    pub(crate) record: Arc<Record>,
    pub(crate) is_removed: bool,
}

#[derive(Default)]
pub(crate) struct ModelLog {
    pub(crate) records: Vec<ModelRecord>,
    subjects: BTreeMap<Arc<str>, ModelSubject>,
    pub(crate) now_ms: u64,
}

#[derive(Default)]
struct ModelSubject {
    sequence: u64,
    last_cursor: u64,
    state: Option<Arc<str>>,
    epoch: u64,
    owner: Option<(Arc<str>, u64)>,
    requests: BTreeMap<Arc<str>, Written>,
}

impl ModelSubject {
    fn holder(&self, now_ms: u64) -> Option<&Arc<str>> {
        self.owner.as_ref().filter(|(_, until)| now_ms < *until).map(|(owner, _)| owner)
    }

    fn lease(&self, name: &Arc<str>, now_ms: u64) -> Option<Lease> {
        self.holder(now_ms).map(|owner| Lease { subject: name.clone(), owner: owner.clone(), epoch: self.epoch })
    }
}

impl ModelLog {
    pub(crate) fn append(&mut self, batch: &Batch) -> Result<Written, AppendError> {
        let now = self.now_ms;
        let subject = self.subjects.entry(batch.subject.clone()).or_default();
        if let Some(first) = batch.request_id.as_ref().and_then(|id| subject.requests.get(id)) {
            return Ok(Written { repeated: true, ..first.clone() });
        }
        if batch.epoch.is_some_and(|epoch| epoch != subject.epoch || subject.holder(now).is_none()) {
            return Err(AppendError::Fenced { epoch: subject.epoch });
        }
        if batch.expected.is_some_and(|expected| expected != subject.sequence) {
            return Err(AppendError::Unexpected { sequence: subject.sequence });
        }
        if batch.state.is_some() {
            subject.state.clone_from(&batch.state);
        }
        let cursors: Vec<u64> = batch.records.iter().map(|record| self.put(&batch.subject, record)).collect();
        let subject = self.subjects.entry(batch.subject.clone()).or_default();
        let written = Written { cursors, sequence: subject.sequence, repeated: false };
        if let Some(id) = &batch.request_id {
            subject.requests.insert(id.clone(), written.clone());
        }
        Ok(written)
    }

    /// Appends a record of a subject without conditions.
    pub(crate) fn put(&mut self, subject: &Arc<str>, record: &NewRecord) -> u64 {
        let cursor = self.records.len() as u64 + 1;
        let id = self.records.iter().filter(|known| known.record.topic == record.topic).count() as u64 + 1;
        let record = Record {
            topic: record.topic.clone(),
            kind: record.kind.clone(),
            payload: record.payload.clone(),
            headers: Data::dict([(RUN_ID, Data::from(subject))]),
            occurred_at_ms: record.occurred_at_ms,
            id,
            cursor,
        };
        self.records.push(ModelRecord { record: Arc::new(record), is_removed: false });
        let known = self.subjects.entry(subject.clone()).or_default();
        known.sequence += 1;
        known.last_cursor = cursor;
        cursor
    }

    /// Returns the records that a query selects and that are left.
    pub(crate) fn read(&self, query: &Query, limit: usize) -> Vec<Arc<Record>> {
        let kept = self.records.iter().filter(|known| !known.is_removed && query.takes(&known.record));
        let mut found: Vec<_> = kept.map(|known| known.record.clone()).collect();
        if query.backwards {
            found.reverse();
        }
        found.truncate(limit);
        found
    }

    /// Returns the cursor of the last removed record that a query selects.
    pub(crate) fn last_removed(&self, query: &Query) -> Option<u64> {
        let everything = Query { before: None, ..query.clone() };
        let mut removed = self.records.iter().filter(|known| known.is_removed && everything.takes(&known.record));
        removed.next_back().map(|known| known.record.cursor)
    }

    pub(crate) fn trim(&mut self, subject: &str, before: u64) -> u64 {
        let mut removed = 0;
        for known in &mut self.records {
            let is_its = known.record.headers.get(RUN_ID).as_str() == Some(subject);
            if is_its && known.record.cursor < before && !known.is_removed {
                known.is_removed = true;
                removed += 1;
            }
        }
        if let Some(known) = self.subjects.get_mut(subject) {
            known.requests.retain(|_, written| written.cursors.last().is_some_and(|last| *last >= before));
        }
        removed
    }

    pub(crate) fn claim(&mut self, name: &Arc<str>, owner: &Arc<str>, ttl_ms: u64) -> Result<Lease, ClaimError> {
        let now = self.now_ms;
        let subject = self.subjects.entry(name.clone()).or_default();
        match subject.holder(now).cloned() {
            Some(holder) if holder != *owner => return Err(ClaimError::Held { owner: holder, epoch: subject.epoch }),
            Some(_) => {}
            None => subject.epoch += 1,
        }
        subject.owner = Some((owner.clone(), now + ttl_ms));
        Ok(Lease { subject: name.clone(), owner: owner.clone(), epoch: subject.epoch })
    }

    pub(crate) fn renew(&mut self, lease: &Lease, ttl_ms: u64) -> Result<(), ClaimError> {
        let now = self.now_ms;
        let subject = self.subjects.entry(lease.subject.clone()).or_default();
        if subject.epoch != lease.epoch || subject.holder(now) != Some(&lease.owner) {
            return Err(ClaimError::Ended { epoch: subject.epoch });
        }
        subject.owner = Some((lease.owner.clone(), now + ttl_ms));
        Ok(())
    }

    pub(crate) fn owner_of(&self, name: &Arc<str>) -> Option<Lease> {
        self.subjects.get(name)?.lease(name, self.now_ms)
    }

    /// Returns the present epoch of a subject.
    pub(crate) fn epoch(&self, name: &Arc<str>) -> u64 {
        self.subjects.get(name).map_or(0, |known| known.epoch)
    }

    /// Returns the number of records that a subject has had.
    pub(crate) fn sequence(&self, name: &Arc<str>) -> u64 {
        self.subjects.get(name).map_or(0, |known| known.sequence)
    }

    pub(crate) fn subjects(&self, query: &SubjectQuery) -> Vec<Subject> {
        let mut found: Vec<Subject> = Vec::new();
        for (name, known) in &self.subjects {
            let lease = known.lease(name, self.now_ms);
            let is_wanted = known.last_cursor > 0
                && query.prefix.as_ref().is_none_or(|prefix| name.starts_with(&**prefix))
                && (query.state.is_none() || query.state == known.state)
                && (query.owner.is_none() || query.owner == lease.as_ref().map(|lease| lease.owner.clone()))
                && query.before.is_none_or(|before| known.last_cursor < before);
            if is_wanted {
                let (sequence, last_cursor, state) = (known.sequence, known.last_cursor, known.state.clone());
                found.push(Subject { name: name.clone(), sequence, last_cursor, state, lease });
            }
        }
        found.sort_by_key(|subject| std::cmp::Reverse(subject.last_cursor));
        found.truncate(query.limit);
        found
    }
}
