//! [`Subscription`]: one who follows a task.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use a2a::Frame;

use super::window::{Found, Reader};
use super::{Next, Shared, Told};

/// One who follows a task. Dropping it ends that, and nothing else.
pub struct Subscription {
    shared: Arc<Shared>,
    /// What is told before anything else.
    first: Option<Frame>,
    /// Nothing once nothing more comes.
    reader: Option<Reader>,
}

impl Subscription {
    pub(super) fn new(shared: Arc<Shared>, first: Frame, is_last: bool) -> Subscription {
        let reader = (!is_last).then(|| {
            shared.followers.fetch_add(1, Ordering::AcqRel);
            shared.window().enter()
        });
        Subscription { shared, first: Some(first), reader }
    }

    /// What comes next; nothing after the last, [`Next::Lagged`] and [`Next::Left`]. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Next> {
        if let Some(first) = self.first.take() {
            return Some(Next::Told(Arc::new(Told::Frame(first)), self.reader.is_none()));
        }
        let shared = self.shared.clone();
        loop {
            if let Some(next) = self.now() {
                return next;
            }
            let mut news = pin!(shared.news.notified());
            news.as_mut().enable();
            // What came before it listened woke nobody.
            if let Some(next) = self.now() {
                return next;
            }
            news.await;
        }
    }

    /// What is there already; nothing where that must be waited for.
    fn now(&mut self) -> Option<Option<Next>> {
        let Some(reader) = &mut self.reader else { return Some(None) };
        let found = self.shared.window().read(reader);
        match found {
            Found::Nothing => None,
            Found::End => {
                self.leave();
                Some(None)
            }
            Found::Next(next) => {
                if matches!(next, Next::Lagged | Next::Left | Next::Told(_, true)) {
                    self.leave();
                }
                Some(Some(next))
            }
        }
    }

    fn leave(&mut self) {
        if let Some(reader) = self.reader.take() {
            self.shared.window().leave(reader);
            self.shared.followers.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.leave();
    }
}
