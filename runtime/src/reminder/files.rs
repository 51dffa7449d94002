//! [`ReminderFiles`]: reminders that are written as files, which may change while a loop runs.

use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, Outcome};
use base::data::Data;

use crate::hooks::EventSet;
use crate::seam::Turn;

use super::providers::ReminderProvider;

/// The reminder files of a loop, each as a provider.
pub trait ReminderFiles {
    /// Brings the providers up to date, before a loop starts and before each of its prompts. Reminders of a file that
    /// was removed are cleared; those of a file that was changed are made again. Usually nothing has changed, and the
    /// answer is there at once.
    ///
    /// # Errors
    /// Fails only if `strict` reminders require it.
    fn refresh<'a>(&'a self, turn: Turn<'a>, strict: bool) -> Answer<'a, Outcome<()>>;

    /// Notes that the loop has started, with the payload of that event, for files that are added later.
    fn started(&self, payload: Data);

    /// Returns the events that the current providers subscribe to.
    fn subscribes_to(&self) -> EventSet;

    /// Returns the current providers, in the order of their names.
    fn providers(&self) -> Rc<[Rc<dyn ReminderProvider>]>;
}

/// Returns the id of the provider of a file.
#[must_use]
pub fn file_provider_id(name: &str) -> Arc<str> {
    format!("file:{name}").into()
}
