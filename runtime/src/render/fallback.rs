//! Fallback of slots: if a route rejects the slot of a reminder, the request is sent again with the next one, and the rest of
//! the run uses that one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use base::call::CallError;
use base::codes::Severity;

use crate::model::{Destination, ModelError, ModelErrorKind, Request};
use crate::note::Note;
use crate::reminder::slots::Rendered;
use crate::reminder::slots::SlotLimit;
use crate::seam::{Model, Turn};

/// Provider and model of a request.
type Route = (Option<Arc<str>>, Option<Arc<str>>);

/// The routes of a run that have rejected a slot.
#[derive(Debug, Default)]
pub struct SlotFallbacks {
    limits: RefCell<BTreeMap<Route, SlotLimit>>,
}

impl SlotFallbacks {
    /// Returns the slots with the limit of a route applied; unchanged if it has none.
    #[must_use]
    pub fn limited(&self, rendered: Rendered, route: impl FnOnce() -> Destination) -> Rendered {
        if self.limits.borrow().is_empty() {
            return rendered;
        }
        let Destination { provider, model } = route();
        match self.limits.borrow().get(&(provider, model)) {
            Some(limit) => rendered.limited(*limit),
            None => rendered,
        }
    }

    /// Returns the request to send again after a failure: its reminders are in the next slot, which the route uses from
    /// now on. `None` if the failure has another reason, or no slot is left.
    pub fn after_failure(
        &self,
        turn: Turn<'_>,
        model: &dyn Model,
        request: &Request,
        thrown: &dyn CallError,
    ) -> Option<Request> {
        let failure = thrown.as_any().downcast_ref::<ModelError>().filter(|failure| names_role(failure))?;
        let limit = request.reminders.next_limit()?;
        let route = model.destination(request);
        turn.session.log_slot_rejected(turn.scope, &route, limit, failure);
        turn.scope.note(rejection(failure, &route, limit));
        self.limits.borrow_mut().insert((route.provider, route.model), limit);
        let reminders = Arc::new(request.reminders.as_ref().clone().limited(limit));
        Some(Request { reminders, ..request.clone() })
    }
}

/// Returns whether a server rejected a request because of the role of a message.
fn names_role(failure: &ModelError) -> bool {
    if failure.status != Some(400) || failure.kind != ModelErrorKind::BadRequest {
        return false;
    }
    let message = failure.message.to_lowercase();
    ["role", "system message", "developer message"].iter().any(|phrase| message.contains(phrase))
}

/// Returns the warning that a route rejects a slot.
fn rejection(failure: &ModelError, route: &Destination, limit: SlotLimit) -> Note {
    let route = route.model.as_deref().or(route.provider.as_deref()).unwrap_or("the model");
    let (rejected, next) = match limit {
        SlotLimit::UserBlock => ("system messages in the middle of a conversation", "blocks of user messages"),
        SlotLimit::System => ("reminders after the conversation", "system text"),
    };
    let message =
        format!("{route} rejected {rejected}, so reminders are {next} for the rest of the run ({})", failure.message);
    Note { code: None, severity: Severity::Warning, message, about: Some("reminders".into()), fault: None }
}
