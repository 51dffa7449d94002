//! The policy of the process in the life of reminders: the record of a refusal, and requests that would hide a forced
//! reminder.

use std::any::Any;
use std::sync::Arc;

use base::call::{CallError, CallErrorKind};

use crate::model::Destination;
use crate::reminder::policy::{PolicyRefusal, is_forced};
use crate::reminder::slots::Rendered;
use crate::transcript::Transcript;

use super::{DropReason, LifecycleRecord};

/// A request that was refused because its route has no slot for a forced reminder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the request was refused by policy: `{route}` has no slot for the forced reminder `{key}`")]
pub struct ForcedUnshown {
    /// The reminder's key.
    pub key: Arc<str>,
    /// The model, or the provider of an unnamed one.
    pub route: Arc<str>,
}

impl CallError for ForcedUnshown {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Invalid
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl PolicyRefusal {
    /// Returns the record of the refused reminder.
    #[must_use]
    pub fn dropped(&self) -> LifecycleRecord {
        LifecycleRecord::Dropped { reminder_id: None, reason: DropReason::Policy, detail: Some(self.0.clone()) }
    }
}

/// Checks that a request shows the pending reminders that the policy forces.
///
/// # Errors
/// Returns the first one for which the route has no slot.
pub fn check_slots(transcript: &Transcript, rendered: &Rendered, route: &Destination) -> Result<(), ForcedUnshown> {
    let dropped = rendered.dropped.iter().filter_map(|id| transcript.find(id));
    match dropped.map(|pending| &pending.reminder).find(|reminder| is_forced(reminder)) {
        Some(reminder) => Err(ForcedUnshown {
            key: reminder.dedupe_key.clone().unwrap_or_default(),
            route: route.model.clone().or_else(|| route.provider.clone()).unwrap_or_else(|| "the model".into()),
        }),
        None => Ok(()),
    }
}
