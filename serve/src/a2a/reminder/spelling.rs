//! [`Spelling`]: how one stream is told of reminders.

use std::sync::Arc;

use a2a::{Frame, Status, StatusUpdate};
use runtime::data::Data;

use super::Reminded;
use super::notice::ReminderNotice;

/// How one stream is told of reminders. A notification breaks off the streams of clients that do not know it, so only who asks
/// for the extension gets it.
#[derive(Debug, Clone)]
pub struct Spelling {
    notifies: bool,
    /// What the stream was told last of how the task stands.
    stands: Option<Stands>,
}

#[derive(Debug, Clone)]
struct Stands {
    task_id: Arc<str>,
    context_id: Arc<str>,
    status: Status,
}

/// What a stream is told of a reminder.
#[derive(Debug, Clone, PartialEq)]
pub enum Spelled {
    /// A message of JSON-RPC, whole.
    Notification(Data),
    /// A frame of the protocol.
    Frame(Frame),
}

impl Spelling {
    /// The spelling for a stream; `notifies` where its request asked for the extension.
    #[must_use]
    pub fn new(notifies: bool) -> Spelling {
        Spelling { notifies, stands: None }
    }

    /// The stream is told this frame.
    pub fn saw(&mut self, frame: &Frame) {
        match frame {
            Frame::Task(task) => {
                let (task_id, context_id) = (task.id.clone(), task.context_id.clone());
                self.stands = Some(Stands { task_id, context_id, status: quiet(&task.status) });
            }
            Frame::Status(update) => {
                let (task_id, context_id) = (update.task_id.clone(), update.context_id.clone());
                self.stands = Some(Stands { task_id, context_id, status: quiet(&update.status) });
            }
            Frame::Artifact(_) | Frame::Message(_) => {}
        }
    }

    /// What it is told of a reminder; nothing before its first frame.
    #[must_use]
    pub fn spell(&self, reminded: &Reminded) -> Option<Spelled> {
        let Stands { task_id, context_id, status } = self.stands.as_ref()?;
        let notice = ReminderNotice::of(reminded);
        if self.notifies {
            return Some(Spelled::Notification(Data::dict([
                ("jsonrpc", Data::from("2.0")),
                ("method", notice.method().into()),
                ("params", notice.params(task_id)),
            ])));
        }
        Some(Spelled::Frame(Frame::Status(StatusUpdate {
            task_id: task_id.clone(),
            context_id: context_id.clone(),
            status: status.clone(),
            metadata: notice.status_metadata(),
        })))
    }
}

/// How a task stands, without what was said of that: clients put each message of a status into their history.
fn quiet(status: &Status) -> Status {
    Status { message: None, ..status.clone() }
}
