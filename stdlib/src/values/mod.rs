//! Values of the language for objects of the core.

mod items;
mod partial_json;
mod stream;
mod text_stream;
mod value_stream;

pub(crate) use items::{ItemSource, ItemStream, NextItem};
pub(crate) use stream::EventStream;
pub(crate) use text_stream::{Pieces, TextStream};
pub(crate) use value_stream::ValueStream;
