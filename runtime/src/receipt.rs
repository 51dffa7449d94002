//! Receipts of tool calls, for auditing a run: the tool, the outcome, and the reminders that its handlers and providers
//! produced. A receipt names a reminder and never contains its body.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use base::data::Data;
use base::words::words;

use crate::events::EventKind;
use crate::message::ToolCall;
use crate::reminder::{Reminder, ReminderField, Surface};

words! {
    /// The outcome of a tool call.
    pub enum CallStatus {
        /// It ran successfully.
        Ok = "ok",
        /// It ran, and failed.
        Error = "error",
        /// It was not run.
        Rejected = "rejected",
    }
}

/// A reminder that a handler or a provider produced around a tool call.
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
    /// The current agent: the session, unless a worker has a name of its own.
    pub agent_id: Arc<str>,
    /// The call as the model requested it.
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
    /// Start time, in milliseconds since 1970-01-01 UTC.
    pub started_at_ms: u64,
    /// Duration of the call with its handlers, in milliseconds.
    pub duration_ms: u64,
    /// The reminders produced around it.
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

/// The maximum number of receipts in a log. Beyond it, the oldest ones are dropped: a daemon may call tools forever.
const MAX_RECEIPTS: usize = 10_000;

/// The receipts of a piece of work, including nested work.
#[derive(Debug, Default)]
pub struct AuditLog {
    receipts: RefCell<VecDeque<ToolCallReceipt>>,
    /// The number of receipts that were dropped.
    dropped: Cell<u64>,
    around: Option<Rc<AuditLog>>,
}

impl AuditLog {
    /// Creates an empty log inside another.
    #[must_use]
    pub fn inside(around: Option<Rc<AuditLog>>) -> Rc<AuditLog> {
        Rc::new(AuditLog { receipts: RefCell::default(), dropped: Cell::default(), around })
    }

    /// Files a receipt in this log and in all enclosing ones.
    pub fn file(&self, receipt: &ToolCallReceipt) {
        let mut at = Some(self);
        while let Some(log) = at {
            let mut receipts = log.receipts.borrow_mut();
            if receipts.len() >= MAX_RECEIPTS {
                receipts.pop_front();
                log.dropped.set(log.dropped.get() + 1);
            }
            receipts.push_back(receipt.clone());
            at = log.around.as_deref();
        }
    }

    /// Returns the newest receipts, in the order in which the calls ended.
    #[must_use]
    pub fn receipts(&self) -> Vec<ToolCallReceipt> {
        self.receipts.borrow().iter().cloned().collect()
    }

    /// Returns the number of receipts that were dropped because there were too many.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_the_newest_receipts_and_counts_the_others() {
        let receipt = |turn| ToolCallReceipt {
            session_id: "s".into(),
            agent_id: "a".into(),
            call: ToolCall::new("c", "echo", Data::empty_dict()),
            turn,
            iteration: turn,
            status: CallStatus::Ok,
            reason: None,
            truncated: false,
            started_at_ms: 0,
            duration_ms: 0,
            reminders: Vec::new(),
        };
        let around = AuditLog::inside(None);
        let log = AuditLog::inside(Some(around.clone()));
        let most = u32::try_from(MAX_RECEIPTS).unwrap();
        (0..most + 2).for_each(|turn| log.file(&receipt(turn)));
        for log in [log, around] {
            let kept = log.receipts();
            assert_eq!((kept.len(), kept[0].turn, log.dropped()), (MAX_RECEIPTS, 2, 2));
        }
    }
}
