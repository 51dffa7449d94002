//! [`Frames`]: what is told of a task, as server-sent events.

use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use stdlib::a2a::{Frame, Version};

use super::answer;
use super::envelope::Id;
use crate::a2a::error::{Fault, code};
use crate::a2a::feed::{Next, Subscription, Told};
use crate::a2a::places::Place;
use crate::a2a::reminder::{Spelled, Spelling};

/// How long a stream may be quiet: what lies between closes connections that seem to be dead.
const QUIET: Duration = Duration::from_secs(15);

/// What is written at once, where more is ready, in bytes.
const AT_ONCE: usize = 16 * 1024;

/// What is told of a task. Dropping it ends that, and nothing else.
pub(in crate::a2a) struct Frames {
    id: Id,
    version: Version,
    spelling: Spelling,
    followed: Subscription,
    ended: bool,
    _place: Place,
}

impl Frames {
    pub(super) fn new(id: Id, version: Version, reminders: bool, followed: Subscription, place: Place) -> Frames {
        Frames { id, version, spelling: Spelling::new(reminders), followed, ended: false, _place: place }
    }

    /// The next events; nothing after the last.
    pub(in crate::a2a) async fn next(&mut self) -> Option<Bytes> {
        let mut text = String::new();
        while text.is_empty() {
            if self.ended {
                return None;
            }
            match tokio::time::timeout(QUIET, self.followed.next()).await {
                Ok(next) => self.tell(next, &mut text),
                // A comment, which everybody skips.
                Err(_) => text.push_str(": still at work\n\n"),
            }
        }
        while !self.ended && text.len() < AT_ONCE {
            let Some(next) = self.followed.next().now_or_never() else { break };
            self.tell(next, &mut text);
        }
        Some(Bytes::from(text))
    }

    fn tell(&mut self, next: Option<Next>, text: &mut String) {
        match next {
            Some(Next::Told(told, is_last)) => {
                self.ended = is_last;
                self.event(&told, is_last, text);
            }
            Some(Next::Lagged) => {
                self.ended = true;
                let message = "what is told of the task was not read fast enough, so this stream ends; the task goes on, and \
                               a new subscription begins with the task as it is then";
                let fault = Fault::new(code::SERVER, "HARN-A2A-012", message).reason("stream_too_slow");
                event(&answer::refused(&self.id, &fault, self.version), text);
            }
            None => self.ended = true,
        }
    }

    fn event(&mut self, told: &Told, is_last: bool, text: &mut String) {
        match told {
            Told::Frame(frame) => {
                self.spelling.saw(frame);
                self.frame(frame, is_last, text);
            }
            Told::Reminder(reminded) => match self.spelling.spell(reminded) {
                Some(Spelled::Notification(notification)) => event(&notification.to_json(), text),
                Some(Spelled::Frame(frame)) => self.frame(&frame, is_last, text),
                None => {}
            },
        }
    }

    fn frame(&self, frame: &Frame, is_last: bool, text: &mut String) {
        event(&answer::result(&self.id, &self.version.frame(frame, is_last)), text);
    }
}

/// One event. Its data has no line breaks, as JSON writes them otherwise.
fn event(data: &str, text: &mut String) {
    text.push_str("data: ");
    text.push_str(data);
    text.push_str("\n\n");
}
