//! [`Span`]: an operation of a run, from its beginning to its end.

use std::borrow::Cow;
use std::sync::Arc;

/// An operation of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The trace: one per run.
    pub trace_id: [u8; 16],
    /// Its id.
    pub id: [u8; 8],
    /// Id of the parent span; `None` for the run itself.
    pub parent: Option<[u8; 8]>,
    /// Its name, such as `chat gpt-4o`.
    pub name: String,
    /// Its role in a conversation of processes.
    pub kind: SpanKind,
    /// Start time, in milliseconds since 1970-01-01 UTC.
    pub start_ms: u64,
    /// End time, in milliseconds since 1970-01-01 UTC.
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

/// The role of a span in a conversation of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// None: an operation inside of a process.
    Internal,
    /// A call to another process.
    Client,
    /// The answer to such a call.
    Server,
    /// The processing of a message that was sent earlier.
    Consumer,
}

/// An event in a span at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanEvent {
    /// Its name, such as `harn.reminder.fired`.
    pub name: String,
    /// Time, in milliseconds since 1970-01-01 UTC.
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

    /// Adds an event, unless the limit is reached.
    pub fn add(&mut self, event: SpanEvent) {
        if self.events.len() < Span::MOST_EVENTS {
            self.events.push(event);
        } else {
            self.dropped_events += 1;
        }
    }
}
