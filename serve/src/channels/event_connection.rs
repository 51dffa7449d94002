//! [`EventConnection`]: a connection of a channel to the events of a session, for transports that send frames as they are.

use std::sync::Arc;
use std::time::Duration;

use base::data::Data;
use base::failures::{FailedOperation, report};

use super::connection::ChannelConnection;
use super::daemon::ChannelDaemon;
use super::{ActionError, Caller, ChannelScope, ChannelTransport, DisconnectReason, EventType};
use crate::gateway::{ChannelFrame, EventReader, FeedLag, FrameOrigin, ReadEvents};
use crate::when_woken::WhenWoken;

/// A connection of a channel to the events of a session.
pub(super) struct EventConnection {
    session_id: Arc<str>,
    pub(super) connection: ChannelConnection,
    reader: EventReader,
    heartbeat: Duration,
    /// Ready when the connection must show that it is alive.
    pulse: WhenWoken<()>,
    is_over: bool,
}

/// The next events of a connection.
pub(super) enum NextEvents {
    /// These events.
    Frames(Vec<Arc<ChannelFrame>>),
    /// The last event, which says why the connection ends.
    Last(Arc<ChannelFrame>),
    /// The connection must show that it is alive.
    Pulse,
}

impl ChannelDaemon {
    /// Connects a channel to the events of a session, after a cursor or from a snapshot.
    ///
    /// # Errors
    /// The channel may not see events, or does not reach the session. The caller records the refusal.
    pub(super) async fn connect(
        self: &Arc<ChannelDaemon>,
        channel: &Arc<Caller>,
        session_id: &Arc<str>,
        transport: ChannelTransport,
        after: Option<u64>,
    ) -> Result<EventConnection, ActionError> {
        if !channel.scopes.has(ChannelScope::View) {
            return Err(ActionError::Scope(ChannelScope::View));
        }
        self.gateway.reaches(channel, session_id).await?;
        let connection = ChannelConnection::begin(self, channel, Some(session_id), transport, None, after);
        let reader = self.gateway.events(session_id, after);
        let heartbeat = self.limits.heartbeat;
        let pulse = WhenWoken::new(tokio::time::sleep(heartbeat));
        Ok(EventConnection { session_id: session_id.clone(), connection, reader, heartbeat, pulse, is_over: false })
    }
}

impl EventConnection {
    /// Returns what tells whether it has missed events.
    pub(super) fn lag(&self) -> FeedLag {
        self.reader.lag()
    }

    /// Waits for the next events; `None` after the last one. The caller sets the cursor of what it has sent.
    pub(super) async fn next(&mut self) -> Option<NextEvents> {
        if self.is_over {
            return None;
        }
        let read = tokio::select! {
            biased;
            reason = self.connection.closed() => return Some(NextEvents::Last(self.end(reason))),
            read = self.reader.read() => read,
            () = &mut self.pulse => {
                self.pulse = WhenWoken::new(tokio::time::sleep(self.heartbeat));
                return Some(NextEvents::Pulse);
            }
        };
        Some(match read {
            Ok(ReadEvents::Frames(frames)) => NextEvents::Frames(frames),
            Ok(ReadEvents::Slow) => {
                report(FailedOperation::Delivery, "slow channel", "disconnected a channel: it read too slowly");
                NextEvents::Last(self.end(DisconnectReason::Slow))
            }
            Err(error) => {
                report(
                    FailedOperation::Read,
                    "channel events",
                    format_args!("cannot read the events of a session: {error}"),
                );
                NextEvents::Last(self.end(DisconnectReason::Protocol))
            }
        })
    }

    /// Marks everything that was read as sent.
    pub(super) fn sent_all(&mut self) {
        self.connection.cursor = Some(self.reader.cursor);
    }

    /// Ends the connection. Returns the event that says why, and where the channel can continue.
    pub(super) fn end(&mut self, reason: DisconnectReason) -> Arc<ChannelFrame> {
        self.is_over = true;
        self.connection.reason = reason;
        let payload = Data::dict_of_present([
            ("channelId", Data::from(&self.connection.channel.id)),
            ("reason", reason.as_str().into()),
            ("cursor", self.connection.cursor.into()),
        ]);
        crate::gateway::live_event::frame(
            &self.session_id,
            EventType::ChannelDisconnected,
            payload,
            FrameOrigin::Stream,
        )
    }
}
