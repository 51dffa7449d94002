//! [`Incoming`]: a reminder as a peer writes it. Keys are taken in camelCase and snake_case.

use std::borrow::Cow;
use std::sync::Arc;

use a2a::SendMessage;
use runtime::data::Data;
use runtime::reminder::bridge::{Queue, RemindPayload};
use runtime::reminder::limits::{MAX_ID, fault_of_name};
use runtime::reminder::{ReminderCode, ReminderError};
use runtime::words::nearest;

use super::Echo;

/// A reminder as a peer writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// The id that the peer gave it.
    pub id: Option<Arc<str>>,
    /// The reminder, and when it is delivered.
    pub payload: RemindPayload,
    /// What the peer said of it.
    pub echo: Echo,
}

/// What a peer's reminder has beside what a host's has. `firedAtTurn` is the peer's own count, and whose agent it was first is
/// nothing that this one knows: both are passed over.
const MORE: [(&str, &str); 4] = [
    ("id", "id"),
    ("source", "source"),
    ("firedAtTurn", "fired_at_turn"),
    ("originatingAgentId", "originating_agent_id"),
];

/// Where a message carries reminders: `{harn: {reminder: …}}`, or the two words as one key.
const FLAT: &str = "harn.reminder";

impl Incoming {
    /// Reads one. The field of an error is as it was written.
    ///
    /// # Errors
    /// What is wrong with it: an unknown key is `HARN-RMD-001`, a bad `propagate` 005, all else 002.
    pub fn read(data: &Data, metadata: &Data) -> Result<Incoming, ReminderError> {
        let Some(given) = data.as_dict() else {
            let message = format!("a reminder must be an object with a `body`, got {}", data.type_name());
            return Err(bad("", message));
        };
        let is_more = |key: &str| MORE.iter().any(|(camel, snake)| key == *camel || key == *snake);
        if let Some(key) = given.keys().find(|key| !is_more(key) && !is_of_payload(key)) {
            let known = MORE.iter().map(|(camel, _)| *camel).chain(CAMEL);
            let error =
                ReminderError::new(ReminderCode::Shape, key.as_ref(), format!("unknown reminder option `{key}`"));
            return Err(error.suggest(nearest(key, known)));
        }
        let rest = given.iter().filter(|(key, _)| !is_more(key));
        let mut payload = RemindPayload::from_pairs(rest.map(|(key, value)| (&**key, whole(value))))?;
        let echo = Echo { source: word(data, "source")?, metadata: metadata.clone() };
        payload.meta = echo.to_meta();
        Ok(Incoming { id: word(data, "id")?, payload, echo })
    }
}

/// A value; a number without a fraction as an int. Clients that hold metadata as a `Struct` of protocol buffers know no ints and
/// write 2 as 2.0.
fn whole(value: &Data) -> Cow<'_, Data> {
    match value {
        // What has no int stays as it is, and is refused where an int is wanted.
        Data::Float(number) if number.fract() == 0.0 => {
            format!("{number:.0}").parse().map_or(Cow::Borrowed(value), |int| Cow::Owned(Data::Int(int)))
        }
        _ => Cow::Borrowed(value),
    }
}

/// What a host's reminder has, without the session and the envelope that it may be in.
const CAMEL: [&str; 8] =
    ["body", "tags", "dedupeKey", "ttlTurns", "preserveOnCompact", "propagate", "roleHint", "mode"];

fn is_of_payload(key: &str) -> bool {
    RemindPayload::is_key(key) && !matches!(key, "_meta" | "session_id" | "sessionId")
}

/// A short text without line breaks, as lists and logs show it.
fn word(data: &Data, field: &'static str) -> Result<Option<Arc<str>>, ReminderError> {
    match data.get(field) {
        Data::Nil => Ok(None),
        Data::Str(text) => match (text.trim(), fault_of_name(text, MAX_ID)) {
            ("", _) => Err(bad(field, format!("the `{field}` of a reminder is empty")).help("omit it")),
            (_, Some(fault)) => Err(bad(field, format!("the `{field}` of a reminder {fault}"))),
            (_, None) => Ok(Some(text.clone())),
        },
        other => Err(bad(field, format!("the `{field}` of a reminder must be a string, got {}", other.type_name()))),
    }
}

/// The reminders that metadata carries, for peers that know no method for them.
///
/// # Errors
/// As [`Incoming::read`]; the field begins at the metadata.
pub fn of_metadata(metadata: &Data) -> Result<Vec<Incoming>, ReminderError> {
    let mut all = Vec::new();
    for given in [metadata.get("harn").get("reminder"), metadata.get(FLAT)] {
        match given {
            Data::Nil => {}
            Data::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    let read = Incoming::read(item, &Data::Nil);
                    all.push(read.map_err(|error| error.under(&format!("{FLAT}.{at}")))?);
                }
            }
            one => all.push(Incoming::read(one, &Data::Nil).map_err(|error| error.under(FLAT))?),
        }
    }
    Ok(all)
}

/// The reminders that a request carries, in its own metadata and in that of its message.
///
/// # Errors
/// As [`Incoming::read`]; the field begins at the request.
pub fn of_message(request: &SendMessage) -> Result<Vec<Incoming>, ReminderError> {
    let mut all = of_metadata(&request.metadata).map_err(|error| error.under("metadata"))?;
    all.extend(of_metadata(&request.message.metadata).map_err(|error| error.under("message.metadata"))?);
    if all.len() > Queue::CAPACITY {
        let message = format!("a message contains {} reminders; at most {} are allowed", all.len(), Queue::CAPACITY);
        return Err(bad("message.metadata", message));
    }
    Ok(all)
}

pub(super) fn bad(field: &str, message: impl Into<String>) -> ReminderError {
    ReminderError::new(ReminderCode::Bridge, field, message)
}
