//! Bounds of what a script passes to a hub. They are checked before anything is copied, because a message exists in
//! several copies while it is sent.

use hub::broker::MAX_ID_BYTES;
use lang::builtins::args;
use lang::value::{Stopped, Value};
use lang::vm::{Meter, Raise};

use crate::argument_size::{TooLarge, argument_size};
use crate::codes::HubClientCode;

/// The maximum size of the arguments of a call, in bytes. A hub keeps no larger task.
const MAX_BYTES: usize = 16 << 20;

/// The number of copies of a message on its way: as data, as a message, as a request, and encoded.
const COPIES: usize = 4;

/// Checks the size of the arguments of a call, and that the memory of the run has room for their copies.
pub(crate) fn check_size(args: &[Value]) -> Result<(), Box<Raise>> {
    let size = argument_size(args, MAX_BYTES).map_err(|TooLarge { argument }| {
        Raise::error(HubClientCode::Refused, format!("the arguments are larger than {MAX_BYTES} bytes"))
            .field("category", "resource_exhausted")
            .about(argument, "too large for a hub")
            .help("store the content elsewhere, and send its URL")
    })?;
    Meter::start().room(size.saturating_mul(COPIES)).map_err(Stopped::raise)
}

/// Returns an id in an argument, of at most the length that a hub accepts.
pub(crate) fn id(args: &[Value], i: usize) -> Result<String, Box<Raise>> {
    let id = args::str(args, i)?;
    if id.len() > MAX_ID_BYTES {
        return Err(Raise::error(HubClientCode::Refused, format!("the id is longer than {MAX_ID_BYTES} bytes"))
            .field("category", "invalid_argument")
            .about(i, "too long"));
    }
    Ok(id.to_string())
}
