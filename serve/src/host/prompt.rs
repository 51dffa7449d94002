//! Requests to a session and their results.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use base::data::Data;
use runtime::reminder::Reminder;
use stdlib::{Diagnostic, ServedCall};

use super::ScriptFailure;

/// The parameters of a new session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewSession {
    /// The working directory: `context.cwd`.
    pub cwd: Option<PathBuf>,
    /// The protocol's metadata: `context.metadata` for prompts without their own.
    pub metadata: Data,
    /// MCP servers of the client, in the form of ACP; nil if there are none. They may hold secrets, so they are not stored.
    pub mcp_servers: Data,
    /// The initial mode: `context.mode`.
    pub mode: Option<Arc<str>>,
    /// The id, if it is given, such as that of an earlier session; by default an unguessable one.
    pub id: Option<Arc<str>>,
}

/// The parameters of a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prompt {
    /// The pipeline's `task`.
    pub text: String,
    /// `context.message`: the whole message of the protocol, a dict or nil.
    pub message: Data,
    /// `context.metadata`; nil selects the session's.
    pub metadata: Data,
    /// `context.task_id`; by default a new id.
    pub task_id: Option<Arc<str>>,
    /// `context.context_id`; by default the session's id.
    pub context_id: Option<Arc<str>>,
    /// Inherited reminders of another session, from [`super::SessionHandle::hand_over`].
    pub inherits: Vec<Arc<Reminder>>,
    /// Earlier questions of the pipeline, each with its answer, for a pipeline that runs again. They are answered in
    /// this order without asking the user, as long as the questions are the same.
    pub answers: Vec<(Arc<str>, String)>,
    /// `context.resumed`: whether a process ended during an earlier run of this prompt.
    pub resumed: bool,
    /// The public function to call; `None` runs the pipeline.
    pub call: Option<ServedCall>,
    /// The action of a channel that submitted it. The record of the prompt names it, and is durable before the pipeline
    /// runs, so that a process that continues after this one knows whether the prompt began.
    pub action: Option<ActionKey>,
    /// Whether it declines to answer the session's question, so that `task.ask` returns nil.
    pub declines: bool,
}

/// The identity of an action: its channel, and the id that the channel has chosen. Its text in records is
/// `CHANNEL/ACTION`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ActionKey {
    /// The id of the channel.
    pub channel_id: Arc<str>,
    /// The id of the action.
    pub action_id: Arc<str>,
}

impl ActionKey {
    /// Returns the identity of the action that a record about channels names.
    pub(crate) fn named(payload: &Data) -> Option<ActionKey> {
        let text = |key| payload.get(key).as_shared_str();
        Some(ActionKey { channel_id: text("channel_id")?, action_id: text("action_id")? })
    }
}

impl fmt::Display for ActionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.channel_id, self.action_id)
    }
}

/// The result of a prompt. By then the peer has received all its events.
#[derive(Debug, Clone)]
pub struct EndedPrompt {
    /// The way in which it ended.
    pub stop: PromptOutcome,
    /// The pipeline's result if it is a dict or list made by the script, otherwise nil. It was also sent as an event. The
    /// result of a public function is here as it is, and not sent.
    pub value: Data,
    /// The closing message of a pipeline that ended well, if the script has set one and the protocol's end of a task
    /// has a message.
    pub closing: Option<Arc<str>>,
    /// The error of the pipeline's clean-up after it was cancelled. It is also the first of the diagnostics.
    pub uncleaned: Option<Diagnostic>,
    /// Diagnostics for the host's log: tasks that failed unnoticed, or a log that cannot be written.
    pub diagnostics: Vec<Diagnostic>,
}

/// The ways in which a prompt ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptOutcome {
    /// The pipeline returned.
    Done,
    /// It was cancelled by [`super::SessionHandle::cancel`], or the session was closed.
    Cancelled,
    /// It returned the result of a loop that had used up its tokens, or whose answer a limit cut off.
    MaxTokens,
    /// It returned the result of a loop that had used up its iterations.
    MaxTurns,
    /// The script, or one of its handlers, refused the request for this reason.
    Refused(Arc<str>),
    /// It failed.
    Failed(ScriptFailure),
    /// The script asks this question, which was sent as [`super::SessionEvent::Question`]. The next prompt is the
    /// answer and continues the same call of the pipeline.
    Asked(Arc<str>),
}

impl PromptOutcome {
    /// Returns the word for records.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            PromptOutcome::Done => "done",
            PromptOutcome::Cancelled => "cancelled",
            PromptOutcome::MaxTokens => "max_tokens",
            PromptOutcome::MaxTurns => "max_turns",
            PromptOutcome::Refused(_) => "refused",
            PromptOutcome::Failed(_) => "failed",
            PromptOutcome::Asked(_) => "asked",
        }
    }

    /// Returns the reason of a refusal, or the question.
    #[must_use]
    pub fn reason(&self) -> Option<&Arc<str>> {
        match self {
            PromptOutcome::Refused(text) | PromptOutcome::Asked(text) => Some(text),
            _ => None,
        }
    }
}
