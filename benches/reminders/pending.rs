//! Transcripts with so many reminders pending, all alike: each has a key of its own, ten share a tag, half survive a
//! compaction, and ten expire after the first prompt.

use base::ids::{IdStream, SharedIds};
use runtime::lifecycle::{LifecycleContext, LifecycleRecord, inject};
use runtime::reminder::{ReminderSource, ReminderSpec};
use runtime::transcript::Transcript;
use std::sync::Arc;

/// The source of ids and times.
pub(crate) struct Scene {
    ids: SharedIds,
    session: Arc<str>,
}

impl Scene {
    /// Creates the same scene each time.
    pub(crate) fn new() -> Scene {
        Scene { ids: SharedIds::new(IdStream::new(7, "bench")), session: "bench".into() }
    }

    /// A moment in a turn.
    pub(crate) fn at(&self, turn: u32) -> LifecycleContext<'_> {
        LifecycleContext {
            session_id: &self.session,
            task_id: None,
            agent_id: None,
            turn,
            now_ms: 1_000,
            ids: &self.ids,
        }
    }
}

/// The number of reminders that expire after the first prompt.
pub(crate) const EXPIRING: usize = 10;

/// The key of the nth.
pub(crate) fn key(n: usize) -> Arc<str> {
    format!("key:{n}").into()
}

/// The tag of the nth.
pub(crate) fn tag(n: usize) -> Arc<str> {
    format!("tag:{}", n / 10).into()
}

/// Returns the specification of the `n`th reminder.
pub(crate) fn spec(n: usize) -> ReminderSpec {
    ReminderSpec {
        tags: vec!["bench".into(), tag(n)],
        dedupe_key: Some(key(n)),
        ttl_turns: Some(if n < EXPIRING { 1 } else { 1_000 }),
        preserve_on_compact: n.is_multiple_of(2),
        ..ReminderSpec::new(format!("Reminder {n}: the file src/part_{n}.rs changed; read it again before editing it."))
    }
}

/// A transcript with `n` pending, and what its making put on record.
pub(crate) fn recorded(n: usize, scene: &Scene) -> (Transcript, Vec<LifecycleRecord>) {
    let mut transcript = Transcript::new("bench".into());
    let at = scene.at(0);
    let mut records = Vec::new();
    for n in 0..n {
        records.extend(inject(&mut transcript, spec(n), ReminderSource::InPipeline, None, &at).records);
    }
    (transcript, records)
}
