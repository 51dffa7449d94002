//! `--otel` in a build without the feature `otel`: the option is unknown, and a collector named in the environment is refused.

pub(crate) use MissingOtel as Otel;
#[cfg(feature = "serve")]
pub(crate) use NeverExporting as Exporting;
use eventlog::RecordObserver;
use runtime::spans::ActivityOptions;

/// Variables that ask for traces.
const ASKS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// The destination of traces, which this build does not have.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct MissingOtel {}

/// An export, which this build never starts.
pub(crate) enum NeverExporting {}

/// The variable that asks for traces.
pub(crate) struct Unsupported(&'static str);

/// Returns how the activity of runs is written down.
pub(crate) fn activity() -> ActivityOptions {
    ActivityOptions { content: false }
}

impl MissingOtel {
    /// Starts nothing.
    ///
    /// # Errors
    /// The environment asks for traces.
    pub(crate) fn start(self) -> Result<Option<NeverExporting>, Unsupported> {
        let MissingOtel {} = self;
        let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match ASKS.iter().find(is_set) {
            Some(name) => Err(Unsupported(name)),
            None => Ok(None),
        }
    }
}

impl NeverExporting {
    pub(crate) fn tap(&self, _: &str) -> RecordObserver {
        match *self {}
    }

    #[cfg(feature = "serve")]
    pub(crate) fn taps(&self) -> std::sync::Arc<dyn Fn(&str) -> RecordObserver + Send + Sync> {
        match *self {}
    }

    #[cfg(feature = "serve")]
    pub(crate) fn hub(&self) -> serve::hub::HubObserver {
        match *self {}
    }

    pub(crate) fn end(self) {
        match self {}
    }
}

/// Reports that this build cannot export traces, and returns the exit code of wrong usage.
pub(crate) fn refuse(Unsupported(variable): &Unsupported) -> i32 {
    eprintln!("error: could not export traces: {variable} is set, but this harn was built without the feature `otel`");
    eprintln!("  help: unset {variable}, or build harn with that feature");
    2
}
