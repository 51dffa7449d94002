//! [`Span`]: something that a run did, from its beginning to its end.

use std::borrow::Cow;
use std::sync::Arc;

/// Something that a run did.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The trace: one for each run.
    pub trace_id: [u8; 16],
    /// Its id.
    pub id: [u8; 8],
    /// The span that it is a part of; `None` for the run itself.
    pub parent: Option<[u8; 8]>,
    /// Its name, such as `chat gpt-4o`.
    pub name: String,
    /// Whether it is a call to another process.
    pub is_client: bool,
    /// When it began, in milliseconds since 1970-01-01 UTC.
    pub start_ms: u64,
    /// When it ended.
    pub end_ms: u64,
    /// Attributes of the span.
    pub attributes: Vec<Attribute>,
    /// Events in the span.
    pub events: Vec<SpanEvent>,
    /// Number of events left out.
    pub dropped_events: u32,
    /// Whether it failed.
    pub failed: bool,
}

/// An event in a span at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanEvent {
    /// Its name, such as `harn.reminder.fired`.
    pub name: String,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Attributes of the event.
    pub attributes: Vec<Attribute>,
}

/// A name and a value.
pub type Attribute = (Cow<'static, str>, Value);

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text.
    Text(Arc<str>),
    /// A number.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// Texts.
    Texts(Vec<Arc<str>>),
}

impl Span {
    /// Maximum number of events kept per span, OpenTelemetry's limit.
    const MOST_EVENTS: usize = 128;

    /// Adds an event, unless there are too many.
    pub(crate) fn add(&mut self, event: SpanEvent) {
        if self.events.len() < Span::MOST_EVENTS {
            self.events.push(event);
        } else {
            self.dropped_events += 1;
        }
    }
}
