//! The front's own transport: one message of JSON-RPC a line, with bounds on what is read and on what waits to be written.
//! The crate's own has none: it reads lines of any length, ends at the first byte that is no UTF-8, and queues without end.

mod envelope;
mod gauge;
mod lines;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

use std::io::{Read, Write};
use std::sync::Arc;

use agent_client_protocol::{Channel, ErrorCode, RawJsonRpcMessage, RawJsonRpcResponse, TransportFrame};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::AcpCode;

pub(crate) use envelope::kind;
pub(crate) use gauge::Gauge;
pub use gauge::Room;
use reader::{Input, read_lines};
use writer::Writer;

/// What is read and what is written. Nothing else may write there.
pub struct Streams {
    /// Where the peer's messages come from.
    pub input: Box<dyn Read + Send>,
    /// Where the peer reads.
    pub output: Box<dyn Write + Send>,
    /// Returns once the peer writes no more, whether or not all that it wrote was read; where nobody can tell, nothing. A peer
    /// that takes no answers is read from no more, and without this its end is seen only once it is again.
    pub ended: Option<Ended>,
}

/// Waits for the end of an input, on a thread of its own.
pub type Ended = Box<dyn FnOnce() + Send>;

/// How much is taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The longest line that is read, in bytes.
    pub line: usize,
    /// What may wait for the peer.
    pub room: Room,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { line: 16 * 1024 * 1024, room: Room::default() }
    }
}

/// The transport's end of a connection.
pub(crate) struct Transport {
    streams: Streams,
    bounds: Bounds,
    channel: Channel,
    gauge: Arc<Gauge>,
}

impl Transport {
    /// A transport, and what the crate's connection takes for one.
    pub(crate) fn new(streams: Streams, bounds: Bounds) -> (Transport, Channel) {
        let (ours, theirs) = Channel::duplex();
        let gauge = Arc::new(Gauge::new(bounds.room));
        (Transport { streams, bounds, channel: ours, gauge }, theirs)
    }

    /// How much waits for the peer.
    pub(crate) fn gauge(&self) -> &Arc<Gauge> {
        &self.gauge
    }

    /// Carries messages both ways. Ready once the connection has ended and all that it said is handed to the writer; that the
    /// input has ended the connection is told by the end of its channel.
    pub(crate) async fn carry(self) {
        let Transport { streams: Streams { input, output, ended }, bounds, channel, gauge } = self;
        let writer = Writer::new(output, gauge.clone());
        let Input { mut lines, mut ended } = read_lines(input, ended, bounds.line, Handle::current());
        let (mut said, heard) = channel.into_parts();
        let (answers, held_back) = (writer.clone(), gauge.clone());
        let incoming = async move {
            while let Some(arrived) = lines.recv().await {
                match envelope::read(arrived.line, bounds.line) {
                    Ok(Some(message)) => {
                        if heard.unbounded_send(TransportFrame::Single(message)).is_err() {
                            break;
                        }
                    }
                    Ok(None) => {}
                    Err(bad) => {
                        held_back.frame();
                        answers.put(bad.answer());
                    }
                }
                // The connection comes to its turn before the next line is taken, so its queue holds one message at most.
                tokio::task::yield_now().await;
                // What is read calls for answers: with a peer that takes none, nothing more is read. Once the input has ended
                // only what was read ahead is left, and the connection must come to know of the end.
                tokio::select! {
                    biased;
                    () = held_back.room() => {}
                    _ = ended.wait_for(|ended| *ended) => {}
                }
            }
        };
        let outgoing = async move {
            while let Some(frame) = said.next().await {
                put(&writer, &gauge, frame);
            }
        };
        let incoming = std::pin::pin!(incoming);
        let outgoing = std::pin::pin!(outgoing);
        // The input may end first or be read from no more; the connection says when it has said all.
        if let futures_util::future::Either::Left((_, outgoing)) =
            futures_util::future::select(incoming, outgoing).await
        {
            outgoing.await;
        }
    }
}

/// Writes a frame. What a session shows was counted when it was shown.
fn put(writer: &Writer, gauge: &Gauge, frame: TransportFrame) {
    let frame = with_code(frame);
    let shown =
        matches!(&frame, TransportFrame::Single(RawJsonRpcMessage::Notification(n)) if !n.method.starts_with("$/"));
    if !shown {
        gauge.frame();
    }
    // Values of JSON can always be written.
    writer.put(frame.to_json().unwrap_or_default());
}

/// Errors of the crate itself say nothing under `data.code`.
fn with_code(frame: TransportFrame) -> TransportFrame {
    let TransportFrame::Single(RawJsonRpcMessage::Response(RawJsonRpcResponse::Error { id, mut error })) = frame else {
        return frame;
    };
    let data = error.data.clone().take();
    if data.as_ref().is_none_or(|data| data.get("code").is_none()) {
        let code =
            if error.code == ErrorCode::REQUEST_CANCELLED.value() { AcpCode::Cancelled } else { AcpCode::Internal };
        error = Box::new(error.data(json!({"code": code.code().as_str(), "detail": data.unwrap_or(Value::Null)})));
    }
    TransportFrame::Single(RawJsonRpcMessage::Response(RawJsonRpcResponse::Error { id, error }))
}
