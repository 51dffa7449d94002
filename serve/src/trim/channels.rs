//! [`ChannelFacts`]: the records of channels that are needed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use a2a::peer_task::PeerTaskDirection;
use eventlog::Record;

use crate::channels::PeerTaskLink;
use crate::gateway::{ActionKind, ActionLedger, ChannelEventKind, ChannelRecordKind};
use crate::host::ActionKey;

/// The facts about the records of channels.
#[derive(Default)]
pub(super) struct ChannelFacts {
    /// The actions that a daemon knows when it starts.
    ledger: ActionLedger,
    /// The links of tasks, by the ids of the local tasks.
    links: HashMap<Arc<str>, LinkFacts>,
    pub(super) enrolled: u64,
}

/// A link between a local task and a peer's task.
struct LinkFacts {
    link: PeerTaskLink,
    is_old: bool,
}

impl LinkFacts {
    /// Returns the run of the local task that a peer agent sent.
    fn task_run(&self) -> Option<std::borrow::Cow<'_, str>> {
        let is_incoming = self.link.direction == PeerTaskDirection::Incoming;
        is_incoming.then(|| crate::a2a::store::run_of(&self.link.remote_task_id))
    }
}

impl ChannelFacts {
    /// Takes the next record about channels.
    pub(super) fn take(&mut self, kind: ChannelRecordKind, record: &Record, is_old: bool) {
        match kind {
            ChannelRecordKind::Enrolled => self.enrolled += 1,
            ChannelRecordKind::Action | ChannelRecordKind::Result => self.ledger.take(record),
            ChannelRecordKind::Link => {
                if let Ok(link) = PeerTaskLink::from_data(&record.payload) {
                    self.links.insert(link.task_id.clone(), LinkFacts { link, is_old });
                }
            }
            _ => {}
        }
    }

    /// Returns the sessions of unfinished actions and unfinished tasks of peers.
    pub(super) fn needed_sessions(&self) -> HashSet<Arc<str>> {
        let actions = self.ledger.unfinished().into_iter().filter_map(|(_, kind, open)| {
            // An opening that did not happen has no session.
            (kind != ActionKind::Open).then(|| open.session.clone())?
        });
        let open = self.links.values().filter(|it| !it.link.state.is_finished());
        actions.chain(open.filter_map(|it| it.link.session_id.clone())).collect()
    }

    /// Forgets the links that are not needed: their tasks are finished, and neither the session nor the task of a link has
    /// records that stay.
    pub(super) fn keep_links(&mut self, stays: impl Fn(&str) -> bool) {
        self.links.retain(|_, it| {
            let session_stays = || it.link.session_id.as_deref().is_some_and(&stays);
            let task_stays = || it.task_run().is_some_and(|run| stays(&run));
            !it.link.state.is_finished() || !it.is_old || session_stays() || task_stays()
        });
    }

    /// Returns the number of links that stay.
    pub(super) fn links(&self) -> u64 {
        self.links.len() as u64
    }

    /// Returns whether an old record is needed. `has_session` says whether the record's session stays, if it has one.
    pub(super) fn needs(&self, kind: ChannelRecordKind, record: &Record, has_session: bool) -> bool {
        let text = |key: &str| record.payload.get(key).as_shared_str();
        match kind {
            // Who may do what.
            ChannelRecordKind::Enrolled | ChannelRecordKind::Revoked => true,
            // An action is executed once. One on a session that is gone is refused, except its opening.
            ChannelRecordKind::Action | ChannelRecordKind::Result => {
                let entry = ActionKey::named(&record.payload).and_then(|key| self.ledger.get(&key));
                entry.is_some_and(|entry| has_session || entry.kind == ActionKind::Open)
            }
            ChannelRecordKind::Link | ChannelRecordKind::Artifact => {
                text("task_id").is_none_or(|task_id| self.links.contains_key(&task_id))
            }
            ChannelRecordKind::Event => {
                let event = record.payload.get("event").as_str().and_then(|word| word.parse().ok());
                let is_passing = matches!(
                    event,
                    Some(ChannelEventKind::Connected | ChannelEventKind::Disconnected | ChannelEventKind::Resumed)
                );
                has_session && !is_passing
            }
            ChannelRecordKind::Permission => has_session,
            ChannelRecordKind::Refused
            | ChannelRecordKind::Identity
            | ChannelRecordKind::Connections
            | ChannelRecordKind::Ack => false,
        }
    }
}
