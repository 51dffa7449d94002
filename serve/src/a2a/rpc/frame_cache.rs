//! [`FrameCache`]: a cache of written frames. A task may have many subscribers, whose frames differ only in their ids.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use a2a::{Frame, Version};

use crate::a2a::feed::FeedUpdate;

/// The number of cached frames: subscribers read at about the same time.
const CAPACITY: usize = 64;

/// A cache of written frames. Clones share their state.
#[derive(Clone, Default)]
pub(crate) struct FrameCache(Arc<Mutex<VecDeque<CachedFrame>>>);

struct CachedFrame {
    feed_update: Arc<FeedUpdate>,
    version: Version,
    is_last: bool,
    text: Arc<str>,
}

impl FrameCache {
    /// Returns a frame as text in a version. `feed_update` is the update that it came in.
    pub(super) fn text(
        &self,
        feed_update: &Arc<FeedUpdate>,
        frame: &Frame,
        version: Version,
        is_last: bool,
    ) -> Arc<str> {
        // Code that holds this lock does not panic.
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |entry: &&CachedFrame| {
            Arc::ptr_eq(&entry.feed_update, feed_update) && entry.version == version && entry.is_last == is_last
        };
        if let Some(entry) = entries.iter().rev().find(same) {
            return entry.text.clone();
        }
        let text: Arc<str> = version.frame(frame, is_last).to_json().into();
        if entries.len() >= CAPACITY {
            entries.pop_front();
        }
        entries.push_back(CachedFrame { feed_update: feed_update.clone(), version, is_last, text: text.clone() });
        text
    }
}

#[cfg(test)]
mod tests {
    use a2a::{Status, StatusUpdate, TaskState};

    use super::*;

    fn feed_update(number: u64) -> (Arc<FeedUpdate>, Frame) {
        let status = Status { state: TaskState::Working, message: None, at_ms: Some(number) };
        let update =
            StatusUpdate { task_id: "t".into(), context_id: "c".into(), status, metadata: base::data::Data::Nil };
        let frame = Frame::Status(update);
        (Arc::new(FeedUpdate::Frame(frame.clone())), frame)
    }

    #[test]
    fn an_update_with_many_subscribers_is_written_once_for_each_version() {
        let written = FrameCache::default();
        let (one, frame) = feed_update(1);
        let first = written.text(&one, &frame, Version::V1_0, false);
        assert!(Arc::ptr_eq(&first, &written.text(&one, &frame, Version::V1_0, false)));
        for (version, is_last) in [(Version::V0_3, false), (Version::V0_3, true)] {
            let other = written.text(&one, &frame, version, is_last);
            assert_eq!(*other, *version.frame(&frame, is_last).to_json());
            assert_ne!(other, first);
        }
        let (two, other) = feed_update(2);
        assert_ne!(written.text(&two, &other, Version::V1_0, false), first);
    }

    #[test]
    fn the_capacity_is_a_limit() {
        let written = FrameCache::default();
        for number in 0..1000 {
            let (feed_update, frame) = feed_update(number);
            written.text(&feed_update, &frame, Version::V1_0, false);
        }
        assert_eq!(written.0.lock().unwrap().len(), CAPACITY);
    }
}
