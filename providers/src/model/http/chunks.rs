//! The bytes of a streamed answer as they come: never more than [`MAX_BODY`] of them, and never a long silence.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, unfold};
use tokio::time::timeout;

use super::MAX_BODY;

/// The most bytes that may come before an event is whole.
pub(super) const MAX_EVENT: usize = 16 << 20;

/// The reason why there are no more bytes.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChunkError {
    /// The connection broke, or the time of the attempt was over.
    #[error(transparent)]
    Network(#[from] reqwest::Error),
    /// The server was silent for this long.
    #[error("no data received for {} s", .0.as_secs())]
    Stalled(Duration),
    /// The answer is longer than [`MAX_BODY`].
    #[error("more than {} MiB", MAX_BODY >> 20)]
    AnswerTooLong,
    /// One event is longer than [`MAX_EVENT`].
    #[error("an event of more than {} MiB", MAX_EVENT >> 20)]
    EventTooLong,
}

/// Chunks of a body.
pub(super) type ByteChunks = Pin<Box<dyn Stream<Item = Result<Bytes, ChunkError>>>>;

/// The state of the received bytes, shared by the reader and the event parser.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// Bytes since the last event.
    since_event: Cell<usize>,
    /// The bytes before the first event, for a body that turns out to have none.
    head: RefCell<Option<Vec<u8>>>,
}

impl Meter {
    pub(super) fn new() -> Rc<Meter> {
        Rc::new(Meter { since_event: Cell::new(0), head: RefCell::new(Some(Vec::new())) })
    }

    fn count(&self, chunk: &[u8]) -> Result<(), ChunkError> {
        let since = self.since_event.get() + chunk.len();
        self.since_event.set(since);
        if since > MAX_EVENT {
            return Err(ChunkError::EventTooLong);
        }
        if let Some(head) = self.head.borrow_mut().as_mut() {
            head.extend_from_slice(chunk);
        }
        Ok(())
    }

    /// An event is whole.
    pub(super) fn event(&self) {
        self.since_event.set(0);
        self.head.take();
    }

    /// The whole body so far, where it held no event.
    pub(super) fn body_without_events(&self) -> Option<Vec<u8>> {
        self.head.take()
    }
}

/// Reads a response. Once its first byte has come, each silence may last `stall`; what comes before is a matter of the time
/// limit of the whole attempt, for a model may think long before it begins.
pub(super) fn chunks(response: reqwest::Response, stall: Duration) -> (ByteChunks, Rc<Meter>) {
    let meter = Meter::new();
    let reader = ChunkReader { response, stall, read: 0, meter: meter.clone() };
    let stream = unfold(reader, |mut reader| async {
        let next = reader.next().await.transpose()?;
        Some((next, reader))
    });
    (Box::pin(stream), meter)
}

struct ChunkReader {
    response: reqwest::Response,
    stall: Duration,
    read: usize,
    meter: Rc<Meter>,
}

impl ChunkReader {
    async fn next(&mut self) -> Result<Option<Bytes>, ChunkError> {
        let chunk = if self.read == 0 {
            self.response.chunk().await?
        } else {
            let silence = |_| ChunkError::Stalled(self.stall);
            timeout(self.stall, self.response.chunk()).await.map_err(silence)??
        };
        if let Some(chunk) = &chunk {
            self.read += chunk.len();
            if self.read > MAX_BODY {
                return Err(ChunkError::AnswerTooLong);
            }
            self.meter.count(chunk)?;
        }
        Ok(chunk)
    }
}
