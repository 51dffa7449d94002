//! [`ChannelPresence`]: the channels that are present, by the clock of this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::accounts::SessionAccounts;
use super::throttle::RateLimiter;
use super::{ChannelScope, DisconnectReason, EnrolledChannel};
use crate::a2a::now_ms;

/// The number of missed heartbeats after which a channel is stale.
const MISSED: u32 = 3;

/// The limits of each channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct PresenceLimits {
    pub(super) heartbeat: Duration,
    pub(super) actions_per_second: u32,
    pub(super) actions_burst: u32,
}

/// The channels that are present.
pub(super) struct ChannelPresence {
    limits: PresenceLimits,
    accounts: Arc<SessionAccounts>,
    channels: Mutex<HashMap<Arc<str>, PresentChannel>>,
}

struct PresentChannel {
    channel: Arc<EnrolledChannel>,
    /// The sessions of its connections, by the numbers of the connections.
    connections: HashMap<u64, Option<Arc<str>>>,
    seen: Instant,
    is_stale: bool,
    closing: watch::Sender<Option<DisconnectReason>>,
    actions: RateLimiter,
}

/// A connection that was counted.
pub(super) struct CountedConnection {
    /// Its number.
    pub(super) number: u64,
    /// Ready when the channel must be disconnected.
    pub(super) closing: watch::Receiver<Option<DisconnectReason>>,
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
    fn see<T>(&self, channel: &Arc<EnrolledChannel>, change: impl FnOnce(&mut PresentChannel) -> T) -> (T, bool) {
        let mut channels = self.lock();
        let now = Instant::now();
        let limits = self.limits;
        let present = channels.entry(channel.id.clone()).or_insert_with(|| PresentChannel {
            channel: channel.clone(),
            connections: HashMap::new(),
            seen: now,
            is_stale: false,
            closing: watch::Sender::new(None),
            actions: RateLimiter::new(limits.actions_per_second, limits.actions_burst, now),
        });
        let was_stale = std::mem::replace(&mut present.is_stale, false);
        present.seen = now;
        (change(present), was_stale)
    }

    /// Takes a sign of life. Returns the sessions of its connections if the channel was stale.
    pub(super) fn alive(&self, channel: &Arc<EnrolledChannel>) -> Vec<Arc<str>> {
        let (sessions, was_stale) = self.see(channel, sessions_of);
        if was_stale { sessions } else { Vec::new() }
    }

    /// Takes an action. Returns false if the channel has sent too many.
    pub(super) fn may_act(&self, channel: &Arc<EnrolledChannel>) -> bool {
        self.see(channel, |present| present.actions.take(Instant::now())).0
    }

    /// Counts a connection.
    pub(super) fn connect(
        &self,
        channel: &Arc<EnrolledChannel>,
        number: u64,
        session_id: Option<&Arc<str>>,
    ) -> CountedConnection {
        let add = |present: &mut PresentChannel| {
            present.connections.insert(number, session_id.cloned());
            present.closing.subscribe()
        };
        CountedConnection { number, closing: self.see(channel, add).0 }
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

    /// Closes all connections.
    pub(super) fn close_all(&self, reason: DisconnectReason) {
        for present in self.lock().values() {
            present.closing.send_replace(Some(reason));
        }
    }

    /// Returns whether a channel is valid and was seen within three heartbeats.
    pub(super) fn is_present(&self, channel_id: &str) -> bool {
        self.lock().get(channel_id).is_some_and(|present| self.is_here(present))
    }

    fn is_here(&self, present: &PresentChannel) -> bool {
        !self.is_missing(present) && present.closing.borrow().is_none() && present.channel.is_valid(now_ms())
    }

    fn is_missing(&self, present: &PresentChannel) -> bool {
        present.seen.elapsed() > self.limits.heartbeat * MISSED
    }

    /// Returns the present channels with a scope that reach a session, ordered by id.
    pub(super) fn present_with(&self, scope: ChannelScope, session_id: &str) -> Vec<Arc<str>> {
        let account = self.accounts.of(session_id);
        let channels = self.lock();
        let reaches = |present: &&PresentChannel| {
            self.is_here(present) && present.channel.scopes.has(scope) && present.channel.account == account
        };
        let mut ids: Vec<_> = channels.values().filter(reaches).map(|present| present.channel.id.clone()).collect();
        ids.sort();
        ids
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
        // A channel without connections begins anew.
        channels.retain(|_, present| !present.is_stale || !present.connections.is_empty());
        stale
    }

    /// Returns the number of connections.
    pub(super) fn connections(&self) -> usize {
        self.lock().values().map(|present| present.connections.len()).sum()
    }
}

fn sessions_of(present: &mut PresentChannel) -> Vec<Arc<str>> {
    let mut sessions: Vec<_> = present.connections.values().flatten().cloned().collect();
    sessions.sort();
    sessions.dedup();
    sessions
}
