//! HTTP servers, independent of the protocol that they carry: addresses, connections, and the checks of each request.
//!
//! - [`ListenerNames`]: resolves addresses, and phrases the help for [`ListenError`]s. `bind`: listens there.
//! - `listener`: connections, with limits. `write_timeout`: closes a connection whose client does not read.
//!   `batched_stream`: writes events to many connections at once.
//! - `body`: reads bodies within a size and a timeout.
//! - `guard`: checks hosts and origins. [`Token`]: the secret that callers must send.

mod address;
mod batched_stream;
mod bind;
pub(crate) mod body;
mod guard;
mod listener;
mod token;
mod write_timeout;

pub(crate) use address::is_local;
pub use address::{ListenError, ListenerNames};
pub(crate) use bind::bind;
pub(crate) use guard::{GuardError, RequestGuard, name_of};
pub(crate) use listener::{FullBody, HttpConnection, HttpListener};
pub(crate) use token::{AccessError, bearer_of, challenge};
pub use token::{Token, TokenError};
