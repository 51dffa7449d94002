//! JSON-RPC: requests and their responses.
//!
//! - `envelope`: reads a body as a request. `method`: the method names.
//! - `call`: executes a request, with an answer, a stream or nothing as the result. `version`: the version of a
//!   request.
//! - `legacy`: sending by its names before version 0.3.
//! - `stream`: the updates of a task, frame by frame. `json_pieces`, `frame_cache`: writing frames. `answer`: the texts
//!   of refusals.

mod answer;
mod call;
mod envelope;
mod frame_cache;
mod json_pieces;
mod legacy;
mod method;
mod stream;
mod version;

pub(crate) use answer::refused;
pub(crate) use call::{CallResult, StreamContext, no_extended_card, no_push};
pub(super) use call::{RequestSender, call};
pub(crate) use envelope::{BadRequest, RpcRequest, read};
pub(crate) use frame_cache::FrameCache;
pub(crate) use method::A2aMethod;
pub(crate) use stream::{StreamEnvelope, StreamSource, TaskEventStream, TaskFrames, event_of};
pub(crate) use version::RequestedVersion;
