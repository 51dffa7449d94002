//! OpenAI's Responses (`POST /v1/responses`), one answer at a time.
//!
//! `encode` turns a request into a body, `decode` reads a reply. Nothing is stored at the vendor's: reasoning comes encrypted, and
//! all items of an answer go back in their order as they came.

mod decode;
mod encode;

pub(super) use decode::{failure, reply};
pub(super) use encode::body;
