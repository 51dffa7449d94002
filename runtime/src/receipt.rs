//! Receipts of tool calls, for those who audit a run: which tool was called, what came of it, and which reminders its
//! handlers and providers made. A receipt names a reminder and never holds its body.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::data::Data;
use crate::hooks::EventKind;
use crate::message::ToolCall;
use crate::reminder::{Reminder, ReminderField, Surface};
use crate::words::words;

words! {
    /// The outcome of a tool call.
    pub enum CallStatus {
        /// It ran, and did what was asked.
        Ok = "ok",
        /// It ran, and failed.
        Error = "error",
        /// It was not run.
        Rejected = "rejected",
    }
}

/// A reminder that a handler or a provider made around a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ReminderReport {
    /// The event at which it was made.
    pub hook_event: EventKind,
    /// The reminder.
    pub reminder: Arc<Reminder>,
    /// Number of reminders it replaced.
    pub deduped_count: usize,
}

/// The reports of reminders that a running tool call has produced.
pub type Reports = Rc<RefCell<Vec<ReminderReport>>>;

/// A receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallReceipt {
    /// The session of the call.
    pub session_id: Arc<str>,
    /// The agent at hand: the session, unless a worker has a name of its own.
    pub agent_id: Arc<str>,
    /// The call as the model asked for it.
    pub call: ToolCall,
    /// The turn of the session.
    pub turn: u32,
    /// The iteration of the loop.
    pub iteration: u32,
    /// Outcome of the call.
    pub status: CallStatus,
    /// The message to the model, if the call failed or was not run.
    pub reason: Option<Arc<str>>,
    /// Whether the output was cut.
    pub truncated: bool,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub started_at_ms: u64,
    /// Duration of the call with its handlers, in milliseconds.
    pub duration_ms: u64,
    /// The reminders made around it.
    pub reminders: Vec<ReminderReport>,
}

/// The fields of a reminder that a receipt reports. They have the names of the log, and the body is not copied.
const REPORTED: [ReminderField; 6] = {
    use ReminderField as F;
    [F::Id, F::Tags, F::DedupeKey, F::Source, F::RoleHint, F::TtlTurns]
};

impl ToolCallReceipt {
    /// Converts the receipt to the dict that scripts see.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let report = |report: &ReminderReport| {
            let call = [
                ("hook_event", Data::from(report.hook_event.pascal())),
                ("tool_call_id", (&self.call.id).into()),
                ("tool_name", (&self.call.name).into()),
                ("deduped_count", report.deduped_count.into()),
            ];
            let fields = REPORTED.map(|field| report.reminder.written(field, Surface::Log));
            Data::dict(call.into_iter().chain(fields))
        };
        let audit = Data::dict([("reminders", self.reminders.iter().map(report).collect())]);
        Data::dict([
            ("_type", Data::from("tool_call_receipt")),
            ("session_id", (&self.session_id).into()),
            ("agent_id", (&self.agent_id).into()),
            ("tool_call_id", (&self.call.id).into()),
            ("tool_name", (&self.call.name).into()),
            ("arguments", self.call.arguments.clone()),
            ("turn", self.turn.into()),
            ("iteration", self.iteration.into()),
            ("status", self.status.as_str().into()),
            ("reason", self.reason.clone().into()),
            ("truncated", self.truncated.into()),
            ("started_at_ms", self.started_at_ms.into()),
            ("duration_ms", self.duration_ms.into()),
            ("audit", audit),
        ])
    }
}

/// The receipts of a piece of work. What is nested in it is in it, too.
#[derive(Debug, Default)]
pub struct AuditLog {
    receipts: RefCell<Vec<ToolCallReceipt>>,
    around: Option<Rc<AuditLog>>,
}

impl AuditLog {
    /// An empty one, inside another.
    #[must_use]
    pub fn inside(around: Option<Rc<AuditLog>>) -> Rc<AuditLog> {
        Rc::new(AuditLog { receipts: RefCell::default(), around })
    }

    /// Files a receipt, here and in all around.
    pub fn file(&self, receipt: &ToolCallReceipt) {
        let mut at = Some(self);
        while let Some(log) = at {
            log.receipts.borrow_mut().push(receipt.clone());
            at = log.around.as_deref();
        }
    }

    /// All receipts, in the order in which the calls ended.
    #[must_use]
    pub fn receipts(&self) -> Vec<ToolCallReceipt> {
        self.receipts.borrow().clone()
    }
}
