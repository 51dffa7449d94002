//! [`Activity`]: the spans of a run: loops, model calls, attempts, tool calls, hooks. Each has a number, and names the one
//! around it. `activity` writes their records.
//!
//! [`TraceContext`] is the position of a span in its trace, for messages to other processes.

mod trace_context;

use std::cell::Cell;
use std::rc::Rc;

pub use trace_context::{SpanId, TraceContext, TraceId, digest, span_id_of, trace_id_of};

/// The options by which the activity of a run is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ActivityOptions {
    /// Whether prompts, answers, arguments and results are recorded too.
    pub content: bool,
}

/// The spans of a run.
#[derive(Debug, Default)]
struct RunSpans {
    /// Number of the last span.
    last: Cell<u64>,
    /// The trace; `None` until the run begins.
    trace: Cell<Option<TraceId>>,
}

/// A writer of the activity of one span of a run. Clones belong to the same span.
#[derive(Debug, Clone)]
pub struct Activity(Rc<ActivitySpan>);

#[derive(Debug)]
struct ActivitySpan {
    options: ActivityOptions,
    run: Rc<RunSpans>,
    /// The trace of another process that it belongs to; `None` means that of the run.
    joined: Option<TraceId>,
    /// Its number; 0 for the run itself.
    number: u64,
    /// Number of the span that contains it.
    within: u64,
}

impl Activity {
    /// Creates the writer of a run.
    #[must_use]
    pub fn new(options: ActivityOptions) -> Activity {
        Activity(Rc::new(ActivitySpan { options, run: Rc::default(), joined: None, number: 0, within: 0 }))
    }

    /// Returns the writer of a new span within this one.
    #[must_use]
    pub fn enter(&self) -> Activity {
        self.enter_in(self.0.joined)
    }

    /// Returns the writer of a new span that another process caused: it belongs to the trace of that process.
    #[must_use]
    pub fn join(&self, cause: &TraceContext) -> Activity {
        self.enter_in(Some(cause.trace_id))
    }

    fn enter_in(&self, joined: Option<TraceId>) -> Activity {
        let ActivitySpan { options, run, number, .. } = &*self.0;
        let last = run.last.get() + 1;
        run.last.set(last);
        Activity(Rc::new(ActivitySpan { options: *options, run: run.clone(), joined, number: last, within: *number }))
    }

    /// Returns the position of the span in its trace; `None` before the run begins.
    #[must_use]
    pub fn context(&self) -> Option<TraceContext> {
        let run_trace = self.0.run.trace.get()?;
        let trace_id = self.0.joined.unwrap_or(run_trace);
        Some(TraceContext { trace_id, span_id: span_id_of(run_trace, self.0.number) })
    }

    /// Begins the trace of the run.
    pub(crate) fn begin(&self, trace: TraceId) {
        self.0.run.trace.set(Some(trace));
    }

    /// Returns whether prompts, answers, arguments and results are recorded too.
    pub(crate) fn records_content(&self) -> bool {
        self.0.options.content
    }

    /// Returns the number of the span, and that of the one around it; 0 is the run.
    pub(crate) fn numbers(&self) -> (u64, u64) {
        (self.0.number, self.0.within)
    }
}
