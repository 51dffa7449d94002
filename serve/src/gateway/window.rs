//! [`FanOut`]: hands the events of sessions to the connections of channels. A record becomes an event once, and every
//! connection gets the same bytes. All connections of a session share one bounded window, in which each has a position,
//! so a connection costs no queue of its own, and one that is too slow is cut off.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use eventlog::Record;
use slab::Slab;
use tokio::sync::Notify;

use super::{EventGap, frame};
use crate::host::SessionEvent;

/// The size of the live text of a message up to which a new connection gets it, in bytes.
const MAX_LIVE_TEXT: usize = 1 << 20;

/// The limits of the events that a connection may have to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowLimits {
    /// The number of events.
    pub events: usize,
    /// The size of events in bytes.
    pub bytes: usize,
}

impl Default for WindowLimits {
    fn default() -> WindowLimits {
        WindowLimits { events: 1_024, bytes: 4 << 20 }
    }
}

/// An event of a session.
#[derive(Debug, Clone)]
pub(crate) struct ChannelFrame {
    /// The cursor of its record; `None` for live events, which are not on the log.
    pub(crate) cursor: Option<u64>,
    /// The event as a server-sent event.
    pub(crate) sse: Bytes,
    /// The origin, for transports with their own form.
    pub(crate) origin: FrameOrigin,
}

/// The origin of an event.
#[derive(Debug, Clone)]
pub(crate) enum FrameOrigin {
    /// A record of the log.
    Record(Arc<Record>),
    /// A live event of a session.
    Live(#[expect(dead_code, reason = "read by transports that send live events")] Arc<SessionEvent>),
    /// A notice about the stream itself.
    Stream,
}

/// The events of all sessions.
pub(crate) struct FanOut {
    limits: WindowLimits,
    state: Mutex<FanOutState>,
    /// The feeds with events of which their connections do not know yet.
    changed: Mutex<Vec<Arc<SessionFeed>>>,
    /// Wakes [`FanOut::wake_readers`].
    relay: Notify,
}

#[derive(Default)]
struct FanOutState {
    feeds: HashMap<Arc<str>, Arc<SessionFeed>>,
    /// The cursor up to which the log was followed.
    followed: u64,
}

/// The events of a session for its connections.
struct SessionFeed {
    window: Mutex<FeedWindow>,
    /// Notified when a connection begins to read.
    entered: Notify,
    /// Notified when events were dropped because they no longer fit.
    dropped: Notify,
    /// Whether it is among the changed feeds.
    is_changed: AtomicBool,
}

#[derive(Default)]
struct FeedWindow {
    frames: VecDeque<Arc<ChannelFrame>>,
    /// The number of the first frame.
    first: u64,
    bytes: usize,
    /// The cursor after which every record of the session is in the window.
    base: u64,
    /// The connections that read it. One that has waited is woken for each event: to wait anew for each would be slow.
    readers: Slab<Option<Waker>>,
    /// Whether a connection has read it.
    was_read: bool,
    /// The text of the current message, of which the log has only a part.
    live: Option<LiveText>,
    /// Whether the session is open in this process.
    is_open: bool,
}

/// The text of a message that is being written.
#[derive(Debug, Clone)]
pub(crate) struct LiveText {
    pub(crate) message_id: Arc<str>,
    pub(crate) is_thought: bool,
    pub(crate) text: String,
    /// The number of characters, also of text that is no longer kept.
    pub(crate) characters: usize,
}

impl FeedWindow {
    /// Adds an event. Returns whether an older one was dropped.
    fn push(&mut self, frame: Arc<ChannelFrame>, limits: WindowLimits) -> bool {
        if self.readers.is_empty() {
            self.base = frame.cursor.unwrap_or(self.base);
            return false;
        }
        self.bytes += frame.sse.len();
        self.frames.push_back(frame);
        let first = self.first;
        while self.frames.len() > limits.events || self.bytes > limits.bytes && self.frames.len() > 1 {
            self.drop_first();
        }
        self.first > first
    }

    fn drop_first(&mut self) {
        let Some(frame) = self.frames.pop_front() else { return };
        self.first += 1;
        self.bytes -= frame.sse.len();
        self.base = frame.cursor.unwrap_or(self.base);
    }

    fn next(&self) -> u64 {
        self.first + self.frames.len() as u64
    }
}

impl SessionFeed {
    /// Locks the window. Every operation leaves it consistent.
    fn lock(&self) -> MutexGuard<'_, FeedWindow> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_dropped(&self, has_dropped: bool) {
        if has_dropped {
            self.dropped.notify_waiters();
        }
    }
}

impl FanOut {
    pub(crate) fn new(limits: WindowLimits, followed: u64) -> FanOut {
        let state = Mutex::new(FanOutState { feeds: HashMap::new(), followed });
        FanOut { limits, state, changed: Mutex::default(), relay: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, FanOutState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the feed of a session. It begins after the records that were followed so far.
    fn feed(&self, session_id: &Arc<str>) -> Arc<SessionFeed> {
        let mut state = self.lock();
        let followed = state.followed;
        let new = || {
            let window = FeedWindow { base: followed, ..FeedWindow::default() };
            Arc::new(SessionFeed {
                window: Mutex::new(window),
                entered: Notify::new(),
                dropped: Notify::new(),
                is_changed: AtomicBool::new(false),
            })
        };
        state.feeds.entry(session_id.clone()).or_insert_with(new).clone()
    }

    /// Takes the next record of the log. `frame` makes the event if a connection may read it.
    pub(crate) fn follow(
        &self,
        cursor: u64,
        session_id: Option<&str>,
        frame: impl FnOnce() -> Option<Arc<ChannelFrame>>,
    ) {
        let feed = {
            let mut state = self.lock();
            state.followed = cursor;
            let Some(feed) = session_id.and_then(|id| state.feeds.get(id)) else { return };
            // Under this lock, so that a feed that begins now begins after this record.
            let mut window = feed.lock();
            if window.readers.is_empty() {
                window.base = cursor;
                return;
            }
            let Some(frame) = frame() else { return };
            let has_dropped = window.push(frame, self.limits);
            drop(window);
            feed.tell_dropped(has_dropped);
            feed.clone()
        };
        self.wake(feed);
    }

    /// Wakes the connections of a feed, soon.
    fn wake(&self, feed: Arc<SessionFeed>) {
        if !feed.is_changed.swap(true, Ordering::AcqRel) {
            self.changed.lock().unwrap_or_else(PoisonError::into_inner).push(feed);
            self.relay.notify_one();
        }
    }

    /// Wakes the connections of changed feeds, forever. This runs on a thread of the connections: waking a task of
    /// another runtime is a system call, and an event wakes all connections of its session.
    pub(crate) async fn wake_readers(&self) {
        loop {
            self.relay.notified().await;
            let changed = std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner));
            for feed in changed {
                // Before the connections look: what comes from now on wakes them again.
                feed.is_changed.store(false, Ordering::Release);
                // They are woken without the lock, which they take.
                let wakers: Vec<Waker> = feed.lock().readers.iter().filter_map(|(_, waker)| waker.clone()).collect();
                wakers.into_iter().for_each(Waker::wake);
            }
        }
    }

    /// Adds a live event, which is not on the log.
    pub(crate) fn push_live(&self, session_id: &Arc<str>, frame: impl FnOnce() -> Arc<ChannelFrame>) {
        let feed = self.feed(session_id);
        {
            let mut window = feed.lock();
            if window.readers.is_empty() {
                return;
            }
            let has_dropped = window.push(frame(), self.limits);
            drop(window);
            feed.tell_dropped(has_dropped);
        }
        self.wake(feed);
    }

    /// Adds a piece to the live text of a session, and returns the position of the piece in characters.
    pub(crate) fn extend_live(
        &self,
        session_id: &Arc<str>,
        message_id: &Arc<str>,
        is_thought: bool,
        piece: &str,
    ) -> usize {
        let feed = self.feed(session_id);
        let mut window = feed.lock();
        window.is_open = true;
        let is_same = |live: &LiveText| live.message_id == *message_id && live.is_thought == is_thought;
        if !window.live.as_ref().is_some_and(is_same) {
            let (message_id, text) = (message_id.clone(), String::new());
            window.live = Some(LiveText { message_id, is_thought, text, characters: 0 });
        }
        let Some(live) = window.live.as_mut() else { return 0 };
        let offset = live.characters;
        live.characters += piece.chars().count();
        // A text beyond the limit is not kept at all: a part of it would look like the whole.
        match live.text.len() + piece.len() <= MAX_LIVE_TEXT && (offset == 0 || !live.text.is_empty()) {
            true => live.text.push_str(piece),
            false => live.text = String::new(),
        }
        offset
    }

    /// Ends the live text of a session: the log has the whole of it.
    pub(crate) fn end_live(&self, session_id: &str) {
        let feed = self.lock().feeds.get(session_id).cloned();
        if let Some(feed) = feed {
            feed.lock().live = None;
        }
    }

    /// Forgets a session that is over, unless connections still read it.
    pub(crate) fn over(&self, session_id: &str) {
        let mut state = self.lock();
        let Some(feed) = state.feeds.get(session_id) else { return };
        let is_read = {
            let mut window = feed.lock();
            (window.is_open, window.live) = (false, None);
            !window.readers.is_empty()
        };
        if !is_read {
            state.feeds.remove(session_id);
        }
    }

    /// Marks the records `from` to `to` as lost, for the connections of all sessions.
    pub(crate) fn repair(&self, from: u64, to: u64) {
        let mut state = self.lock();
        state.followed = to;
        for (session_id, feed) in &state.feeds {
            let sse = frame::repaired(session_id, EventGap { from, to });
            let frame = Arc::new(ChannelFrame { cursor: Some(to), sse, origin: FrameOrigin::Stream });
            let has_dropped = feed.lock().push(frame, self.limits);
            feed.tell_dropped(has_dropped);
            self.wake(feed.clone());
        }
    }

    /// Notes that a session is open in this process.
    pub(crate) fn open(&self, session_id: &Arc<str>) {
        self.feed(session_id).lock().is_open = true;
    }

    /// Waits until a connection reads the session, unless none ever did.
    pub(crate) async fn attended(self: Arc<FanOut>, session_id: Arc<str>) {
        let feed = self.feed(&session_id);
        loop {
            let entered = feed.entered.notified();
            tokio::pin!(entered);
            entered.as_mut().enable();
            {
                let window = feed.lock();
                if !window.readers.is_empty() || !window.was_read {
                    return;
                }
            }
            entered.await;
        }
    }

    /// Returns the number of connections that read a session.
    pub(crate) fn readers(&self, session_id: &str) -> usize {
        self.lock().feeds.get(session_id).map_or(0, |feed| feed.lock().readers.len())
    }

    /// Begins to read a session.
    pub(crate) fn enter(self: &Arc<FanOut>, session_id: &Arc<str>) -> FeedReader {
        loop {
            let feed = self.feed(session_id);
            let key = {
                let mut window = feed.lock();
                window.was_read = true;
                window.readers.insert(None)
            };
            feed.entered.notify_waiters();
            // A feed that was forgotten meanwhile gets no events.
            let is_current = self.lock().feeds.get(session_id).is_some_and(|current| Arc::ptr_eq(current, &feed));
            if is_current {
                return FeedReader {
                    fan_out: self.clone(),
                    session_id: session_id.clone(),
                    feed,
                    key,
                    next: Arc::new(AtomicU64::new(READS_LOG)),
                };
            }
        }
    }

    fn leave(&self, session_id: &str, feed: &Arc<SessionFeed>, key: usize) {
        let mut state = self.lock();
        let mut window = feed.lock();
        window.readers.remove(key);
        if !window.readers.is_empty() {
            return;
        }
        while !window.frames.is_empty() {
            window.drop_first();
        }
        window.frames.shrink_to_fit();
        window.readers.shrink_to_fit();
        let is_over = !window.is_open;
        drop(window);
        if is_over && state.feeds.get(session_id).is_some_and(|current| Arc::ptr_eq(current, feed)) {
            state.feeds.remove(session_id);
        }
    }
}

/// The position of a connection in the events of a session.
pub(crate) struct FeedReader {
    fan_out: Arc<FanOut>,
    session_id: Arc<str>,
    feed: Arc<SessionFeed>,
    /// Its key among the readers of the feed.
    key: usize,
    /// The number of the next frame; [`READS_LOG`] until it has read the log.
    next: Arc<AtomicU64>,
}

/// The position of a connection that still reads the log.
const READS_LOG: u64 = u64::MAX;

/// Tells whether a connection has missed events.
#[derive(Clone)]
pub(crate) struct FeedLag {
    feed: Arc<SessionFeed>,
    next: Arc<AtomicU64>,
}

impl FeedLag {
    /// Returns whether events were dropped that the connection has not read.
    pub(crate) fn is_lagged(&self) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        next != READS_LOG && next < self.feed.lock().first
    }

    /// Waits until it has missed events.
    pub(crate) async fn lagged(&self) {
        loop {
            let mut dropped = std::pin::pin!(self.feed.dropped.notified());
            dropped.as_mut().enable();
            if self.is_lagged() {
                return;
            }
            dropped.await;
        }
    }
}

/// The events that a connection reads at once.
#[derive(Debug)]
pub(crate) enum FeedRead {
    /// These events.
    Frames(Vec<Arc<ChannelFrame>>),
    /// The connection was too slow: it has missed events.
    Lagged,
}

/// The events with which a connection goes over from the log to the window.
pub(crate) struct FeedStart {
    pub(crate) frames: Vec<Arc<ChannelFrame>>,
    pub(crate) live: Option<LiveText>,
}

/// The maximum number of events that are read at once.
const BATCH: usize = 64;

impl FeedReader {
    /// Returns what tells whether it has missed events.
    pub(crate) fn lag(&self) -> FeedLag {
        FeedLag { feed: self.feed.clone(), next: self.next.clone() }
    }

    /// Goes over from the log, which was read up to `cursor`, to the window. Returns `None` if more of the log must be
    /// read first.
    pub(crate) fn start(&mut self, cursor: u64) -> Option<FeedStart> {
        let window = self.feed.lock();
        if cursor < window.base {
            return None;
        }
        let is_missing = |frame: &&Arc<ChannelFrame>| frame.cursor.is_some_and(|at| at > cursor);
        let frames = window.frames.iter().filter(is_missing).cloned().collect();
        self.next.store(window.next(), Ordering::Relaxed);
        Some(FeedStart { frames, live: window.live.clone().filter(|live| !live.text.is_empty()) })
    }

    /// Waits for the next events. Dropping the future loses none.
    pub(crate) async fn read(&mut self) -> FeedRead {
        std::future::poll_fn(|cx| self.poll_read(cx)).await
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<FeedRead> {
        let mut window = self.feed.lock();
        let next = match self.next.load(Ordering::Relaxed) {
            READS_LOG => window.first,
            next => next,
        };
        let Some(skipped) = next.checked_sub(window.first) else { return Poll::Ready(FeedRead::Lagged) };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let frames: Vec<_> = window.frames.iter().skip(skipped).take(BATCH).cloned().collect();
        if frames.is_empty() {
            // Under the lock, so that an event that comes from now on wakes this reader.
            if let Some(known) = window.readers.get_mut(self.key)
                && !known.as_ref().is_some_and(|known| known.will_wake(cx.waker()))
            {
                *known = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        self.next.store(next + frames.len() as u64, Ordering::Relaxed);
        Poll::Ready(FeedRead::Frames(frames))
    }
}

impl Drop for FeedReader {
    fn drop(&mut self) {
        self.fan_out.leave(&self.session_id, &self.feed, self.key);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn frame(cursor: Option<u64>, text: &str) -> Arc<ChannelFrame> {
        let sse = Bytes::copy_from_slice(text.as_bytes());
        Arc::new(ChannelFrame { cursor, sse, origin: FrameOrigin::Stream })
    }

    fn follow(fan_out: &FanOut, cursor: u64) {
        fan_out.follow(cursor, Some("s"), || Some(frame(Some(cursor), &cursor.to_string())));
    }

    fn read(reader: &mut FeedReader) -> String {
        match reader.read().now_or_never() {
            None => "nothing".to_owned(),
            Some(FeedRead::Lagged) => "lagged".to_owned(),
            Some(FeedRead::Frames(frames)) => texts(&frames),
        }
    }

    fn texts(frames: &[Arc<ChannelFrame>]) -> String {
        let texts: Vec<_> = frames.iter().map(|it| String::from_utf8_lossy(&it.sse).into_owned()).collect();
        texts.join(" ")
    }

    #[test]
    fn a_reader_goes_over_from_the_log_without_a_gap_or_a_repeat() {
        let fan_out = Arc::new(FanOut::new(WindowLimits::default(), 5));
        follow(&fan_out, 6);
        let id: Arc<str> = "s".into();
        let mut reader = fan_out.enter(&id);
        assert!(reader.start(5).is_none(), "record 6 is not in the window");
        follow(&fan_out, 7);
        follow(&fan_out, 8);
        assert_eq!(texts(&reader.start(7).unwrap().frames), "8");
        follow(&fan_out, 9);
        fan_out.push_live(&id, || frame(None, "live"));
        assert_eq!((read(&mut reader), read(&mut reader)), ("9 live".to_owned(), "nothing".to_owned()));
    }

    #[test]
    fn a_slow_reader_is_cut_off_and_another_is_not() {
        let fan_out = Arc::new(FanOut::new(WindowLimits { events: 3, bytes: 1_000 }, 0));
        let id: Arc<str> = "s".into();
        let (mut slow, mut fast) = (fan_out.enter(&id), fan_out.enter(&id));
        slow.start(0).unwrap();
        fast.start(0).unwrap();
        let (slow_lag, fast_lag) = (slow.lag(), fast.lag());
        let (mut slow_lagged, mut fast_lagged) = (Box::pin(slow_lag.lagged()), Box::pin(fast_lag.lagged()));
        for cursor in 1..=6 {
            assert_eq!((&mut slow_lagged).now_or_never().is_some(), cursor > 4, "{cursor}");
            if cursor > 4 {
                slow_lagged = Box::pin(slow_lag.lagged());
            }
            assert!((&mut fast_lagged).now_or_never().is_none());
            follow(&fan_out, cursor);
            assert_eq!(read(&mut fast), cursor.to_string());
        }
        assert_eq!(read(&mut slow), "lagged");
        let mut again = fan_out.enter(&id);
        assert!(again.start(2).is_none());
        assert_eq!(texts(&again.start(3).unwrap().frames), "4 5 6");
    }

    #[test]
    fn large_events_are_bounded_by_their_size() {
        let fan_out = Arc::new(FanOut::new(WindowLimits { events: 100, bytes: 10 }, 0));
        let mut reader = fan_out.enter(&"s".into());
        reader.start(0).unwrap();
        for cursor in 1..=3 {
            fan_out.follow(cursor, Some("s"), || Some(frame(Some(cursor), "12345678")));
        }
        assert_eq!(fan_out.feed(&"s".into()).lock().frames.len(), 1);
        assert_eq!(read(&mut reader), "lagged");
    }

    #[test]
    fn a_new_reader_gets_the_live_text_so_far() {
        let fan_out = Arc::new(FanOut::new(WindowLimits::default(), 0));
        let (id, message): (Arc<str>, Arc<str>) = ("s".into(), "m".into());
        assert_eq!(fan_out.extend_live(&id, &message, false, "grö"), 0);
        assert_eq!(fan_out.extend_live(&id, &message, false, "ße"), 3);
        let live = fan_out.enter(&id).start(0).unwrap().live.unwrap();
        assert_eq!((live.text.as_str(), live.characters), ("größe", 5));
        assert_eq!(fan_out.extend_live(&id, &message, false, &"x".repeat(MAX_LIVE_TEXT)), 5);
        assert!(fan_out.enter(&id).start(0).unwrap().live.is_none(), "a part would look like the whole");
        fan_out.extend_live(&id, &"n".into(), false, "new");
        fan_out.end_live(&id);
        assert!(fan_out.enter(&id).start(0).unwrap().live.is_none());
    }

    #[test]
    fn a_session_without_readers_keeps_no_events() {
        let fan_out = Arc::new(FanOut::new(WindowLimits::default(), 0));
        let id: Arc<str> = "s".into();
        let mut reader = fan_out.enter(&id);
        reader.start(0).unwrap();
        fan_out.extend_live(&id, &"m".into(), false, "x");
        follow(&fan_out, 1);
        drop(reader);
        follow(&fan_out, 2);
        let mut reader = fan_out.enter(&id);
        assert!(reader.start(1).is_none());
        assert!(reader.start(2).unwrap().frames.is_empty());
        fan_out.over(&id);
        drop(reader);
        assert!(fan_out.lock().feeds.is_empty());
    }
}
