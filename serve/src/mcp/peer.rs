//! [`McpPeer`]: passes what running calls show to their clients.

use std::collections::HashMap;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::data::Data;
use mcp::Era;
use runtime::reminder::Surface;
use runtime::reminder::bridge::RemindPayload;

use super::client::{McpClient, SCRIPT_LEVEL};
use super::reminders::{NOTIFICATION, ReminderEvents};
use crate::clock::now_ms;
use crate::host::{Peer, PermissionQuestion, SessionEvent, Verdict, Waiting};
use crate::wire::reminder_params;

/// The client side of all calls.
pub(super) struct McpPeer {
    calls: Mutex<HashMap<Arc<str>, Arc<CallFeed>>>,
    pub(super) events: ReminderEvents,
}

impl McpPeer {
    pub(super) fn new() -> McpPeer {
        McpPeer { calls: Mutex::default(), events: ReminderEvents::new() }
    }

    /// Locks the calls. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<CallFeed>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to pass on what a session shows.
    pub(super) fn follow(&self, session_id: Arc<str>, feed: Arc<CallFeed>) {
        self.lock().insert(session_id, feed);
    }

    /// Stops to pass on what a session shows.
    pub(super) fn forget(&self, session_id: &str) {
        self.lock().remove(session_id);
    }

    fn feed(&self, session_id: &str) -> Option<Arc<CallFeed>> {
        self.lock().get(session_id).cloned()
    }
}

impl Peer for McpPeer {
    fn show(&self, session_id: &Arc<str>, event: SessionEvent) {
        let Some(feed) = self.feed(session_id) else { return };
        match event {
            SessionEvent::Status { text, partial, .. } => {
                feed.progress(text, partial.get("completed_portion").as_float());
            }
            SessionEvent::Log(text) => feed.log(&text),
            SessionEvent::Remind(payload) => {
                self.events.add(&payload, now_ms());
                feed.remind(&payload);
            }
            // A result contains the rest, or it is not for clients.
            _ => {}
        }
    }

    fn room(&self, session_id: &Arc<str>) -> Waiting<()> {
        match self.feed(session_id) {
            Some(feed) => Box::pin(async move { feed.client().outbox.room().await }),
            None => Box::pin(ready(())),
        }
    }

    fn permit(&self, _: PermissionQuestion) -> Waiting<Verdict> {
        Box::pin(ready(Verdict::Unusable("MCP clients cannot approve calls of tools; see `--mode`".into())))
    }
}

/// The notifications of a call to its client.
pub(super) struct CallFeed {
    /// The client of the request that the call runs for now.
    client: Mutex<McpClient>,
    shown: Mutex<ShownProgress>,
}

/// The progress that was shown last.
#[derive(Default)]
struct ShownProgress {
    status: Option<Arc<str>>,
    last: f64,
    /// Whether the script says which portion of the work is done.
    has_portion: bool,
}

/// The difference between two reports if the script does not say how far it is: each must be larger than the last.
const STEP: f64 = 1e-6;

impl CallFeed {
    pub(super) fn new(client: McpClient) -> CallFeed {
        CallFeed { client: Mutex::new(client), shown: Mutex::default() }
    }

    /// Returns the client of the request that the call runs for now.
    pub(super) fn client(&self) -> McpClient {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Continues the call for another request.
    pub(super) fn attach(&self, client: McpClient) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = client;
    }

    /// Locks the progress. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, ShownProgress> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last status of the call.
    pub(super) fn status(&self) -> Option<Arc<str>> {
        self.lock().status.clone()
    }

    fn progress(&self, text: Arc<str>, portion: Option<f64>) {
        let (progress, total) = self.lock().next(text.clone(), portion);
        let client = self.client();
        if client.progress_token.is_nil() {
            return;
        }
        let params = Data::dict_of_present([
            ("progressToken", client.progress_token.clone()),
            ("progress", progress.into()),
            ("total", total.map_or(Data::Nil, Data::from)),
            ("message", text.into()),
        ]);
        // A report that finds no room is followed by others.
        let _ = client.outbox.notify("notifications/progress", params);
    }

    fn log(&self, text: &str) {
        let client = self.client();
        if client.wants_log() {
            let params = [("level", Data::from(SCRIPT_LEVEL)), ("logger", "script".into()), ("data", text.into())];
            let _ = client.outbox.notify("notifications/message", Data::dict(params));
        }
    }

    /// Sends a reminder to a client that takes notifications; other clients read events.
    fn remind(&self, payload: &RemindPayload) {
        let client = self.client();
        if client.era != Era::Sessions || !client.takes_reminders() {
            return;
        }
        if let Err(unsent) = client.outbox.notify(NOTIFICATION, reminder_params(payload, Surface::Mcp))
            && let Some(session) = &client.session
        {
            session.keep(unsent);
        }
    }
}

impl ShownProgress {
    /// Returns the next progress and the total, if that is known. Progress only grows.
    fn next(&mut self, status: Arc<str>, portion: Option<f64>) -> (f64, Option<f64>) {
        self.status = Some(status);
        self.has_portion |= portion.is_some();
        self.last = match portion {
            Some(portion) if portion > self.last => portion,
            _ if self.has_portion => self.last + STEP,
            _ => self.last + 1.0,
        };
        (self.last, self.has_portion.then_some(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_only_grows() {
        let mut shown = ShownProgress::default();
        let mut next = |portion| shown.next("s".into(), portion);
        assert_eq!(next(Some(0.25)), (0.25, Some(1.0)));
        let (same, _) = next(Some(0.25));
        let (without, _) = next(None);
        assert!(0.25 < same && same < without && without < 0.26);
        assert_eq!(next(Some(0.5)), (0.5, Some(1.0)));
        let mut counted = ShownProgress::default();
        assert_eq!([counted.next("a".into(), None), counted.next("b".into(), None)], [(1.0, None), (2.0, None)]);
    }
}
