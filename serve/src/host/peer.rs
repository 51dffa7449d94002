//! [`Peer`]: the client of sessions.

use std::pin::Pin;
use std::sync::Arc;

use base::data::Data;
use runtime::message::ToolCall;
use stdlib::ChannelHost;

use super::{PermissionScope, SessionEvent};

/// A boxed future that can be sent to another thread.
pub type Waiting<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The client of sessions: an editor, or another agent. Called from the workers' threads.
pub trait Peer: Send + Sync {
    /// Reports an event of a session, in order. It must not wait; sessions wait in [`Peer::room`].
    fn show(&self, session_id: &Arc<str>, event: SessionEvent);

    /// Waits until the peer has read enough of the earlier events. A session calls this before each model call and
    /// each tool call, so that the number of unread events stays bounded.
    fn room(&self, session_id: &Arc<str>) -> Waiting<()>;

    /// Asks whether a tool may run. Dropping the future withdraws the question.
    fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict>;

    /// Returns whether the peer records the decisions about its questions itself.
    fn records_decisions(&self) -> bool {
        false
    }

    /// Returns the account of a session, if the open sessions of an account are limited.
    fn limited_account(&self, _session_id: &str) -> Option<Arc<str>> {
        None
    }

    /// Returns whether a client is attached to a session, which is not idle then.
    fn is_attended(&self, _session_id: &str) -> bool {
        false
    }

    /// Returns the daemon to which scripts can open channels; `None` if the sessions have a single client.
    fn channels(&self) -> Option<Arc<dyn ChannelHost>> {
        None
    }

    /// Returns the account that owns a session which is opened for the first time (`is_new`), or whose records name no
    /// account; `None` if it is unknown. Without channels, a new session is local, and nothing is known of others.
    fn owner(&self, _session_id: &str, is_new: bool) -> Option<Arc<str>> {
        is_new.then(|| crate::store::LOCAL_ACCOUNT.into())
    }

    /// Reports that a session is over, also one whose opening failed. No event follows.
    fn over(&self, _session_id: &Arc<str>) {}
}

/// A request for permission to run a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionQuestion {
    /// The id of the session.
    pub session_id: Arc<str>,
    /// The peer whose prompt needs the permission: the id of a channel, or that of the session.
    pub requested_by: Arc<str>,
    /// The call.
    pub call: ToolCall,
    /// The tool's annotations, a dict or nil.
    pub annotations: Data,
    /// The reason why it needs a permission.
    pub reason: Arc<str>,
    /// The later calls that a lasting answer covers.
    pub scope: PermissionScope,
    /// The text that the call is about to replace, if any.
    pub old_text: Option<Arc<str>>,
}

/// The peer's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Allow this call.
    AllowOnce,
    /// Allow all calls in the question's scope for the rest of the session.
    AllowAlways,
    /// Refuse this call.
    RejectOnce,
    /// Refuse all calls in the question's scope for the rest of the session.
    RejectAlways,
    /// The peer cancelled the prompt, or is gone.
    Cancelled,
    /// The peer gave no usable answer, for this reason. It counts as a refusal.
    Unusable(Arc<str>),
}

impl Verdict {
    /// Returns the word for records.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Verdict::AllowOnce => "allow_once",
            Verdict::AllowAlways => "allow_always",
            Verdict::RejectOnce => "reject_once",
            Verdict::RejectAlways => "reject_always",
            Verdict::Cancelled => "cancelled",
            Verdict::Unusable(_) => "unusable",
        }
    }
}
