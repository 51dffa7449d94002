//! Runs on record: `harn run --record` and `--replay`.
//!
//! - [`RunRecording`]: what a run writes, or what it is run again from. The engine begins and opens them.
//! - [`Models`]: the routes of a run with a recording around them; everything that asks a model goes through it.
//! - [`Preview`]: requests that are shown instead of sent.
//! - `record`, `replay`: one call, written down or answered from what was written.
//! - `sources`: the files that a run is made of.
//! - `report`: what is wrong, as diagnostics.

mod models;
mod preview;
mod record;
mod replay;
pub(crate) mod report;
pub(crate) mod sources;

pub(crate) use models::Models;
pub use preview::{Preview, PreviewedReminder, PreviewedRequest};

use crate::clock::RunClock;
use crate::random::entropy;
use providers::model::CapabilityTable;
use providers::recording::{Recorder, Recording, Secrets};
use sources::{Compared, Sources};
use std::ffi::OsString;
use std::rc::Rc;

/// A recording that a run writes or replays.
pub struct RunRecording {
    pub(crate) deck: RecordingMode,
    pub(crate) seed: u64,
    pub(crate) seeded: bool,
    pub(crate) started_at_ms: u64,
}

/// The wrapper around the routes.
pub(crate) enum RecordingMode {
    /// The run is neither recorded nor replayed.
    Empty,
    /// Requests are shown instead of sent.
    Previews(Rc<Preview>),
    /// Calls are written down, and what the run imports.
    Records(Recorder, Sources),
    /// Calls are answered from what was written.
    Replays { recording: Recording, compared: Compared },
}

/// Returns the secrets that must not be recorded.
pub(crate) fn secrets(table: Option<&CapabilityTable>) -> Secrets {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    Secrets::of(std::env::vars_os().filter_map(text), |name| table.is_some_and(|table| table.is_key(name)))
}

/// The start of a run: its seed, its clock, its recording.
pub(crate) struct RunStart {
    pub(crate) seed: u64,
    pub(crate) clock: RunClock,
    pub(crate) deck: RecordingMode,
}

impl RunStart {
    /// Returns the start of a run: ids, clock and randomness follow from a seed; a replay takes
    /// them from the recording.
    pub(crate) fn of(seed: Option<u64>, recording: Option<RunRecording>, preview: Option<Rc<Preview>>) -> Self {
        let Some(recording) = recording else {
            let clock = if seed.is_some() { RunClock::fixed() } else { RunClock::system() };
            let deck = preview.map_or(RecordingMode::Empty, RecordingMode::Previews);
            return Self { seed: seed.unwrap_or_else(entropy), clock, deck };
        };
        let clock = match recording.deck {
            RecordingMode::Records(..) if !recording.seeded => RunClock::stepped(recording.started_at_ms),
            _ => RunClock::replayed(recording.started_at_ms, recording.seeded),
        };
        Self { seed: recording.seed, clock, deck: recording.deck }
    }
}
