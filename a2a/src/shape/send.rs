//! The parameters of sending a message, in 0.3 and 1.0, and the bounds that hold in all versions.

use runtime::data::Data;

use super::ShapeError;
use super::alike::{self, Spelling};
use super::fields::Fields;
use super::key;
use super::object::Object;
use crate::{Configuration, Message, SendMessage};

/// The maximum number of parts of a message.
const MAX_PARTS: usize = 1_000;
/// The maximum number of other tasks that a message refers to, and of extensions that it uses.
const MAX_NAMED: usize = 100;
/// The maximum length of a message id, in bytes.
const MAX_MESSAGE_ID: usize = 256;

pub(super) fn read<S: Spelling>(
    params: &Object<'_>,
    read_configuration: impl FnOnce(&Object<'_>) -> Result<Configuration, ShapeError>,
) -> Result<SendMessage, ShapeError> {
    Ok(SendMessage {
        message: params.needed_object(&key::MESSAGE, read_message::<S>)?,
        configuration: params.object(&key::CONFIGURATION, read_configuration)?.unwrap_or_default(),
        metadata: params.dict(&key::METADATA)?,
    })
}

fn read_message<S: Spelling>(message: &Object<'_>) -> Result<Message, ShapeError> {
    check(message)?;
    message.chosen_id(&key::CONTEXT_ID)?;
    alike::read_message::<S>(message)
}

/// A message that is sent must say something, and not without end.
pub(super) fn check(message: &Object<'_>) -> Result<(), ShapeError> {
    match message.len(&key::PARTS) {
        Some(0) => return Err(message.wrong(&key::PARTS, "must have at least one part")),
        Some(len) if len > MAX_PARTS => {
            return Err(message.wrong(&key::PARTS, &format!("must not have more than {MAX_PARTS} parts; it has {len}")));
        }
        None if message.data(&key::PARTS).is_nil() => return Err(message.missing(&key::PARTS)),
        // A value that is not a list is reported when it is read.
        _ => {}
    }
    for key in [&key::REFERENCE_TASK_IDS, &key::EXTENSIONS] {
        if message.len(key).is_some_and(|len| len > MAX_NAMED) {
            return Err(message.wrong(key, &format!("must not have more than {MAX_NAMED} items")));
        }
    }
    if message.data(&key::MESSAGE_ID).as_str().is_some_and(|id| id.len() > MAX_MESSAGE_ID) {
        return Err(message.wrong(&key::MESSAGE_ID, &format!("must not have more than {MAX_MESSAGE_ID} bytes")));
    }
    Ok(())
}

pub(super) fn write<S: Spelling>(request: &SendMessage, configuration: Fields) -> Data {
    let configuration = configuration.done();
    let is_said = configuration.as_dict().is_some_and(|entries| !entries.is_empty());
    Fields::new()
        .with(&key::MESSAGE, alike::message::<S>(&request.message))
        .with_present(&key::CONFIGURATION, if is_said { configuration } else { Data::Nil })
        .with_present(&key::METADATA, request.metadata.clone())
        .done()
}
