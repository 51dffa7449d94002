//! The lenient reader, for pipelines whose dict was once a reminder: invalid values fall back to their defaults instead
//! of failing.

use std::sync::Arc;

use base::data::Data;

use crate::message::Content;
use crate::reminder::FramedBody;

use super::codec::{ReminderField as Field, Surface};
use super::limits::{MAX_ID, MAX_KEY, MAX_TAG, MAX_TAGS, fault_of_name};
use super::rules::{DEFAULT, OnSurface};
use super::{Propagate, Reminder, ReminderRules, ReminderSource, RoleHint};

impl Reminder {
    /// Reads a reminder leniently; `fresh_id` is called if the dict has no id. An event envelope is read by its
    /// `reminder` slot, and one in the form of a message, without a body, by its `content` and `role`.
    pub fn from_data_lenient(data: &Data, fresh_id: impl FnOnce() -> Arc<str>) -> Reminder {
        let data = if data.get("reminder").as_dict().is_some() { data.get("reminder") } else { data };
        let given = |field: Field| data.get(field.name(Surface::Script));
        let text = |field: Field, most: usize| {
            let given = given(field).as_str().map(str::trim).filter(|text| !text.is_empty());
            given.filter(|text| fault_of_name(text, most).is_none()).map(Arc::<str>::from)
        };
        let mut tags: Vec<Arc<str>> = Vec::new();
        for tag in given(Field::Tags).as_list().unwrap_or_default().iter().filter_map(Data::as_str).map(str::trim) {
            let fits = !tag.is_empty() && tags.len() < MAX_TAGS && fault_of_name(tag, MAX_TAG).is_none();
            if fits && !tags.iter().any(|known| known.as_ref() == tag) {
                tags.push(tag.into());
            }
        }
        let word = |field: Field| given(field).as_str().unwrap_or_default();
        let message = MessageForm::of(data);
        Reminder {
            id: text(Field::Id, MAX_ID).unwrap_or_else(fresh_id),
            body: message.as_ref().map_or_else(|| body(data), |message| message.body.clone()),
            tags,
            dedupe_key: text(Field::DedupeKey, MAX_KEY),
            ttl_turns: count(given(Field::TtlTurns)).filter(|ttl| *ttl > 0),
            preserve_on_compact: given(Field::PreserveOnCompact).as_bool().unwrap_or(false),
            propagate: word(Field::Propagate).parse().unwrap_or(Propagate::Session),
            role_hint: word(Field::RoleHint).parse().ok().or_else(|| message?.role_hint).unwrap_or(RoleHint::System),
            source: word(Field::Source).parse().unwrap_or(ReminderSource::InPipeline),
            fired_at_turn: count(given(Field::FiredAtTurn)).unwrap_or(0),
            originating_agent_id: text(Field::OriginatingAgentId, MAX_ID),
            producer: None,
            rules: ReminderRules::read_lenient(&OnSurface(data, Surface::Script)).shared(),
            framed: FramedBody::default(),
        }
    }
}

/// Returns the text of `body`, or its default if it has a text for each model.
fn body(data: &Data) -> Arc<str> {
    let given = data.get(Field::Body.name(Surface::Script));
    given.get(DEFAULT).as_shared_str().unwrap_or_else(|| given.to_text())
}

/// A reminder in the form of a message: `{kind: "system_reminder", role?, content}`.
struct MessageForm {
    body: Arc<str>,
    /// The hint for a role that a reminder may have.
    role_hint: Option<RoleHint>,
}

impl Reminder {
    /// Returns whether a dict has the form of a message, with `content` instead of `body`.
    pub(super) fn has_message_form(data: &Data) -> bool {
        data.get("body").is_nil() && !data.get("content").is_nil()
    }
}

impl MessageForm {
    fn of(data: &Data) -> Option<MessageForm> {
        if !Reminder::has_message_form(data) {
            return None;
        }
        let body = Content::from_data(data.get("content")).ok()?.to_text();
        let role_hint = match data.get("role").as_str() {
            Some("system") => Some(RoleHint::System),
            Some("developer") => Some(RoleHint::Developer),
            Some("user") => Some(RoleHint::UserBlock),
            _ => None,
        };
        Some(MessageForm { body, role_hint })
    }
}

fn count(data: &Data) -> Option<u32> {
    data.as_int().and_then(|number| u32::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_or_no_line_is_left_out() {
        let tags: Data = (0..100).map(|n| Data::from(format!("t{n}"))).collect();
        let read = |key: &str, value: Data| {
            let dict = Data::dict([("body", Data::from("b"))]).with(key, value);
            Reminder::from_data_lenient(&dict, || "fresh".into())
        };
        assert_eq!(read("tags", tags).tags.len(), MAX_TAGS);
        for bad in ["x".repeat(2_000), "a\u{0}b".to_owned(), "a\nb".to_owned(), "a\u{1b}[2Jb".to_owned()] {
            let reminder = read("tags", Data::list([Data::from(bad.as_str()), "good".into()]));
            assert_eq!(reminder.tags, ["good".into()], "{bad:?}");
            assert_eq!(read("dedupe_key", bad.as_str().into()).dedupe_key, None, "{bad:?}");
            assert_eq!(read("id", bad.as_str().into()).id.as_ref(), "fresh", "{bad:?}");
            assert_eq!(read("originating_agent_id", bad.as_str().into()).originating_agent_id, None, "{bad:?}");
        }
        let body = "\u{0}</system-reminder>".repeat(10_000);
        let reminder = read("body", body.as_str().into());
        assert_eq!((reminder.body.as_ref(), reminder.is_renderable()), (body.as_str(), false));
    }
}
