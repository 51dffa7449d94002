//! [`ProviderSubscriptions`]: the subscriptions of a loop's providers. A turn has more than a dozen events, and most providers
//! subscribe to one or none.

use std::rc::Rc;

use crate::events::EventKind;
use crate::reminder_providers::ReminderProvider;

/// The providers of a loop, by event.
pub(super) struct ProviderSubscriptions(Vec<(EventKind, Vec<Rc<dyn ReminderProvider>>)>);

impl ProviderSubscriptions {
    pub(super) fn new(providers: &[Rc<dyn ReminderProvider>]) -> ProviderSubscriptions {
        let of = |kind: EventKind| {
            let wanting = providers.iter().filter(|provider| provider.subscribes_to().contains(kind));
            (kind, wanting.cloned().collect::<Vec<_>>())
        };
        ProviderSubscriptions(
            EventKind::ALL.iter().map(|kind| of(*kind)).filter(|(_, wanting)| !wanting.is_empty()).collect(),
        )
    }

    /// Returns the providers that subscribe to events of a kind, in their order.
    pub(super) fn of(&self, kind: EventKind) -> &[Rc<dyn ReminderProvider>] {
        self.0.iter().find(|(known, _)| *known == kind).map_or(&[], |(_, wanting)| wanting)
    }
}
