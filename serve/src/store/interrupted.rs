//! Turns that the end of their process has interrupted.

use std::collections::BTreeSet;
use std::sync::Arc;

use eventlog::Record;
use runtime::event_log::Topic;

use super::fold::OpenTurn;
use super::{ID_PREFIX, SessionJournal, SessionStore, StoreError};

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
        let kinds = OpenTurn::WORDS.map(|word| Topic::Life.kind(word));
        let kinds = kinds.each_ref().map(String::as_str);
        let mut open = BTreeSet::new();
        let take = |record: Record| {
            let word = Topic::Life.word_of(&record.kind).unwrap_or_default();
            // What was open before does not matter: each of these words opens a turn or ends it.
            let is_open = OpenTurn::after(word, &record.payload, None).is_some();
            open.extend(record.payload.get("session_id").as_shared_str().filter(|_| is_open));
        };
        self.log().look(|file| file.last_of_kinds(ID_PREFIX, Topic::Life.as_str(), &kinds, take))?;
        Ok(open)
    }
}
