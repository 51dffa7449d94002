//! Ollama's chat API (`POST /api/chat`).
//!
//! `encode` turns a request into a body, `decode` reads a reply, `stream` one that comes in pieces. The API has no choice of tools, no ids of calls and no role
//! `developer`; images are base64 beside the text.

mod decode;
mod encode;
mod stream;

pub(super) use decode::reply;
pub(super) use encode::body;
pub(super) use stream::OllamaAssembly;

#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
