//! [`SessionAccounts`]: the accounts of sessions, and of the tasks of peer agents.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// The account of sessions that no channel opened.
static LOCAL: LazyLock<Arc<str>> = LazyLock::new(|| "local".into());

/// The accounts of sessions and of peers' tasks, by their ids: a channel reaches those of its own account.
#[derive(Debug, Default)]
pub(super) struct SessionAccounts(RwLock<HashMap<Arc<str>, Arc<str>>>);

impl SessionAccounts {
    /// Returns the account of a session.
    pub(super) fn of(&self, session_id: &str) -> Arc<str> {
        let accounts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        accounts.get(session_id).unwrap_or(&LOCAL).clone()
    }

    /// Returns whether the account of a session was set.
    pub(super) fn knows(&self, session_id: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(session_id)
    }

    /// Sets the account of a new session. A later record cannot move it.
    pub(super) fn set(&self, session_id: &Arc<str>, account: &Arc<str>) {
        let mut accounts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        accounts.entry(session_id.clone()).or_insert_with(|| account.clone());
    }
}
