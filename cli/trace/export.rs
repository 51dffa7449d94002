//! `harn trace LOG --otel`: the spans of a log, sent to a collector.

use std::collections::HashSet;
use std::path::Path;

use eventlog::RUN_ID;
use hub::store::changes_of;
use runtime::event_log::Topic;
use telemetry::{ActivityRecord, Destination, ExportError, Exporter, Span, SpanBuilder};

use super::source::{self, LogReading};
use super::{Failure, names, not_printed};
use crate::otel::HubSpans;
use crate::progress::ProgressLine;
use crate::{otel, stdout};

/// The number of spans in one request.
const BATCH: usize = 512;

/// Sends the spans of a log up to a cursor, and prints how many there were.
pub(super) fn export(log: &Path, upto: u64, to: &Destination) -> Result<LogReading, Failure> {
    let failed = |error: &ExportError| {
        let help = "start the collector, or check `--otel` and the OTEL_EXPORTER_OTLP_… variables".to_owned();
        Failure::Message(1, format!("could not export spans to {to}: {error}"), help)
    };
    let exporter = Exporter::new(to).map_err(|error| failed(&error))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(&ExportError::Client(error.to_string())))?;
    let (mut builder, mut tasks) = (SpanBuilder::new(otel::content()), HubSpans::default());
    let (mut ready, mut count, mut traces) = (Vec::<Span>::new(), 0_usize, HashSet::new());
    let mut error = None;
    let mut send = |ready: &mut Vec<Span>| {
        count += ready.len();
        traces.extend(ready.iter().map(|span| span.trace_id));
        runtime.block_on(exporter.export(std::mem::take(ready)))
    };
    let progress = ProgressLine::new("exporting", None, true);
    let told = source::read(log, |record| {
        progress.step("records");
        if record.cursor > upto || error.is_some() {
            return;
        }
        if record.topic.as_ref() == Topic::Hub.as_str() {
            // `harn trace` without `--otel` reports damaged records.
            let batch = changes_of(record).unwrap_or_default();
            ready.extend(batch.changes.iter().flat_map(|change| tasks.take(change)));
        }
        if ready.len() < BATCH && !SpanBuilder::wants(&record.topic, &record.kind) {
            return;
        }
        let writer = record.headers.get(RUN_ID).as_str().unwrap_or_default();
        let (topic, kind, at_ms) = (&*record.topic, &*record.kind, record.occurred_at_ms);
        ready.extend(builder.take(ActivityRecord { writer, topic, kind, payload: &record.payload, at_ms }));
        if ready.len() >= BATCH {
            error = send(&mut ready).err();
        }
    })
    .map_err(Failure::Diagnostic)?;
    ready.extend(builder.finish());
    ready.extend(tasks.finish());
    while error.is_none() && !ready.is_empty() {
        let mut batch: Vec<Span> = ready.drain(..ready.len().min(BATCH)).collect();
        error = send(&mut batch).err();
    }
    drop(progress);
    if let Some(error) = error {
        return Err(failed(&error));
    }
    let text = format!("{} of {} sent to {to}\n", names::count(count, "span"), names::count(traces.len(), "trace"));
    stdout::print(&text).map_err(|error| not_printed(&error))?;
    Ok(told)
}
