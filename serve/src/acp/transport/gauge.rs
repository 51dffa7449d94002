//! [`OutputGauge`]: the amount of output that the peer has not read.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The maximum pending output for a slow peer. One turn of a session may exceed it: a session waits for room before
/// each model call and each tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// The maximum number of frames.
    pub frames: usize,
    /// The maximum size of frames in bytes.
    pub bytes: usize,
}

impl Default for OutputLimits {
    fn default() -> OutputLimits {
        OutputLimits { frames: 1_024, bytes: 4 * 1024 * 1024 }
    }
}

/// Counts frames and bytes that are pending.
#[derive(Debug)]
pub(crate) struct OutputGauge {
    room: OutputLimits,
    frames: AtomicUsize,
    bytes: AtomicUsize,
    gone: AtomicBool,
    changed: Notify,
}

impl OutputGauge {
    pub(crate) fn new(room: OutputLimits) -> OutputGauge {
        OutputGauge {
            room,
            frames: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            gone: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    /// Counts a frame. Its bytes are counted when it is serialized.
    pub(crate) fn frame(&self) {
        self.frames.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the bytes of a serialized frame.
    pub(crate) fn text(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Subtracts output that the peer has read.
    pub(crate) fn taken(&self, frames: usize, bytes: usize) {
        self.frames.fetch_sub(frames, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// Marks the peer as gone.
    pub(crate) fn end(&self) {
        self.gone.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// Returns whether the peer is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Returns the pending frames and bytes.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        (self.frames.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Waits until there is room, or the peer is gone.
    pub(crate) async fn room(&self) {
        self.until(|| {
            let (frames, bytes) = self.waiting();
            frames < self.room.frames && bytes < self.room.bytes
        })
        .await;
    }

    /// Waits until all output is written, or the peer is gone.
    pub(crate) async fn all_taken(&self) {
        self.until(|| self.waiting().0 == 0).await;
    }

    /// Waits until the peer is gone.
    pub(crate) async fn gone(&self) {
        self.until(|| false).await;
    }

    async fn until(&self, reached: impl Fn() -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Listen before the check, so that no change is missed.
            changed.as_mut().enable();
            if self.is_gone() || reached() {
                return;
            }
            changed.await;
        }
    }
}
