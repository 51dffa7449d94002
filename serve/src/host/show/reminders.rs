//! What becomes of reminders, read from the records of their lives as they go to the log. There is no second account of it.

use std::rc::Rc;

use runtime::data::Data;
use runtime::event_log::{EventLog, NewRecord, Passage, Through, Ticket};

use super::Shown;
use crate::host::{Event, ReminderEvent};

/// The kinds of all such records begin so.
const KINDS: &str = "transcript.reminder.";

/// The kind of the record that ends a queued reminder with its session.
const UNREAD: &str = "session.injection.expired";

/// The log of a session whose reminders are shown.
pub(in crate::host) fn watched(log: Rc<dyn EventLog>, shown: Rc<Shown>) -> Rc<dyn EventLog> {
    Rc::new(Through::new(Watching(shown), log))
}

struct Watching(Rc<Shown>);

impl Passage for Watching {
    fn append(&self, record: NewRecord, log: &dyn EventLog) -> Ticket {
        let told = self.0.read(&record);
        let ticket = log.append(record);
        if let Some(told) = told {
            self.0.show(Event::Reminder(told));
        }
        ticket
    }
}

impl Shown {
    /// What a record tells of a reminder that is shown.
    fn read(&self, record: &NewRecord) -> Option<ReminderEvent> {
        if &*record.kind == UNREAD {
            return self.unread(record);
        }
        let word = record.kind.strip_prefix(KINDS).filter(|word| matches!(*word, "fired" | "deduped" | "expired"))?;
        let payload = record.payload.to_data();
        let session_id = payload.get("session_id").as_str().filter(|id| self.follows(id))?;
        // What is done to a copy of a transcript does not touch the session.
        if payload.get("detached").truthy() {
            return None;
        }
        let text = |field: &str| payload.get(field).as_shared_str();
        Some(match word {
            "fired" => {
                let reminder = self.reminder(session_id, &text("reminder_id")?)?;
                let provider_id = reminder.producer.clone();
                ReminderEvent::Emitted { reminder, provider_id, turn: number(payload.get("turn_number")).unwrap_or(0) }
            }
            "deduped" => ReminderEvent::Deduped {
                reminder_id: text("replacing_id")?,
                // The same reminder that came again took nobody's place.
                dedupe_key: text("dedupe_key")?,
                dropped_ids: payload.get("replaced_ids").as_list()?.iter().filter_map(Data::as_shared_str).collect(),
            },
            _ => ReminderEvent::Expired {
                reminder_id: text("reminder_id")?,
                reason: payload.get("reason").as_str()?.parse().ok()?,
                turn: number(payload.get("turn")).filter(|turn| *turn > 0),
            },
        })
    }
}

impl Shown {
    /// A queued reminder that no loop took before its session ended.
    fn unread(&self, record: &NewRecord) -> Option<ReminderEvent> {
        let payload = record.payload.to_data();
        payload.get("session_id").as_str().filter(|id| self.follows(id))?;
        Some(ReminderEvent::Expired {
            reminder_id: payload.get("id").as_shared_str()?,
            reason: payload.get("reason").as_str()?.parse().ok()?,
            turn: None,
        })
    }
}

fn number(data: &Data) -> Option<u32> {
    data.as_int().and_then(|n| u32::try_from(n).ok())
}
