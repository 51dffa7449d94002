//! [`ChannelPeer`]: the channels, as sessions see them.

use std::sync::Arc;

use super::OrphanPolicy;
use super::core::ChannelCore;
use super::feed::FrameOrigin;
use super::live_event;
use crate::host::{Peer, PermissionQuestion, SessionEvent, Verdict, Waiting};

/// The channels, as sessions see them. A session never waits for a connection.
pub(super) struct ChannelPeer(pub(super) Arc<ChannelCore>);

impl Peer for ChannelPeer {
    fn show(&self, session_id: &Arc<str>, event: SessionEvent) {
        let fan_out = &self.0.fan_out;
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
        match self.0.orphan {
            OrphanPolicy::Pause => Box::pin(self.0.fan_out.clone().attended(session_id.clone())),
            OrphanPolicy::Continue | OrphanPolicy::Cancel => Box::pin(std::future::ready(())),
        }
    }

    fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict> {
        self.0.permissions.ask(question)
    }

    fn records_decisions(&self) -> bool {
        true
    }

    fn over(&self, session_id: &Arc<str>) {
        self.0.fan_out.over(session_id);
    }
}
