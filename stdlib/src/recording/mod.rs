//! Runs on record: `harn run --record` and `--replay`.
//!
//! - [`RunRecording`]: what a run writes, or what it is run again from.
//! - [`Models`]: the routes of a run with a recording around them; everything that asks a model goes through it.
//! - [`Preview`]: requests that are shown instead of sent.
//! - `record`, `replay`: one call, written down or answered from what was written.
//! - `sources`: the files that a run is made of.
//! - `report`: what is wrong, as diagnostics.

mod models;
mod preview;
mod record;
mod replay;
mod report;
mod sources;

pub(crate) use models::Models;
pub use preview::{Preview, PreviewedReminder, PreviewedRequest};

use crate::clock::{RunClock, system_ms};
use crate::engine::RunOptions;
use crate::random::entropy;
use lang::diagnostic::Diagnostic;
use lang::source::SourceRef;
use providers::model::CapabilityTable;
use providers::recording::{Manifest, Recorder, Recording, Secrets};
use sources::{Compared, Sources};
use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;

/// A recording that a run writes or replays.
pub struct RunRecording {
    deck: RecordingMode,
    seed: u64,
    seeded: bool,
    started_at_ms: u64,
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

impl RunRecording {
    /// Begins to record a run of `script` into a folder that is new or empty.
    ///
    /// # Errors
    /// The folder holds something, or cannot be written.
    pub fn record(
        folder: &Path,
        script: &SourceRef,
        options: &mut RunOptions,
    ) -> Result<RunRecording, Box<Diagnostic>> {
        let (seed, seeded) = (options.seed.unwrap_or_else(entropy), options.seed.is_some());
        let started_at_ms = if seeded { RunClock::SEEDED_START_MS } else { system_ms() };
        let manifest = Manifest {
            harn: env!("CARGO_PKG_VERSION").to_owned(),
            script: script.name().to_owned(),
            digest: sources::digest(script),
            seed,
            seeded,
            started_at_ms,
            args: options.args.clone(),
            task: options.task.clone(),
        };
        let recorder = Recorder::create(folder, &manifest, secrets(options.models.as_ref()))
            .map_err(|error| Box::new(report::of(&error)))?;
        let (loader, read) = sources::noting(options.loader.clone());
        options.loader = loader;
        Ok(RunRecording { deck: RecordingMode::Records(recorder, read), seed, seeded, started_at_ms })
    }

    /// Opens the recording in a folder, to replay `script` from it. Arguments that `options` do not
    /// set are those of the recorded run.
    ///
    /// # Errors
    /// The folder holds no recording that can be used.
    pub fn replay(
        folder: &Path,
        script: &SourceRef,
        options: &mut RunOptions,
    ) -> Result<RunRecording, Box<Diagnostic>> {
        let recording = Recording::open(folder).map_err(|error| Box::new(report::of(&error)))?;
        let said = &recording.manifest;
        if options.args.is_empty() {
            options.args.clone_from(&said.args);
        }
        if options.task.is_none() {
            options.task.clone_from(&said.task);
        }
        let (seed, seeded, started_at_ms) = (said.seed, said.seeded, said.started_at_ms);
        let is_changed = said.digest != sources::digest(script);
        let (loader, read) = sources::noting(options.loader.clone());
        options.loader = loader;
        let compared = Compared { is_changed, read };
        Ok(RunRecording { deck: RecordingMode::Replays { recording, compared }, seed, seeded, started_at_ms })
    }
}

/// Returns the secrets that must not be recorded.
fn secrets(table: Option<&CapabilityTable>) -> Secrets {
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
