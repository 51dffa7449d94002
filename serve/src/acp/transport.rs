//! The server's own transport: one JSON-RPC message per line, with limits on input and on pending output. The
//! transport of the protocol's crate has none: it reads lines of any length, stops at the first invalid UTF-8 byte,
//! and queues without limit.

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

pub(crate) use envelope::{kind, refused};
pub(crate) use gauge::OutputGauge;
pub use gauge::OutputLimits;
pub(crate) use lines::InputLine;
pub(crate) use lines::request_id;
pub(crate) use reader::{LineInput, read_lines};
pub(crate) use writer::Writer;

/// The input and output. Nothing else may write to the output.
pub struct LineStreams {
    /// The peer's messages.
    pub input: Box<dyn Read + Send>,
    /// The messages to the peer.
    pub output: Box<dyn Write + Send>,
    /// Returns once the peer has closed its output, whether or not everything was read; `None` if that cannot be
    /// detected. Reading pauses while the peer reads no responses, and without this its end is detected only when
    /// reading continues.
    pub ended: Option<InputEnd>,
}

/// Waits for the end of an input, on its own thread.
pub type InputEnd = Box<dyn FnOnce() + Send>;

/// The limits of a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportLimits {
    /// The maximum length of a line in bytes.
    pub line: usize,
    /// The limit on pending output.
    pub room: OutputLimits,
}

impl Default for TransportLimits {
    fn default() -> TransportLimits {
        TransportLimits { line: 16 * 1024 * 1024, room: OutputLimits::default() }
    }
}

/// The transport's end of a connection.
pub(crate) struct Transport {
    streams: LineStreams,
    bounds: TransportLimits,
    channel: Channel,
    gauge: Arc<OutputGauge>,
}

impl Transport {
    /// Creates a transport, and the channel that the crate's connection uses.
    pub(crate) fn new(streams: LineStreams, bounds: TransportLimits) -> (Transport, Channel) {
        let (ours, theirs) = Channel::duplex();
        let gauge = Arc::new(OutputGauge::new(bounds.room));
        (Transport { streams, bounds, channel: ours, gauge }, theirs)
    }

    /// Returns the gauge of pending output.
    pub(crate) fn gauge(&self) -> &Arc<OutputGauge> {
        &self.gauge
    }

    /// Transfers messages both ways. Returns once the connection has ended and all its messages are passed to the
    /// writer. The end of the channel tells the connection that the input has ended.
    pub(crate) async fn carry(self) {
        let Transport { streams: LineStreams { input, output, ended }, bounds, channel, gauge } = self;
        let writer = Writer::new(output, gauge.clone());
        let LineInput { mut lines, mut ended } = read_lines(input, ended, bounds.line, Handle::current());
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
                // Let the connection run before the next line is taken, so that its queue holds at most one message.
                tokio::task::yield_now().await;
                // Input causes responses: while the peer does not read, no more input is taken. After the end of the
                // input only lines read ahead are left, and the connection must learn of the end.
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
        // The input may end or pause first; the connection ends when it has sent everything.
        if let futures_util::future::Either::Left((_, outgoing)) =
            futures_util::future::select(incoming, outgoing).await
        {
            outgoing.await;
        }
    }
}

/// Writes a frame. A session's update was counted when it was queued.
fn put(writer: &Writer, gauge: &OutputGauge, frame: TransportFrame) {
    let frame = with_code(frame);
    let shown =
        matches!(&frame, TransportFrame::Single(RawJsonRpcMessage::Notification(n)) if !n.method.starts_with("$/"));
    if !shown {
        gauge.frame();
    }
    // JSON values can always be written.
    writer.put(frame.to_json().unwrap_or_default());
}

/// Adds a `data.code` to errors from the crate, which have none.
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
