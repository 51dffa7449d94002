//! Reminder providers: the trait, and the registry that finds the providers for an event.

use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, CallError, Outcome, call_error};
use base::data::Data;

use crate::events::EventSet;
use crate::hooks::HookEvent;
use crate::reminder::{ReminderError, ReminderSpec};
use crate::seam::Turn;
use crate::timeout::TimedOut;

mod budget;
mod files;
mod fire;
mod malformed;
mod registry;
mod selection;

pub use budget::ReminderBudget;
pub use files::{ReminderFiles, file_provider_id, files_of, scope_part};
pub use fire::{FireReport, ProviderReport, fire};
pub use malformed::Malformed;
pub use registry::ReminderProviders;
pub use selection::{OwnProviders, ProviderList, ReminderOptions, ReminderVariation};

/// A provider that evaluates events and may add reminders.
pub trait ReminderProvider {
    /// Returns its id; ids of canonical providers are in the guide's table.
    fn id(&self) -> &str;

    /// Returns the id as a text that many records share.
    fn shared_id(&self) -> Arc<str> {
        self.id().into()
    }

    /// Returns the events it subscribes to.
    fn subscribes_to(&self) -> EventSet;

    /// Returns whether it is part of a pack, whose texts are not the script's.
    fn is_of_pack(&self) -> bool {
        false
    }

    /// Checks its configuration, before a loop starts. The error's field path begins with the id of the provider.
    ///
    /// # Errors
    /// Returns the error of an unknown key or an invalid value.
    fn check_config(&self, _config: &Data) -> Result<(), ReminderError> {
        Ok(())
    }

    /// Evaluates an event. A malformed reminder does not invalidate the others: see [`Malformed`]. `config` is the part
    /// of the options under its id, else nil. Data to keep between events belongs in the session's `provider_memory`
    /// under its id.
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
    fn late(&self, ms: u64) -> Rc<dyn CallError> {
        call_error(TimedOut { ms })
    }
}
