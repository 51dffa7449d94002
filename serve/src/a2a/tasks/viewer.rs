//! [`TaskViewer`]: the caller of a request, for servers whose callers do not all reach the same tasks.

use std::sync::Arc;

use crate::a2a::Refusal;
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

    /// Checks whether the caller may use the session of a context.
    fn enters(&self, session_id: &Arc<str>, context_id: &Arc<str>) -> Waiting<Result<(), Refusal>>;
}
