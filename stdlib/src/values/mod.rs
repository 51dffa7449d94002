//! Values of the language for objects of the core.

pub(crate) mod failed_loop;
mod items;
mod partial_json;
mod peer_stream;
mod stream;
mod text_stream;
mod transcript;
mod value_stream;

pub(crate) use failed_loop::{FailedLoop, LoopFailures};
pub(crate) use items::{ItemSource, ItemStream, NextItem};
pub(crate) use peer_stream::PeerStream;
pub(crate) use stream::EventStream;
pub(crate) use text_stream::{Pieces, TextStream};
pub(crate) use transcript::{TranscriptValue, find_session, of_transcript, on_record, session_arg};
pub(crate) use value_stream::ValueStream;
