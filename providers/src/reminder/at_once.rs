//! `at_once!`: what the canonical providers have in common. Each has an id and events, looks at one of these, and has its
//! answer there and then.

macro_rules! at_once {
    ($provider:ident on [$($event:ident),+], $look:expr) => {
        impl runtime::reminder::providers::ReminderProvider for $provider {
            fn id(&self) -> &str {
                $provider::ID
            }

            fn subscribes_to(&self) -> runtime::hooks::EventSet {
                runtime::hooks::EventSet::of(&[$(runtime::hooks::EventKind::$event),+])
            }

            fn evaluate<'a>(
                &'a self,
                turn: runtime::seam::Turn<'a>,
                event: &'a runtime::hooks::HookEvent<'a>,
                config: &'a runtime::data::Data,
            ) -> runtime::seam::Answer<'a, runtime::seam::Outcome<Vec<runtime::reminder::ReminderSpec>>> {
                let look: $crate::reminder::at_once::Look<$provider> = $look;
                runtime::seam::Answer::Now(look(self, turn, event, config).map_err(runtime::seam::fault))
            }
        }
    };
}
pub(super) use at_once;

use runtime::data::Data;
use runtime::hooks::HookEvent;
use runtime::reminder::{ReminderError, ReminderSpec};
use runtime::seam::Turn;

/// How a provider looks at an event.
pub(super) type Look<P> = fn(&P, Turn<'_>, &HookEvent<'_>, &Data) -> Result<Vec<ReminderSpec>, ReminderError>;
