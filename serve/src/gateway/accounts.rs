//! [`SessionAccounts`]: the accounts of sessions, and of the tasks of peer agents.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eventlog::{LogError, Query, Record};
use runtime::event_log::Topic;

use super::GatewayLog;
use super::record::{ChannelRecordKind, channel_record_kind};
use crate::store::{SessionSummary, account_of};

/// The maximum number of closed sessions whose accounts are in memory; the log has the others.
const MAX_CLOSED: usize = 10_000;

/// The accounts of sessions and of peers' tasks, by their ids: a channel reaches those of its own account. A session or
/// task whose account is unknown belongs to no account, and no channel reaches it.
#[derive(Debug, Default)]
pub(crate) struct SessionAccounts(Mutex<KnownAccounts>);

#[derive(Debug, Default)]
struct KnownAccounts {
    sessions: HashMap<Arc<str>, SessionAccount>,
    /// The sessions that were not open when they were added, the oldest first.
    closed: VecDeque<Arc<str>>,
    /// The accounts of the tasks of peer agents.
    tasks: HashMap<Arc<str>, Arc<str>>,
}

#[derive(Debug)]
struct SessionAccount {
    account: Arc<str>,
    is_open: bool,
}

impl KnownAccounts {
    fn closed(&mut self, session_id: Arc<str>) {
        self.closed.push_back(session_id);
        while self.closed.len() > MAX_CLOSED {
            let Some(oldest) = self.closed.pop_front() else { return };
            // One that was opened again is added again when it closes.
            if self.sessions.get(&oldest).is_some_and(|session| !session.is_open) {
                self.sessions.remove(&oldest);
            }
        }
    }
}

impl SessionAccounts {
    /// Locks the accounts. Every operation leaves them consistent.
    fn lock(&self) -> MutexGuard<'_, KnownAccounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the account of a session that is open or was used recently; `None` if it is unknown. The log knows the
    /// others.
    pub(crate) fn of(&self, session_id: &str) -> Option<Arc<str>> {
        self.lock().sessions.get(session_id).map(|session| session.account.clone())
    }

    /// Returns whether the task of a peer agent belongs to an account.
    pub(crate) fn owns_task(&self, account: &str, task_id: &str) -> bool {
        self.lock().tasks.get(task_id).is_some_and(|owner| **owner == *account)
    }

    /// Returns whether a session of a list belongs to an account. The list may name a session that another process has just
    /// opened.
    pub(crate) fn owns_listed(&self, account: &str, row: &SessionSummary) -> bool {
        self.of(&row.id).or_else(|| row.account.clone()).is_some_and(|owner| *owner == *account)
    }

    /// Sets the account of a session. A later record cannot move it.
    pub(crate) fn set(&self, session_id: &Arc<str>, account: &Arc<str>) {
        let mut known = self.lock();
        if !known.sessions.contains_key(session_id) {
            known.sessions.insert(session_id.clone(), SessionAccount { account: account.clone(), is_open: false });
            known.closed(session_id.clone());
        }
    }

    /// Sets the account of the task of a peer agent. A later record cannot move it.
    pub(crate) fn set_task(&self, task_id: &Arc<str>, account: &Arc<str>) {
        self.lock().tasks.entry(task_id.clone()).or_insert_with(|| account.clone());
    }

    /// Returns the account of a session that opens, which stays in memory until the session is over.
    pub(crate) fn open(&self, session_id: &str) -> Option<Arc<str>> {
        let mut known = self.lock();
        let session = known.sessions.get_mut(session_id)?;
        session.is_open = true;
        Some(session.account.clone())
    }

    /// Takes the end of a session.
    pub(crate) fn over(&self, session_id: &Arc<str>) {
        let mut known = self.lock();
        let Some(session) = known.sessions.get_mut(session_id) else { return };
        if std::mem::take(&mut session.is_open) {
            known.closed(session_id.clone());
        }
    }

    /// Takes the account of a session from a record of its life. Other records have no effect.
    pub(crate) fn take(&self, record: &Record) {
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

/// Reads the account of a session from its records; `None` if they name none.
///
/// # Errors
/// The log cannot be read.
pub(crate) async fn read_account(log: &dyn GatewayLog, session_id: &Arc<str>) -> Result<Option<Arc<str>>, LogError> {
    // Logs of earlier versions have the account only in the action that opened the session.
    for topic in [Topic::Life, Topic::Channel] {
        let mut query = Query { subject: Some(session_id.clone()), ..Query::topic(topic) };
        loop {
            let page = log.read(query.clone(), PAGE).await?;
            let of_session = |record: &&Arc<Record>| record.payload.get("session_id").as_str() == Some(session_id);
            if let Some(account) = page.records.iter().filter(of_session).find_map(|record| account_in(record)) {
                return Ok(Some(account));
            }
            match page.records.last() {
                Some(last) if page.records.len() == PAGE => query.after = last.cursor,
                _ => break,
            }
        }
    }
    Ok(None)
}

/// The number of records that are read at a time.
const PAGE: usize = 100;

/// Returns the account that a record of a session's life, or of an action, names.
fn account_in(record: &Record) -> Option<Arc<str>> {
    if *record.topic == *Topic::Life.as_str() {
        return account_of(&record.payload);
    }
    let is_action = channel_record_kind(record) == Some(ChannelRecordKind::Action);
    record.payload.get("account_ref").as_shared_str().filter(|_| is_action)
}

#[cfg(test)]
mod tests {
    use base::data::Data;
    use eventlog::{MemoryLog, NewRecord, RUN_ID};

    use super::*;
    use crate::store::tests::StoreFolder;

    #[test]
    fn closed_sessions_are_bounded_and_open_ones_stay() {
        let accounts = SessionAccounts::default();
        let (open, again): (Arc<str>, Arc<str>) = ("open".into(), "again".into());
        for id in [&open, &again] {
            accounts.set(id, &"a".into());
            assert_eq!(accounts.open(id).as_deref(), Some("a"));
        }
        accounts.over(&again);
        accounts.open(&again);
        let fill = || {
            for number in 0..MAX_CLOSED + 5 {
                let id: Arc<str> = format!("s{number}").into();
                accounts.set(&id, &"b".into());
                accounts.open(&id);
                accounts.over(&id);
            }
        };
        fill();
        let known = || (accounts.of("open").is_some(), accounts.of("again").is_some(), accounts.of("s0").is_some());
        assert_eq!(known(), (true, true, false));
        assert!(accounts.lock().sessions.len() <= MAX_CLOSED + 2);
        accounts.over(&again);
        fill();
        assert_eq!(known(), (true, false, false));
        accounts.set(&open, &"b".into());
        assert_eq!(accounts.of("open").as_deref(), Some("a"), "a later record cannot move it");
    }

    #[tokio::test]
    async fn the_log_has_the_accounts_of_other_sessions() {
        let (folder, memory) = (StoreFolder::new(), MemoryLog::new());
        has_accounts(&folder.log()).await;
        has_accounts(&memory).await;
    }

    async fn has_accounts(log: &dyn GatewayLog) {
        let append = |topic: Topic, word: &str, run: &str, fields: &[(&'static str, &str)]| {
            log.put(NewRecord {
                topic: topic.into(),
                kind: topic.kind(word).into(),
                payload: Data::dict(fields.iter().map(|(key, text)| (*key, Data::from(*text)))).into(),
                headers: Data::dict([(RUN_ID, Data::from(run))]),
                occurred_at_ms: 1,
            });
        };
        append(Topic::Life, "opened", "s1", &[("session_id", "s1"), ("account", "one")]);
        append(Topic::Channel, "action", "s2", &[("session_id", "s2"), ("account_ref", "two")]);
        append(Topic::Life, "opened", "s2", &[("session_id", "s2"), ("protocol", "channels")]);
        append(Topic::Life, "opened", "s3", &[("session_id", "s3"), ("protocol", "acp")]);
        append(Topic::Life, "opened", "s4", &[("session_id", "another"), ("account", "one")]);
        append(Topic::Channel, "refused", "s4", &[("session_id", "s4"), ("account_ref", "two")]);
        let expected = [("s1", Some("one")), ("s2", Some("two")), ("s3", Some("local")), ("s4", None), ("s5", None)];
        for (id, account) in expected {
            assert_eq!(read_account(log, &id.into()).await.unwrap().as_deref(), account, "{id}");
        }
    }
}
