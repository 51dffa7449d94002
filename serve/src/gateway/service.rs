//! [`Gateway`]: executes the actions of callers in the sessions of a process, and reads the events of sessions.

use std::sync::Arc;

use base::data::Data;
use eventlog::Query;
use runtime::event_log::Topic;

use super::{ActionError, Caller, Callers, EventReader, GatewayCore};
use crate::host::{Host, HostError, SessionHandle};

/// The way to the sessions of a process.
pub(crate) struct Gateway {
    pub(crate) host: Host,
    core: Arc<GatewayCore>,
    pub(crate) callers: Arc<dyn Callers>,
    /// The mode of new sessions.
    pub(crate) mode: Arc<str>,
}

impl Gateway {
    pub(crate) fn new(host: Host, core: Arc<GatewayCore>, callers: Arc<dyn Callers>, mode: Arc<str>) -> Arc<Gateway> {
        Arc::new(Gateway { host, core, callers, mode })
    }

    pub(crate) fn core(&self) -> &Arc<GatewayCore> {
        &self.core
    }

    /// Begins to read the events of a session, after a cursor or from a snapshot.
    pub(crate) fn events(self: &Arc<Gateway>, session_id: &Arc<str>, after: Option<u64>) -> EventReader {
        let reader = self.core.fan_out.enter(session_id);
        EventReader::new(self.clone(), session_id.clone(), reader, after)
    }

    /// Checks whether a caller reaches a session, open or stored.
    ///
    /// # Errors
    /// It does not, or the session is unknown. A caller does not learn which of both.
    pub(crate) async fn reaches(&self, caller: &Caller, session_id: &str) -> Result<(), ActionError> {
        let unknown = || ActionError::Host(HostError::UnknownSession(session_id.into()));
        if !self.core.owns(&caller.account, session_id).await? {
            return Err(unknown());
        }
        if self.host.session(session_id).is_ok() {
            return Ok(());
        }
        match self.core.log.read(Query::subject(session_id), 1).await?.records.is_empty() {
            true => Err(unknown()),
            false => Ok(()),
        }
    }

    /// Returns whether the log still has a session from its opening on.
    pub(crate) async fn is_whole(&self, session_id: &Arc<str>) -> Result<bool, ActionError> {
        let of_life = Query { subject: Some(session_id.clone()), ..Query::topic(Topic::Life) };
        let first = self.core.log.read(of_life, 1).await?.records;
        Ok(first.iter().any(|record| Topic::Life.word_of(&record.kind) == Some("opened")))
    }

    /// Returns the open session of an account, and loads a stored one.
    ///
    /// # Errors
    /// It belongs to another account, or it cannot be loaded.
    pub(crate) async fn session(
        &self,
        account: &Arc<str>,
        session_id: &Arc<str>,
    ) -> Result<SessionHandle, ActionError> {
        if !self.core.owns(account, session_id).await? {
            return Err(HostError::UnknownSession(session_id.clone()).into());
        }
        let handle = match self.host.awake(session_id).await {
            Ok(handle) => handle,
            Err(_) => {
                self.host.accepts()?;
                match self.host.resume(session_id, None, Data::Nil).await {
                    // Another action opens it.
                    Err(HostError::Exists(_)) => self.host.opened(session_id).await?,
                    other => other?,
                }
            }
        };
        self.core.fan_out.open(session_id);
        Ok(handle)
    }
}
