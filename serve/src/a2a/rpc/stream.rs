//! [`TaskEventStream`]: the updates of a task as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use a2a::{Artifact, Content, Frame, Message, Part, Version};
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jsonrpc::Id;

use base::failures::{FailedOperation, report};

use super::answer;
use super::frame_cache::FrameCache;
use super::json_pieces::JsonPieces;
use crate::a2a::error::{RpcError, code};
use crate::a2a::feed::{FeedItem, FeedUpdate, Subscription};
use crate::a2a::reminder::{ReminderFormat, ReminderReport};
use crate::a2a::{A2aCode, Refusal};
use crate::count_limit::CountPermit;

/// The interval of keep-alive comments: proxies close connections that are idle for long.
const QUIET: Duration = Duration::from_secs(15);

/// The size of one write if more is ready, in bytes.
const AT_ONCE: usize = 16 * 1024;

/// The size from which a frame is written piece by piece, in bytes. Smaller frames are shared by all subscribers.
const HEAVY: usize = 64 * 1024;

/// The updates of a task as server-sent events. Dropping it ends the subscription and nothing else.
pub(crate) struct TaskEventStream {
    envelope: StreamEnvelope,
    version: Version,
    spelling: ReminderFormat,
    /// The number of history messages to include, counted from the newest; `None` for all.
    history: Option<u32>,
    source: StreamSource,
    written: FrameCache,
    /// The rest of a frame that is partly written.
    rest: Option<JsonPieces>,
    ended: bool,
    /// Whether the last write was full, so more may be ready.
    is_full: bool,
    _place: CountPermit,
}

/// The text around each frame.
pub(crate) enum StreamEnvelope {
    /// A JSON-RPC response to the request with this id.
    JsonRpc(Id),
    /// None, as in the REST binding, with the form of its errors.
    Bare(fn(&RpcError) -> String),
}

/// Frames of a task that does not belong to a script.
pub(crate) trait TaskFrames: Send {
    /// Returns the next item: `None` after the last one. Dropping the future loses nothing.
    fn next(&mut self) -> BoxFuture<'_, Option<FeedItem>>;
}

/// The source of the events.
pub(crate) enum StreamSource {
    /// A subscription.
    Subscription(Subscription),
    /// Frames from elsewhere.
    Frames(Box<dyn TaskFrames>),
    /// A subscription, or a message in place of the task, once that is decided.
    Open(BoxFuture<'static, Result<Result<Subscription, Message>, Refusal>>),
}

impl TaskEventStream {
    pub(crate) fn new(
        envelope: StreamEnvelope,
        version: Version,
        spelling: ReminderFormat,
        history: Option<u32>,
        source: StreamSource,
        written: FrameCache,
        permit: CountPermit,
    ) -> TaskEventStream {
        TaskEventStream {
            envelope,
            version,
            spelling,
            history,
            source,
            written,
            rest: None,
            ended: false,
            is_full: false,
            _place: permit,
        }
    }

    /// Returns the next events, or the next part of one: `None` after the last.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        if std::mem::take(&mut self.is_full) {
            // Yield to other streams, so that one with much to send delays none.
            tokio::task::yield_now().await;
        }
        let mut text = String::new();
        self.write_on(&mut text);
        while text.is_empty() {
            if self.ended {
                return None;
            }
            let quiet = match &mut self.source {
                StreamSource::Subscription(followed) => match tokio::time::timeout(QUIET, followed.next()).await {
                    Ok(next) => {
                        self.tell(next, &mut text);
                        false
                    }
                    Err(_) => true,
                },
                StreamSource::Frames(frames) => match tokio::time::timeout(QUIET, frames.next()).await {
                    Ok(next) => {
                        self.tell(next, &mut text);
                        false
                    }
                    Err(_) => true,
                },
                StreamSource::Open(begins) => match tokio::time::timeout(QUIET, begins).await {
                    Ok(begun) => {
                        self.begin_with(begun, &mut text);
                        false
                    }
                    Err(_) => true,
                },
            };
            if quiet {
                // A comment, which clients skip.
                text.push_str(": still at work\n\n");
            }
        }
        while self.rest.is_none() && !self.ended && text.len() < AT_ONCE {
            let StreamSource::Subscription(followed) = &mut self.source else { break };
            let Some(next) = followed.next().now_or_never() else { break };
            self.tell(next, &mut text);
        }
        self.is_full = text.len() >= AT_ONCE;
        Some(Bytes::from(text))
    }

    /// Begins with the subscription or the message, once that is decided.
    fn begin_with(&mut self, begun: Result<Result<Subscription, Message>, Refusal>, text: &mut String) {
        match begun {
            Ok(Ok(followed)) => self.source = StreamSource::Subscription(followed),
            Ok(Err(message)) => {
                self.ended = true;
                self.frame(&Frame::Message(message.into()), true, text);
            }
            Err(refusal) => {
                self.ended = true;
                self.error(&RpcError::from(refusal), text);
            }
        }
    }

    /// Writes the next part of the current frame.
    fn write_on(&mut self, text: &mut String) {
        let Some(pieces) = &mut self.rest else { return };
        pieces.write(text, AT_ONCE);
        if pieces.is_done() {
            self.rest = None;
            text.push_str(self.envelope.end());
        }
    }

    fn tell(&mut self, next: Option<FeedItem>, text: &mut String) {
        match next {
            Some(FeedItem::Update(feed_update, is_last)) => {
                self.ended = is_last;
                self.event(&feed_update, is_last, text);
            }
            Some(FeedItem::Lagged) => {
                let message = "the stream was not read fast enough and is closed; the task continues, and a new \
                    subscription starts with its current state";
                report(FailedOperation::Delivery, "slow stream", "closed a stream: it was not read fast enough");
                self.refuse(message, "stream_too_slow", text);
            }
            Some(FeedItem::Left) => {
                let message = "the server is stopping, so this stream is closed; the task continues once it is \
                    served again, and a new subscription starts with its current state";
                self.refuse(message, "stopping", text);
            }
            None => self.ended = true,
        }
    }

    /// Ends the stream with an error before the task ends.
    fn refuse(&mut self, message: &str, reason: &'static str, text: &mut String) {
        self.ended = true;
        let fault = RpcError::new(code::SERVER, A2aCode::TooMany, message).reason(reason);
        self.error(&fault, text);
    }

    /// Writes an error as an event.
    fn error(&self, fault: &RpcError, text: &mut String) {
        match &self.envelope {
            StreamEnvelope::JsonRpc(id) => event(&answer::refused(id, fault, self.version), text),
            StreamEnvelope::Bare(form) => event(&form(fault), text),
        }
    }

    fn event(&mut self, feed_update: &Arc<FeedUpdate>, is_last: bool, text: &mut String) {
        match &**feed_update {
            FeedUpdate::Frame(frame) => {
                self.spelling.saw(frame);
                if let Some(shorter) = self.shorter(frame) {
                    return self.frame(&shorter, is_last, text);
                }
                if weight(frame) > HEAVY {
                    return self.frame(frame, is_last, text);
                }
                self.begin(text);
                let result = self.written.text(feed_update, frame, self.version, is_last);
                // Reserve no more than needed for text that waits for a client that does not read.
                let end = self.envelope.end();
                text.reserve_exact(result.len() + end.len());
                text.push_str(&result);
                text.push_str(end);
            }
            FeedUpdate::Reminder(reminded) => match self.spelling.spell(reminded) {
                Some(ReminderReport::Notification(notification)) => event(&notification.to_json(), text),
                Some(ReminderReport::Frame(frame)) => self.frame(&frame, is_last, text),
                None => {}
            },
        }
    }

    /// Returns the task with its history shortened as requested, or `None` if it is short enough.
    fn shorter(&self, frame: &Frame) -> Option<Frame> {
        let Frame::Task(task) = frame else { return None };
        let extra = task.history.len().checked_sub(self.history? as usize).filter(|extra| *extra > 0)?;
        let mut task = (**task).clone();
        task.history.drain(..extra);
        Some(Frame::Task(task.into()))
    }

    /// Begins a frame for this stream alone, written piece by piece.
    fn frame(&mut self, frame: &Frame, is_last: bool, text: &mut String) {
        self.begin(text);
        self.rest = Some(JsonPieces::new(self.version.frame(frame, is_last)));
        self.write_on(text);
    }

    /// Writes the text before a result.
    fn begin(&self, text: &mut String) {
        match &self.envelope {
            StreamEnvelope::JsonRpc(id) => {
                text.push_str(r#"data: {"jsonrpc":"2.0","id":"#);
                text.push_str(id.as_json());
                text.push_str(r#","result":"#);
            }
            StreamEnvelope::Bare(_) => text.push_str("data: "),
        }
    }
}

impl StreamEnvelope {
    /// Returns the text after a result.
    fn end(&self) -> &'static str {
        match self {
            StreamEnvelope::JsonRpc(_) => "}\n\n",
            StreamEnvelope::Bare(_) => "\n\n",
        }
    }
}

/// Returns one event.
pub(crate) fn event_of(data: &str) -> String {
    let mut text = String::with_capacity(data.len() + 8);
    event(data, &mut text);
    text
}

/// Appends one event. Its data is JSON without line breaks.
fn event(data: &str, text: &mut String) {
    text.push_str("data: ");
    text.push_str(data);
    text.push_str("\n\n");
}

/// Returns the approximate size of a frame in bytes.
fn weight(frame: &Frame) -> usize {
    let of_parts = |parts: &[Part]| parts.iter().map(of_part).sum::<usize>();
    let of_message = |message: &Arc<Message>| of_parts(&message.parts) + message.metadata.weight();
    let of_artifact = |artifact: &Artifact| of_parts(&artifact.parts) + artifact.metadata.weight();
    match frame {
        Frame::Task(task) => {
            let made = task.artifacts.iter().map(|artifact| of_artifact(artifact)).sum::<usize>();
            let said = task.history.iter().chain(&task.status.message).map(of_message).sum::<usize>();
            made + said + task.metadata.weight()
        }
        Frame::Message(message) => of_message(message),
        Frame::Status(update) => update.status.message.iter().map(of_message).sum::<usize>() + update.metadata.weight(),
        Frame::Artifact(update) => of_artifact(&update.artifact) + update.metadata.weight(),
    }
}

fn of_part(part: &Part) -> usize {
    const EACH: usize = 32;
    let content = match &part.content {
        Content::Text(text) | Content::Raw(text) | Content::Url(text) => text.len(),
        Content::Data(data) => data.weight(),
    };
    EACH + content + part.metadata.weight()
}

#[cfg(test)]
mod tests;
