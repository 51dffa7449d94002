//! Reminder events, as the current sessions report them. This is their only source.

use std::sync::Arc;

use runtime::lifecycle::{Judgement, LifecycleRecord, Replacement};
use runtime::reminder::Reminder;
use runtime::reminder::slots::BodyChoice;
use runtime::session::{ReminderObserver, ReminderSeen, Session};

use super::SessionReporter;
use crate::host::{ReminderEvent, SessionEvent};
use crate::metrics::verdict;

impl ReminderObserver for SessionReporter {
    fn on_reminder(&self, session: &Session, seen: ReminderSeen<'_>) {
        if let ReminderSeen::Lifecycle { record: LifecycleRecord::Judged(judgement), .. } = &seen {
            self.metrics.reminder_verdicts[verdict(judgement.heeded)].add();
        }
        if let Some(event) = shown(session, seen) {
            self.show(SessionEvent::Reminder(event));
        }
    }
}

/// Returns the event for a client; `None` for events that are not for clients.
fn shown(session: &Session, seen: ReminderSeen<'_>) -> Option<ReminderEvent> {
    let (record, turn) = match seen {
        ReminderSeen::Lifecycle { record, turn } => (record, turn),
        ReminderSeen::Unread { reminder_id, reason } => {
            return Some(ReminderEvent::Expired { reminder_id: reminder_id.clone(), reason, turn: None });
        }
    };
    match record {
        LifecycleRecord::Fired { reminder_id, turn_number, choice, .. } => {
            let pending = session.with(|state| state.transcript.find(reminder_id).map(|p| p.reminder.clone()));
            Some(ReminderEvent::Emitted { reminder: as_shown(pending?, choice.as_deref()), turn: *turn_number })
        }
        LifecycleRecord::Deduped(deduped) => {
            let Replacement { replaced_ids, replacing_id, dedupe_key } = deduped.as_ref();
            Some(ReminderEvent::Deduped {
                reminder_id: replacing_id.clone(),
                // A repetition of the same reminder replaced no other.
                dedupe_key: dedupe_key.clone()?,
                dropped_ids: replaced_ids.clone(),
            })
        }
        LifecycleRecord::Expired { reminder_id, reason, .. } => Some(ReminderEvent::Expired {
            reminder_id: reminder_id.clone(),
            reason: *reason,
            turn: Some(turn).filter(|turn| *turn > 0),
        }),
        LifecycleRecord::Judged(judgement) => {
            let Judgement { reminder_id, heeded, judged_by, .. } = judgement.as_ref();
            let (reminder_id, heeded, judged_by) = (reminder_id.clone(), *heeded, *judged_by);
            Some(ReminderEvent::Judged { reminder_id, heeded, judged_by, turn })
        }
        LifecycleRecord::Injected(_)
        | LifecycleRecord::Inherited(_)
        | LifecycleRecord::Forked(_)
        | LifecycleRecord::Audited(_)
        | LifecycleRecord::Deferred(_)
        | LifecycleRecord::Refreshed { .. }
        | LifecycleRecord::ConditionFailed { .. }
        | LifecycleRecord::Dropped { .. }
        | LifecycleRecord::Discarded { .. }
        | LifecycleRecord::ProviderEvaluated { .. }
        | LifecycleRecord::Passed(_)
        | LifecycleRecord::Void
        | LifecycleRecord::SlotRejected(_)
        | LifecycleRecord::Answered(_)
        | LifecycleRecord::Resumed(_) => None,
    }
}

/// Returns a reminder with the body that the model was shown.
fn as_shown(reminder: Arc<Reminder>, choice: Option<&BodyChoice>) -> Arc<Reminder> {
    let body = reminder.chosen_body(choice);
    if Arc::ptr_eq(body, &reminder.body) {
        return reminder;
    }
    Arc::new(Reminder { body: body.clone(), ..reminder.as_ref().clone() })
}
