//! [`ChannelCore`]: the state of channels that connections, sessions and the tail of the log share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Instant;

use a2a::peer_task::PeerTaskDirection;
use base::data::Data;
use base::failures::{FailedOperation, report};
use eventlog::{LogError, Query, Record};
use runtime::event_log::Topic;

use super::presence::{ChannelPresence, PresenceLimits};
use super::throttle::{RateLimiter, RecordBudget, UnrecordedSum};
use super::{
    AuthenticationError, ChannelLimits, ChannelRegistry, ChannelSecret, DisconnectReason, OrphanPolicy, PeerTaskLink,
    PeerTaskLinks,
};
use crate::a2a::now_ms;
use crate::gateway::{
    self, Caller, ChannelRecordKind, GatewayCore, GatewayLimits, GatewayLog, SessionAccounts, UndecidedQuestions,
    kind_of, record,
};

/// The number of unknown secrets in a second for which the log is read.
const CATCH_UPS: u32 = 20;

/// The reason in a record that sums up refusals.
const SUMMED: &str = "summed";

/// The number of refused callers that are not channels with a record each, before they are summed up.
const CALLER_REFUSALS: u32 = 20;

/// The state of channels.
pub(crate) struct ChannelCore {
    pub(super) gateway: Arc<GatewayCore>,
    pub(super) presence: Arc<ChannelPresence>,
    pub(super) orphan: OrphanPolicy,
    registry: RwLock<ChannelRegistry>,
    /// The cursor of the last record about channels that was read.
    read_up_to: AtomicU64,
    /// The limit of reads of the log for unknown secrets.
    catch_ups: Mutex<RateLimiter>,
    /// The records of refused callers that are not channels.
    refusals: Mutex<RecordBudget>,
    /// The links of unfinished tasks of peers.
    links: Mutex<PeerTaskLinks>,
}

impl ChannelCore {
    /// Reads the state from the log. Returns it with the cursor from which the log must be followed.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) async fn read(
        log: Arc<dyn GatewayLog>,
        limits: &ChannelLimits,
        orphan: OrphanPolicy,
    ) -> Result<(Arc<ChannelCore>, u64), LogError> {
        // Read first: a record of this time is applied twice, which has no effect.
        let head = gateway::log::head(&*log).await?;
        let accounts = Arc::<SessionAccounts>::default();
        let presence_limits = PresenceLimits {
            heartbeat: limits.heartbeat,
            requests_per_second: limits.requests_per_second,
            requests_burst: limits.requests_burst,
        };
        let presence = ChannelPresence::new(presence_limits, accounts.clone());
        let gateway_limits = GatewayLimits { window: limits.window, permission_timeout: limits.permission_timeout };
        let core = ChannelCore {
            gateway: Arc::new(GatewayCore::new(log, head, gateway_limits, presence.clone(), accounts)),
            presence,
            orphan,
            registry: RwLock::default(),
            read_up_to: AtomicU64::new(0),
            catch_ups: Mutex::new(RateLimiter::new(CATCH_UPS, CATCH_UPS, Instant::now())),
            links: Mutex::default(),
            refusals: Mutex::new(RecordBudget::new(1, CALLER_REFUSALS, Instant::now())),
        };
        // The accounts of stored sessions are read when they are asked for.
        let mut left = UndecidedQuestions::default();
        gateway::log::each(&*core.gateway.log, Query::topic(Topic::Channel), |record| {
            core.gateway.take(record);
            core.take(record);
            left.take(record);
        })
        .await?;
        core.gateway.permissions.expire(left);
        Ok((Arc::new(core), head))
    }

    /// Applies a record of the topic `channel`.
    pub(super) fn take(&self, record: &Record) {
        self.apply(record);
        // Only now: a caller whose secret is unknown reads the records after this one.
        self.read_up_to.fetch_max(record.cursor, Ordering::Release);
    }

    fn apply(&self, record: &Record) {
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
            Some(ChannelRecordKind::Link) => self.take_link(record),
            _ => {}
        }
    }

    /// Takes the link of a peer's task. The task of a peer agent belongs to the account of its channel.
    fn take_link(&self, record: &Record) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.take(record);
        if let Ok(link) = PeerTaskLink::from_data(&record.payload) {
            if link.state.is_finished() {
                links.retain(|link| !link.state.is_finished());
            }
            self.own(&link);
        }
    }

    /// Gives the task of a peer agent, and its session, to the account of the agent's channel.
    pub(super) fn own(&self, link: &PeerTaskLink) {
        let channel = link.channel_id.as_ref().filter(|_| link.direction == PeerTaskDirection::Incoming);
        let Some(account) =
            channel.and_then(|id| self.registry().get(id).map(|channel| channel.caller.account.clone()))
        else {
            return;
        };
        self.gateway.accounts.set_task(&link.remote_task_id, &account);
        if let Some(session_id) = &link.session_id {
            self.gateway.accounts.set(session_id, &account);
        }
    }

    /// Returns the links of unfinished tasks.
    pub(super) fn unfinished_links(&self) -> Vec<PeerTaskLink> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner).unfinished().cloned().collect()
    }

    fn change_registry(&self, record: &Record) {
        self.registry.write().unwrap_or_else(PoisonError::into_inner).take(record);
    }

    /// Returns the channel whose secret a caller sent. The tail reads an enrolment shortly after `harn channel add` has
    /// printed the secret, so the secret of an unknown channel is refused only after the log was read up to its end.
    ///
    /// # Errors
    /// The secret is not that of a valid channel.
    pub(super) async fn authenticate(
        self: &Arc<ChannelCore>,
        secret: &str,
    ) -> Result<Arc<Caller>, AuthenticationError> {
        let known = self.known(secret);
        let named = ChannelSecret::read(secret).filter(|_| known == Err(AuthenticationError::Wrong));
        let is_unknown = named.is_some_and(|secret| self.registry().get(secret.channel_id()).is_none());
        if !is_unknown || !self.may_catch_up() {
            // The tail may have read the enrolment meanwhile.
            return self.known(secret);
        }
        if let Err(error) = self.catch_up().await {
            report(FailedOperation::Read, "enrolments", format_args!("cannot read the enrolled channels: {error}"));
        }
        self.known(secret)
    }

    fn known(&self, secret: &str) -> Result<Arc<Caller>, AuthenticationError> {
        self.registry().authenticate(secret, now_ms()).map(|channel| channel.caller.clone())
    }

    fn registry(&self) -> RwLockReadGuard<'_, ChannelRegistry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a read of the log for an unknown secret. Returns false if there were too many.
    fn may_catch_up(&self) -> bool {
        self.catch_ups.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now())
    }

    /// Applies the enrolments that the tail has not read yet. The tail applies them again, which has no effect.
    async fn catch_up(&self) -> Result<(), LogError> {
        let unread = Query { after: self.read_up_to.load(Ordering::Acquire), ..Query::topic(Topic::Channel) };
        gateway::log::each(&*self.gateway.log, unread, |record| self.change_registry(record)).await.map(drop)
    }

    /// Checks whether an enrolled channel is still valid.
    ///
    /// # Errors
    /// It has expired, or was revoked.
    pub(super) fn check(&self, id: &str) -> Result<(), AuthenticationError> {
        match self.registry().get(id) {
            Some(channel) if channel.is_valid(now_ms()) => Ok(()),
            Some(channel) if channel.is_revoked => Err(AuthenticationError::Revoked),
            _ => Err(AuthenticationError::Expired),
        }
    }

    /// Returns the channel with an id, if it is valid.
    pub(super) fn channel(&self, id: &str) -> Option<Arc<Caller>> {
        let registry = self.registry();
        registry.get(id).filter(|channel| channel.is_valid(now_ms())).map(|channel| channel.caller.clone())
    }

    /// Records a refusal of a caller that is not known to be a channel. Returns false if there are too many: then it is
    /// only counted, so that such callers cannot fill the log.
    pub(super) fn refuse_caller(&self, reason: &'static str) -> bool {
        let is_recorded = self.caller_refusals().take(reason, Instant::now());
        if is_recorded {
            self.gateway.refused(Data::dict([("reason", Data::from(reason)), ("count", 1.into())]));
        }
        is_recorded
    }

    fn caller_refusals(&self) -> MutexGuard<'_, RecordBudget> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the sums of what was only counted, once in an interval, or all of them.
    pub(super) fn settle(&self, is_last: bool) {
        let of_callers = match is_last {
            true => self.caller_refusals().settle_all(),
            false => self.caller_refusals().settle(Instant::now()),
        };
        if let Some(sum) = of_callers {
            self.gateway.refused(refusals(None, &sum));
        }
        for used in self.presence.settle(is_last) {
            if let Some(sum) = used.refusals {
                self.gateway.refused(refusals(Some(&used.channel_id), &sum));
            }
            if let Some(sum) = used.connects {
                let payload = Data::dict([
                    ("channel_id", Data::from(&used.channel_id)),
                    ("count", sum.count().into()),
                    ("transports", numbers(&sum)),
                ]);
                self.gateway.log.put(record(ChannelRecordKind::Connections, None, payload, now_ms()));
            }
        }
    }
}

/// Returns the payload of a record that sums up refusals.
fn refusals(channel_id: Option<&Arc<str>>, sum: &UnrecordedSum) -> Data {
    Data::dict_of_present([
        ("channel_id", channel_id.into()),
        ("reason", SUMMED.into()),
        ("count", sum.count().into()),
        ("reasons", numbers(sum)),
    ])
}

fn numbers(sum: &UnrecordedSum) -> Data {
    Data::dict(sum.by_reason.iter().map(|(reason, number)| (*reason, Data::from(*number))))
}
