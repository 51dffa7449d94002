//! [`Peer`]: whom a session is served to.

use std::pin::Pin;
use std::sync::Arc;

use runtime::data::Data;
use runtime::message::ToolCall;

use super::{Event, PermissionScope};

/// A future that goes to another thread.
pub type Waiting<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Whom sessions are served to: an editor, another agent. Called from the threads of workers.
pub trait Peer: Send + Sync {
    /// Shows what happens in a session, in order. It must not wait; [`Peer::room`] is where a session does.
    fn show(&self, session_id: &Arc<str>, event: Event);

    /// Ready once the peer has taken so much of what was shown that more is welcome. A session waits for it before it asks
    /// a model and before it runs a tool, so what is shown and not taken stays bounded.
    fn room(&self, session_id: &Arc<str>) -> Waiting<()>;

    /// Asks whether a tool may run. Dropping the future takes the question back.
    fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict>;

    /// The session is over, also one whose opening failed: nothing more of it is shown.
    fn over(&self, _session_id: &Arc<str>) {}
}

/// A tool that needs a permission.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionQuestion {
    /// The session.
    pub session_id: Arc<str>,
    /// The call.
    pub call: ToolCall,
    /// The tool's annotations, a dict or nil.
    pub annotations: Data,
    /// Why it needs one.
    pub reason: Arc<str>,
    /// What an answer for always covers.
    pub scope: PermissionScope,
    /// The text that the call is about to replace, if there is one.
    pub old_text: Option<Arc<str>>,
}

/// What the peer says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// This once.
    AllowOnce,
    /// From now on in this session, for the question's scope.
    AllowAlways,
    /// Not this once.
    RejectOnce,
    /// Never in this session, for the question's scope.
    RejectAlways,
    /// The peer has cancelled the prompt, or is gone.
    Cancelled,
    /// The peer gave no answer that can be used: why. It counts as a refusal.
    Unusable(Arc<str>),
}
