//! The HTTP edge of every server. A protocol says how it words a refusal, which paths and methods it has, and what it
//! does with an admitted request.
//!
//! - [`HttpEdge`]: takes requests to an [`HttpProtocol`]. [`HttpServer`]: an edge on an [`HttpPort`].
//! - `route`: paths and methods. [`HttpRefusal`]: refused requests. `response`, `websocket`: what all protocols send.
//! - [`ListenerNames`]: resolves addresses, and phrases the help for [`ListenError`]s. `bind`: listens there.
//! - [`ServerTls`]: the certificate of a server. `stream`: connections with and without TLS.
//! - `listener`: connections, with limits. `write_timeout`: closes a connection whose client does not read.
//!   `batched_stream`: writes events to many connections at once.
//! - `body`: reads bodies within a size and a timeout.
//! - `guard`: checks hosts and origins. [`Token`]: the secret that callers must send.
//! - [`RequestLog`]: the durations of requests, and a line of the log for each.

mod address;
mod batched_stream;
mod bind;
mod body;
mod edge;
mod guard;
mod listener;
mod observe;
mod refusal;
pub(crate) mod response;
mod route;
mod stream;
mod tls;
mod token;
pub(crate) mod websocket;
mod write_timeout;

pub(crate) use address::is_local;
pub use address::{ListenError, ListenerNames};
pub(crate) use bind::{HttpPort, bind};
pub(crate) use body::BodyError;
#[cfg(test)]
pub(crate) use edge::HttpEdge;
pub(crate) use edge::{CorsHeaders, HttpProtocol, HttpRequest, HttpServer};
pub(crate) use guard::{GuardError, RequestGuard, name_of, shortened};
pub(crate) use listener::HttpConnection;
pub(crate) use observe::RequestLog;
pub(crate) use refusal::{HttpRefusal, RefusalBody};
pub(crate) use route::{Route, RouteMethods};
pub use tls::{ServerTls, TlsError};
pub(crate) use token::{AccessError, bearer_of};
pub use token::{Token, TokenError};
