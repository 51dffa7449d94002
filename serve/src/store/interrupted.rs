//! Turns that the end of their process has interrupted.

use std::collections::BTreeSet;
use std::sync::Arc;

use eventlog::RecordFilter;
use runtime::event_log::Topic;

use super::fold::OpenTurn;
use super::{SessionJournal, SessionStore, StoreError};

/// The number of records that are read at a time.
const PAGE: usize = 1_000;

impl SessionStore {
    /// Records the ends of the turns that ended processes left open, so that clients learn of them before the sessions
    /// are loaded. Sessions that another process has open are left alone. Must be called before this process opens a
    /// session.
    ///
    /// # Errors
    /// The log cannot be read or written.
    pub fn end_interrupted(&self) -> Result<(), StoreError> {
        for id in self.with_open_turns()? {
            match self.claim(&id) {
                // The session may have changed since it was found.
                Ok(claim) if claim.stored.fold().life.open_turn.is_some() => {
                    SessionJournal::end_interrupted(self, &claim.stored);
                    // The claim is held until the end is durable.
                    self.log().look(|_| Ok(()))?;
                }
                Ok(_) | Err(StoreError::Elsewhere(_) | StoreError::Unknown(_)) => {}
                Err(StoreError::Log(error)) => return Err(error.into()),
                Err(error) => tracing::error!("cannot end the interrupted turn of a session: {error}"),
            }
        }
        Ok(())
    }

    /// Returns the sessions whose last turn has no end.
    fn with_open_turns(&self) -> Result<BTreeSet<Arc<str>>, StoreError> {
        let mut open = BTreeSet::new();
        let mut filter = RecordFilter::topic(Topic::Life);
        loop {
            let page = self.log().look(|file| file.read_kept(&filter, PAGE))?;
            for record in &page {
                let Some((id, word)) =
                    record.payload.get("session_id").as_shared_str().zip(Topic::Life.word_of(&record.kind))
                else {
                    continue;
                };
                let before = open.contains(&id).then(OpenTurn::default);
                match OpenTurn::after(word, &record.payload, before) {
                    Some(_) => open.insert(id),
                    None => open.remove(&id),
                };
            }
            match page.last() {
                Some(last) if page.len() == PAGE => filter.after = last.cursor,
                _ => return Ok(open),
            }
        }
    }
}
