//! Traces of runs: spans are built from the records of the event log, by one function, whether a run goes on or ended
//! long ago. Therefore a live run and its exported log have the same spans.
//!
//! - [`SpanBuilder`]: converts records to [`Span`]s. `conventions`: names and attributes of OpenTelemetry for
//!   generative AI, `messages`: its form of prompts and answers.
//! - [`Exporter`]: sends spans to a collector, over OTLP/HTTP with protobuf. [`Destination`]: the collector's endpoint.
//! - [`Live`]: exports while a run goes on, on a thread of its own.

mod builder;
mod conventions;
mod destination;
mod exporter;
mod live;
mod messages;
mod span;

pub use builder::{ActivityRecord, SpanBuilder};
pub use destination::{Destination, captures_content};
pub use exporter::{ExportError, Exporter};
pub use live::{Exported, Live};
pub use span::{Attribute, Span, SpanEvent, SpanKind, Value};
