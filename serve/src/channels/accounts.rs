//! [`SessionAccounts`]: the accounts of sessions, and of the tasks of peer agents.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use runtime::event_log::{Record, Topic};

use crate::store::{SessionSummary, account_of};

/// The accounts of sessions and of peers' tasks, by their ids: a channel reaches those of its own account. A session or
/// task whose account is unknown belongs to no account, and no channel reaches it.
#[derive(Debug, Default)]
pub(super) struct SessionAccounts(RwLock<HashMap<Arc<str>, Arc<str>>>);

impl SessionAccounts {
    /// Returns the account of a session; `None` if it is unknown.
    pub(super) fn of(&self, session_id: &str) -> Option<Arc<str>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(session_id).cloned()
    }

    /// Returns whether a session belongs to an account.
    pub(super) fn owns(&self, account: &str, session_id: &str) -> bool {
        let accounts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        accounts.get(session_id).is_some_and(|owner| **owner == *account)
    }

    /// Returns whether a session of a list belongs to an account. The list may name a session that another process has just
    /// opened.
    pub(super) fn owns_listed(&self, account: &str, row: &SessionSummary) -> bool {
        self.of(&row.id).or_else(|| row.account.clone()).is_some_and(|owner| *owner == *account)
    }

    /// Sets the account of a new session. A later record cannot move it.
    pub(super) fn set(&self, session_id: &Arc<str>, account: &Arc<str>) {
        let mut accounts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        accounts.entry(session_id.clone()).or_insert_with(|| account.clone());
    }

    /// Takes the account of a session from a record of its life. Other records have no effect.
    pub(super) fn take(&self, record: &Record) {
        if *record.topic != *Topic::Life.as_str() {
            return;
        }
        if let Some((session_id, account)) =
            record.payload.get("session_id").as_shared_str().zip(account_of(&record.payload))
        {
            self.set(&session_id, &account);
        }
    }
}
