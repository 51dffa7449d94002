//! [`Live`]: exports the spans of runs while they go on, on a thread of its own. A slow or missing collector does not
//! delay a run: records that find no room are counted and reported at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base::data::Data;
use eventlog::{NewRecord, RecordObserver};

use crate::builder::{ActivityRecord, SpanBuilder};
use crate::destination::Destination;
use crate::exporter::{ExportError, Exporter};
use crate::span::Span;

/// Maximum number of records that wait for the thread.
const WAITING: usize = 16_384;

/// Maximum number of spans in one request.
const BATCH: usize = 512;

/// Time that spans wait for others before they are sent.
const PAUSE: Duration = Duration::from_secs(1);

/// Time that the end of the process waits for the collector.
const LAST_SPANS: Duration = Duration::from_secs(10);

/// A live exporter of the spans of runs.
pub struct Live {
    records: SyncSender<Item>,
    dropped: Arc<AtomicU64>,
    thread: Option<JoinHandle<Exported>>,
}

/// The result of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of spans that the collector has.
    pub spans: u64,
    /// Number of spans that it does not have.
    pub lost: u64,
    /// Number of records that found no room, so that spans may be missing.
    pub dropped: u64,
    /// Reason for the last loss of spans.
    pub why: Option<String>,
}

enum Item {
    Record {
        writer: Arc<str>,
        record: NewRecord,
    },
    /// A span that was built elsewhere.
    Span(Box<Span>),
    End,
}

impl Live {
    /// Starts the thread.
    ///
    /// # Errors
    /// Fails if the destination cannot be used, or the system could not start a thread.
    pub fn start(to: &Destination, content: bool) -> Result<Live, ExportError> {
        let exporter = Exporter::new(to)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ExportError::Client(error.to_string()))?;
        let (records, items) = sync_channel(WAITING);
        let work = move || {
            Work {
                exporter,
                runtime,
                builder: SpanBuilder::new(content),
                ready: Vec::new(),
                exported: Exported::default(),
            }
            .run(&items)
        };
        let thread = std::thread::Builder::new().name("otel".to_owned()).spawn(work);
        let thread = thread.map_err(|error| ExportError::Client(error.to_string()))?;
        Ok(Live { records, dropped: Arc::default(), thread: Some(thread) })
    }

    /// Returns a tap that sends it the records of one writer.
    #[must_use]
    pub fn tap(&self, writer: &str) -> RecordObserver {
        (self.taps())(writer)
    }

    /// Returns a function that creates such taps on any thread.
    #[must_use]
    pub fn taps(&self) -> Arc<dyn Fn(&str) -> RecordObserver + Send + Sync> {
        let (records, dropped) = (self.records.clone(), self.dropped.clone());
        Arc::new(move |writer| tap(records.clone(), dropped.clone(), writer.into()))
    }

    /// Returns a function that exports spans that are built elsewhere, from any thread.
    #[must_use]
    pub fn spans(&self) -> Arc<dyn Fn(Span) + Send + Sync> {
        let (records, dropped) = (self.records.clone(), self.dropped.clone());
        Arc::new(move |span| {
            if records.try_send(Item::Span(Box::new(span))).is_err() {
                dropped.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    /// Sends the remaining spans, and returns the result. Waits for the collector, for ten seconds at most.
    #[must_use]
    pub fn end(mut self) -> Exported {
        let began = Instant::now();
        let mut item = Item::End;
        // The queue may be full for a moment.
        while let Err(error) = self.records.try_send(item) {
            match error {
                std::sync::mpsc::TrySendError::Full(back) if began.elapsed() < LAST_SPANS => item = back,
                _ => break,
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let Some(thread) = self.thread.take() else { return Exported::default() };
        while !thread.is_finished() && began.elapsed() < LAST_SPANS {
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut exported = if thread.is_finished() {
            thread.join().unwrap_or_else(|_| broken("the exporter panicked"))
        } else {
            broken("the collector did not answer in time")
        };
        exported.dropped = self.dropped.load(Ordering::Relaxed);
        exported
    }
}

fn tap(records: SyncSender<Item>, dropped: Arc<AtomicU64>, writer: Arc<str>) -> RecordObserver {
    Arc::new(move |record| {
        if !SpanBuilder::wants(&record.topic, &record.kind) {
            return;
        }
        let item = Item::Record { writer: writer.clone(), record: record.clone() };
        if records.try_send(item).is_err() {
            dropped.fetch_add(1, Ordering::Relaxed);
        }
    })
}

fn broken(why: &str) -> Exported {
    Exported { lost: 1, why: Some(why.to_owned()), ..Exported::default() }
}

/// The exporting thread.
struct Work {
    exporter: Exporter,
    runtime: tokio::runtime::Runtime,
    builder: SpanBuilder,
    ready: Vec<Span>,
    exported: Exported,
}

impl Work {
    fn run(mut self, items: &Receiver<Item>) -> Exported {
        let mut sent = Instant::now();
        loop {
            match items.recv_timeout(PAUSE.saturating_sub(sent.elapsed())) {
                Ok(Item::Record { writer, record }) => {
                    let payload: &Data = &record.payload;
                    self.ready.extend(self.builder.take(ActivityRecord {
                        writer: &writer,
                        topic: &record.topic,
                        kind: &record.kind,
                        payload,
                        at_ms: record.occurred_at_ms,
                    }));
                }
                Ok(Item::Span(span)) => self.ready.push(*span),
                Ok(Item::End) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.ready.len() >= BATCH || sent.elapsed() >= PAUSE {
                self.send();
                sent = Instant::now();
            }
        }
        self.ready.extend(self.builder.finish());
        self.send();
        self.exported
    }

    fn send(&mut self) {
        while !self.ready.is_empty() {
            let batch: Vec<Span> = self.ready.drain(..self.ready.len().min(BATCH)).collect();
            let count = batch.len() as u64;
            match self.runtime.block_on(self.exporter.export(batch)) {
                Ok(()) => self.exported.spans += count,
                Err(error) => {
                    if self.exported.why.is_none() {
                        tracing::warn!("could not export spans: {error}");
                    }
                    self.exported.lost += count;
                    self.exported.why = Some(error.to_string());
                }
            }
        }
    }
}
