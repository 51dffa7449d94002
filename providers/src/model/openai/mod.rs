//! OpenAI's Chat Completions (`POST /v1/chat/completions`), one answer at a time.
//!
//! `encode` turns a request into a body, `decode` reads a reply. Models that prefer the role `developer` get the system text in
//! that role too, since the vendor asks not to mix both.

mod decode;
mod encode;

pub(super) use decode::reply;
pub(super) use encode::body;

#[cfg(test)]
mod tests;
