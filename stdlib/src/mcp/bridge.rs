//! [`ReminderBridge`]: reminders that a server sends become bridge injections of the sessions that use it.

use super::spec::ReminderPolicy;
use crate::catalogue::to_core;
use crate::codes::McpCode;
use crate::world::World;
use base::clock::Clock;
use base::codes::Severity;
use base::data::Data;
use mcp::Listener;
use runtime::note::Note;
use runtime::reminder::bridge::RemindPayload;
use runtime::session::Session;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use tokio::task::{AbortHandle, JoinHandle};

/// The notification of a reminder.
const NOTIFICATION: &str = "notifications/reminder";
/// The length of the window in which reminders are counted, in milliseconds.
const MINUTE_MS: u64 = 60_000;
/// The largest body of a reminder, in bytes.
const MAX_BODY: usize = 8 << 10;
/// Keys that only the session itself may set.
const NOT_FROM_SERVERS: [&str; 3] = ["session_id", "sessionId", "_meta"];

/// Receives the notifications of a server.
pub(super) struct ReminderBridge {
    world: Weak<World>,
    name: Arc<str>,
    policy: ReminderPolicy,
    /// The sessions whose loops use the server now.
    sessions: RefCell<Vec<Weak<Session>>>,
    window: Cell<Window>,
    /// The task that polls reminders, while a session uses the server.
    poller: RefCell<Option<AbortHandle>>,
}

/// The reminders of the current minute.
#[derive(Clone, Copy, Default)]
struct Window {
    began_ms: u64,
    count: u32,
}

/// The use of a server by a session, until this is dropped.
pub(crate) struct UseGuard {
    bridge: Rc<ReminderBridge>,
    session: Weak<Session>,
}

impl Drop for UseGuard {
    fn drop(&mut self) {
        let mut sessions = self.bridge.sessions.borrow_mut();
        if let Some(at) = sessions.iter().position(|session| Weak::ptr_eq(session, &self.session)) {
            sessions.swap_remove(at);
        }
        if sessions.is_empty()
            && let Some(poller) = self.bridge.poller.borrow_mut().take()
        {
            poller.abort();
        }
    }
}

impl ReminderBridge {
    pub(super) fn new(world: &Rc<World>, name: Arc<str>, policy: ReminderPolicy) -> ReminderBridge {
        let (sessions, window, poller) = Default::default();
        ReminderBridge { world: Rc::downgrade(world), name, policy, sessions, window, poller }
    }

    /// Sends the server's reminders to a session until the guard is dropped.
    pub(super) fn used_by(self: &Rc<Self>, session: &Rc<Session>) -> UseGuard {
        self.sessions.borrow_mut().push(Rc::downgrade(session));
        UseGuard { bridge: self.clone(), session: Rc::downgrade(session) }
    }

    /// Returns whether a loop uses the server now.
    pub(super) fn is_used(&self) -> bool {
        !self.sessions.borrow().is_empty()
    }

    /// Returns whether reminders are polled.
    pub(super) fn is_polled(&self) -> bool {
        self.poller.borrow().is_some()
    }

    /// Sets the task that polls reminders. It ends when no session uses the server.
    pub(super) fn polled_by(&self, poller: &JoinHandle<()>) {
        *self.poller.borrow_mut() = Some(poller.abort_handle());
    }

    /// Takes a reminder of the server, whatever the form in which it came.
    pub(super) fn remind(&self, params: &Data) {
        let Some(world) = self.world.upgrade() else { return };
        if !self.policy.enabled {
            tracing::debug!(server = &*self.name, "a reminder was dropped: `reminders` is not set for this MCP server");
            return;
        }
        let warn = |why: &str| {
            world.console.show(&Note {
                code: Some(to_core(McpCode::Reminder.code())),
                severity: Severity::Warning,
                message: format!("a reminder of the MCP server `{}` was dropped: {why}", self.name),
                about: Some(format!("mcp:{}", self.name).into()),
                fault: None,
            });
        };
        match self.counted(world.clock.now_ms()) {
            count if count <= self.policy.per_minute => {}
            // One warning for each minute.
            count if count == self.policy.per_minute + 1 => {
                return warn(&format!("it sent more than {} in a minute", self.policy.per_minute));
            }
            _ => return,
        }
        let payload = match RemindPayload::from_data(&self.checked(params)) {
            Ok(payload) if params.get("body").as_str().is_some_and(|body| body.len() > MAX_BODY) => {
                drop(payload);
                return warn(&format!("its body has more than {} KiB", MAX_BODY >> 10));
            }
            Ok(payload) => payload,
            Err(error) => return warn(&error.message),
        };
        let sessions: Vec<Rc<Session>> = self.sessions.borrow().iter().filter_map(Weak::upgrade).collect();
        let scope = world.scope();
        for session in sessions {
            if let Err(error) = session.accept_reminder(&scope, payload.clone()) {
                warn(&error.to_string());
            }
        }
    }

    fn counted(&self, now_ms: u64) -> u32 {
        let mut window = self.window.get();
        if now_ms.saturating_sub(window.began_ms) >= MINUTE_MS {
            window = Window { began_ms: now_ms, count: 0 };
        }
        window.count = window.count.saturating_add(1);
        self.window.set(window);
        window.count
    }

    /// Returns the parameters with the tag of the server, without what a server may not set.
    fn checked(&self, params: &Data) -> Data {
        let mut checked = Data::empty_dict();
        for (key, value) in params.as_dict().into_iter().flat_map(base::data::Entries::iter) {
            if !NOT_FROM_SERVERS.contains(&&**key) {
                checked.set(key.clone(), value.clone());
            }
        }
        for key in ["role_hint", "roleHint"] {
            if checked.get(key).as_str() == Some("developer") && !self.policy.allow_developer {
                checked.set(key, "system".into());
            }
        }
        if let tags @ (Data::Nil | Data::List(_)) = checked.get("tags") {
            let own = Data::from(format!("mcp:{}", self.name));
            let tags = tags.as_list().unwrap_or_default().iter().filter(|tag| **tag != own).cloned();
            checked.set("tags", Data::list(tags.chain([own.clone()]).collect::<Vec<_>>()));
        }
        checked
    }
}

impl Listener for ReminderBridge {
    fn notified(&self, method: &str, params: &Data) {
        match method {
            NOTIFICATION => self.remind(params),
            other => tracing::debug!(server = &*self.name, method = other, "a notification of an MCP server"),
        }
    }
}
