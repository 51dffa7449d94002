//! JSON-RPC: requests and their responses.
//!
//! - `envelope`: reads a body as a request. `method`: the method names.
//! - `call`: executes a request, with an answer, a stream or nothing as the result. `version`: the version of a
//!   request.
//! - `stream`: the updates of a task, frame by frame. `json_pieces`, `frame_cache`: writing frames. `answer`: the texts
//!   of refusals.

mod answer;
mod call;
mod envelope;
mod frame_cache;
mod json_pieces;
mod method;
mod stream;
mod version;

pub(crate) use answer::refused;
pub(super) use call::{CallResult, Caller, StreamContext, call};
pub(crate) use call::{no_extended_card, no_push};
pub(crate) use envelope::read;
pub(super) use frame_cache::FrameCache;
pub(crate) use method::A2aMethod;
pub(super) use stream::TaskEventStream;
pub(crate) use version::RequestedVersion;
