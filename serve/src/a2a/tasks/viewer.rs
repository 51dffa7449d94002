//! [`TaskViewer`]: the caller of a request, for servers whose callers do not all reach the same tasks.

use std::sync::Arc;

use crate::a2a::Refusal;
use crate::a2a::context::ContextSession;
use crate::host::Waiting;

/// The caller of a request.
pub(crate) trait TaskViewer: Send + Sync {
    /// Returns the id of the channel, which is kept with the tasks that it begins.
    fn peer(&self) -> Arc<str>;

    /// Returns whether the caller reaches a task. Another task is unknown to it.
    fn sees(&self, task_id: &str) -> bool;

    /// Returns whether the caller may answer permission questions.
    fn may_permit(&self) -> bool;

    /// Notes that the caller sends a message to a task.
    fn replies(&self, task_id: &str);

    /// Returns the session of a context of the caller. Two callers that do not reach the same tasks may use the same id
    /// for two contexts, so that none learns of those of the other.
    ///
    /// # Errors
    /// The context names a session that the caller does not reach, or that does not exist.
    fn session_of(&self, context: ContextSession) -> Waiting<Result<Arc<str>, Refusal>>;
}
