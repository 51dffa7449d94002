//! JSON-RPC: what a body asks for, and what it is answered.
//!
//! - `envelope`: a body as a request, or what is wrong with it in the words of this wire. `method`: their names.
//! - `call`: what a request comes to: an answer, a stream, or nothing. `version`: how it is spelled.
//! - `stream`: what is told of a task, frame by frame. `pieces`, `written`: writing frames. `answer`: the texts of answers.

mod answer;
mod call;
mod envelope;
mod method;
mod pieces;
mod stream;
mod version;
mod written;

pub(super) use answer::refused;
pub(super) use call::{Caller, Reply, Streams, call};
pub(super) use envelope::read;
pub(super) use stream::Frames;
pub(super) use version::Said;
pub(super) use written::Written;
