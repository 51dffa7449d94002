//! The thread that writes whole lines to the peer, and nothing else. A peer that does not read blocks only this
//! thread.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use base::failures::{FailedOperation, report};

use super::gauge::OutputGauge;

/// The size of one write if more than one line is pending, in bytes.
const CHUNK: usize = 64 * 1024;

/// Queues lines for the peer. Never waits: the gauge limits the queue.
#[derive(Clone)]
pub(crate) struct Writer {
    lines: Sender<String>,
    gauge: Arc<OutputGauge>,
}

impl Writer {
    /// Starts to write to `output`.
    pub(crate) fn new(output: Box<dyn Write + Send>, gauge: Arc<OutputGauge>) -> Writer {
        let (lines, waiting) = channel();
        let written = gauge.clone();
        std::thread::spawn(move || write_lines(output, &waiting, &written));
        Writer { lines, gauge }
    }

    /// Queues a line without a line end. The gauge must have counted its frame.
    pub(crate) fn put(&self, line: String) {
        self.gauge.text(line.len());
        // The thread ends only when all writers are dropped.
        let _ = self.lines.send(line);
    }
}

fn write_lines(mut output: Box<dyn Write + Send>, lines: &Receiver<String>, gauge: &OutputGauge) {
    let mut chunk = Vec::new();
    while let Ok(line) = lines.recv() {
        let (mut frames, mut bytes) = (0, 0);
        let mut next = Some(line);
        while let Some(line) = next {
            frames += 1;
            bytes += line.len();
            chunk.extend_from_slice(line.as_bytes());
            chunk.push(b'\n');
            next = if chunk.len() < CHUNK { lines.try_recv().ok() } else { None };
        }
        // Once the peer is gone, further output is dropped here.
        if !gauge.is_gone()
            && let Err(error) = output.write_all(&chunk).and_then(|()| output.flush())
        {
            report(FailedOperation::Delivery, "client", format_args!("cannot write to the client: {error}"));
            gauge.end();
        }
        gauge.taken(frames, bytes);
        chunk.clear();
        chunk.shrink_to(CHUNK);
    }
}
