//! [`PeerReminder`]: a reminder from a peer. Keys are accepted in camelCase and snake_case.

use std::borrow::Cow;
use std::sync::Arc;

use a2a::SendMessage;
use base::data::Data;
use base::words::nearest;
use runtime::reminder::bridge::{Queue, RemindPayload};
use runtime::reminder::limits::{MAX_ID, fault_of_name};
use runtime::reminder::{ReminderCode, ReminderError, ReminderField, Surface};

use super::PeerEcho;

/// A reminder from a peer.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerReminder {
    /// The id that the peer gave it.
    pub id: Option<Arc<str>>,
    /// The reminder, and when it is delivered.
    pub payload: RemindPayload,
    /// The peer's own data.
    pub echo: PeerEcho,
}

/// The meaning of a key in a peer's reminder.
enum PeerKey {
    /// A field that a peer may set and a host may not. `firedAtTurn` counts the peer's own turns, and the session that
    /// made the reminder is unknown here: both are ignored.
    OfPeer,
    /// A parameter that hosts have too.
    OfHost,
}

impl PeerKey {
    fn of(key: &str) -> Option<PeerKey> {
        match ReminderField::named(key, Surface::A2a) {
            Some(field) if ReminderField::OF_RUNTIME.contains(&field) => Some(PeerKey::OfPeer),
            Some(field) if ReminderField::SPEC.contains(&field) => Some(PeerKey::OfHost),
            _ => (key == MODE).then_some(PeerKey::OfHost),
        }
    }
}

/// The parameter that selects when a reminder is delivered.
const MODE: &str = "mode";

/// The metadata key of reminders in a message: `{harn: {reminder: …}}`, or both words as one key.
const FLAT: &str = "harn.reminder";

impl PeerReminder {
    /// Reads a reminder. The field in an error is spelled as in the input.
    ///
    /// # Errors
    /// An unknown key is `HARN-RMD-001`, an invalid `propagate` 005, anything else 002.
    pub fn read(data: &Data, metadata: &Data) -> Result<PeerReminder, ReminderError> {
        let Some(given) = data.as_dict() else {
            let message = format!("a reminder must be an object with a `body`, got {}", data.type_name());
            return Err(bad("", message));
        };
        let mut of_host = Vec::with_capacity(given.len());
        for (key, value) in given {
            match PeerKey::of(key) {
                Some(PeerKey::OfHost) => of_host.push((&**key, whole(value))),
                Some(PeerKey::OfPeer) => {}
                None => return Err(unknown_key(key)),
            }
        }
        let mut payload = RemindPayload::from_pairs(of_host)?;
        let echo = PeerEcho { source: word(data, ReminderField::Source)?, metadata: metadata.clone() };
        payload.meta = echo.to_meta();
        Ok(PeerReminder { id: word(data, ReminderField::Id)?, payload, echo })
    }

    /// Returns whether this is the same reminder as another one. The peer's metadata is about the request, such as an
    /// attempt number or a trace, so it differs between repeats.
    pub(super) fn is_same(&self, other: &PeerReminder) -> bool {
        let reminder = |it: &PeerReminder| (it.id.clone(), it.echo.source.clone(), it.payload.mode);
        reminder(self) == reminder(other) && self.payload.spec == other.payload.spec
    }
}

/// Returns the value, with a number without a fraction as an int. Clients that hold metadata as a `Struct` of protocol
/// buffers have no ints and write 2 as 2.0.
fn whole(value: &Data) -> Cow<'_, Data> {
    match value {
        // A number that does not fit into an int stays as it is, and is refused later.
        Data::Float(number) if number.fract() == 0.0 => {
            format!("{number:.0}").parse().map_or(Cow::Borrowed(value), |int| Cow::Owned(Data::Int(int)))
        }
        _ => Cow::Borrowed(value),
    }
}

fn unknown_key(key: &str) -> ReminderError {
    let fields = ReminderField::OF_RUNTIME.into_iter().chain(ReminderField::SPEC);
    let known = fields.map(|field| field.name(Surface::A2a)).chain([MODE]);
    let error = ReminderError::new(ReminderCode::Shape, key, format!("unknown reminder option `{key}`"));
    error.suggest(nearest(key, known))
}

/// Reads a short text without line breaks, for lists and logs.
fn word(data: &Data, field: ReminderField) -> Result<Option<Arc<str>>, ReminderError> {
    let field = field.name(Surface::A2a);
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

/// Reads the reminders in metadata, for peers that do not know the methods.
///
/// # Errors
/// See [`PeerReminder::read`]; the field begins at the metadata.
pub fn of_metadata(metadata: &Data) -> Result<Vec<PeerReminder>, ReminderError> {
    let mut all = Vec::new();
    for given in [metadata.get("harn").get("reminder"), metadata.get(FLAT)] {
        match given {
            Data::Nil => {}
            Data::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    let read = PeerReminder::read(item, &Data::Nil);
                    all.push(read.map_err(|error| error.under(&format!("{FLAT}.{at}")))?);
                }
            }
            one => all.push(PeerReminder::read(one, &Data::Nil).map_err(|error| error.under(FLAT))?),
        }
    }
    Ok(all)
}

/// Reads the reminders in a request, from its own metadata and from that of its message.
///
/// # Errors
/// See [`PeerReminder::read`]; the field begins at the request.
pub fn of_message(request: &SendMessage) -> Result<Vec<PeerReminder>, ReminderError> {
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
