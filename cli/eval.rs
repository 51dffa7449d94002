//! `harn eval FILE --variants V.toml`: runs a script over a set of tasks, once per variant and repetition, and compares the
//! variants.
//!
//! - `text`, `document`, `page`: the comparison as a table, as JSON and as an HTML page.

mod document;
mod page;
mod text;

use crate::console::Console;
use crate::limits::{RunBounds, RunSetup, pack};
use crate::parallel::in_parallel;
use crate::progress::ProgressLine;
use crate::report::{Format, show};
use crate::script::Script;
use crate::stdout;
use clap::ValueEnum;
use clap::builder::{PathBufValueParser, TypedValueParser as _};
use std::path::{Path, PathBuf};
use stdlib::{Diagnostic, Engine, PackSpec, Project, RunOptions, RunRecording, Severity, SourceRef};
use testing::eval::{EvalOutcome, EvalPlan, EvalRun, EvalSummary, RunPlace, WorkFolder, evaluate, summarize};

/// The format of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EvalFormat {
    /// A table
    Text,
    /// One JSON document, with each run
    Json,
    /// One self-contained HTML page
    Html,
}

#[derive(clap::Args)]
pub(crate) struct EvalArgs {
    /// Script to run
    file: PathBuf,
    /// File with the tasks and the variants, in TOML
    #[arg(long, value_name = "FILE")]
    variants: PathBuf,
    /// Number of runs of each task in each variant
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Run side by side on all processors
    #[arg(long)]
    parallel: bool,
    /// Record the model calls of each run in a folder below this one, which is new or empty
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Answer model calls from the recordings in this folder, without network and keys
    #[arg(long, value_name = "DIR", conflicts_with = "seed")]
    replay: Option<PathBuf>,
    /// Rhai file with reminder providers, run in a sandbox; can be repeated
    #[arg(long = "pack", value_name = "FILE", value_parser = PathBufValueParser::new().try_map(pack))]
    packs: Vec<PathBuf>,
    #[command(flatten)]
    bounds: RunBounds,
    /// Format of the comparison on standard output
    #[arg(long, value_enum, default_value = "text")]
    format: EvalFormat,
    /// Arguments of the script after those of each task; write `--` before them
    #[arg(last = true)]
    args: Vec<String>,
}

/// An evaluation that has ended.
struct Evaluation {
    /// The script, as it was named.
    script: String,
    plan: EvalPlan,
    /// Runs of each task in each variant.
    repetitions: u32,
    seed: Option<u64>,
    runs: Vec<(RunPlace, EvalRun)>,
}

impl Evaluation {
    /// Returns the figures of a variant, or of one of its tasks.
    fn summary(&self, variant: usize, task: Option<usize>) -> EvalSummary {
        let is_meant = |place: &RunPlace| place.variant == variant && task.is_none_or(|task| place.task == task);
        summarize(self.runs.iter().filter(|(place, _)| is_meant(place)).map(|(_, run)| run))
    }

    /// Returns the runs that ended with an error, and its message.
    fn errors(&self) -> impl Iterator<Item = (&RunPlace, &str)> {
        self.runs.iter().filter_map(|(place, run)| match &run.outcome {
            EvalOutcome::Errored(message) => Some((place, message.as_str())),
            EvalOutcome::Succeeded | EvalOutcome::Failed => None,
        })
    }

    /// Returns the place of a run in words.
    fn name_of(&self, place: &RunPlace) -> String {
        let (variant, task) = (&self.plan.variants[place.variant].name, &self.plan.tasks[place.task].name);
        format!("{variant}, {task}, run {}", place.nth + 1)
    }
}

/// Runs an evaluation. An error in any run is a failure of the command; a task that was not achieved is a result.
pub(crate) fn run(args: &EvalArgs, console: &Console) -> i32 {
    let refuse = |found: &[Diagnostic]| {
        show(&*console.output, found, Format::Text);
        1
    };
    let script = Script::named(args.file.clone(), false);
    let source = match script.read() {
        Ok(source) => source,
        Err(diagnostic) => return refuse(&[diagnostic]),
    };
    let plan = match EvalPlan::read(&args.variants) {
        Ok(plan) => plan,
        Err(found) => return refuse(&found),
    };
    let project = match Project::of(script.path()) {
        Ok(project) => project,
        Err(found) => return refuse(&found),
    };
    show(&*console.output, project.warning.as_slice(), Format::Text);
    let seed = args.bounds.seed;
    let setup = args.bounds.clone().setup(project, script.path());
    // A script that cannot run would fail once for each run.
    let found: Vec<Diagnostic> = Engine::new(setup.options()).check(&source);
    if found.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return refuse(&found);
    }
    let places: Vec<RunPlace> = (0..args.runs)
        .flat_map(|nth| (0..plan.tasks.len()).map(move |task| (nth, task)))
        .flat_map(|(nth, task)| (0..plan.variants.len()).map(move |variant| RunPlace { variant, task, nth }))
        .collect();
    let progress = ProgressLine::new("running", Some(places.len()), console.owns_process);
    let one = |place: &RunPlace| {
        progress.step(&format!("{}, {}", plan.variants[place.variant].name, plan.tasks[place.task].name));
        run_once(args, &source, &plan, &setup, place)
    };
    let runs = if args.parallel {
        in_parallel(&places, || (), |(), place| one(place))
    } else {
        places.iter().map(one).collect()
    };
    drop(progress);
    let runs = places.into_iter().zip(runs).collect();
    let evaluation = Evaluation { script: source.name().to_owned(), plan, repetitions: args.runs, seed, runs };
    let code = i32::from(evaluation.errors().next().is_some());
    let printed = match args.format {
        EvalFormat::Text => text::text(&evaluation),
        EvalFormat::Json => document::document(&evaluation),
        EvalFormat::Html => page::page(&evaluation),
    };
    let written = stdout::forgive(console.output.out(&printed));
    stdout::exit_code(written, code)
}

/// Returns the number of a run within its variant: the n-th runs of a task throw the same dice in all variants.
fn number_of(plan: &EvalPlan, place: &RunPlace) -> u64 {
    u64::from(place.nth) * plan.tasks.len() as u64 + place.task as u64
}

fn run_once(args: &EvalArgs, source: &SourceRef, plan: &EvalPlan, setup: &RunSetup, place: &RunPlace) -> EvalRun {
    let (task, variant) = (&plan.tasks[place.task], &plan.variants[place.variant]);
    let folder = task.folder.as_deref().map(WorkFolder::copy_of).transpose();
    let folder = match folder {
        Ok(folder) => folder,
        Err(error) => return EvalRun::not_started(format!("cannot copy the folder of the task: {error}")),
    };
    let mut options = setup.options();
    options.packs.extend(args.packs.iter().cloned().map(PackSpec::plain));
    let mut options = RunOptions {
        seed: options.seed.map(|seed| seed.wrapping_add(number_of(plan, place))),
        task: task.task.clone(),
        args: task.args.iter().chain(&args.args).cloned().collect(),
        variant: Some(variant.change.clone()),
        cwd: folder.as_ref().map(|folder| folder.path().to_owned()),
        ..options
    };
    let below = |root: &Path| root.join(&variant.name).join(&task.name).join((place.nth + 1).to_string());
    let recording = match (&args.record, &args.replay) {
        (Some(root), _) => RunRecording::record(&below(root), source, &mut options).map(Some),
        (None, Some(root)) => RunRecording::replay(&below(root), source, &mut options).map(Some),
        (None, None) => Ok(None),
    };
    options.recording = match recording {
        Ok(recording) => recording,
        Err(diagnostic) => return EvalRun::not_started(format!("{}: {}", diagnostic.code, diagnostic.message)),
    };
    evaluate(source, options)
}

/// Returns a share as a percentage.
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns a number with as many decimals as its size needs.
fn number(value: f64) -> String {
    match value.abs() {
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{number, percent};

    #[test]
    fn figures_are_short() {
        assert_eq!([0.0, 0.666, 1.0].map(percent), ["0 %", "67 %", "100 %"]);
        assert_eq!([3.0, 3.25, 1234.5, 0.012_34].map(number), ["3", "3.2", "1234", "0.0123"]);
    }
}
