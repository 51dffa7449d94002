//! The law of conservation, counted from records.

use super::{BornBy, How};

/// The number of reminders in a session's records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Made here.
    pub injected: usize,
    /// Inherited from a parent.
    pub inherited: usize,
    /// Taken over by a fork.
    pub forked: usize,
    /// Replaced by a newer one with their key.
    pub deduped: usize,
    /// Expired: by TTL, by compaction, cleared.
    pub expired: usize,
    /// Dropped after they were admitted.
    pub dropped: usize,
    /// Gone with their session.
    pub discarded: usize,
    /// Put down for the record only; these are on neither side.
    pub audited: usize,
    /// Pending.
    pub pending: usize,
}

impl Tally {
    pub(super) fn begin(&mut self, by: BornBy) {
        *match by {
            BornBy::Injected => &mut self.injected,
            BornBy::Inherited => &mut self.inherited,
            BornBy::Forked => &mut self.forked,
            BornBy::Audited => &mut self.audited,
        } += 1;
    }

    pub(super) fn end(&mut self, how: &How) {
        *match how {
            How::Deduped { .. } => &mut self.deduped,
            How::Expired(_) => &mut self.expired,
            How::Dropped(..) => &mut self.dropped,
            How::Discarded(_) => &mut self.discarded,
        } += 1;
    }

    /// Returns the number of admitted reminders.
    #[must_use]
    pub fn admitted(&self) -> usize {
        self.injected + self.inherited + self.forked
    }

    /// Returns the number of these that are accounted for.
    #[must_use]
    pub fn accounted(&self) -> usize {
        self.pending + self.deduped + self.expired + self.dropped + self.discarded
    }

    /// Whether `injected + inherited + forked = pending + deduped + expired + dropped + discarded`.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.admitted() == self.accounted()
    }
}
