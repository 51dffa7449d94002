//! The thread that reads the peer's output. The server takes lines one by one, so lines read ahead are limited in
//! number and size; beyond that, the peer's pipe fills up.

use std::io::{ErrorKind, Read};
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use super::InputEnd;
use super::lines::{InputLine, LineSplitter};

/// The maximum number of lines to read ahead.
const AHEAD: usize = 64;

/// The size of one read in bytes.
const CHUNK: usize = 64 * 1024;

/// A line, and its share of the memory limit, which dropping it returns.
pub(crate) struct ArrivedLine {
    pub(crate) line: InputLine,
    _share: OwnedSemaphorePermit,
}

/// The output of the reader thread.
pub(crate) struct LineInput {
    /// The lines, in order.
    pub(crate) lines: mpsc::Receiver<ArrivedLine>,
    /// Whether the input has ended, set before its last lines are taken.
    pub(crate) ended: watch::Receiver<bool>,
}

/// Reads lines of at most `limit` bytes until the input ends. Pending lines take at most twice that in total, each
/// counted as at least one kilobyte.
pub(crate) fn read_lines(
    mut input: Box<dyn Read + Send>,
    ended: Option<InputEnd>,
    limit: usize,
    protocol_thread: Handle,
) -> LineInput {
    let (lines, arrived) = mpsc::channel(AHEAD);
    let end = watch::Sender::new(false);
    let input_ended = end.subscribe();
    if let Some(ended) = ended {
        let end = end.clone();
        std::thread::spawn(move || {
            ended();
            end.send_replace(true);
        });
    }
    let memory = Arc::new(Semaphore::new(kilobytes(limit) as usize * 2));
    std::thread::spawn(move || {
        let mut splitter = LineSplitter::new(limit);
        let mut chunk = vec![0; CHUNK];
        let hand_over = |line: InputLine| {
            let share = memory.clone().acquire_many_owned(kilobytes(line.held()));
            let share = protocol_thread.block_on(share).ok()?;
            lines.blocking_send(ArrivedLine { line, _share: share }).ok()
        };
        loop {
            let read = match input.read(&mut chunk) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // An input that cannot be read has ended.
                Err(_) => 0,
            };
            let mut complete = Vec::new();
            if read == 0 {
                end.send_replace(true);
                complete.extend(splitter.finish());
            } else {
                splitter.feed(&chunk[..read], |line| complete.push(line));
            }
            for line in complete {
                if hand_over(line).is_none() {
                    return;
                }
            }
            if read == 0 {
                return;
            }
        }
    });
    LineInput { lines: arrived, ended: input_ended }
}

fn kilobytes(bytes: usize) -> u32 {
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX / 4).min(u32::MAX / 4)
}
