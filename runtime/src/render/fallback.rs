//! Fallback of slots: if a route rejects the slot of a reminder, the request is sent again with the next one, and the rest of
//! the run uses that one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use base::call::CallError;
use base::codes::Severity;
use base::words::words;

use crate::capabilities::Placement;
use crate::model::{ModelError, ModelErrorKind, Request};
use crate::note::Note;
use crate::seam::{Destination, Model, Turn};

use super::{Rendered, RenderedRole, UserBlock};

words! {
    /// The slots that remain for reminders on a route that has rejected others.
    pub enum SlotLimit {
        /// All but the vendor's own slot: it becomes blocks of user messages.
        UserBlock = "user_block",
        /// System text before the conversation.
        System = "system",
    }
}

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

impl Rendered {
    /// Returns the slots that are left if the route rejects these; `None` if there are none.
    fn next_limit(&self) -> Option<SlotLimit> {
        let is_native = |role: RenderedRole| role == RenderedRole::Native;
        if self.fired.iter().any(|fired| is_native(fired.rendered_role)) {
            return Some(SlotLimit::UserBlock);
        }
        let has_tail = self.placement == Placement::Tail
            && !(self.user_blocks.is_empty() && self.developer_messages.is_empty() && self.anchored.is_empty());
        has_tail.then_some(SlotLimit::System)
    }

    /// Returns the same reminders in the slots that are left. Their texts do not change.
    #[must_use]
    pub fn limited(mut self, limit: SlotLimit) -> Rendered {
        let block = |text: Arc<str>| UserBlock { text, cache_control: false };
        let native = std::mem::take(&mut self.native);
        self.user_blocks.extend(native.into_iter().map(block));
        for anchored in &mut self.anchored {
            if anchored.slot == RenderedRole::Native {
                anchored.slot = RenderedRole::UserBlock;
            }
        }
        if limit == SlotLimit::System {
            self.placement = Placement::Head;
            self.system_sections = self.fired.iter().map(|fired| fired.text.clone()).collect();
            (self.anchored, self.developer_messages, self.user_blocks) = (Vec::new(), Vec::new(), Vec::new());
        }
        for fired in &mut self.fired {
            fired.rendered_role = match (limit, fired.rendered_role) {
                (SlotLimit::System, _) => RenderedRole::System,
                (SlotLimit::UserBlock, RenderedRole::Native) => RenderedRole::UserBlock,
                (SlotLimit::UserBlock, other) => other,
            };
        }
        self
    }
}
