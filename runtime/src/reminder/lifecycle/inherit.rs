//! Forks and sub-agents.

use std::sync::Arc;

use crate::reminder::{Propagate, Reminder, Source};
use crate::transcript::Transcript;

use super::{Admitted, LifecycleRecord, Moment, Road, admit};

/// What a parent hands to a child: `all`, and `session` where it was not inherited itself. The copies keep id, body, tags,
/// key and what is left of the TTL; they are rewritten to `inherited` already.
#[must_use]
pub fn propagation(parent: &Transcript, parent_id: &Arc<str>) -> Vec<Arc<Reminder>> {
    let goes = |reminder: &Reminder| match reminder.propagate {
        Propagate::All => true,
        Propagate::Session => reminder.source != Source::Inherited,
        Propagate::None => false,
    };
    let inherited = |reminder: Arc<Reminder>| {
        let origin = reminder.originating_agent_id.clone().or_else(|| Some(parent_id.clone()));
        let copy = Reminder { source: Source::Inherited, originating_agent_id: origin, ..reminder.as_ref().clone() };
        Arc::new(copy)
    };
    parent.pending().filter(|pending| goes(&pending.reminder)).map(|p| inherited(parent.present(p))).collect()
}

/// Seeds a child's transcript with what it was handed.
pub fn inherit(child: &mut Transcript, handed: Vec<Arc<Reminder>>, at: &Moment<'_>) -> Vec<Admitted> {
    handed.into_iter().map(|reminder| admit(child, reminder, Road::Inherited, at)).collect()
}

/// The records of a fork. The copy shares its parent's events, so nothing is admitted anew; a turn that is still going on
/// in the parent is charged there alone.
pub fn fork(copy: &mut Transcript) -> Vec<LifecycleRecord> {
    copy.forget_open_prompts();
    copy.pending().map(|pending| LifecycleRecord::Forked(copy.present(pending))).collect()
}
