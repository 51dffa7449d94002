//! [`EventReader`]: the events of a session for one connection: a snapshot or the log after a cursor, then what follows.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use eventlog::{Page, Query};

use super::Gateway;
use super::window::{ChannelFrame, FeedLag, FeedRead, FeedReader, FrameOrigin};
use super::{ActionError, EventGap, frame, live_event, snapshot};
use crate::host::HostError;
use crate::spawn::spawn_blocking;

/// The number of records that are read from the log at a time.
const PAGE: usize = 256;

/// The events of a session for one connection.
pub(crate) struct EventReader {
    gateway: Arc<Gateway>,
    session_id: Arc<str>,
    reader: FeedReader,
    phase: ReadPhase,
    /// The cursor of the last event that was read.
    pub(crate) cursor: u64,
}

enum ReadPhase {
    /// It begins after this cursor, or with a snapshot.
    Begin(Option<u64>),
    /// It reads the log after this cursor.
    Log(u64),
    /// It has read the log up to this cursor.
    AtEnd(u64),
    /// It follows the window.
    Live,
}

/// The events that were read at once.
pub(crate) enum ReadEvents {
    /// These events.
    Frames(Vec<Arc<ChannelFrame>>),
    /// The connection was too slow: it must resume after its cursor.
    Slow,
}

impl ReadEvents {
    /// Returns the events as one piece of a stream of server-sent events.
    pub(crate) fn sse(frames: &[Arc<ChannelFrame>]) -> Bytes {
        if let [only] = frames {
            return only.sse.clone();
        }
        let mut all = BytesMut::with_capacity(frames.iter().map(|frame| frame.sse.len()).sum());
        frames.iter().for_each(|frame| all.extend_from_slice(&frame.sse));
        all.freeze()
    }
}

impl EventReader {
    pub(crate) fn new(
        gateway: Arc<Gateway>,
        session_id: Arc<str>,
        reader: FeedReader,
        after: Option<u64>,
    ) -> EventReader {
        EventReader { gateway, session_id, reader, phase: ReadPhase::Begin(after), cursor: after.unwrap_or(0) }
    }

    /// Returns what tells whether the connection has missed events.
    pub(crate) fn lag(&self) -> FeedLag {
        self.reader.lag()
    }

    /// Waits for the next events. Dropping the future loses none.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) async fn read(&mut self) -> Result<ReadEvents, ActionError> {
        loop {
            match &mut self.phase {
                ReadPhase::Begin(after) => {
                    let after = *after;
                    let frames = self.begin(after).await?;
                    if !frames.is_empty() {
                        return Ok(self.took(frames));
                    }
                }
                ReadPhase::Log(after) => {
                    let after = *after;
                    let page = self.page(after).await?;
                    let frames = self.go_on(page).await?;
                    if !frames.is_empty() {
                        return Ok(self.took(frames));
                    }
                }
                ReadPhase::AtEnd(head) => {
                    let head = *head;
                    let Some(start) = self.reader.start(head) else {
                        // More was written meanwhile.
                        self.phase = ReadPhase::Log(head);
                        continue;
                    };
                    self.phase = ReadPhase::Live;
                    self.cursor = self.cursor.max(head);
                    let live = start.live.map(|live| live_event::text_so_far(&self.session_id, &live));
                    let frames: Vec<_> = start.frames.into_iter().chain(live).collect();
                    if !frames.is_empty() {
                        return Ok(self.took(frames));
                    }
                }
                ReadPhase::Live => {
                    let FeedRead::Frames(mut frames) = self.reader.read().await else { return Ok(ReadEvents::Slow) };
                    // The log is read before its tail hands a record on: the window may repeat what came from the log.
                    frames.retain(|frame| frame.cursor.is_none_or(|cursor| cursor > self.cursor));
                    if !frames.is_empty() {
                        return Ok(self.took(frames));
                    }
                }
            }
        }
    }

    fn took(&mut self, frames: Vec<Arc<ChannelFrame>>) -> ReadEvents {
        let last = frames.iter().rev().find_map(|frame| frame.cursor);
        self.cursor = last.unwrap_or(self.cursor).max(self.cursor);
        ReadEvents::Frames(frames)
    }

    /// Reads the beginning: what the log has after the cursor, or a snapshot if there is no cursor, if the log no longer
    /// has everything after it, or if the cursor is not one of the log.
    async fn begin(&mut self, after: Option<u64>) -> Result<Vec<Arc<ChannelFrame>>, ActionError> {
        let mut frames = Vec::new();
        if let Some(after) = after {
            let page = self.page(after).await?;
            let gap = match after {
                // Of another log, or of one that was restored: nothing is known about what the client has seen.
                after if after > page.head => EventGap { from: 1, to: page.head },
                after if page.trimmed_before > 0 && !self.gateway.is_whole(&self.session_id).await? => {
                    EventGap { from: after + 1, to: page.trimmed_before - 1 }
                }
                _ => return self.go_on(page).await,
            };
            let sse = frame::repaired(&self.session_id, gap);
            let cursor = Some(gap.to);
            frames.push(Arc::new(ChannelFrame { cursor, sse, origin: FrameOrigin::Stream }));
        }
        let taken = snapshot::take(&self.gateway, &self.session_id).await?;
        frames.push(taken.frame);
        // Lower than the client's cursor, if that is of another log.
        self.cursor = taken.cursor;
        self.phase = ReadPhase::AtEnd(taken.cursor);
        Ok(frames)
    }

    /// Reads records of the log after a cursor.
    async fn page(&self, after: u64) -> Result<Page, ActionError> {
        let query = Query { after, ..Query::subject(self.session_id.clone()) };
        Ok(self.gateway.core().log.read(query, PAGE).await?)
    }

    /// Goes on after a page of the log, whose events are made on another thread.
    async fn go_on(&mut self, page: Page) -> Result<Vec<Arc<ChannelFrame>>, ActionError> {
        let next = match page.records.last() {
            Some(last) if page.records.len() == PAGE => ReadPhase::Log(last.cursor),
            _ => ReadPhase::AtEnd(page.head),
        };
        let frames = match page.records.is_empty() {
            true => Vec::new(),
            false => {
                let convert = move || page.records.into_iter().filter_map(frame::of_record).collect();
                spawn_blocking(convert).await.map_err(|_| HostError::Stopping)?
            }
        };
        self.phase = next;
        Ok(frames)
    }
}
