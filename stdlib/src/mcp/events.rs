//! Reminders as events: in the form of the protocol without sessions a server cannot send them by itself, so occurrences of
//! its event type `reminder` (the extension of SEP-3415) are polled while loops use the server, and after each call of a tool,
//! so that what the tool reminded of is in the next prompt.

use super::servers::McpServer;
use base::data::Data;
use mcp::McpErrorKind;
use std::collections::VecDeque;
use std::rc::Weak;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The event type of reminders.
const EVENT_TYPE: &str = "reminder";
/// The pause between two polls if the server does not name one, and the shortest and the longest.
const PAUSE: Duration = Duration::from_secs(5);
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(60);
/// The time that a call waits for the reminders of its tool.
const WAIT: Duration = Duration::from_secs(2);
/// The number of events in one answer.
const MAX_EVENTS: i64 = 50;
/// The number of ids that are remembered: an event may be delivered again.
const MAX_KNOWN: usize = 256;

/// The state of a subscription.
#[derive(Default)]
pub(super) struct EventCursor {
    /// The position after the last event; nil begins now.
    cursor: Data,
    known: VecDeque<Arc<str>>,
    /// Whether the server said that it has no reminders.
    is_refused: bool,
}

/// Polls the reminders of a server until it is gone, or says that it has none.
pub(super) async fn poll(server: Weak<McpServer>) {
    loop {
        let pause = match server.upgrade() {
            None => return,
            // A server that ended is started by the next call of a tool, not by this.
            Some(server) if !server.client.is_connected() => PAUSE,
            Some(server) => match server.events.lock().await.next(&server).await {
                Some(pause) => pause,
                None => return,
            },
        };
        sleep(pause).await;
    }
}

/// Sets the position before a call, so that the reminders of its tool come after it.
pub(super) async fn begin(server: &McpServer) {
    let begin = async {
        let mut position = server.events.lock().await;
        if position.cursor.is_nil() {
            position.next(server).await;
        }
    };
    let _ = timeout(WAIT, begin).await;
}

/// Takes the reminders of a call that has ended. What comes later, or takes longer, is polled.
pub(super) async fn catch_up(server: &McpServer) {
    let _ = timeout(WAIT, async { server.events.lock().await.next(server).await }).await;
}

impl EventCursor {
    /// Takes the next events, and returns the pause before the next poll.
    async fn next(&mut self, server: &McpServer) -> Option<Duration> {
        if self.is_refused {
            return None;
        }
        let params = Data::dict_of_present([
            ("name", Data::from(EVENT_TYPE)),
            ("arguments", Data::empty_dict()),
            ("cursor", self.cursor.clone()),
            ("maxEvents", MAX_EVENTS.into()),
        ]);
        let result = match server.client.ask("events/poll", params).await {
            Ok(result) => result,
            Err(error) if error.kind == McpErrorKind::Answer => {
                tracing::debug!(server = &*server.spec.name, "no reminders as events: {error}");
                self.is_refused = true;
                return None;
            }
            Err(_) => return Some(LONGEST),
        };
        for event in result.get("events").as_list().unwrap_or_default() {
            if self.is_new(event) {
                server.remind(event.get("data"));
            }
        }
        if !result.get("cursor").is_nil() {
            self.cursor = result.get("cursor").clone();
        }
        if result.get("hasMore").truthy() {
            return Some(SHORTEST);
        }
        let wanted = result.get("nextPollMs").as_int().and_then(|ms| u64::try_from(ms).ok());
        Some(wanted.map_or(PAUSE, Duration::from_millis).clamp(SHORTEST, LONGEST))
    }

    fn is_new(&mut self, event: &Data) -> bool {
        let Some(id) = event.get("eventId").as_shared_str() else { return true };
        if self.known.contains(&id) {
            return false;
        }
        if self.known.len() >= MAX_KNOWN {
            self.known.pop_front();
        }
        self.known.push_back(id);
        true
    }
}
