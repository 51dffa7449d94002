//! The bounds of a message that is sent, in all versions.

use super::ShapeError;
use super::error::Place;
use crate::Message;

/// The maximum number of parts of a message.
const MAX_PARTS: usize = 1_000;
/// The maximum number of other tasks that a message refers to, and of extensions that it uses.
const MAX_NAMED: usize = 100;
/// The maximum length of a message id, in bytes.
const MAX_MESSAGE_ID: usize = 256;
/// The maximum length of a context id, in bytes.
const MAX_CONTEXT_ID: usize = 128;

/// Checks that a message that is sent has content, and not without end. `params` is where it was read.
pub(super) fn check(message: &Message, params: &Place<'_>) -> Result<(), ShapeError> {
    let wrong = |field: &str, problem: String| Err(params.field("message").field(field).error(&problem));
    match message.parts.len() {
        0 if params.field("message").field("parts").is_nil() => return Err(params.field("message").missing("parts")),
        0 => return wrong("parts", "must have at least one part".to_owned()),
        len if len > MAX_PARTS => {
            return wrong("parts", format!("must not have more than {MAX_PARTS} parts; it has {len}"));
        }
        _ => {}
    }
    for (field, named) in [("referenceTaskIds", &message.reference_task_ids), ("extensions", &message.extensions)] {
        if named.len() > MAX_NAMED {
            return wrong(field, format!("must not have more than {MAX_NAMED} items"));
        }
    }
    if message.message_id.len() > MAX_MESSAGE_ID {
        return wrong("messageId", format!("must not have more than {MAX_MESSAGE_ID} bytes"));
    }
    let is_plain = |id: &str| id.len() <= MAX_CONTEXT_ID && id.bytes().all(|byte| byte.is_ascii_graphic());
    if message.context_id.as_ref().is_some_and(|id| !is_plain(id)) {
        return wrong("contextId", format!("must be 1 to {MAX_CONTEXT_ID} visible ASCII characters"));
    }
    Ok(())
}
