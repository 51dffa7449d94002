//! Forks and sub-agents.

use std::sync::Arc;

use crate::reminder::{Propagate, Reminder, ReminderSource};
use crate::transcript::Transcript;

use super::{Admission, LifecycleContext, LifecycleRecord, ReminderOrigin, admit};

/// Returns the reminders that a child inherits: `all`, and `session` unless inherited itself. The copies keep id, body,
/// tags, key and the remaining TTL; they are already rewritten to `inherited`.
#[must_use]
pub fn propagation(parent: &Transcript, parent_id: &Arc<str>) -> Vec<Arc<Reminder>> {
    let goes = |reminder: &Reminder| match reminder.propagate {
        Propagate::All => true,
        Propagate::Session => reminder.source != ReminderSource::Inherited,
        Propagate::None => false,
    };
    let inherited = |reminder: Arc<Reminder>| {
        let origin = reminder.originating_agent_id.clone().or_else(|| Some(parent_id.clone()));
        let copy =
            Reminder { source: ReminderSource::Inherited, originating_agent_id: origin, ..reminder.as_ref().clone() };
        Arc::new(copy)
    };
    parent.pending().filter(|pending| goes(&pending.reminder)).map(|p| inherited(parent.present(p))).collect()
}

/// Seeds a child's transcript with the inherited reminders.
pub fn inherit(child: &mut Transcript, handed: Vec<Arc<Reminder>>, at: &LifecycleContext<'_>) -> Vec<Admission> {
    handed.into_iter().map(|reminder| admit(child, reminder, ReminderOrigin::Inherited, at)).collect()
}

/// Returns the records of a fork. The copy shares its parent's events, so nothing is admitted again; a turn still
/// running in the parent is charged only there.
pub fn fork(copy: &mut Transcript) -> Vec<LifecycleRecord> {
    copy.forget_open_prompts();
    copy.pending().map(|pending| LifecycleRecord::Forked(copy.present(pending))).collect()
}
