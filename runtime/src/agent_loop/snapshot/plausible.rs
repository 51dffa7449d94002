//! Implausible numbers in a snapshot. Counting on from them would overflow.

use super::{Snapshot, StoredSession};

/// Exclusive limit of turns, calls and similar counts.
const COUNTS: u32 = 1 << 30;
/// Exclusive limit of tokens and milliseconds.
const AMOUNTS: u64 = 1 << 53;

impl Snapshot {
    /// Returns the reason its numbers are implausible; `None` if they are plausible.
    pub(super) fn unsound(&self) -> Option<String> {
        let Snapshot { state, session, suspension, .. } = self;
        let counts = [
            ("state.iteration", state.iteration),
            ("state.nudges", state.nudges),
            ("state.unseen", state.unseen),
            ("state.naps", state.naps),
            ("state.daemon.wakes", state.daemon.wakes),
            ("state.daemon.consolidations", state.daemon.consolidations),
            ("suspension.suspended_at_turn", suspension.suspended_at_turn),
            ("session.turns", session.turns()),
        ];
        let amounts = [
            ("state.usage.input_tokens", state.usage.input_tokens),
            ("state.usage.output_tokens", state.usage.output_tokens),
            ("state.usage.cache_read_tokens", state.usage.cache_read_tokens),
            ("state.usage.cache_write_tokens", state.usage.cache_write_tokens),
            ("state.context_tokens", state.context_tokens),
            ("state.daemon.files", state.daemon.files),
            ("state.daemon.untold.more", state.daemon.untold.more),
            ("state.started_at_ms", state.started_at_ms),
            ("suspension.suspended_at_ms", suspension.suspended_at_ms),
        ];
        let count = counts.into_iter().find(|(_, n)| *n >= COUNTS).map(|(field, n)| (field, u64::from(n)));
        let amount = amounts.into_iter().find(|(_, n)| *n >= AMOUNTS);
        let too_large = count.or(amount).map(|(field, n)| format!("`{field}` cannot be {n}"));
        too_large.or_else(|| session.unsound_ids())
    }
}

impl StoredSession {
    fn unsound_ids(&self) -> Option<String> {
        let streams = self.id_streams().into_iter().find(|(_, stream)| !stream.is_sound());
        streams.map(|(field, _)| format!("`session.{field}` is not a stream of ids"))
    }
}
