//! [`GatewayCore`]: the state that connections, sessions and the tail of the log share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::data::Data;
use eventlog::{Record, Ticket};
use runtime::event_log::Topic;

use super::accounts::read_account;
use super::record::{channel_record_kind, record};
use super::{
    ActionError, ActionLedger, Callers, ChannelEvent, ChannelRecordKind, FanOut, GatewayLog, PermissionBridge,
    RecordedChannelEvent, SessionAccounts, WindowLimits,
};
use crate::a2a::now_ms;
use crate::store::is_session;

/// The limits of a gateway.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GatewayLimits {
    /// The events that a connection may have to read.
    pub(crate) window: WindowLimits,
    /// The time after which a permission question without an answer is refused.
    pub(crate) permission_timeout: Option<Duration>,
}

/// The state of a gateway.
pub(crate) struct GatewayCore {
    pub(crate) log: Arc<dyn GatewayLog>,
    pub(crate) fan_out: Arc<FanOut>,
    pub(crate) permissions: Arc<PermissionBridge>,
    pub(crate) accounts: Arc<SessionAccounts>,
    ledger: Mutex<ActionLedger>,
}

impl GatewayCore {
    /// Creates the state for a log that is followed after the cursor `head`.
    pub(crate) fn new(
        log: Arc<dyn GatewayLog>,
        head: u64,
        limits: GatewayLimits,
        callers: Arc<dyn Callers>,
        accounts: Arc<SessionAccounts>,
    ) -> GatewayCore {
        GatewayCore {
            fan_out: Arc::new(FanOut::new(limits.window, head)),
            permissions: PermissionBridge::new(log.clone(), callers, limits.permission_timeout),
            accounts,
            ledger: Mutex::default(),
            log,
        }
    }

    /// Locks the ledger. Every operation leaves it consistent.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, ActionLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the next record of the log.
    pub(crate) fn take(&self, record: &Record) {
        self.accounts.take(record);
        match channel_record_kind(record) {
            Some(ChannelRecordKind::Action) => {
                let text = |key: &str| record.payload.get(key).as_shared_str();
                if let Some((session, account)) = text("session_id").zip(text("account_ref")) {
                    self.accounts.set(&session, &account);
                }
                self.ledger().take(record);
            }
            Some(ChannelRecordKind::Result) => self.ledger().take(record),
            _ => {}
        }
    }

    /// Returns whether [`GatewayCore::take`] applies records of a topic.
    pub(crate) fn takes(topic: &str) -> bool {
        topic == Topic::Life.as_str() || topic == Topic::Channel.as_str()
    }

    /// Returns the account of a session, open or stored; `None` if it is unknown.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) async fn account_of(&self, session_id: &str) -> Result<Option<Arc<str>>, ActionError> {
        if let Some(account) = self.accounts.of(session_id) {
            return Ok(Some(account));
        }
        if !is_session(session_id) {
            return Ok(None);
        }
        let id: Arc<str> = session_id.into();
        let account = read_account(&*self.log, &id).await?;
        if let Some(account) = &account {
            self.accounts.set(&id, account);
        }
        Ok(account)
    }

    /// Returns whether a session, open or stored, belongs to an account.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) async fn owns(&self, account: &str, session_id: &str) -> Result<bool, ActionError> {
        Ok(self.account_of(session_id).await?.is_some_and(|owner| *owner == *account))
    }

    /// Appends an event of a caller.
    pub(crate) fn event(&self, caller_id: &Arc<str>, session_id: Option<&Arc<str>>, event: ChannelEvent) -> Ticket {
        self.log.put(RecordedChannelEvent::new(caller_id, session_id, event).to_record(now_ms()))
    }

    /// Records a refusal. A refused caller does not write to the run of a session.
    pub(crate) fn refused(&self, payload: Data) {
        self.log.put(record(ChannelRecordKind::Refused, None, payload, now_ms()));
    }
}
