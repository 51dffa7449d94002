//! [`ChannelCore`]: the state of channels that connections, sessions and the tail of the log share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use runtime::data::Data;
use runtime::event_log::{EventLog as _, LogError, Record, RecordFilter, SqliteLog, Ticket, Topic};

use super::accounts::SessionAccounts;
use super::feed::FanOut;
use super::ledger::ActionLedger;
use super::permissions::PermissionBridge;
use super::presence::{ChannelPresence, PresenceLimits};
use super::record::{ChannelRecordKind, kind_of, record};
use super::throttle::{RefusalCounter, RefusalRate};
use super::{
    AuthenticationError, ChannelEvent, ChannelLimits, ChannelRegistry, DisconnectReason, EnrolledChannel, OrphanPolicy,
    RecordedChannelEvent,
};
use crate::a2a::now_ms;

/// The number of records that are read at a time.
const PAGE: usize = 1_000;

/// The state of channels.
pub(crate) struct ChannelCore {
    pub(super) log: SqliteLog,
    pub(super) fan_out: Arc<FanOut>,
    pub(super) permissions: Arc<PermissionBridge>,
    pub(super) presence: Arc<ChannelPresence>,
    pub(super) accounts: Arc<SessionAccounts>,
    pub(super) orphan: OrphanPolicy,
    registry: RwLock<ChannelRegistry>,
    ledger: Mutex<ActionLedger>,
    refusals: Mutex<RefusalCounter>,
}

impl ChannelCore {
    /// Reads the state from the log. Returns it with the cursor from which the log must be followed. Waits for the disk.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn read(
        log: SqliteLog,
        limits: &ChannelLimits,
        orphan: OrphanPolicy,
    ) -> Result<(Arc<ChannelCore>, u64), LogError> {
        // Read first: a record of this time is applied twice, which has no effect.
        let head = log.look(runtime::event_log::LogFile::head)?;
        let accounts = Arc::<SessionAccounts>::default();
        let presence_limits = PresenceLimits {
            heartbeat: limits.heartbeat,
            actions_per_second: limits.actions_per_second,
            actions_burst: limits.actions_burst,
        };
        let presence = ChannelPresence::new(presence_limits, accounts.clone());
        let core = ChannelCore {
            fan_out: Arc::new(FanOut::new(limits.window, head)),
            permissions: PermissionBridge::new(log.clone(), presence.clone(), limits.permission_timeout),
            presence,
            accounts,
            orphan,
            registry: RwLock::default(),
            ledger: Mutex::default(),
            refusals: Mutex::new(RefusalCounter::new(Instant::now())),
            log,
        };
        let mut filter = RecordFilter::topic(Topic::Channel);
        loop {
            let page = core.log.look(|file| file.read(&filter, PAGE))?;
            page.iter().for_each(|record| core.take(record));
            match page.last() {
                Some(last) if page.len() == PAGE => filter.after = last.cursor,
                _ => return Ok((Arc::new(core), head)),
            }
        }
    }

    /// Locks the ledger. Every operation leaves it consistent.
    pub(super) fn ledger(&self) -> MutexGuard<'_, ActionLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a record of the topic `channel`.
    pub(super) fn take(&self, record: &Record) {
        let payload = &*record.payload;
        let text = |key: &str| payload.get(key).as_shared_str();
        match kind_of(&record.topic, &record.kind) {
            Some(ChannelRecordKind::Enrolled) => self.change_registry(record),
            Some(ChannelRecordKind::Revoked) => {
                self.change_registry(record);
                if let Some(id) = text("channel_id") {
                    self.presence.close(&id, DisconnectReason::Revoked);
                }
            }
            Some(ChannelRecordKind::Action) => {
                if let Some((session, account)) = text("session_id").zip(text("account_ref")) {
                    self.accounts.set(&session, &account);
                }
                self.ledger().take(record);
            }
            Some(ChannelRecordKind::Result) => self.ledger().take(record),
            _ => {}
        }
    }

    fn change_registry(&self, record: &Record) {
        self.registry.write().unwrap_or_else(PoisonError::into_inner).take(record);
    }

    /// Returns the channel whose secret a caller sent.
    ///
    /// # Errors
    /// The secret is not that of a valid channel.
    pub(super) fn authenticate(&self, secret: &str) -> Result<Arc<EnrolledChannel>, AuthenticationError> {
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        registry.authenticate(secret, now_ms()).cloned()
    }

    /// Returns the channel with an id, if it is valid.
    pub(super) fn channel(&self, id: &str) -> Option<Arc<EnrolledChannel>> {
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        registry.get(id).filter(|channel| channel.is_valid(now_ms())).cloned()
    }

    /// Appends an event of a channel.
    pub(super) fn event(&self, channel_id: &Arc<str>, session_id: Option<&Arc<str>>, event: ChannelEvent) -> Ticket {
        self.log.append(RecordedChannelEvent::new(channel_id, session_id, event).to_record(now_ms()))
    }

    /// Records a refusal of a caller that is not known to be a channel. Returns false if there are too many: then it is
    /// only counted, so that such callers cannot fill the log.
    pub(super) fn refuse_caller(&self, reason: &str) -> bool {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        match refusals.take(Instant::now()) {
            RefusalRate::Record => {
                drop(refusals);
                self.refused(Data::dict([("reason", Data::from(reason)), ("count", 1.into())]), None);
                true
            }
            RefusalRate::Count => false,
        }
    }

    /// Records the number of the refusals that were only counted.
    pub(super) fn settle_refusals(&self) {
        let count = self.refusals.lock().unwrap_or_else(PoisonError::into_inner).settle();
        if count > 0 {
            self.refused(Data::dict([("reason", Data::from("rate_limited")), ("count", count.into())]), None);
        }
    }

    /// Records a refusal.
    pub(super) fn refused(&self, payload: Data, session_id: Option<&str>) {
        self.log.append(record(ChannelRecordKind::Refused, session_id, payload, now_ms()));
    }
}
