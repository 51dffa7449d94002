//! [`SessionReporter`]: converts the activity of a session to [`SessionEvent`]s for its peer.
//!
//! Loops report their activity ([`LoopEvent`]), and sessions the events of their reminders
//! ([`ReminderObserver`](runtime::session::ReminderObserver)). Loops of sub-agents and workers are not the agent's
//! own: only the tool call that they answer is shown.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::data::Data;
use runtime::agent_loop::{LoopEvent, LoopObservation};
use runtime::model::{Delta, ModelReply};
use runtime::reminder::bridge::{Injection, InjectionPayload};
use runtime::session::{ReminderObserver, Session};
use stdlib::{Live, TaskUpdate};

use crate::Metrics;
use crate::metrics::outcome;
use crate::store::SessionJournal;

use super::event::new_message_id;
use super::{Peer, Prompt, SessionEvent};
use crate::spawn::spawn_on;

mod reminders;
#[cfg(test)]
mod tests;

/// The maximum time for which text may be shown but not yet on its way to the log.
const UNWRITTEN: Duration = Duration::from_secs(1);

/// The events of a session.
pub(super) struct SessionReporter {
    id: Arc<str>,
    /// A reference to itself, for the sessions that it observes.
    me: Weak<SessionReporter>,
    peer: Arc<dyn Peer>,
    /// The agent's running loops, by their session.
    loops: RefCell<HashMap<Arc<str>, RunningLoop>>,
    /// The sessions whose reminders are shown: the served one, and those of the running loops.
    sessions: RefCell<HashMap<Arc<str>, Weak<Session>>>,
    /// The session's journal, if it is stored.
    journal: Option<Arc<SessionJournal>>,
    metrics: Arc<Metrics>,
    /// The time of each pending model call, by the session of its loop.
    asked: RefCell<HashMap<Arc<str>, Instant>>,
}

/// A running loop.
#[derive(Default)]
struct RunningLoop {
    /// The message that the model is writing.
    message: Option<(TextKind, Arc<str>)>,
    /// The parts of the current answer that came in pieces.
    came: StreamedParts,
    /// The ids of the calls without a result, in order.
    open: Vec<Arc<str>>,
}

/// The kind of text from the model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Thinking,
    Saying,
}

#[derive(Clone, Copy, Default)]
struct StreamedParts {
    thinking: bool,
    saying: bool,
}

impl SessionReporter {
    pub(super) fn new(
        id: Arc<str>,
        peer: Arc<dyn Peer>,
        journal: Option<Arc<SessionJournal>>,
        metrics: Arc<Metrics>,
    ) -> Rc<SessionReporter> {
        let (loops, sessions, asked) = Default::default();
        Rc::new_cyclic(|me| SessionReporter { id, me: me.clone(), peer, loops, sessions, journal, metrics, asked })
    }

    /// Begins a prompt. Its client knows the message, so it is only recorded, for loading the session.
    pub(super) fn prompted(&self, prompt: &Prompt) {
        let Some(journal) = &self.journal else { return };
        let said =
            [prompt.message.get("prompt"), prompt.message.get("content")].into_iter().find(|said| !said.is_nil());
        let content = said.cloned().unwrap_or_else(|| prompt.text.as_str().into());
        journal.prompted(&prompt.text, prompt.action.as_ref().map(|action| action.to_string().into()).as_ref());
        journal.note(&SessionEvent::UserMessage { message_id: new_message_id(), content });
    }

    /// Sends an event.
    pub(super) fn show(&self, event: SessionEvent) {
        match &self.journal {
            Some(journal) => journal.show(event, |event| self.peer.show(&self.id, event)),
            None => self.peer.show(&self.id, event),
        }
    }

    /// Sends text from the script as a separate message.
    pub(super) fn say(&self, text: Arc<str>) {
        self.show(SessionEvent::Text { message_id: new_message_id(), text });
    }

    /// Sends a non-text result of the pipeline as a separate message.
    pub(super) fn give(&self, data: Data) {
        self.show(SessionEvent::Data { message_id: new_message_id(), data });
    }

    /// Returns the function that sends the script's messages to the user.
    pub(super) fn say_for_script(self: Rc<Self>) -> Rc<dyn Fn(TaskUpdate)> {
        Rc::new(move |said| self.show(said.into()))
    }

    /// Returns the observer for the session's loops.
    pub(super) fn live(self: Rc<Self>) -> Live {
        Rc::new(move |sight| self.see(&sight))
    }

    /// Begins to show the reminders of a session.
    pub(super) fn follow(&self, session: &Rc<Session>) {
        self.sessions.borrow_mut().insert(session.id().clone(), Rc::downgrade(session));
        session.observe(self.me.upgrade().map(|me| me as Rc<dyn ReminderObserver>));
    }

    /// Ends a prompt in any state: calls of abandoned loops have failed. Other loops continue alongside the next
    /// prompt.
    pub(super) fn settle(&self) {
        let is_at_work = |id: &Arc<str>| {
            let session = self.sessions.borrow().get(id).and_then(Weak::upgrade);
            session.is_some_and(|session| session.is_busy())
        };
        let over = self.loops.borrow_mut().extract_if(|id, _| !is_at_work(id)).collect::<Vec<_>>();
        for id in over.into_iter().flat_map(|(_, looping)| looping.open) {
            let text = "stopped: the loop was cancelled; the tool may have completed a part of its work".into();
            self.show(SessionEvent::ToolEnded { id, text, value: Data::Nil, ok: false });
        }
    }

    fn see(&self, sight: &LoopObservation<'_>) {
        self.count(sight);
        if let Some(journal) = &self.journal {
            journal.sight(sight);
        }
        self.watch(sight);
        if matches!(sight.seen, LoopEvent::Piece(_)) {
            self.write_soon();
        }
    }

    /// Counts the activity of loops, including those of workers.
    fn count(&self, sight: &LoopObservation<'_>) {
        let id = sight.turn.session.id();
        match sight.seen {
            LoopEvent::Asked => {
                self.metrics.turns.add();
                self.asked.borrow_mut().insert(id.clone(), Instant::now());
            }
            LoopEvent::Answered { .. } | LoopEvent::Unanswered { .. } => {
                if let Some(asked) = self.asked.borrow_mut().remove(id) {
                    self.metrics.model_calls[outcome(matches!(sight.seen, LoopEvent::Answered { .. }))].add();
                    self.metrics.model_time.observe(asked.elapsed());
                }
            }
            LoopEvent::ToolAnswered { result, .. } => self.metrics.tool_calls[outcome(result.ok)].add(),
            LoopEvent::Delivered(_) => self.metrics.injections.delivered.add(),
            _ => {}
        }
    }

    /// Schedules a write of text that comes in pieces within [`UNWRITTEN`], even if no more of it comes.
    fn write_soon(&self) {
        let (Some(journal), Ok(runtime)) = (&self.journal, tokio::runtime::Handle::try_current()) else { return };
        if !journal.starts_waiting() {
            return;
        }
        let journal = journal.clone();
        spawn_on(&runtime, async move {
            tokio::time::sleep(UNWRITTEN).await;
            journal.write_pieces();
        });
    }

    fn watch(&self, sight: &LoopObservation<'_>) {
        if sight.turn.scope.caller.is_worker {
            return;
        }
        let session = sight.turn.session;
        match sight.seen {
            LoopEvent::Began => {
                self.follow(session);
                self.loops.borrow_mut().insert(session.id().clone(), RunningLoop::default());
            }
            LoopEvent::Asked => self.of_loop(session.id(), |looping| {
                (looping.message, looping.came) = (None, StreamedParts::default());
            }),
            LoopEvent::Piece(delta) => self.piece(session.id(), delta),
            LoopEvent::Answered { reply, text, context_window } => {
                self.whole(session.id(), reply, text);
                if let Some(journal) = &self.journal {
                    journal.flush();
                }
                self.show(SessionEvent::Usage { call: reply.usage, context_window });
            }
            LoopEvent::ToolWanted { call, annotations } => {
                self.of_loop(session.id(), |looping| looping.open.push(call.id.clone()));
                self.show(SessionEvent::ToolCall { call: call.clone(), annotations: annotations.clone() });
            }
            LoopEvent::ToolBegan(call) => self.show(SessionEvent::ToolBegan { id: call.id.clone() }),
            LoopEvent::ToolAnswered { call, result } => {
                self.of_loop(session.id(), |looping| looping.open.retain(|id| *id != call.id));
                let (text, value, ok) = (result.text.clone(), result.value.clone(), result.ok);
                self.show(SessionEvent::ToolEnded { id: call.id.clone(), text, value, ok });
            }
            LoopEvent::Delivered(Injection { payload: InjectionPayload::Message(message), id, .. }) => {
                self.show(SessionEvent::UserMessage { message_id: id.clone(), content: message.content.to_data() });
            }
            LoopEvent::Ended(_) => {
                self.loops.borrow_mut().remove(session.id());
                if *session.id() != self.id {
                    self.sessions.borrow_mut().remove(session.id());
                    session.observe(None);
                }
            }
            LoopEvent::Interrupted { mark } => self.interrupted(session.id(), mark),
            LoopEvent::Delivered(_) | LoopEvent::Unanswered { .. } | LoopEvent::ToolEnded(_) | LoopEvent::Idle => {}
        }
    }

    fn of_loop<R: Default>(&self, session_id: &str, change: impl FnOnce(&mut RunningLoop) -> R) -> R {
        self.loops.borrow_mut().get_mut(session_id).map(change).unwrap_or_default()
    }

    fn piece(&self, session_id: &str, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) => self.speak(session_id, TextKind::Saying, text.into()),
            Delta::Reasoning(text) => self.speak(session_id, TextKind::Thinking, text.into()),
            // Text that was shown cannot be revoked; text from now on is another message.
            Delta::Restart { .. } => self.of_loop(session_id, |looping| {
                (looping.message, looping.came) = (None, StreamedParts::default());
            }),
            Delta::ToolCallStart { .. } | Delta::ToolCallArguments { .. } => {}
        }
    }

    /// Ends an abandoned answer, after the text that was shown of it.
    fn interrupted(&self, session_id: &str, mark: &str) {
        if self.of_loop(session_id, |looping| looping.came.saying) {
            self.speak(session_id, TextKind::Saying, mark.into());
        }
    }

    /// Sends the parts of an answer that did not come in pieces.
    fn whole(&self, session_id: &str, reply: &ModelReply, text: &Arc<str>) {
        let came = self.of_loop(session_id, |looping| looping.came);
        if let Some(reasoning) = reply.reasoning.as_ref().filter(|_| !came.thinking) {
            self.speak(session_id, TextKind::Thinking, reasoning.clone());
        }
        if !came.saying {
            self.speak(session_id, TextKind::Saying, text.clone());
        }
    }

    /// Sends text of the model. One answer is several messages if the model reasons in between.
    fn speak(&self, session_id: &str, voice: TextKind, text: Arc<str>) {
        if text.is_empty() {
            return;
        }
        let message_id = self.of_loop(session_id, |looping| {
            match voice {
                TextKind::Thinking => looping.came.thinking = true,
                TextKind::Saying => looping.came.saying = true,
            }
            match &looping.message {
                Some((speaking, id)) if *speaking == voice => Some(id.clone()),
                _ => {
                    let id = new_message_id();
                    looping.message = Some((voice, id.clone()));
                    Some(id)
                }
            }
        });
        let message_id = message_id.unwrap_or_else(new_message_id);
        self.show(match voice {
            TextKind::Thinking => SessionEvent::Thought { message_id, text },
            TextKind::Saying => SessionEvent::Text { message_id, text },
        });
    }
}
