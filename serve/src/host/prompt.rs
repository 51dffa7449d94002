//! What a front says to a session, and what comes back.

use std::path::PathBuf;
use std::sync::Arc;

use runtime::data::Data;
use runtime::reminder::Reminder;
use stdlib::Diagnostic;

use super::Failure;

/// A session that is to be opened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewSession {
    /// Where it works: `context.cwd`.
    pub cwd: Option<PathBuf>,
    /// What the wire says about it beyond that: `context.metadata`, where the prompt says nothing.
    pub metadata: Data,
    /// Its mode at first: `context.mode`.
    pub mode: Option<Arc<str>>,
    /// Its id, where it is one that was open before; else it gets one that nobody can guess.
    pub id: Option<Arc<str>>,
}

/// What is asked of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prompt {
    /// The pipeline's `task`.
    pub text: String,
    /// `context.message`: the whole message as the wire brought it, a dict or nil.
    pub message: Data,
    /// `context.metadata`; nil for the session's.
    pub metadata: Data,
    /// `context.task_id`; without it the session draws one.
    pub task_id: Option<Arc<str>>,
    /// `context.context_id`; without it the session's id.
    pub context_id: Option<Arc<str>>,
    /// Reminders that another session hands to it, from [`super::Handle::hand_over`].
    pub inherits: Vec<Arc<Reminder>>,
    /// What the pipeline asked before, each with its answer, where it runs once more: it gets them in this order, and nobody is
    /// asked, as long as it asks the same.
    pub answers: Vec<(Arc<str>, String)>,
    /// `context.resumed`: it was asked before, of a process that ended in the middle of it.
    pub resumed: bool,
}

/// What a prompt came to. By then everything that it showed has gone to the peer.
#[derive(Debug, Clone)]
pub struct Ended {
    /// How it ended.
    pub stop: Stop,
    /// What the pipeline returned, where that is a dict or list of the script's own; else nil. The same was shown as JSON.
    pub value: Data,
    /// The closing message of a pipeline that ended well, if the script has set one and the peer's end of a task has a message.
    pub closing: Option<Arc<str>>,
    /// What the pipeline threw while it cleaned up after it was cancelled. It is the first of the diagnostics too.
    pub uncleaned: Option<Diagnostic>,
    /// What should be known of it, for the log of whoever runs the host: tasks that failed unseen, a log that cannot be
    /// written.
    pub diagnostics: Vec<Diagnostic>,
}

/// How a prompt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The pipeline returned.
    Done,
    /// [`super::Handle::cancel`], or the session was closed.
    Cancelled,
    /// The loop whose result it returned had used up its tokens.
    MaxTokens,
    /// The same, with its iterations.
    MaxTurns,
    /// The script, or a handler of it, refuses what was asked: why.
    Refused(Arc<str>),
    /// Something failed.
    Failed(Failure),
    /// The script asks something, which was shown as [`super::Event::Question`]. The next prompt is the answer and goes on in
    /// the same call of the pipeline.
    Asked(Arc<str>),
}
