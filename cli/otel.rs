//! `--otel`: traces of what runs do, exported over OTLP while they go on.

#[cfg(feature = "serve")]
mod hub_spans;

#[cfg(feature = "serve")]
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use eventlog::RecordObserver;
#[cfg(feature = "serve")]
pub(crate) use hub_spans::HubSpans;
use runtime::spans::ActivityOptions;
#[cfg(feature = "serve")]
use serve::hub::HubObserver;
use stdlib::shown;
use telemetry::{Destination, ExportError, Exported, Live, captures_content};

/// The destination of traces.
#[derive(Args, Debug, Default)]
pub(crate) struct Otel {
    /// Export traces over OTLP/HTTP to this collector, or without URL to the one in OTEL_EXPORTER_OTLP_ENDPOINT
    /// [default: http://localhost:4318]
    #[arg(long = "otel", value_name = "URL", num_args = 0..=1, default_missing_value = "", value_parser = destination)]
    to: Option<Destination>,
}

/// Reads the destination of traces.
pub(crate) fn destination(written: &str) -> Result<Destination, String> {
    Destination::read(written).map_err(|error| format!("{error}; to use `--otel` without a URL, put it last"))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns whether texts may be written to traces.
pub(crate) fn content() -> bool {
    captures_content(variable)
}

/// Returns how the activity of runs is written down.
pub(crate) fn activity() -> ActivityOptions {
    ActivityOptions { content: content() }
}

impl Otel {
    /// Starts to export, if the command line or the environment asks for it.
    ///
    /// # Errors
    /// The destination cannot be used.
    pub(crate) fn start(self) -> Result<Option<Exporting>, ExportError> {
        let to = self.to.or_else(|| Destination::of_environment(variable));
        let Some(to) = to else { return Ok(None) };
        Ok(Some(Exporting { live: Live::start(&to, content())?, to }))
    }
}

/// Exports until it is ended.
pub(crate) struct Exporting {
    live: Live,
    to: Destination,
}

impl Exporting {
    /// Returns the tap for the records of one writer.
    pub(crate) fn tap(&self, writer: &str) -> RecordObserver {
        self.live.tap(writer)
    }

    /// Returns a function that creates such taps on any thread.
    #[cfg(feature = "serve")]
    pub(crate) fn taps(&self) -> Arc<dyn Fn(&str) -> RecordObserver + Send + Sync> {
        self.live.taps()
    }

    /// Returns an observer that exports the tasks and the requests of a hub.
    #[cfg(feature = "serve")]
    pub(crate) fn hub(&self) -> HubObserver {
        let (tasks, requests) = (self.live.spans(), self.live.spans());
        let building = Mutex::new(HubSpans::default());
        HubObserver {
            changes: Box::new(move |batch| {
                let mut building = building.lock().unwrap_or_else(PoisonError::into_inner);
                batch.changes.iter().flat_map(|change| building.take(change)).for_each(|span| tasks(span));
            }),
            requests: Arc::new(move |request| requests(hub_spans::of_request(request))),
        }
    }

    /// Sends what is left, and reports what was lost. It changes no exit code: the run itself is untouched.
    pub(crate) fn end(self) {
        let Exported { lost, dropped, why, .. } = self.live.end();
        let say = |message: String| eprintln!("{}", message.chars().filter_map(shown).collect::<String>());
        if let Some(why) = why {
            say(format!("warning: could not export {lost} spans to {}: {why}", self.to));
        }
        if dropped > 0 {
            say(format!("warning: spans are missing: {dropped} records came faster than they could be exported"));
        }
    }
}

/// Reports a destination that cannot be used, and returns the exit code of wrong usage.
pub(crate) fn refuse(error: &ExportError) -> i32 {
    eprintln!("error: could not export traces: {}", crate::report::visible(&error.to_string()));
    eprintln!("  help: check `--otel` and the OTEL_EXPORTER_OTLP_… variables");
    2
}
