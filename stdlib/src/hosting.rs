//! [`Hosting`]: the exchange between a run and the host that serves it.

mod served_entry;
mod task_update;

pub use served_entry::{ServedEntry, ServedKind};
pub use task_update::{Part, PlanEntry, Priority, Progress, TaskArtifact, TaskUpdate};

use crate::channel::ChannelHost;
use base::call::LocalFuture;
use base::data::Data;
use lang::diagnostic::Diagnostic;
use lang::vm::RunCode;
use runtime::agent_loop::LoopResult;
use runtime::seam::Approver;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, oneshot};

/// The value of [`Hosting::protocol`] of a script whose public functions are served one by one.
pub const MCP_PROTOCOL: &str = "mcp";

/// The exchange between a run and the host that serves it. Both hold the same value.
pub struct Hosting {
    /// The session that is current in all of the script: a loop that names none works there.
    pub session_id: Arc<str>,
    /// `context.protocol`.
    pub protocol: &'static str,
    /// `context.cwd`.
    pub cwd: Option<PathBuf>,
    /// `context.metadata` where the prompt has none.
    pub metadata: Data,
    /// MCP servers of the client, in the form of ACP; nil if there are none. They may hold secrets.
    pub mcp_servers: Data,
    /// The session's mode; the host may change it at any time.
    pub mode: Arc<Mutex<Arc<str>>>,
    /// The modes that there are.
    pub modes: &'static [&'static str],
    /// Ready once there is room for more to be shown: waited for before each call of a model and each tool.
    pub room: Rc<dyn Fn() -> LocalFuture<'static, ()>>,
    /// Shows what the script tells the person.
    pub say: Rc<dyn Fn(TaskUpdate)>,
    /// The approver of permissions that the script itself does not decide.
    pub approver: Option<Rc<dyn Approver>>,
    /// The daemon whose channels share the sessions, if one serves the script.
    pub channels: Option<Arc<dyn ChannelHost>>,
    /// The messages between the run and its host.
    pub talk: HostExchange,
}

/// The maximum number of questions that the host has not taken; further ones wait.
const MAX_QUESTIONS: usize = 64;

/// The messages between a run and its host.
#[derive(Default)]
pub struct HostExchange {
    /// A prompt is at hand.
    prompted: Cell<bool>,
    questions: RefCell<VecDeque<Question>>,
    asked: Notify,
    /// A question was taken, or the prompt has ended.
    taken: Notify,
    refusal: RefCell<Option<Arc<str>>>,
    closing: RefCell<Option<Arc<str>>>,
    /// The task at hand: `context.task_id`.
    task_id: RefCell<Option<Arc<str>>>,
    /// The text shown by the last loop of the script's own, with and without the sentinel.
    shown: RefCell<Option<[Arc<str>; 2]>>,
}

/// A question of the script to the user.
pub struct Question {
    /// The question.
    pub text: Arc<str>,
    /// The receiver of the answer; dropping it means no answer.
    pub answer: oneshot::Sender<String>,
}

impl Hosting {
    /// The session's mode now.
    #[must_use]
    pub fn mode(&self) -> Arc<str> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the session's mode; returns false if it has that mode already.
    pub(crate) fn set_mode(&self, mode: &str) -> bool {
        let mut now = self.mode.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = &**now != mode;
        if is_new {
            *now = mode.into();
        }
        is_new
    }

    /// Asks the user; returns `None` without a current prompt or an answer.
    pub async fn ask(&self, text: Arc<str>) -> Option<String> {
        loop {
            let taken = self.talk.taken.notified();
            if !self.talk.prompted.get() {
                return None;
            }
            if self.talk.questions.borrow().len() < MAX_QUESTIONS {
                break;
            }
            taken.await;
        }
        let (answer, answered) = oneshot::channel();
        self.talk.questions.borrow_mut().push_back(Question { text, answer });
        self.talk.asked.notify_one();
        answered.await.ok()
    }

    /// The next question of the script.
    pub async fn question(&self) -> Question {
        loop {
            let asked = self.talk.asked.notified();
            let next = self.talk.questions.borrow_mut().pop_front();
            if let Some(question) = next {
                self.talk.taken.notify_waiters();
                return question;
            }
            asked.await;
        }
    }

    /// Refuses the current prompt; returns false if there is none. The caller then ends the
    /// pipeline by an exit that nothing catches.
    pub fn refuse(&self, reason: Arc<str>) -> bool {
        let prompted = self.talk.prompted.get();
        if prompted {
            self.talk.refusal.borrow_mut().get_or_insert(reason);
        }
        prompted
    }

    /// Sets the closing message of the prompt at hand; the last one counts. Returns false if no prompt is at hand.
    pub fn close_with(&self, text: Arc<str>) -> bool {
        let prompted = self.talk.prompted.get();
        if prompted {
            self.talk.closing.replace(Some(text));
        }
        prompted
    }

    /// Whether the end of a task has a message of its own. Elsewhere a closing message is shown like any other.
    #[must_use]
    pub fn has_closing(&self) -> bool {
        self.protocol == "a2a"
    }

    /// Takes the closing message of the prompt that has ended.
    pub(crate) fn take_closing(&self) -> Option<Arc<str>> {
        self.talk.closing.take()
    }

    /// The task at hand, as `context.task_id` has it.
    pub(crate) fn task_id(&self) -> Option<Arc<str>> {
        self.talk.task_id.borrow().clone()
    }

    /// The task of the prompt that has begun.
    pub(crate) fn names_task(&self, task_id: &Arc<str>) {
        self.talk.task_id.replace(Some(task_id.clone()));
    }

    /// A prompt begins.
    pub(crate) fn begin(&self) {
        self.talk.prompted.set(true);
        self.talk.task_id.take();
        self.talk.refusal.take();
        self.talk.closing.take();
        self.talk.shown.take();
    }

    /// It is over; why it was refused, if it was.
    pub(crate) fn end(&self) -> Option<Arc<str>> {
        self.talk.prompted.set(false);
        self.talk.questions.take();
        self.talk.taken.notify_waiters();
        self.talk.refusal.take()
    }

    /// A loop has shown its answer.
    pub(crate) fn shown(&self, result: &LoopResult) {
        self.talk.shown.replace(Some([result.text.clone(), result.visible_text.clone()]));
    }

    /// Whether this is what a loop has shown last.
    pub(crate) fn is_shown(&self, text: &str) -> bool {
        let shown = self.talk.shown.borrow();
        shown.iter().flatten().any(|shown| shown.trim() == text.trim())
    }
}

/// Returns the diagnostic for a resource that the system did not provide to a host.
#[must_use]
pub fn outside(message: String) -> Diagnostic {
    Diagnostic::new(RunCode::Outside, message)
}
