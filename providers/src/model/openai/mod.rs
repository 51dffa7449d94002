//! OpenAI's Chat Completions (`POST /v1/chat/completions`).
//!
//! `encode` turns a request into a body, `decode` reads a reply, `stream` one that comes in pieces. Models that prefer the role `developer` get the system text in
//! that role too, since the vendor asks not to mix both.

mod decode;
mod encode;
mod stream;

pub(super) use decode::reply;
pub(super) use encode::body;
pub(super) use stream::ChatAssembly;

#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
