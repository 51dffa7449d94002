//! One JSON-RPC message per line, with limits on input and on pending output.

mod envelope;
mod gauge;
mod lines;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

use std::io::{Read, Write};
use std::sync::Arc;

use jsonrpc::Message;
use serde_json::Value;
use tokio::runtime::Handle;

pub(crate) use envelope::{kind, read_message};
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

/// The lines of both sides.
pub(crate) struct Transport {
    input: LineInput,
    limit: usize,
    writer: Writer,
    gauge: Arc<OutputGauge>,
}

impl Transport {
    /// Starts to read and to write. A runtime must be running.
    pub(crate) fn new(streams: LineStreams, bounds: TransportLimits) -> Transport {
        let LineStreams { input, output, ended } = streams;
        let gauge = Arc::new(OutputGauge::new(bounds.room));
        let writer = Writer::new(output, gauge.clone());
        Transport { input: read_lines(input, ended, bounds.line, Handle::current()), limit: bounds.line, writer, gauge }
    }

    /// Returns the gauge of pending output.
    pub(crate) fn gauge(&self) -> &Arc<OutputGauge> {
        &self.gauge
    }

    /// Returns the writer. Each line must be counted by the gauge first.
    pub(crate) fn writer(&self) -> &Writer {
        &self.writer
    }

    /// Passes all messages to `take`, and answers lines that are none. Returns once the input has ended.
    pub(crate) async fn read(self, mut take: impl FnMut(Message<Value>)) {
        let Transport { input: LineInput { mut lines, mut ended }, limit, writer, gauge } = self;
        while let Some(arrived) = lines.recv().await {
            match envelope::read(arrived.line, limit) {
                Ok(Some(message)) => take(message),
                Ok(None) => {}
                Err(bad) => {
                    gauge.frame();
                    writer.put(bad.answer());
                }
            }
            // Let the work of this message begin before the next line is taken.
            tokio::task::yield_now().await;
            // Input causes responses: while the peer does not read, no more input is taken. After the end of the input
            // only lines read ahead are left, and their end must be seen.
            tokio::select! {
                biased;
                () = gauge.room() => {}
                _ = ended.wait_for(|ended| *ended) => {}
            }
        }
    }
}
