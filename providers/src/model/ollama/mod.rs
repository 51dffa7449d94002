//! Ollama's chat API (`POST /api/chat`), one answer at a time.
//!
//! `encode` turns a request into a body, `decode` reads a reply. The API has no choice of tools, no ids of calls and no role
//! `developer`; images are base64 beside the text.

mod decode;
mod encode;

pub(super) use decode::reply;
pub(super) use encode::body;
