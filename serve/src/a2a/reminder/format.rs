//! [`ReminderFormat`]: the format of reminder reports on one stream.

use std::sync::Arc;

use a2a::{Frame, Status, StatusUpdate};
use base::data::Data;

use super::PeerReminderEvent;
use super::notice::ReminderNotice;

/// The format of reminder reports on one stream. A notification breaks the streams of clients that do not know it, so
/// only clients that request it get it.
#[derive(Debug, Clone)]
pub struct ReminderFormat {
    notifies: bool,
    /// Whether the metadata of a status has the report under `harn` too.
    is_nested: bool,
    /// The task's status when the stream last reported it.
    stands: Option<LastStatus>,
}

#[derive(Debug, Clone)]
struct LastStatus {
    task_id: Arc<str>,
    context_id: Arc<str>,
    status: Status,
}

/// A reminder report for a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum ReminderReport {
    /// A complete JSON-RPC message.
    Notification(Data),
    /// A frame of the protocol.
    Frame(Frame),
}

impl ReminderFormat {
    /// Creates the format for a stream; `notifies` is whether its request asked for notifications.
    #[must_use]
    pub fn new(notifies: bool) -> ReminderFormat {
        ReminderFormat { notifies, is_nested: false, stands: None }
    }

    /// Writes reports in the metadata of a status also as `harn: {reminder: …}`, the form before the draft's
    /// notifications.
    #[must_use]
    pub fn nested(self, is_nested: bool) -> ReminderFormat {
        ReminderFormat { is_nested, ..self }
    }

    /// Records a frame that the stream sent.
    pub fn saw(&mut self, frame: &Frame) {
        match frame {
            Frame::Task(task) => {
                let (task_id, context_id) = (task.id.clone(), task.context_id.clone());
                self.stands = Some(LastStatus { task_id, context_id, status: quiet(&task.status) });
            }
            Frame::Status(update) => {
                let (task_id, context_id) = (update.task_id.clone(), update.context_id.clone());
                self.stands = Some(LastStatus { task_id, context_id, status: quiet(&update.status) });
            }
            Frame::Artifact(_) | Frame::Message(_) => {}
        }
    }

    /// Returns the report for a reminder event; `None` before the first frame of the stream.
    #[must_use]
    pub fn spell(&self, reminded: &PeerReminderEvent) -> Option<ReminderReport> {
        let LastStatus { task_id, context_id, status } = self.stands.as_ref()?;
        let notice = ReminderNotice::of(reminded);
        if self.notifies {
            return Some(ReminderReport::Notification(Data::dict([
                ("jsonrpc", Data::from("2.0")),
                ("method", notice.method().into()),
                ("params", notice.params(task_id)),
            ])));
        }
        Some(ReminderReport::Frame(Frame::Status(StatusUpdate {
            task_id: task_id.clone(),
            context_id: context_id.clone(),
            status: status.clone(),
            metadata: notice.status_metadata(self.is_nested),
        })))
    }
}

/// Returns the status without its message: clients add each status message to their history.
fn quiet(status: &Status) -> Status {
    Status { message: None, ..status.clone() }
}
