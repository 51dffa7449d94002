//! Asks peers about the tasks that no running script follows.
//!
//! A script that gives a task to a peer and ends its turn does not learn of the end, and neither does a script whose process
//! was killed. So each unfinished task is asked for again and again: soon after a change, then less often.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use a2a::peer_task::{PeerTaskDirection, PeerTaskState, UnavailableCause};
use base::data::Data;
use eventlog::{NewRecord, RUN_ID};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::time::Instant;

use super::PeerTaskLink;
use super::daemon::ChannelDaemon;
use crate::a2a::now_ms;

/// The first pause between two requests about a task, and the pause between two looks at the tasks.
const FIRST: Duration = Duration::from_secs(1);

/// The requests about a task.
#[derive(Debug, Clone, PartialEq)]
struct TaskPolls {
    /// The task as it was known when the pause was set.
    known: PeerTaskLink,
    pause: Duration,
    next: Instant,
}

/// The requests about all unfinished tasks.
#[derive(Debug)]
struct PeerPolls {
    tasks: HashMap<Arc<str>, TaskPolls>,
    longest: Duration,
    /// Whether the tasks are those that an earlier process has left.
    is_first: bool,
}

impl PeerPolls {
    fn new(longest: Duration) -> PeerPolls {
        PeerPolls { tasks: HashMap::new(), longest: longest.max(FIRST), is_first: true }
    }

    /// Returns the tasks that are due, of all that are unfinished.
    fn due(&mut self, unfinished: Vec<PeerTaskLink>, now: Instant) -> Vec<PeerTaskLink> {
        let mut tasks = std::mem::take(&mut self.tasks);
        let is_first = std::mem::replace(&mut self.is_first, false);
        let (mut due, longest) = (Vec::new(), self.longest);
        for link in unfinished {
            let polls = match tasks.remove(&link.task_id) {
                Some(polls) if polls.known != link || now >= polls.next => {
                    let is_known = polls.known == link;
                    if is_known {
                        due.push(link.clone());
                    }
                    let pause = if is_known { (polls.pause * 2).min(longest) } else { FIRST };
                    TaskPolls { next: now + pause, pause, known: link }
                }
                Some(polls) => polls,
                None => {
                    if is_first {
                        due.push(link.clone());
                    }
                    TaskPolls { next: now + FIRST, pause: FIRST, known: link }
                }
            };
            self.tasks.insert(polls.known.task_id.clone(), polls);
        }
        due
    }
}

/// The peers that are being asked, each at most once at a time: one that does not answer delays no other.
struct AskedPeers<F> {
    peers: HashSet<Option<Arc<str>>>,
    requests: FuturesUnordered<F>,
}

impl<F: Future<Output = Option<Arc<str>>>> AskedPeers<F> {
    fn new() -> AskedPeers<F> {
        AskedPeers { peers: HashSet::new(), requests: FuturesUnordered::new() }
    }

    /// Asks a peer, unless it is being asked. The request returns the peer.
    fn ask(&mut self, peer: &Option<Arc<str>>, request: impl FnOnce() -> F) {
        if self.peers.insert(peer.clone()) {
            self.requests.push(request());
        }
    }

    /// Continues the requests for a time.
    async fn wait(&mut self, time: Duration) {
        let mut end = std::pin::pin!(tokio::time::sleep(time));
        loop {
            tokio::select! {
                () = &mut end => return,
                Some(peer) = self.requests.next() => {
                    self.peers.remove(&peer);
                }
            }
        }
    }
}

/// Asks peers about unfinished tasks, first about those that an earlier process has left. Only waits if the script may not
/// use the network.
pub(super) async fn poll_peers(daemon: &Arc<ChannelDaemon>, may_ask: bool) -> Infallible {
    if !may_ask {
        return std::future::pending().await;
    }
    let core = daemon.core();
    let mut polls = PeerPolls::new(daemon.limits.heartbeat * 3);
    let mut asked = AskedPeers::new();
    loop {
        let is_first = polls.is_first;
        let unfinished = core.unfinished_links().into_iter();
        let outgoing =
            unfinished.filter(|link| link.direction == PeerTaskDirection::Outgoing && !is_followed(daemon, link));
        let mut by_peer: HashMap<Option<Arc<str>>, Vec<PeerTaskLink>> = HashMap::new();
        for link in polls.due(outgoing.collect(), Instant::now()) {
            by_peer.entry(link.agent_card_ref.clone()).or_default().push(link);
        }
        for (peer, links) in by_peer {
            asked.ask(&peer.clone(), || async move {
                ask(daemon, links, is_first).await;
                peer
            });
        }
        asked.wait(FIRST).await;
    }
}

/// Returns whether a script follows the task: it reports what becomes of it.
fn is_followed(daemon: &ChannelDaemon, link: &PeerTaskLink) -> bool {
    link.session_id.as_ref().is_some_and(|id| daemon.gateway.host.session(id).is_ok_and(|session| session.is_busy()))
}

/// Asks a peer about its tasks, and records what has changed.
async fn ask(daemon: &ChannelDaemon, links: Vec<PeerTaskLink>, is_first: bool) {
    let core = daemon.core();
    let asked: HashMap<Arc<str>, PeerTaskLink> =
        links.iter().map(|link| (link.task_id.clone(), link.clone())).collect();
    let is_news = |link: &PeerTaskLink| {
        // The script may have been faster, and only it has credentials.
        let is_current = core.unfinished_links().iter().any(|known| asked.get(&link.task_id) == Some(known));
        let needs_credentials =
            link.state == PeerTaskState::Unavailable && link.cause == Some(UnavailableCause::Auth) && !is_first;
        is_current && !is_followed(daemon, link) && !needs_credentials
    };
    // All records about a task are written, or none.
    let written = RefCell::new(HashMap::new());
    let append = |link: &PeerTaskLink, record: NewRecord| {
        if !*written.borrow_mut().entry(link.task_id.clone()).or_insert_with(|| is_news(link)) {
            return;
        }
        let run = link.session_id.as_ref().map_or(Data::Nil, |id| Data::dict([(RUN_ID, Data::from(id))]));
        core.gateway.log.put(NewRecord { headers: run, ..record });
    };
    stdlib::reconcile_peer_tasks(links, now_ms, append).await;
}

#[cfg(test)]
mod tests {
    use a2a::TaskState;

    use super::*;

    fn link(task_id: &str, native_status: TaskState) -> PeerTaskLink {
        PeerTaskLink {
            task_id: task_id.into(),
            parent_task_id: None,
            direction: PeerTaskDirection::Outgoing,
            session_id: Some("sess_1".into()),
            channel_id: None,
            remote_task_id: "remote-1".into(),
            remote_context_id: None,
            agent_card_ref: Some("https://peer.example/".into()),
            native_status,
            artifact_refs: Vec::new(),
            state: PeerTaskState::Running,
            cause: None,
        }
    }

    /// Returns the seconds of 100 at which a task is asked for. It changes at some of them.
    fn asked(polls: &mut PeerPolls, begin: Instant, changes: &[u64]) -> Vec<u64> {
        let mut state = TaskState::Submitted;
        let is_due = |second: u64| {
            if changes.contains(&second) {
                state = TaskState::Working;
            }
            !polls.due(vec![link("a", state)], begin + Duration::from_secs(second)).is_empty()
        };
        (0..100)
            .filter({
                let mut is_due = is_due;
                move |second| is_due(*second)
            })
            .collect()
    }

    #[test]
    fn a_task_is_asked_for_soon_and_then_less_often() {
        let longest = Duration::from_secs(20);
        let mut polls = PeerPolls::new(longest);
        // That of an earlier process at once.
        assert_eq!(asked(&mut polls, Instant::now(), &[]), [0, 1, 3, 7, 15, 31, 51, 71, 91]);
        let mut polls = PeerPolls::new(longest);
        let begin = Instant::now();
        assert!(polls.due(Vec::new(), begin).is_empty());
        assert_eq!(asked(&mut polls, begin, &[40]), [1, 3, 7, 15, 31, 41, 43, 47, 55, 71, 91]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_does_not_answer_delays_no_other() {
        let (silent, answering): (Option<Arc<str>>, Option<Arc<str>>) =
            (Some("silent".into()), Some("answering".into()));
        let requests = RefCell::new(Vec::new());
        let mut asked = AskedPeers::new();
        for _ in 0..3 {
            for peer in [&silent, &answering] {
                asked.ask(peer, || {
                    requests.borrow_mut().push(peer.clone());
                    let peer = peer.clone();
                    async move {
                        if peer.as_deref() == Some("silent") {
                            std::future::pending::<()>().await;
                        }
                        peer
                    }
                });
            }
            asked.wait(FIRST).await;
        }
        assert_eq!(*requests.borrow(), [silent, answering.clone(), answering.clone(), answering]);
    }

    #[test]
    fn a_task_that_is_over_or_followed_by_its_script_is_forgotten() {
        let mut polls = PeerPolls::new(FIRST);
        let begin = Instant::now();
        let both = vec![link("a", TaskState::Working), link("b", TaskState::Working)];
        assert_eq!(polls.due(both.clone(), begin).len(), 2);
        assert!(polls.due(both[..1].to_vec(), begin).is_empty());
        assert_eq!(polls.tasks.len(), 1);
        assert!(polls.due(both, begin).is_empty());
    }
}
