//! [`Gauge`]: how much has been said to the peer that it has not taken.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// How many frames and bytes may wait for a peer that is slow to read. One turn of a session may go beyond it: a session asks
/// for room before each call of a model and of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Frames.
    pub frames: usize,
    /// Bytes of frames.
    pub bytes: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room { frames: 1_024, bytes: 4 * 1024 * 1024 }
    }
}

/// Counts frames and bytes on their way to the peer.
#[derive(Debug)]
pub(crate) struct Gauge {
    room: Room,
    frames: AtomicUsize,
    bytes: AtomicUsize,
    gone: AtomicBool,
    changed: Notify,
}

impl Gauge {
    pub(crate) fn new(room: Room) -> Gauge {
        Gauge {
            room,
            frames: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            gone: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    /// A frame is on its way. Its bytes are counted when it is written as text.
    pub(crate) fn frame(&self) {
        self.frames.fetch_add(1, Ordering::Relaxed);
    }

    /// A frame has become text.
    pub(crate) fn text(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The peer has taken so much.
    pub(crate) fn taken(&self, frames: usize, bytes: usize) {
        self.frames.fetch_sub(frames, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// The peer takes no more.
    pub(crate) fn end(&self) {
        self.gone.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// Whether the peer takes no more.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Frames and bytes on their way.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        (self.frames.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Ready once there is room, or nobody to write to.
    pub(crate) async fn room(&self) {
        self.until(|| {
            let (frames, bytes) = self.waiting();
            frames < self.room.frames && bytes < self.room.bytes
        })
        .await;
    }

    /// Ready once all is written, or nobody takes it.
    pub(crate) async fn all_taken(&self) {
        self.until(|| self.waiting().0 == 0).await;
    }

    /// Ready once the peer takes no more.
    pub(crate) async fn gone(&self) {
        self.until(|| false).await;
    }

    async fn until(&self, reached: impl Fn() -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Listening begins before looking, so that no change is missed.
            changed.as_mut().enable();
            if self.is_gone() || reached() {
                return;
            }
            changed.await;
        }
    }
}
