//! JSON-RPC 2.0 without a transport: a text becomes a [`Message`] or an [`EnvelopeError`], and results and errors become
//! the text of a response; requests and notifications are written too. The type of parameters and results is the caller's. Parameters and results are read by [`json`]: half of a
//! character loses no message.
//!
//! - `envelope`: the reader, what it returns, and the [`Rules`] in which wires differ. `single_pass`: its fast path.
//! - `id`: ids as they are written. [`IdScanner`]: finds the id of a request that cannot be read. `text`: the text of messages. [`code`]: the codes of JSON-RPC.

pub mod code;
mod envelope;
mod id;
mod id_scanner;
mod single_pass;
mod text;

pub use envelope::{Answer, EnvelopeError, Message, Problem, Request, Rules, read, read_text};
pub use id::{Id, IdRule};
pub use id_scanner::{IdScanner, ScannedId};
pub use text::{error, notification, request, result};
