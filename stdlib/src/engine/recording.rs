//! Runs that are recorded, or replayed from a recording.

use super::RunOptions;
use crate::clock::{RunClock, system_ms};
use crate::random::entropy;
use crate::recording::sources::{self, Compared};
use crate::recording::{RecordingMode, RunRecording, report, secrets};
use lang::diagnostic::Diagnostic;
use lang::source::SourceRef;
use providers::recording::{Manifest, Recorder, Recording};
use std::path::Path;

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
