//! Google's Gemini API (`POST /v1beta/models/MODEL:generateContent`), one answer at a time.
//!
//! `encode` turns a request into a body: a system instruction, contents of alternating roles, function declarations. `decode`
//! reads a reply. Parts that carry a signature of the model's thoughts go back as they came.

mod decode;
mod encode;

pub(super) use decode::reply;
pub(super) use encode::body;
