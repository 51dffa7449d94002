//! The subjects of a log in memory: their counters, owners, and the requests that were accepted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::log::{AppendError, Batch, ClaimError, Lease, LeaseClock, Subject, SubjectQuery, Written};

/// The subjects that have had records or owners.
#[derive(Default)]
pub(super) struct SubjectTable {
    by_name: HashMap<Arc<str>, SubjectState>,
    /// Cursor up to which records may have been removed.
    pub(super) trimmed_before: u64,
}

/// The state of a subject.
#[derive(Default)]
struct SubjectState {
    sequence: u64,
    last_cursor: u64,
    state: Option<Arc<str>>,
    epoch: u64,
    /// The last owner, and the time at which its lease ends.
    owner: Option<(Arc<str>, u64)>,
    requests: HashMap<Arc<str>, Written>,
    trimmed_before: u64,
}

impl SubjectState {
    /// Returns the owner, if its lease has not ended.
    fn holder(&self, now_ms: u64) -> Option<&Arc<str>> {
        self.owner.as_ref().filter(|(_, until)| now_ms < *until).map(|(owner, _)| owner)
    }

    fn lease(&self, name: &Arc<str>, now_ms: u64) -> Option<Lease> {
        let owner = self.holder(now_ms)?.clone();
        Some(Lease { subject: name.clone(), owner, epoch: self.epoch })
    }
}

fn until(now_ms: u64, ttl: Duration) -> u64 {
    now_ms.saturating_add(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
}

impl SubjectTable {
    /// Checks the conditions of a batch. Returns the place of an earlier batch with its request id, which it repeats.
    pub(super) fn check(&self, batch: &Batch, clock: &LeaseClock) -> Result<Option<Written>, AppendError> {
        let none = SubjectState::default();
        let subject = self.by_name.get(&batch.subject).unwrap_or(&none);
        if let Some(written) = batch.request_id.as_ref().and_then(|id| subject.requests.get(id)) {
            return Ok(Some(Written { repeated: true, ..written.clone() }));
        }
        let is_owned = |epoch| epoch == subject.epoch && subject.holder(clock.now_ms()).is_some();
        match (batch.epoch, batch.expected) {
            (Some(epoch), _) if !is_owned(epoch) => Err(AppendError::Fenced { epoch: subject.epoch }),
            (_, Some(expected)) if expected != subject.sequence => {
                Err(AppendError::Unexpected { sequence: subject.sequence })
            }
            _ => Ok(None),
        }
    }

    /// Records that the records of a batch have got these cursors.
    pub(super) fn note(&mut self, batch: &Batch, cursors: Vec<u64>) -> Written {
        let subject = self.by_name.entry(batch.subject.clone()).or_default();
        subject.sequence += cursors.len() as u64;
        subject.last_cursor = cursors.last().copied().unwrap_or(subject.last_cursor);
        if batch.state.is_some() {
            subject.state.clone_from(&batch.state);
        }
        let written = Written { cursors, sequence: subject.sequence, repeated: false };
        if let Some(id) = &batch.request_id {
            subject.requests.insert(id.clone(), written.clone());
        }
        written
    }

    /// Records that a record of a subject was appended without a batch.
    pub(super) fn note_single(&mut self, subject: &str, cursor: u64) {
        let known = match self.by_name.get_mut(subject) {
            Some(known) => known,
            None => self.by_name.entry(subject.into()).or_default(),
        };
        known.sequence += 1;
        known.last_cursor = cursor;
    }

    /// Records that the records of a subject before a cursor were removed.
    pub(super) fn trim(&mut self, subject: &str, before: u64, removed: u64) {
        let Some(known) = self.by_name.get_mut(subject) else { return };
        known.requests.retain(|_, written| written.cursors.last().is_some_and(|last| *last >= before));
        if removed > 0 {
            known.trimmed_before = known.trimmed_before.max(before);
            self.trimmed_before = self.trimmed_before.max(before);
        }
    }

    /// Returns the cursor up to which records of a subject, or any records, may have been removed.
    pub(super) fn trimmed_before(&self, subject: Option<&str>) -> u64 {
        match subject {
            None => self.trimmed_before,
            Some(name) => self.by_name.get(name).map_or(0, |known| known.trimmed_before),
        }
    }

    pub(super) fn claim(
        &mut self,
        name: &Arc<str>,
        owner: &Arc<str>,
        ttl: Duration,
        clock: &LeaseClock,
    ) -> Result<Lease, ClaimError> {
        let now = clock.now_ms();
        let subject = self.by_name.entry(name.clone()).or_default();
        match subject.holder(now) {
            Some(holder) if holder != owner => {
                return Err(ClaimError::Held { owner: holder.clone(), epoch: subject.epoch });
            }
            Some(_) => {}
            None => subject.epoch += 1,
        }
        subject.owner = Some((owner.clone(), until(now, ttl)));
        Ok(Lease { subject: name.clone(), owner: owner.clone(), epoch: subject.epoch })
    }

    /// Moves the end of a lease; without a time it ends now.
    pub(super) fn renew(&mut self, lease: &Lease, ttl: Option<Duration>, clock: &LeaseClock) -> Result<(), ClaimError> {
        let now = clock.now_ms();
        let ended = |epoch| Err(ClaimError::Ended { epoch });
        let Some(subject) = self.by_name.get_mut(&lease.subject) else { return ended(0) };
        if subject.epoch != lease.epoch || subject.holder(now) != Some(&lease.owner) {
            return ended(subject.epoch);
        }
        subject.owner = ttl.map(|ttl| (lease.owner.clone(), until(now, ttl)));
        Ok(())
    }

    pub(super) fn owner_of(&self, name: &Arc<str>, clock: &LeaseClock) -> Option<Lease> {
        self.by_name.get(name)?.lease(name, clock.now_ms())
    }

    pub(super) fn select(&self, query: &SubjectQuery, clock: &LeaseClock) -> Vec<Subject> {
        let now = clock.now_ms();
        let is_wanted = |name: &str, known: &SubjectState| {
            known.last_cursor > 0
                && query.prefix.as_deref().is_none_or(|prefix| name.starts_with(prefix))
                && query.state.as_ref().is_none_or(|state| known.state.as_ref() == Some(state))
                && query.owner.as_ref().is_none_or(|owner| known.holder(now) == Some(owner))
                && query.before.is_none_or(|before| known.last_cursor < before)
        };
        let mut found: Vec<_> = self.by_name.iter().filter(|(name, known)| is_wanted(name, known)).collect();
        found.sort_unstable_by_key(|(_, known)| std::cmp::Reverse(known.last_cursor));
        found.truncate(query.limit);
        let subject = |(name, known): (&Arc<str>, &SubjectState)| Subject {
            name: name.clone(),
            sequence: known.sequence,
            last_cursor: known.last_cursor,
            state: known.state.clone(),
            lease: known.lease(name, now),
        };
        found.into_iter().map(subject).collect()
    }
}
