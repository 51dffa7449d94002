//! [`ChannelPresence`]: the channels that are present, by the clock of this process, and what each of them has used up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::throttle::{RateLimiter, RecordBudget, UnrecordedSum};
use crate::a2a::now_ms;
use crate::gateway::{Caller, Callers, ChannelScope, DisconnectReason, SessionAccounts};

/// The number of refusals of a channel with a record each, and of its connections, before they are summed up.
const RECORDS: u32 = 64;

/// The number of missed heartbeats after which a channel is stale.
const MISSED: u32 = 3;

/// The limits of each channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct PresenceLimits {
    pub(super) heartbeat: Duration,
    pub(super) requests_per_second: u32,
    pub(super) requests_burst: u32,
}

/// The channels that are present.
pub(super) struct ChannelPresence {
    limits: PresenceLimits,
    accounts: Arc<SessionAccounts>,
    channels: Mutex<HashMap<Arc<str>, PresentChannel>>,
}

struct PresentChannel {
    channel: Arc<Caller>,
    /// The sessions of its connections, by the numbers of the connections.
    connections: HashMap<u64, Option<Arc<str>>>,
    seen: Instant,
    is_stale: bool,
    closing: watch::Sender<Option<DisconnectReason>>,
    requests: RateLimiter,
    /// The records of its refusals.
    refusals: RecordBudget,
    /// The records of its connections.
    connects: RecordBudget,
}

/// A connection that was counted.
pub(super) struct CountedConnection {
    /// Its number.
    pub(super) number: u64,
    /// Ready when the channel must be disconnected.
    pub(super) closing: watch::Receiver<Option<DisconnectReason>>,
    /// Whether its records are written.
    pub(super) is_recorded: bool,
}

/// Sums of a channel's refusals and connections that have no records of their own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnrecordedUse {
    pub(super) channel_id: Arc<str>,
    pub(super) refusals: Option<UnrecordedSum>,
    pub(super) connects: Option<UnrecordedSum>,
}

impl ChannelPresence {
    pub(super) fn new(limits: PresenceLimits, accounts: Arc<SessionAccounts>) -> Arc<ChannelPresence> {
        Arc::new(ChannelPresence { limits, accounts, channels: Mutex::default() })
    }

    /// Locks the channels. Every operation leaves them consistent.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, PresentChannel>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known of a channel that was just seen. Returns whether it was stale.
    fn see<T>(&self, channel: &Arc<Caller>, change: impl FnOnce(&mut PresentChannel) -> T) -> (T, bool) {
        let mut channels = self.lock();
        let now = Instant::now();
        let limits = self.limits;
        let present = channels.entry(channel.id.clone()).or_insert_with(|| PresentChannel {
            channel: channel.clone(),
            connections: HashMap::new(),
            seen: now,
            is_stale: false,
            closing: watch::Sender::new(None),
            requests: RateLimiter::new(limits.requests_per_second, limits.requests_burst, now),
            refusals: RecordBudget::sparse(RECORDS, now),
            connects: RecordBudget::sparse(RECORDS, now),
        });
        let was_stale = std::mem::replace(&mut present.is_stale, false);
        present.seen = now;
        (change(present), was_stale)
    }

    /// Takes a sign of life. Returns the sessions of its connections if the channel was stale.
    pub(super) fn alive(&self, channel: &Arc<Caller>) -> Vec<Arc<str>> {
        let (sessions, was_stale) = self.see(channel, sessions_of);
        if was_stale { sessions } else { Vec::new() }
    }

    /// Takes a request. Returns false if the channel has sent too many.
    pub(super) fn may_request(&self, channel: &Arc<Caller>) -> bool {
        self.see(channel, |present| present.requests.take(Instant::now())).0
    }

    /// Takes a frame that has come. Returns the pause before the next one is read.
    pub(super) fn pause_after_frame(&self, channel: &Arc<Caller>) -> Duration {
        self.see(channel, |present| present.requests.charge(Instant::now())).0
    }

    /// Returns what has no records of its own, once in an interval, or all of it.
    pub(super) fn settle(&self, is_last: bool) -> Vec<UnrecordedUse> {
        let now = Instant::now();
        let settle = |budget: &mut RecordBudget| if is_last { budget.settle_all() } else { budget.settle(now) };
        let mut unrecorded = Vec::new();
        for (id, present) in self.lock().iter_mut() {
            let (refusals, connects) = (settle(&mut present.refusals), settle(&mut present.connects));
            if refusals.is_some() || connects.is_some() {
                unrecorded.push(UnrecordedUse { channel_id: id.clone(), refusals, connects });
            }
        }
        unrecorded
    }

    /// Counts a connection.
    pub(super) fn connect(
        &self,
        channel: &Arc<Caller>,
        number: u64,
        session_id: Option<&Arc<str>>,
        reason: &'static str,
    ) -> CountedConnection {
        let add = |present: &mut PresentChannel| {
            present.connections.insert(number, session_id.cloned());
            (present.closing.subscribe(), present.connects.take(reason, Instant::now()))
        };
        let (closing, is_recorded) = self.see(channel, add).0;
        CountedConnection { number, closing, is_recorded }
    }

    /// Removes a connection.
    pub(super) fn disconnect(&self, channel_id: &str, number: u64) {
        if let Some(present) = self.lock().get_mut(channel_id) {
            present.connections.remove(&number);
        }
    }

    /// Closes all connections of a channel, also those that begin later.
    pub(super) fn close(&self, channel_id: &str, reason: DisconnectReason) {
        if let Some(present) = self.lock().get_mut(channel_id) {
            present.closing.send_replace(Some(reason));
        }
    }

    /// Closes the connections of channels whose secrets have expired by the clock of the system. A clock that was wrong
    /// and is set back revives them.
    pub(super) fn close_expired(&self, now_ms: u64) {
        for present in self.lock().values() {
            let is_expired = now_ms >= present.channel.expires_at_ms;
            present.closing.send_if_modified(|closing| match (*closing, is_expired) {
                (None, true) => {
                    *closing = Some(DisconnectReason::Expired);
                    true
                }
                (Some(DisconnectReason::Expired), false) => {
                    *closing = None;
                    true
                }
                _ => false,
            });
        }
    }

    /// Closes all connections.
    pub(super) fn close_all(&self, reason: DisconnectReason) {
        for present in self.lock().values() {
            present.closing.send_replace(Some(reason));
        }
    }

    fn is_here(&self, present: &PresentChannel) -> bool {
        !self.is_missing(present) && present.closing.borrow().is_none() && present.channel.is_valid(now_ms())
    }

    fn is_missing(&self, present: &PresentChannel) -> bool {
        present.seen.elapsed() > self.limits.heartbeat * MISSED
    }

    /// Marks the channels that have missed their heartbeats. Returns those with connections that were not stale before,
    /// with the sessions of the connections.
    pub(super) fn sweep(&self) -> Vec<(Arc<str>, Vec<Arc<str>>)> {
        let mut channels = self.lock();
        let mut stale = Vec::new();
        for (id, present) in channels.iter_mut() {
            if !present.is_stale && self.is_missing(present) {
                present.is_stale = true;
                if !present.connections.is_empty() {
                    stale.push((id.clone(), sessions_of(present)));
                }
            }
        }
        // A channel without connections begins anew, unless it has used up something.
        let now = Instant::now();
        channels.retain(|_, present| {
            let is_new = present.refusals.is_full(now) && present.connects.is_full(now);
            !present.is_stale || !present.connections.is_empty() || !is_new
        });
        stale
    }

    /// Returns the number of connections.
    pub(super) fn connections(&self) -> usize {
        self.lock().values().map(|present| present.connections.len()).sum()
    }
}

impl Callers for ChannelPresence {
    fn present_with(&self, scope: ChannelScope, session_id: &str) -> Vec<Arc<str>> {
        let Some(account) = self.accounts.of(session_id) else { return Vec::new() };
        let channels = self.lock();
        let reaches = |present: &&PresentChannel| {
            self.is_here(present) && present.channel.scopes.has(scope) && present.channel.account == account
        };
        let mut ids: Vec<_> = channels.values().filter(reaches).map(|present| present.channel.id.clone()).collect();
        ids.sort();
        ids
    }

    // A caller that was seen within three heartbeats.
    fn is_present(&self, channel_id: &str) -> bool {
        self.lock().get(channel_id).is_some_and(|present| self.is_here(present))
    }

    fn takes_refusal(&self, channel: &Arc<Caller>, reason: &'static str) -> bool {
        self.see(channel, |present| present.refusals.take(reason, Instant::now())).0
    }

    fn count_refusal(&self, channel: &Arc<Caller>, reason: &'static str) {
        self.see(channel, |present| present.refusals.count(reason));
    }
}

fn sessions_of(present: &mut PresentChannel) -> Vec<Arc<str>> {
    let mut sessions: Vec<_> = present.connections.values().flatten().cloned().collect();
    sessions.sort();
    sessions.dedup();
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channels::{ChannelScopes, EnrolledChannel, NewChannel, PeerRole};

    /// A channel that expires at a time.
    fn channel(expires_at_ms: u64) -> Arc<Caller> {
        let new = NewChannel {
            name: "phone".to_owned(),
            role: PeerRole::Client,
            scopes: ChannelScopes::default(),
            account: "local".into(),
            expires: Duration::from_millis(expires_at_ms),
        };
        EnrolledChannel::new(new, 0).unwrap().0.caller
    }

    #[test]
    fn a_connection_ends_with_its_channel_also_when_the_clock_jumps() {
        let limits = PresenceLimits { heartbeat: Duration::from_secs(1), requests_per_second: 1, requests_burst: 1 };
        let presence = ChannelPresence::new(limits, Arc::default());
        let phone = channel(u64::MAX - 1);
        let connection = presence.connect(&phone, 1, None, "sse");
        let closing = || *connection.closing.borrow();
        presence.close_expired(1_000);
        assert_eq!(closing(), None);
        presence.close_expired(u64::MAX);
        assert_eq!(closing(), Some(DisconnectReason::Expired));
        assert!(!presence.is_present(&phone.id));
        presence.close_expired(1_000);
        assert_eq!((closing(), presence.is_present(&phone.id)), (None, true), "the clock was set back");
        presence.close(&phone.id, DisconnectReason::Revoked);
        presence.close_expired(1_000);
        assert_eq!(closing(), Some(DisconnectReason::Revoked));
    }
}
