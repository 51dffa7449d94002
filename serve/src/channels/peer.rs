//! [`ChannelPeer`]: the channels, as sessions see them.

use std::sync::Arc;

use stdlib::ChannelHost;

use super::OrphanPolicy;
use super::core::ChannelCore;
use super::in_process::InProcessChannels;
use super::incoming_tasks::IncomingTasks;
use crate::gateway::{FrameOrigin, live_event};
use crate::host::{Peer, PermissionQuestion, SessionEvent, Verdict, Waiting};

/// The channels, as sessions see them. A session never waits for a connection.
pub(super) struct ChannelPeer {
    pub(super) core: Arc<ChannelCore>,
    /// The channels of scripts.
    pub(super) in_process: Arc<InProcessChannels>,
    /// The tasks of peer agents, which get the events of their sessions too.
    pub(super) tasks: Option<Arc<IncomingTasks>>,
}

impl Peer for ChannelPeer {
    fn show(&self, session_id: &Arc<str>, event: SessionEvent) {
        if let Some(tasks) = &self.tasks {
            tasks.sessions.show(session_id, event.clone());
        }
        let fan_out = &self.core.gateway.fan_out;
        let (r#type, payload) = match &event {
            SessionEvent::Text { message_id, text } => {
                let offset = fan_out.extend_live(session_id, message_id, false, text);
                live_event::piece(message_id, false, offset, text)
            }
            SessionEvent::Thought { message_id, text } => {
                let offset = fan_out.extend_live(session_id, message_id, true, text);
                live_event::piece(message_id, true, offset, text)
            }
            // The log has the others.
            other => match live_event::content(other) {
                Some(content) => content,
                None => return,
            },
        };
        fan_out.push_live(session_id, || {
            live_event::frame(session_id, r#type, payload, FrameOrigin::Live(Arc::new(event)))
        });
    }

    fn room(&self, session_id: &Arc<str>) -> Waiting<()> {
        match self.core.orphan {
            OrphanPolicy::Pause => Box::pin(self.core.gateway.fan_out.clone().attended(session_id.clone())),
            OrphanPolicy::Continue | OrphanPolicy::Cancel => Box::pin(std::future::ready(())),
        }
    }

    fn permit(&self, mut question: PermissionQuestion) -> Waiting<Verdict> {
        // The session knows only the channels of actions, and a peer agent's task is prompted without one.
        if let Some(speaker) = self.tasks.as_ref().and_then(|tasks| tasks.speaker(&question.session_id)) {
            question.requested_by = speaker.id.clone();
        }
        match self.tasks.as_ref().and_then(|tasks| Some((tasks.clone(), tasks.permit(&question)?))) {
            Some((tasks, (channel, answer))) => {
                let session_id = question.session_id.clone();
                // Another channel may have sent the message with the answer.
                let by = move || tasks.speaker(&session_id).unwrap_or(channel);
                self.core.gateway.permissions.ask_beside(question, answer, by)
            }
            None => self.core.gateway.permissions.ask(question),
        }
    }

    fn records_decisions(&self) -> bool {
        true
    }

    fn limited_account(&self, session_id: &str) -> Option<Arc<str>> {
        self.core.gateway.accounts.open(session_id)
    }

    fn is_attended(&self, session_id: &str) -> bool {
        self.core.gateway.fan_out.readers(session_id) > 0
    }

    fn channels(&self) -> Option<Arc<dyn ChannelHost>> {
        Some(self.in_process.clone())
    }

    fn owner(&self, session_id: &str, _is_new: bool) -> Option<Arc<str>> {
        self.core.gateway.accounts.of(session_id)
    }

    fn over(&self, session_id: &Arc<str>) {
        self.core.gateway.fan_out.over(session_id);
        self.core.gateway.accounts.over(session_id);
    }
}
