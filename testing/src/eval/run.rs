//! One run of an evaluation.

use crate::output::TestOutput;
use base::data::Data;
use eventlog::{MemoryLog, Record};
use runtime::activity::ActivityKind;
use runtime::event_log::Topic;
use runtime::lifecycle::rebuild::rebuild;
use runtime::spans::ActivityOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use stdlib::{Engine, RunOptions, Severity, SourceRef};

/// The place of a run in an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlace {
    /// The variant.
    pub variant: usize,
    /// The task.
    pub task: usize,
    /// The repetition, from 0.
    pub nth: u32,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalOutcome {
    /// Its exit code is 0.
    Succeeded,
    /// Its pipeline returned another exit code.
    Failed,
    /// An error has ended it; its message.
    Errored(String),
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalRun {
    /// Its end.
    pub outcome: EvalOutcome,
    /// Number of judged turns that followed a reminder.
    pub heeded: usize,
    /// Number of judged turns that did not.
    pub ignored: usize,
    /// Turns of all its loops.
    pub turns: u32,
    /// Tokens of the requests of all model calls.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// Cost of all model calls; `None` if a price is unknown.
    pub cost_usd: Option<f64>,
}

impl EvalRun {
    /// Returns a run that could not be started.
    #[must_use]
    pub fn not_started(why: String) -> EvalRun {
        EvalRun {
            outcome: EvalOutcome::Errored(why),
            heeded: 0,
            ignored: 0,
            turns: 0,
            input_tokens: 0,
            output_tokens: 0,
            cost_usd: None,
        }
    }
}

/// Runs a script once. Its log is kept in memory, and its output is dropped.
#[must_use]
pub fn evaluate(source: &SourceRef, options: RunOptions) -> EvalRun {
    let log = MemoryLog::new();
    let options = RunOptions {
        log: Some(Rc::new(log.clone())),
        activity: Some(ActivityOptions::default()),
        output: Rc::new(TestOutput::default()),
        ..options
    };
    let ran = Engine::new(options).run(source);
    let error = ran.diagnostics.iter().find(|found| found.severity == Severity::Error);
    let outcome = match (ran.exit_code, error) {
        (0, _) => EvalOutcome::Succeeded,
        (code, Some(error)) => {
            let place = error.labels.first().map(|label| {
                let line = label.source.position(label.span.start).line;
                format!(" ({}:{line})", label.source.name())
            });
            let message = format!("{}: {}{}", error.code, error.message, place.unwrap_or_default());
            if code == 1 {
                EvalOutcome::Errored(message)
            } else {
                EvalOutcome::Errored(format!("{message}, exit code {code}"))
            }
        }
        (_, None) => EvalOutcome::Failed,
    };
    let records = log.records();
    let rebuilt = rebuild(records.iter().map(AsRef::as_ref));
    let (mut run, mut cost) = (EvalRun { outcome, ..EvalRun::not_started(String::new()) }, Some(0.0));
    for session in rebuilt.sessions() {
        run.turns += session.turns;
        for judged in session.reminders.iter().flat_map(|life| &life.judged) {
            if judged.heeded {
                run.heeded += 1;
            } else {
                run.ignored += 1;
            }
        }
    }
    for payload in records.iter().filter_map(|record| model_ended(record)) {
        let count = |key: &str| payload.get(key).as_int().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        run.input_tokens += count("input_tokens");
        run.output_tokens += count("output_tokens");
        // A call that failed has no answer to pay for.
        if payload.get("ok").as_bool() == Some(true) {
            cost = cost.zip(payload.get("cost_usd").as_float()).map(|(sum, cost)| sum + cost);
        }
    }
    EvalRun { cost_usd: cost, ..run }
}

/// Returns the payload of a record about a model call that has ended.
fn model_ended(record: &Record) -> Option<Data> {
    let is_ended = record.topic == *Topic::Activity.shared() && record.kind == *ActivityKind::ModelEnded.kind();
    is_ended.then(|| record.payload.to_data())
}

/// A folder of one run, removed after it: a copy of the folder of its task.
pub struct WorkFolder(PathBuf);

/// Number of the last work folder of the process.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Files of a task.
const MOST_FILES: usize = 10_000;

impl WorkFolder {
    /// Copies the folder of a task. Links are not followed.
    ///
    /// # Errors
    /// The system's own, and a folder with too many files.
    pub fn copy_of(folder: &Path) -> io::Result<WorkFolder> {
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let to = std::env::temp_dir().join(format!("harn-eval-{}-{number}", std::process::id()));
        std::fs::create_dir(&to)?;
        let work = WorkFolder(to.canonicalize()?);
        copy(folder, &work.0, &mut 0)?;
        Ok(work)
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path, count: &mut usize) -> io::Result<()> {
    for entry in from.read_dir()? {
        let entry = entry?;
        *count += 1;
        if *count > MOST_FILES {
            return Err(io::Error::other(format!("it has more than {MOST_FILES} files")));
        }
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            std::fs::create_dir(&target)?;
            copy(&entry.path(), &target, count)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
