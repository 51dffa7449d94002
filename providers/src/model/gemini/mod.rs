//! Google's Gemini API (`POST /v1beta/models/MODEL:generateContent`).
//!
//! `encode` turns a request into a body: a system instruction, contents of alternating roles, function declarations. `decode`
//! reads a reply, `stream` one that comes in pieces (`:streamGenerateContent`). Parts that carry a signature of the model's thoughts go back as they came.

mod decode;
mod encode;
mod stream;

pub(super) use decode::reply;
pub(super) use encode::body;
pub(super) use stream::GeminiAssembly;

#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
