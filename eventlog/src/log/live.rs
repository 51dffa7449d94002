//! Pieces of a subject that are not stored, passed from the process that makes them to those that show them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::data::Data;
use tokio::sync::broadcast::{self, Receiver, Sender};

/// Number of pieces that a slow reader may be behind before it misses some.
const PIECES: usize = 256;

/// Number of feeds from which on those without a reader are removed.
const MOST_FEEDS: usize = 1024;

/// The feed of a subject. Clones are the same feed.
#[derive(Debug, Clone)]
pub struct LiveFeed(Sender<Arc<Data>>);

impl LiveFeed {
    /// Passes a piece to all readers. Without a reader it is dropped.
    pub fn send(&self, piece: Data) {
        if self.0.receiver_count() > 0 {
            // The last reader may have gone meanwhile.
            let _ = self.0.send(Arc::new(piece));
        }
    }

    /// Returns a reader of the pieces from now on. One that is too slow is told how many it missed.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<Arc<Data>> {
        self.0.subscribe()
    }
}

/// The feeds of a log in one process.
#[derive(Debug, Default)]
pub(crate) struct LiveFeeds(Mutex<HashMap<Arc<str>, LiveFeed>>);

impl LiveFeeds {
    pub(crate) fn feed(&self, subject: &str) -> LiveFeed {
        let mut feeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = feeds.get(subject) {
            return feed.clone();
        }
        if feeds.len() >= MOST_FEEDS {
            // A sender outside of the table keeps its feed.
            feeds.retain(|_, feed| feed.0.receiver_count() > 0 || feed.0.strong_count() > 1);
        }
        let feed = LiveFeed(broadcast::channel(PIECES).0);
        feeds.insert(subject.into(), feed.clone());
        feed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_reaches_the_readers_of_its_subject_and_is_not_kept() {
        let feeds = LiveFeeds::default();
        feeds.feed("a").send(Data::from(1));
        let mut reader = feeds.feed("a").subscribe();
        let mut other = feeds.feed("b").subscribe();
        feeds.feed("a").send(Data::from(2));
        assert_eq!(reader.try_recv().unwrap().as_int(), Some(2));
        assert!(reader.try_recv().is_err() && other.try_recv().is_err());
    }

    #[test]
    fn a_feed_that_is_used_survives_many_others() {
        let feeds = LiveFeeds::default();
        let (sender, mut reader) = (feeds.feed("kept"), feeds.feed("kept").subscribe());
        for n in 0..3 * MOST_FEEDS {
            let _ = feeds.feed(&n.to_string());
        }
        assert!(feeds.0.lock().unwrap().len() <= MOST_FEEDS);
        sender.send(Data::from(1));
        assert!(reader.try_recv().is_ok());
        feeds.feed("kept").send(Data::from(2));
        assert!(reader.try_recv().is_ok());
    }
}
