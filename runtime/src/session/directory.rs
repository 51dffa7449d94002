//! The directory of sessions.
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use base::call::{CallError, CallErrorKind};
use base::data::Data;
use base::ids::{IdStream, Ids, SharedIds, shortened};

use crate::lifecycle::{self, DiscardReason, ReminderOrigin};
use crate::message::{Message, MessageError};
use crate::reminder::bridge::InjectionPayload;
use crate::reminder::policy::PolicyRefusal;
use crate::reminder::{Reminder, ReminderError};
use crate::scope::Scope;
use crate::transcript::Transcript;

use super::Session;
use super::inbox::DeliveredAt;

/// An error of the session directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The session id is unknown.
    #[error("unknown session id '{0}'")]
    Unknown(Arc<str>),
    /// The session id exists already.
    #[error("a session with the id '{0}' already exists")]
    Exists(Arc<str>),
    /// A loop is running in it.
    #[error("the session '{0}' is already used by another loop")]
    Busy(Arc<str>),
    /// The value is not a workspace anchor.
    #[error("a workspace anchor must be {{primary, additional_roots?: [{{path, mount_mode?}}]}}; {0}")]
    Anchor(String),
    /// The value is not a message.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The value is not a reminder.
    #[error("{}", .0.message)]
    Reminder(#[from] ReminderError),
    /// The policy refuses the reminder.
    #[error("the reminder was {0}")]
    Policy(#[from] PolicyRefusal),
}

impl CallError for SessionError {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Invalid
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// All sessions of a worker.
pub struct Sessions {
    open: RefCell<BTreeMap<Arc<str>, Rc<Session>>>,
    seed: u64,
    ids: SharedIds,
}

impl Sessions {
    /// Creates an empty directory. All ids are derived from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Sessions {
        Sessions { open: RefCell::default(), seed, ids: SharedIds::new(IdStream::new(seed, "sessions")) }
    }

    /// Returns the session with this id, opened if necessary; without an id a new one.
    pub fn open(&self, id: Option<&str>, now_ms: u64) -> Rc<Session> {
        let id: Arc<str> = id.map_or_else(|| self.ids.next_text(now_ms), Arc::from);
        let make = || Session::new(id.clone(), IdStream::new(self.seed, &id), now_ms);
        self.open.borrow_mut().entry(id.clone()).or_insert_with(make).clone()
    }

    /// Opens a session that continues from a transcript: its messages, events and pending reminders are copied.
    pub fn open_with(&self, transcript: Transcript, scope: &Scope) -> Rc<Session> {
        let session = self.open(None, scope.clock.now_ms());
        let mut copy = transcript.renamed(session.id().clone());
        let records = lifecycle::fork(&mut copy);
        session.with(|state| state.transcript = copy);
        session.log_lifecycle(scope, records);
        session
    }

    /// Opens a session that works for `parent`: with the given id (created if necessary), else with one derived from
    /// only the parent and the child's ordinal, so that a run is repeatable whatever runs in parallel. Also returns an
    /// id for the agent that works there.
    pub fn open_child(&self, parent: Option<&Rc<Session>>, id: Option<&str>, now_ms: u64) -> (Rc<Session>, Arc<str>) {
        let mut stream = parent.map_or_else(|| self.ids.child(), |parent| parent.child_ids());
        let worker_id: Arc<str> = stream.draw(now_ms).hyphenated().to_string().into();
        let child = match id {
            Some(id) => self.open(Some(id), now_ms),
            None => {
                let id: Arc<str> = stream.draw(now_ms).hyphenated().to_string().into();
                let child = Session::new(id.clone(), stream, now_ms);
                self.open.borrow_mut().insert(id, child.clone());
                child
            }
        };
        if let Some(parent) = parent {
            adopt(parent, &child);
        }
        (child, worker_id)
    }

    /// Adds a stored session; fails if its id exists.
    pub fn enter(&self, session: &Rc<Session>) -> Result<(), SessionError> {
        if self.exists(session.id()) {
            return Err(SessionError::Exists(session.id().clone()));
        }
        self.open.borrow_mut().insert(session.id().clone(), session.clone());
        Ok(())
    }

    /// Returns whether `id` is this session or one of its ancestors.
    #[must_use]
    pub fn is_at_or_above(&self, id: &str, session: &Session) -> bool {
        let mut at = Some(session.id().clone());
        // The count guards against a loop of names.
        for _ in 0..=self.open.borrow().len() {
            match at {
                Some(here) if here.as_ref() == id => return true,
                Some(here) => {
                    at = self.get(&here).ok().and_then(|session| session.with(|state| state.parent_id.clone()));
                }
                None => return false,
            }
        }
        false
    }

    /// Returns a session outside of the directory, for work on a bare transcript or a single call. A second one with
    /// the same id draws other ids.
    #[must_use]
    pub fn detached(&self, id: &Arc<str>, now_ms: u64) -> Rc<Session> {
        let session = Session::new(id.clone(), self.ids.child(), now_ms);
        session.with(|state| state.is_copy = self.exists(id));
        session
    }

    /// Returns the session with this id.
    pub fn get(&self, id: &str) -> Result<Rc<Session>, SessionError> {
        self.open.borrow().get(id).cloned().ok_or_else(|| SessionError::Unknown(shortened(id)))
    }

    /// Returns whether a session has this id.
    #[must_use]
    pub fn exists(&self, id: &str) -> bool {
        self.open.borrow().contains_key(id)
    }

    /// Returns the ids of all sessions, in bytewise order.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<str>> {
        self.open.borrow().keys().cloned().collect()
    }

    /// Converts a session to the dict that scripts see: the transcript's dict and `length created_at parent_id
    /// child_ids branched_at_event_index workspace_anchor`; nil for an unknown id.
    #[must_use]
    pub fn snapshot(&self, id: &str) -> Data {
        let Ok(session) = self.get(id) else { return Data::Nil };
        session.with(|state| {
            let mut data = state.transcript.to_data();
            data.set("length", state.transcript.messages().len().into());
            data.set("created_at", state.created_at_ms.into());
            data.set("parent_id", state.parent_id.as_ref().into());
            data.set("child_ids", state.child_ids.iter().map(Data::from).collect());
            data.set("branched_at_event_index", state.branched_at_event_index.into());
            data.set("workspace_anchor", state.workspace_anchor.clone());
            data
        })
    }

    /// Returns `{parent_id, child_ids, root_id}`; for an unknown id, all nil or empty.
    #[must_use]
    pub fn ancestry(&self, id: &str) -> Data {
        let parent_of = |id: &str| self.get(id).ok().and_then(|session| session.with(|state| state.parent_id.clone()));
        let children = self.get(id).map(|session| session.with(|state| state.child_ids.clone())).unwrap_or_default();
        let mut root = self.get(id).ok().map(|session| session.id().clone());
        // A parent may be closed by now, so the oldest known one is the root. The count guards against a loop of names.
        for _ in 0..self.open.borrow().len() {
            match root.as_deref().and_then(parent_of) {
                Some(parent) => root = Some(parent),
                None => break,
            }
        }
        Data::dict([
            ("parent_id", parent_of(id).into()),
            ("child_ids", children.iter().map(Data::from).collect()),
            ("root_id", root.into()),
        ])
    }

    /// Sets the workspace of a session: `{primary, additional_roots?: [{path, mount_mode?}]}`, or nil for none.
    pub fn set_workspace_anchor(&self, id: &str, anchor: &Data) -> Result<(), SessionError> {
        let session = self.get(id)?;
        check_anchor(anchor).map_err(SessionError::Anchor)?;
        session.with(|state| state.workspace_anchor = anchor.clone());
        Ok(())
    }

    /// Empties a session; its pending reminders are discarded.
    pub fn reset(&self, id: &str, scope: &Scope) -> Result<(), SessionError> {
        let session = self.get(id)?;
        session.apply(scope, |t, _| lifecycle::reset(t), std::mem::take);
        Ok(())
    }

    /// Ends a session: queued injections are recorded, its pending reminders are discarded.
    pub fn close(&self, id: &str, scope: &Scope) -> Result<(), SessionError> {
        let session = self.get(id)?;
        self.open.borrow_mut().remove(id);
        let at_work = session.with(|state| {
            state.closed = true;
            state.at_work.take()
        });
        if let Some(cancel) = at_work {
            cancel.cancel("the session was closed");
        }
        let queued = session.queue().lock().unwrap_or_else(PoisonError::into_inner).close();
        for item in queued {
            session.audit(scope, item.clone(), session.with(|state| state.turns));
            match item.payload {
                InjectionPayload::Reminder(_) => session.log_expired(scope, &item),
                InjectionPayload::Message(_) => session.log_delivered(scope, &item, DeliveredAt::SessionClose),
            }
        }
        session.discard(scope, DiscardReason::Close);
        Ok(())
    }

    /// Copies a session: messages, events, pending reminders.
    pub fn fork(&self, source: &str, target: Option<&str>, scope: &Scope) -> Result<Rc<Session>, SessionError> {
        let transcript = self.get(source)?.transcript();
        self.branch(source, target, transcript, scope)
    }

    /// Copies the first `keep` messages of a session, with the events before the next.
    pub fn fork_at(
        &self,
        source: &str,
        keep: usize,
        target: Option<&str>,
        scope: &Scope,
    ) -> Result<Rc<Session>, SessionError> {
        let mut transcript = self.get(source)?.transcript();
        transcript.keep_first(keep);
        self.branch(source, target, transcript, scope)
    }

    fn branch(
        &self,
        source: &str,
        target: Option<&str>,
        transcript: Transcript,
        scope: &Scope,
    ) -> Result<Rc<Session>, SessionError> {
        if let Some(taken) = target.filter(|target| self.exists(target)) {
            return Err(SessionError::Exists(taken.into()));
        }
        let parent = self.get(source)?;
        let child = self.open(target, scope.clock.now_ms());
        let (anchor, turns) = parent.with(|state| {
            state.add_child(child.id().clone());
            (state.workspace_anchor.clone(), state.turns)
        });
        let mut copy = transcript.renamed(child.id().clone());
        let records = lifecycle::fork(&mut copy);
        child.with(|state| {
            state.branched_at_event_index = Some(copy.event_count());
            state.transcript = copy;
            state.parent_id = Some(parent.id().clone());
            state.workspace_anchor = anchor;
            state.turns = turns;
        });
        child.log_lifecycle(scope, records);
        Ok(child)
    }

    /// Keeps the last `keep` messages and the events since the first of them.
    pub fn trim(&self, id: &str, keep: usize, scope: &Scope) -> Result<(), SessionError> {
        let session = self.get(id)?;
        session.apply(scope, |t, _| lifecycle::trim(t, keep), std::mem::take);
        Ok(())
    }

    /// Appends a script's value: a message, or a reminder event, which never becomes a message.
    pub fn inject(&self, id: &str, message: &Data, scope: &Scope) -> Result<(), SessionError> {
        let session = self.get(id)?;
        if Message::is_reminder_event(message) {
            let fresh = || session.ids().next_text(scope.clock.now_ms());
            let reminder = Arc::new(Reminder::from_event(message, fresh)?);
            session.admit_allowed(scope, reminder, ReminderOrigin::Injected, None)?;
        } else {
            let message = Arc::new(Message::from_data(message)?);
            session.with(|state| state.transcript.push_message(message));
        }
        Ok(())
    }
}

/// Records the parent of a session, unless it has one already.
fn adopt(parent: &Rc<Session>, child: &Rc<Session>) {
    if child.with(|state| state.parent_id.is_some()) {
        return;
    }
    let anchor = parent.with(|state| {
        state.add_child(child.id().clone());
        state.workspace_anchor.clone()
    });
    child.with(|state| {
        state.parent_id = Some(parent.id().clone());
        if state.workspace_anchor.is_nil() {
            state.workspace_anchor = anchor;
        }
    });
}

fn check_anchor(anchor: &Data) -> Result<(), String> {
    if anchor.is_nil() {
        return Ok(());
    }
    let text = |data: &Data, field: &str| match data {
        Data::Str(text) if !text.trim().is_empty() => Ok(()),
        other => Err(format!("`{field}` must be a path, got {}", other.type_name())),
    };
    if anchor.as_dict().is_none() {
        return Err(format!("got {}", anchor.type_name()));
    }
    text(anchor.get("primary"), "primary")?;
    match anchor.get("additional_roots") {
        Data::Nil => Ok(()),
        Data::List(roots) => roots.iter().try_for_each(|root| text(root.get("path"), "path")),
        other => Err(format!("`additional_roots` must be a list, got {}", other.type_name())),
    }
}

impl Session {
    fn discard(&self, scope: &Scope, reason: DiscardReason) {
        self.apply(scope, |t, _| lifecycle::discard(t, reason), std::mem::take);
    }
}
