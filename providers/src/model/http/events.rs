//! Events out of bytes: server-sent events, or one JSON document a line.

use std::rc::Rc;

use bytes::BytesMut;
use futures_util::{StreamExt, TryStreamExt};
use sse_stream::SseByteStream;

use super::chunks::{ByteChunks, ChunkError, Meter};

/// The separation of the pieces of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`.
    ServerSentEvents,
    /// `application/x-ndjson`.
    Lines,
}

/// One piece of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Its name, where it has one.
    pub(super) name: Option<String>,
    /// The data; never blank.
    pub(super) data: String,
}

/// The reason why there is no next event.
#[derive(Debug)]
pub(super) enum EventError {
    /// The bytes did not come.
    Chunk(ChunkError),
    /// The bytes are not UTF-8.
    Utf8,
}

/// The events of an answer.
pub(super) struct EventStream {
    source: EventSource,
    meter: Rc<Meter>,
}

enum EventSource {
    // Boxed, for it is large and the other is not.
    ServerSent(Box<SseByteStream<ByteChunks>>),
    Lines { chunks: ByteChunks, buffer: BytesMut, at_end: bool },
}

impl EventStream {
    pub(super) fn new(framing: Framing, chunks: ByteChunks, meter: Rc<Meter>) -> EventStream {
        let source = match framing {
            Framing::ServerSentEvents => EventSource::ServerSent(Box::new(SseByteStream::new(chunks))),
            Framing::Lines => EventSource::Lines { chunks, buffer: BytesMut::new(), at_end: false },
        };
        EventStream { source, meter }
    }

    /// The next event; nothing at the end. An event that the end of the bytes cuts short is none.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, EventError> {
        loop {
            let event = match &mut self.source {
                EventSource::ServerSent(stream) => next_server_sent(stream).await?,
                EventSource::Lines { chunks, buffer, at_end } => next_line(chunks, buffer, at_end).await?,
            };
            let Some(event) = event else { return Ok(None) };
            if !event.data.trim().is_empty() {
                self.meter.event();
                return Ok(Some(event));
            }
        }
    }
}

async fn next_server_sent(stream: &mut SseByteStream<ByteChunks>) -> Result<Option<Event>, EventError> {
    let Some(event) = stream.next().await else { return Ok(None) };
    match event {
        Ok(event) => Ok(Some(Event { name: event.event, data: event.data.unwrap_or_default() })),
        Err(sse_stream::Error::Body(cause)) => match cause.downcast::<ChunkError>() {
            Ok(error) => Err(EventError::Chunk(*error)),
            Err(_) => Err(EventError::Utf8),
        },
        Err(_) => Err(EventError::Utf8),
    }
}

/// The last line needs no line break.
async fn next_line(
    chunks: &mut ByteChunks,
    buffer: &mut BytesMut,
    at_end: &mut bool,
) -> Result<Option<Event>, EventError> {
    let mut seen = 0;
    let line = loop {
        if let Some(end) = buffer[seen..].iter().position(|byte| *byte == b'\n') {
            break buffer.split_to(seen + end + 1);
        }
        seen = buffer.len();
        if *at_end {
            if buffer.is_empty() {
                return Ok(None);
            }
            break buffer.split();
        }
        match chunks.try_next().await.map_err(EventError::Chunk)? {
            Some(chunk) => buffer.extend_from_slice(&chunk),
            None => *at_end = true,
        }
    };
    let data = std::str::from_utf8(&line).map_err(|_| EventError::Utf8)?;
    Ok(Some(Event { name: None, data: data.to_owned() }))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::stream::iter;

    use super::*;
    use crate::testing::block_on;

    /// The events of a body that comes in these chunks.
    fn read(framing: Framing, chunks: &[&[u8]]) -> Vec<Event> {
        let chunks: Vec<Result<Bytes, ChunkError>> =
            chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let mut events = EventStream::new(framing, Box::pin(iter(chunks)), Meter::new());
        let mut all = Vec::new();
        while let Some(event) = block_on(events.next()).unwrap() {
            all.push(event);
        }
        all
    }

    fn event(name: Option<&str>, data: &str) -> Event {
        Event { name: name.map(str::to_owned), data: data.to_owned() }
    }

    #[test]
    fn wherever_the_bytes_are_cut_the_events_are_the_same() {
        let text = "\u{feff}: a comment\r\nevent: delta\r\ndata: {\"t\":\"ä€😀\"}\r\n\r\ndata:two\rdata: lines\r\r\
                    id: 7\nretry: 5\n\n:ping\n\nevent: ping\n\nunknown: x\ndata:  [DONE]\n\ndata: cut short";
        let expected = [event(Some("delta"), "{\"t\":\"ä€😀\"}"), event(None, "two\nlines"), event(None, " [DONE]")];
        let bytes = text.as_bytes();
        for cut in 0..=bytes.len() {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(read(Framing::ServerSentEvents, &[first, second]), expected, "cut at {cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(Framing::ServerSentEvents, &single), expected);
    }

    #[test]
    fn lines_are_events_and_the_last_needs_no_break() {
        let text = "{\"a\":\"ä😀\"}\r\n\n  \n{\"b\":1}\n{\"c\":2}";
        let expected = [event(None, "{\"a\":\"ä😀\"}\r\n"), event(None, "{\"b\":1}\n"), event(None, "{\"c\":2}")];
        let bytes = text.as_bytes();
        for cut in 0..=bytes.len() {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(read(Framing::Lines, &[first, second]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        for (framing, bytes) in
            [(Framing::ServerSentEvents, &b"data: \xff\n\n"[..]), (Framing::Lines, &b"\"\xff\"\n"[..])]
        {
            let chunks: Vec<Result<Bytes, ChunkError>> = vec![Ok(Bytes::copy_from_slice(bytes))];
            let mut events = EventStream::new(framing, Box::pin(iter(chunks)), Meter::new());
            assert!(matches!(block_on(events.next()), Err(EventError::Utf8)), "{framing:?}");
        }
    }
}
