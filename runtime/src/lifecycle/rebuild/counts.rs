//! The law of conservation, counted from records.

use super::{BirthKind, LifeEndReason};

/// The number of reminders in a session's records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReminderCounts {
    /// Created here.
    pub injected: usize,
    /// Inherited from a parent.
    pub inherited: usize,
    /// Copied by a fork.
    pub forked: usize,
    /// Replaced by a newer one with their key.
    pub deduped: usize,
    /// Expired: by TTL, by compaction, cleared.
    pub expired: usize,
    /// Dropped after they were admitted.
    pub dropped: usize,
    /// Discarded with their session.
    pub discarded: usize,
    /// Added for the record only; these are on neither side.
    pub audited: usize,
    /// Pending.
    pub pending: usize,
}

impl ReminderCounts {
    pub(super) fn begin(&mut self, by: BirthKind) {
        *match by {
            BirthKind::Injected => &mut self.injected,
            BirthKind::Inherited => &mut self.inherited,
            BirthKind::Forked => &mut self.forked,
            BirthKind::Audited => &mut self.audited,
        } += 1;
    }

    pub(super) fn end(&mut self, how: &LifeEndReason) {
        *match how {
            LifeEndReason::Deduped { .. } => &mut self.deduped,
            LifeEndReason::Expired(_) => &mut self.expired,
            LifeEndReason::Dropped(..) => &mut self.dropped,
            LifeEndReason::Discarded(_) => &mut self.discarded,
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

    /// Returns whether `injected + inherited + forked = pending + deduped + expired + dropped + discarded`.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.admitted() == self.accounted()
    }
}
