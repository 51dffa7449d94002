//! [`ReminderFiles`]: reminders that are written as files, which may change while a loop runs.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, Outcome};
use base::data::Data;

use crate::events::EventSet;
use crate::scope::Scope;
use crate::seam::Turn;

use super::ReminderProvider;

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

/// The reminder files of a loop, as its scope carries them.
struct LoopFiles(Rc<dyn ReminderFiles>);

/// Returns the part of a loop's scope that holds its reminder files.
#[must_use]
pub fn scope_part(files: Option<Rc<dyn ReminderFiles>>) -> Option<Rc<dyn Any>> {
    files.map(|files| Rc::new(LoopFiles(files)) as Rc<dyn Any>)
}

/// Returns the reminder files of the loop around a call, if it uses any.
#[must_use]
pub fn files_of(scope: &Scope) -> Option<&dyn ReminderFiles> {
    scope.of_loop.as_ref()?.downcast_ref::<LoopFiles>().map(|files| &*files.0)
}
