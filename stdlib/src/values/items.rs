//! Streams of items that a builtin makes one after the other: the pages of a server, the lines of a file.

use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Next, Raise, StreamSource};
use std::any::Any;

/// The next item, or the end.
pub(crate) type NextItem = Result<Option<Value>, Box<Raise>>;

/// A source of items. It is dropped with the stream.
pub(crate) trait ItemSource: 'static {
    /// Returns the next item, or the end, if it is known without a wait.
    fn ready(&mut self) -> Option<NextItem> {
        None
    }

    /// Waits for the next item. A wait that is given up is begun anew.
    fn next(&mut self) -> impl Future<Output = NextItem>;
}

/// A stream of the items of a source.
pub(crate) struct ItemStream<S> {
    source: StreamSource<S>,
}

impl<S: ItemSource> ItemStream<S> {
    /// Returns the stream as a value.
    pub(crate) fn value(source: S) -> Value {
        HostBox::value(Self { source: StreamSource::new(source) })
    }
}

impl<S: ItemSource> HostObject for ItemStream<S> {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        Some(match self.source.look(ItemSource::ready) {
            Err(taken) => Next::Ready(Err(taken)),
            Ok(Some(next)) => Next::Ready(next),
            Ok(None) => Next::Later(self.source.wait(async |source| source.next().await)),
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
