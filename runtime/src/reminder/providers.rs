//! Reminder providers: the trait, and the registry that knows which of them an event reaches.

use std::rc::Rc;
use std::sync::Arc;

use crate::data::Data;
use crate::hooks::{EventSet, HookEvent};
use crate::patience::TookTooLong;
use crate::seam::{Answer, Fault, Outcome, Turn, fault};

use super::ReminderSpec;

mod fire;
mod malformed;
mod registry;
mod selection;

pub use fire::{FireReport, ProviderReport, fire};
pub use malformed::Malformed;
pub use registry::ReminderProviders;
pub use selection::{Brought, ProviderList, ReminderOptions};

/// Looks at an event and may have reminders to add.
pub trait ReminderProvider {
    /// Its id; a canonical one's is in the guide's table.
    fn id(&self) -> &str;

    /// Returns the id as a text that many records share.
    fn shared_id(&self) -> Arc<str> {
        self.id().into()
    }

    /// The events it wants to see.
    fn subscribes_to(&self) -> EventSet;

    /// Looks at an event. Of several reminders that it has, malformed ones do not take the others with them: see
    /// [`Malformed`]. `config` is the part of the options that bears its id, else nil. What it must remember between
    /// events it keeps under its id in the session's `provider_memory`.
    fn evaluate<'a>(
        &'a self,
        turn: Turn<'a>,
        event: &'a HookEvent<'a>,
        config: &'a Data,
    ) -> Answer<'a, Outcome<Vec<ReminderSpec>>>;

    /// Evaluates the provider synchronously, for providers that never wait and never run foreign code, so that no time
    /// limit is needed. `None` means that [`ReminderProvider::evaluate`] must be called.
    fn look(&self, _: Turn<'_>, _: &HookEvent<'_>, _config: &Data) -> Option<Outcome<Vec<ReminderSpec>>> {
        None
    }

    /// Returns the diagnostic for a provider that took longer than `ms` milliseconds.
    fn late(&self, ms: u64) -> Rc<dyn Fault> {
        fault(TookTooLong { ms })
    }
}
