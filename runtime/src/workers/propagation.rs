//! Inheritance of reminders. Sub-agents, workers and handoffs use the single filter of the lifecycle, and a child
//! admits inherited reminders through the single `admit`.

use std::sync::Arc;

use base::data::Data;

use crate::lifecycle::{self, ReminderOrigin};
use crate::reminder::Reminder;
use crate::reminder::policy::{PolicyRefusal, PolicySource};
use crate::scope::Scope;
use crate::session::Session;

/// Returns the reminders that a direct child of the session inherits.
#[must_use]
pub fn hand_over(parent: &Session) -> Vec<Arc<Reminder>> {
    parent.with(|state| lifecycle::propagation(&state.transcript, parent.id()))
}

/// Returns the envelope's field `reminder_propagation`.
#[must_use]
pub fn to_data(handed: &[Arc<Reminder>]) -> Data {
    handed.iter().map(|reminder| reminder.to_data(reminder.ttl_turns)).collect()
}

/// Seeds a child with inherited reminders. One that it has already (a session that works a second time) is not added
/// twice.
pub fn seed(child: &Session, scope: &Scope, handed: &[Arc<Reminder>]) {
    for reminder in handed {
        let known = child.with(|state| state.transcript.find(&reminder.id).is_some());
        if !known {
            child.admit_reminder(scope, reminder.clone(), ReminderOrigin::Inherited);
        }
    }
}

/// Seeds a session like [`seed`], with reminders that another agent has sent. Those that the policy of the process
/// refuses are recorded instead, and the refusals are returned.
pub fn seed_from_peer(child: &Session, scope: &Scope, sent: Vec<Arc<Reminder>>) -> Vec<PolicyRefusal> {
    let mut refused = Vec::new();
    for reminder in sent {
        if child.with(|state| state.transcript.find(&reminder.id).is_some()) {
            continue;
        }
        let sources = Some([PolicySource::Peer].as_slice());
        refused.extend(child.admit_allowed(scope, reminder, ReminderOrigin::Inherited, sources).err());
    }
    refused
}
