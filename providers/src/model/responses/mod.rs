//! OpenAI's Responses (`POST /v1/responses`).
//!
//! `encode` turns a request into a body, `decode` reads a reply, `stream` one that comes in pieces. Nothing is stored at the vendor's: reasoning comes encrypted, and
//! all items of an answer go back in their order as they came.

mod decode;
mod encode;
mod stream;

pub(super) use decode::{failure, reply};
pub(super) use encode::body;
pub(super) use stream::ResponsesAssembly;

#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
