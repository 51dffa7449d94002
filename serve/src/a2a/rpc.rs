//! JSON-RPC: requests and their responses.
//!
//! - `envelope`: reads a body as a request. `method`: the method names.
//! - `call`: executes a request, with an answer, a stream or nothing as the result. `version`: the version of a
//!   request.
//! - `stream`: the updates of a task, frame by frame. `pieces`, `written`: writing frames. `answer`: the texts of
//!   refusals.

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
