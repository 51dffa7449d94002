//! Reminders in the names and words of each protocol, by the table of [`ReminderField`].
//!
//! - [`ReminderUpdate`]: a reminder event for ACP and A2A. Both report the same fields; they differ in spelling, and in the
//!   fields that each draft has.
//! - [`reminder_params`]: a reminder that is sent to a session, over any protocol.

use base::data::Data;
use runtime::reminder::bridge::RemindPayload;
use runtime::reminder::codec::{ReminderChange, expiry_word};
use runtime::reminder::{Reminder, ReminderField, Surface};

use crate::bridge::RemindNotification;
use crate::host::ReminderEvent;

/// A reminder event in the names and words of a protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct ReminderUpdate {
    /// The kind of event.
    pub change: ReminderChange,
    /// The fields that the draft has, in its order.
    pub fields: Vec<(&'static str, Data)>,
    /// The fields of the record that the draft lacks.
    pub more: Vec<(&'static str, Data)>,
}

/// The fields of an emitted reminder in the ACP draft.
const ACP: &[ReminderField] = {
    use ReminderField as F;
    &[F::Id, F::Body, F::Tags, F::DedupeKey, F::Source, F::Producer, F::FiredAtTurn]
};

/// The fields of an emitted reminder in the A2A draft.
const A2A: &[ReminderField] = {
    use ReminderField as F;
    &[F::Id, F::Body, F::Tags, F::DedupeKey, F::Source, F::FiredAtTurn]
};

impl ReminderUpdate {
    /// Converts an event to a protocol's format.
    #[must_use]
    pub fn of(event: &ReminderEvent, surface: Surface) -> ReminderUpdate {
        let (id, dedupe_key) = (ReminderField::Id.name(surface), ReminderField::DedupeKey.name(surface));
        let (change, fields, more) = match event {
            ReminderEvent::Emitted { reminder, turn } => {
                let draft = if surface == Surface::Acp { ACP } else { A2A };
                // The name of a condition means nothing outside of the process.
                let is_inner = |field: &ReminderField| ReminderField::CONDITIONS.contains(field);
                let others = ReminderField::ALL.iter().filter(|field| !draft.contains(field) && !is_inner(field));
                let more = present(reminder, others, surface).chain([("turn", (*turn).into())]).collect();
                (ReminderChange::Emitted, present(reminder, draft, surface).collect(), more)
            }
            ReminderEvent::Deduped { reminder_id, dedupe_key: key, dropped_ids } => {
                let dropped = dropped_ids.iter().map(Data::from).collect();
                let fields =
                    vec![(id, Data::from(reminder_id)), (dedupe_key, key.into()), ("droppedReminderIds", dropped)];
                (ReminderChange::Deduped, fields, Vec::new())
            }
            ReminderEvent::Expired { reminder_id, reason, turn } => {
                let mut fields = vec![(id, Data::from(reminder_id)), ("phase", expiry_word(surface, *reason).into())];
                fields.extend(turn.map(|turn| ("expiredAtTurn", turn.into())));
                (ReminderChange::Expired, fields, Vec::new())
            }
            // The drafts lack this event. The reason of a judge stays on the log, since it may quote the conversation.
            ReminderEvent::Judged { reminder_id, heeded, judged_by, turn } => {
                let change = if *heeded { ReminderChange::Heeded } else { ReminderChange::Ignored };
                let judged_by = Data::from(judged_by.as_str());
                (
                    change,
                    vec![(id, Data::from(reminder_id)), ("turn", (*turn).into()), ("judgedBy", judged_by)],
                    Vec::new(),
                )
            }
        };
        ReminderUpdate { change, fields, more }
    }
}

/// Returns a reminder for a session in the names and words of a protocol.
#[must_use]
pub fn reminder_params(payload: &RemindPayload, surface: Surface) -> Data {
    RemindNotification { session_id: None, payload: payload.clone() }.to_params(surface)
}

/// Returns the fields that are set. Empty tags count as not set.
fn present<'a>(
    reminder: &'a Reminder,
    fields: impl IntoIterator<Item = &'a ReminderField>,
    surface: Surface,
) -> impl Iterator<Item = (&'static str, Data)> {
    let written = fields.into_iter().map(move |field| reminder.written(*field, surface));
    written.filter(|(_, value)| !value.is_nil() && !value.as_list().is_some_and(<[Data]>::is_empty))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use runtime::reminder::bridge::DeliveryMode;
    use runtime::reminder::codec::source_word;
    use runtime::reminder::{ExpireReason, ReminderSource, ReminderSpec};

    use super::*;
    use crate::a2a::injection::PeerReminder;

    /// A reminder with a value in every field.
    fn full_reminder() -> Reminder {
        let json = include_str!("../../runtime/src/reminder/full_reminder.json");
        let mut full: Reminder = serde_json::from_str(json).unwrap();
        // No wire carries conditions.
        if let Some(rules) = &mut full.rules {
            let rules = Arc::make_mut(rules);
            (rules.when, rules.until, rules.expect) = (None, None, None);
        }
        full
    }

    #[test]
    fn an_emitted_reminder_has_each_field_once_on_each_wire() {
        for surface in [Surface::Acp, Surface::A2a] {
            let event = ReminderEvent::Emitted { reminder: Arc::new(full_reminder()), turn: 5 };
            let ReminderUpdate { change, fields, mut more } = ReminderUpdate::of(&event, surface);
            assert_eq!((change, more.pop()), (ReminderChange::Emitted, Some(("turn", 5.into()))));
            let written: Vec<_> = fields.into_iter().chain(more).collect();
            for field in ReminderField::ALL.iter().filter(|field| !ReminderField::CONDITIONS.contains(field)) {
                let (name, value) = full_reminder().written(*field, surface);
                let found: Vec<_> = written.iter().filter(|(known, _)| *known == name).collect();
                assert_eq!(found, [&(name, value.clone())], "{field:?} on {surface:?}");
                match field {
                    ReminderField::Source => {
                        assert_eq!(value.as_str(), Some(source_word(surface, ReminderSource::Hook)));
                    }
                    _ => assert_eq!(value, full_reminder().value(*field), "{field:?} on {surface:?}"),
                }
            }
            assert_eq!(written.len(), ReminderField::ALL.len() - ReminderField::CONDITIONS.len());
        }
    }

    #[test]
    fn a_reminder_without_options_has_only_the_fields_that_are_set() {
        let bare = ReminderSpec::new("b").into_reminder("r".into(), ReminderSource::Bridge, 0);
        let event = ReminderEvent::Emitted { reminder: Arc::new(bare), turn: 1 };
        let update = ReminderUpdate::of(&event, Surface::Acp);
        let names = |fields: &[(&'static str, Data)]| fields.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names(&update.fields), ["reminderId", "body", "source", "firedAtTurn"]);
        assert_eq!(names(&update.more), ["preserveOnCompact", "propagate", "roleHint", "turn"]);
    }

    #[test]
    fn an_injected_reminder_comes_back_with_each_field_on_each_surface() {
        let Reminder { body, tags, dedupe_key, ttl_turns, preserve_on_compact, propagate, role_hint, rules, .. } =
            full_reminder();
        let spec = ReminderSpec { body, tags, dedupe_key, ttl_turns, preserve_on_compact, propagate, role_hint, rules };
        let payload = RemindPayload { spec, mode: DeliveryMode::AuditOnly, meta: Data::Nil };
        let sent = RemindNotification { session_id: Some("s".into()), payload };
        for surface in Surface::ALL {
            let params = sent.to_params(surface);
            for field in ReminderField::SPEC {
                assert_eq!(*params.get(field.name(surface)), full_reminder().value(field), "{field:?} on {surface:?}");
            }
            assert_eq!(RemindNotification::from_params(&params).unwrap(), sent, "{surface:?}");
        }
        // An A2A peer also sets the fields that the runtime sets.
        let mut reminder =
            RemindNotification { session_id: None, payload: sent.payload.clone() }.to_params(Surface::A2a);
        for field in ReminderField::OF_RUNTIME {
            let (name, value) = full_reminder().written(field, Surface::A2a);
            reminder.set(name, value);
        }
        let incoming = PeerReminder::read(&reminder, &Data::Nil).unwrap();
        assert_eq!((incoming.id.as_deref(), incoming.echo.source.as_deref()), (Some("r1"), Some("hook")));
        assert_eq!((incoming.payload.spec, incoming.payload.mode), (sent.payload.spec, DeliveryMode::AuditOnly));
    }

    #[test]
    fn one_reminder_walks_through_all_protocols_and_back() {
        let Reminder { body, tags, dedupe_key, ttl_turns, preserve_on_compact, propagate, role_hint, rules, .. } =
            full_reminder();
        let spec = ReminderSpec { body, tags, dedupe_key, ttl_turns, preserve_on_compact, propagate, role_hint, rules };
        let start = RemindPayload { spec, mode: DeliveryMode::InterruptImmediate, meta: Data::Nil };
        type Reader = fn(&Data) -> RemindPayload;
        let acp: Reader = |params| RemindNotification::from_params(params).unwrap().payload;
        let a2a: Reader = |params| PeerReminder::read(params, &Data::Nil).unwrap().payload;
        // As the client of an MCP server reads a notification, and the data of an event.
        let mcp: Reader = |params| RemindPayload::from_data(params).unwrap();
        let mut payload = start.clone();
        for (surface, read) in
            [(Surface::Acp, acp), (Surface::A2a, a2a), (Surface::Mcp, mcp), (Surface::A2a, a2a), (Surface::Acp, acp)]
        {
            let params = Data::from_json(&reminder_params(&payload, surface).to_json()).unwrap();
            for field in ReminderField::SPEC {
                assert_eq!(*params.get(field.name(surface)), full_reminder().value(field), "{field:?} on {surface:?}");
            }
            payload = read(&params);
            assert_eq!(payload, start, "after {surface:?}");
        }
    }

    #[test]
    fn an_expiry_is_reported_in_the_words_of_the_wires() {
        for (reason, phase) in [
            (ExpireReason::Ttl, "ttl_expired"),
            (ExpireReason::Cleared, "cleared"),
            (ExpireReason::Compaction, "compacted_out"),
            (ExpireReason::MaxTimes, "max_times"),
            (ExpireReason::Until, "until"),
        ] {
            let event = ReminderEvent::Expired { reminder_id: "r".into(), reason, turn: None };
            for (surface, id) in [(Surface::Acp, "reminderId"), (Surface::A2a, "id")] {
                let update = ReminderUpdate::of(&event, surface);
                assert_eq!(update.fields, [(id, "r".into()), ("phase", phase.into())], "{surface:?}");
                assert_eq!((update.change, update.more.is_empty()), (ReminderChange::Expired, true));
            }
        }
    }
}
