//! The sources of reminders that a project adds to a run. The world knows them by what it needs of them.

use base::call::BlockingPool;
use lang::vm::Raise;
use runtime::reminder_providers::{ReminderFiles, ReminderProvider, ReminderProviders};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Packs of reminder providers: those of the whole run, and those that options of loops name.
pub(crate) trait PackSource {
    /// Returns the providers of the packs that options name, those of the whole run left out.
    ///
    /// # Errors
    /// A pack that cannot be used, or one whose provider has the id of another.
    fn named_by(
        &self,
        files: &[Arc<str>],
        known: &ReminderProviders,
    ) -> Result<Vec<Rc<dyn ReminderProvider>>, Box<Raise>>;

    /// Registers the providers of the whole run: they belong to it, and a script that forgets its own keeps them.
    fn register(&self, providers: &ReminderProviders);

    /// Returns the pack of the whole run that has a provider of this id.
    fn owner(&self, id: &str) -> Option<String>;
}

/// Reminders that are written as files.
pub(crate) trait ReminderFileSource {
    /// Returns whether loops use the files unless they say otherwise.
    fn is_default(&self) -> bool;

    /// Returns the folder of the script, which is the first that is searched.
    fn script_folder(&self) -> PathBuf;

    /// Returns the files for a new loop. Nothing is read before it starts.
    fn of_loop(&self, pool: Option<Rc<dyn BlockingPool>>, by_script: bool) -> Rc<dyn ReminderFiles>;
}
