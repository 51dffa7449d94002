//! `at_once!`: what the canonical providers have in common. Each has an id and events, looks at one of these, and has its
//! answer there and then.

macro_rules! at_once {
    ($provider:ident on [$($event:ident),+], $look:expr) => {
        impl runtime::reminder_providers::ReminderProvider for $provider {
            fn id(&self) -> &str {
                $provider::ID
            }

            fn shared_id(&self) -> std::sync::Arc<str> {
                static ID: std::sync::LazyLock<std::sync::Arc<str>> = std::sync::LazyLock::new(|| $provider::ID.into());
                ID.clone()
            }

            fn subscribes_to(&self) -> runtime::events::EventSet {
                const { runtime::events::EventSet::of(&[$(runtime::events::EventKind::$event),+]) }
            }

            fn evaluate<'a>(
                &'a self,
                turn: runtime::seam::Turn<'a>,
                event: &'a runtime::hooks::HookEvent<'a>,
                config: &'a base::data::Data,
            ) -> base::call::Answer<'a, base::call::Outcome<Vec<runtime::reminder::ReminderSpec>>> {
                let look: $crate::reminder::at_once::Evaluation<$provider> = $look;
                base::call::Answer::Now(look(self, turn, event, config).map_err(base::call::call_error))
            }

            fn look(
                &self,
                turn: runtime::seam::Turn<'_>,
                event: &runtime::hooks::HookEvent<'_>,
                config: &base::data::Data,
            ) -> Option<base::call::Outcome<Vec<runtime::reminder::ReminderSpec>>> {
                let look: $crate::reminder::at_once::Evaluation<$provider> = $look;
                Some(look(self, turn, event, config).map_err(base::call::call_error))
            }
        }
    };
}
pub(super) use at_once;

use base::data::Data;
use runtime::hooks::HookEvent;
use runtime::reminder::{ReminderError, ReminderSpec};
use runtime::seam::Turn;

/// A provider's evaluation of an event.
pub(super) type Evaluation<P> = fn(&P, Turn<'_>, &HookEvent<'_>, &Data) -> Result<Vec<ReminderSpec>, ReminderError>;
