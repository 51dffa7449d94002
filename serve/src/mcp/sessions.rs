//! [`McpSessions`]: the sessions over HTTP. Each peer has a share of them, and idle ones end.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::keyed_limit::{KeyedLimit, KeyedPermit};
use tokio::time::Instant;

use super::client::ClientSession;

/// The shortest and the longest pause between two looks for idle sessions.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(10));

/// The sessions over HTTP, by their ids.
pub(super) struct McpSessions {
    most: usize,
    idle: Duration,
    peers: KeyedLimit<Arc<str>>,
    all: Mutex<HashMap<Arc<str>, OpenSession>>,
}

struct OpenSession {
    session: Arc<ClientSession>,
    /// The end of its last request, or the time at which it was last seen at work.
    used: Instant,
    _permit: KeyedPermit<Arc<str>>,
}

/// The reason why no session can be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum SessionRefusal {
    /// The limit of all sessions.
    #[error("too many sessions: {0} are open, which is the limit; try again later")]
    Full(usize),
    /// The limit of an IP address.
    #[error(
        "too many sessions: your IP address has {0} open, which is the limit; end one with `DELETE`, or wait until an \
        idle one has ended"
    )]
    PeerFull(usize),
}

impl McpSessions {
    /// Creates a store of at most `most` sessions, `of_peer` for each peer. Those without a request for `idle` end.
    pub(super) fn new(most: usize, of_peer: usize, idle: Duration) -> McpSessions {
        McpSessions { most, idle, peers: KeyedLimit::new(of_peer), all: Mutex::default() }
    }

    /// Locks the sessions. Every operation leaves them consistent.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, OpenSession>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a session of a peer.
    ///
    /// # Errors
    /// Too many are open.
    pub(super) fn open(
        &self,
        session: ClientSession,
        peer: Option<IpAddr>,
        now: Instant,
    ) -> Result<Arc<ClientSession>, SessionRefusal> {
        self.end_idle(now);
        let mut all = self.lock();
        if all.len() >= self.most {
            return Err(SessionRefusal::Full(all.len()));
        }
        let permit = self.peers.take(owner(peer)).ok_or(SessionRefusal::PeerFull(self.peers.most()))?;
        let session = Arc::new(session);
        all.insert(session.id.clone(), OpenSession { session: session.clone(), used: now, _permit: permit });
        Ok(session)
    }

    /// Returns an open session for a request. One whose time is over is not found.
    pub(super) fn find(&self, id: &str, now: Instant) -> Option<Arc<ClientSession>> {
        let mut all = self.lock();
        let open = all.get_mut(id)?;
        if self.is_idle(open, now) {
            let ended = all.remove(id)?;
            ended.session.end();
            return None;
        }
        open.used = now;
        Some(open.session.clone())
    }

    /// Removes a session, and ends it.
    pub(super) fn end(&self, session: &ClientSession) {
        self.lock().remove(&session.id);
        session.end();
    }

    /// Ends the sessions whose time is over.
    pub(super) fn end_idle(&self, now: Instant) {
        self.lock().retain(|_, open| {
            if open.session.is_at_work() {
                open.used = now;
            }
            let is_idle = self.is_idle(open, now);
            if is_idle {
                open.session.end();
            }
            !is_idle
        });
    }

    fn is_idle(&self, open: &OpenSession, now: Instant) -> bool {
        !open.session.is_at_work() && now.duration_since(open.used) >= self.idle
    }

    /// Ends idle sessions again and again. Never returns.
    pub(super) async fn sweep(&self) -> Infallible {
        let pause = (self.idle / 4).clamp(PAUSE.0, PAUSE.1);
        loop {
            tokio::time::sleep(pause).await;
            self.end_idle(Instant::now());
        }
    }
}

/// Returns the owner of the sessions of a peer: its address. One machine can have all addresses of an IPv6 network of 64
/// bits.
fn owner(peer: Option<IpAddr>) -> Arc<str> {
    const HOST_BITS: u32 = 64;
    match peer.map(|address| address.to_canonical()) {
        Some(IpAddr::V4(address)) => address.to_string().into(),
        Some(IpAddr::V6(address)) => format!("{:x}/64", address.to_bits() >> HOST_BITS).into(),
        None => "".into(),
    }
}

#[cfg(test)]
mod tests {
    use base::data::Data;

    use super::*;

    const IDLE: Duration = Duration::from_secs(30 * 60);

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    fn open(sessions: &McpSessions, peer: &str, now: Instant) -> Result<Arc<ClientSession>, SessionRefusal> {
        sessions.open(ClientSession::new(Data::Nil), address(peer), now)
    }

    #[test]
    fn a_peer_takes_its_share_of_the_sessions_and_no_more() {
        let sessions = McpSessions::new(3, 2, IDLE);
        let now = Instant::now();
        let first = open(&sessions, "192.0.2.1", now).unwrap();
        open(&sessions, "::ffff:192.0.2.1", now).unwrap();
        assert_eq!(open(&sessions, "192.0.2.1", now).err(), Some(SessionRefusal::PeerFull(2)));
        open(&sessions, "192.0.2.2", now).unwrap();
        assert_eq!(open(&sessions, "192.0.2.3", now).err(), Some(SessionRefusal::Full(3)));
        sessions.end(&first);
        assert!(sessions.find(&first.id, now).is_none());
        open(&sessions, "192.0.2.1", now).unwrap();
    }

    #[test]
    fn the_addresses_of_one_machine_are_one_peer() {
        let of = |text| owner(address(text));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }

    #[test]
    fn a_session_without_requests_ends_after_its_time() {
        let sessions = McpSessions::new(2, 1, IDLE);
        let begin = Instant::now();
        let at = |minute: u64| begin + Duration::from_secs(60 * minute);
        let session = open(&sessions, "192.0.2.1", begin).unwrap();
        assert!(sessions.find(&session.id, at(29)).is_some());
        // A request that runs keeps it.
        let work = session.begin_work();
        sessions.end_idle(at(200));
        assert!(sessions.find(&session.id, at(300)).is_some());
        sessions.end_idle(at(400));
        drop(work);
        assert!(sessions.find(&session.id, at(429)).is_some());
        assert!(sessions.find(&session.id, at(459)).is_none(), "its time is over");
        // It also ends, and frees its place, if no request asks for it.
        let session = open(&sessions, "192.0.2.1", at(460)).unwrap();
        assert!(open(&sessions, "192.0.2.1", at(489)).is_err());
        sessions.end_idle(at(490));
        assert!(sessions.lock().is_empty());
        assert!(open(&sessions, "192.0.2.1", at(490)).is_ok());
        assert!(sessions.find(&session.id, at(490)).is_none());
    }
}
