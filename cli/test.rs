//! `harn test [PATH…]`: runs the tests of scripts.

use crate::console::Console;
use crate::limits::RunBounds;
use crate::progress::ProgressLine;
use crate::project::or_project;
use crate::report::{Format, show, visible, wants_color};
use crate::stdout;
use crate::watch::watch;
use crate::whole_file::write_whole;
use std::collections::HashSet;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use stdlib::{Diagnostic, Project, TestCode};
use testing::{
    Coverage, FileResult, MakeOptions, PendingSnapshot, Report, ReportFormat, RunMode, Selection, SnapshotMode,
    Summary, abandoned_snapshots, count_unimported, difference, discover, pending_snapshots,
};

#[derive(clap::Args)]
pub(crate) struct TestArgs {
    /// Files with tests; folders, for their files `…_test.harn` and other scripts with tests that `.gitignore` does not exclude
    /// [default: the folder of the project]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Run only the tests whose name, or whose file and name as `FILE > NAME`, contains this text; can be repeated
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Begin no test after one has failed
    #[arg(long)]
    fail_fast: bool,
    /// Run the tests again whenever a script changes
    #[arg(long, conflicts_with_all = ["review", "coverage", "coverage_html"])]
    watch: bool,
    /// Format of the results, on standard output
    #[arg(long, value_enum, default_value = "text")]
    format: TestFormat,
    /// Show what passed tests print, too
    #[arg(long)]
    show_output: bool,
    /// Count the lines that run: print a table, and write the counts to FILE in the format of LCOV
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    coverage: Option<Option<PathBuf>>,
    /// Count the lines that run: write an HTML page with the count of each line
    #[arg(long, value_name = "FILE")]
    coverage_html: Option<PathBuf>,
    /// Accept every text that differs from its snapshot, and remove the snapshots that no test uses
    #[arg(long, conflicts_with = "review")]
    update: bool,
    /// Run no test: show the texts that differ from their snapshots, and the snapshots that no test uses, one by one, and accept or reject each change
    #[arg(long)]
    review: bool,
    /// Ask real models in tests with `recording`, and record the answers, if the recording does not exist
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    bounds: RunBounds,
}

/// The format of the results of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TestFormat {
    /// Readable text
    Text,
    /// One JSON object per line
    Json,
    /// A JUnit document
    Junit,
}

impl TestFormat {
    const fn of_diagnostics(self) -> Format {
        match self {
            Self::Json => Format::Json,
            Self::Text | Self::Junit => Format::Text,
        }
    }
}

/// The seed of tests: their ids, their time and their randomness are the same in every run.
const SEED: u64 = 1;

pub(crate) fn run(mut args: TestArgs, console: &Console) -> i32 {
    args.bounds.seed.get_or_insert(SEED);
    args.paths = or_project(args.paths);
    if args.review {
        return review(&args, console);
    }
    if !args.watch {
        return run_once(&args, console);
    }
    watch(&args.paths, &["harn", "snap"], console, || match run_once(&args, console) {
        0 => "all tests passed",
        _ => "tests failed",
    })
}

fn run_once(args: &TestArgs, console: &Console) -> i32 {
    let refuse = |found: Diagnostic| {
        show(&*console.output, &[found], args.format.of_diagnostics());
        1
    };
    let files = match discover(&args.paths) {
        Ok(files) => files,
        Err(found) => return refuse(found),
    };
    let selection = Selection { names: args.filter.clone(), fail_fast: args.fail_fast };
    let counts_lines = args.coverage.is_some() || args.coverage_html.is_some();
    let mode = RunMode { coverage: counts_lines, snapshots: snapshot_mode(args.update), record: args.record };
    let color = console.owns_process && wants_color(&std::io::stdout());
    let format = match args.format {
        TestFormat::Text => ReportFormat::Text { color },
        TestFormat::Json => ReportFormat::Json,
        TestFormat::Junit => ReportFormat::Junit,
    };
    let mut report = Report::new(format, args.show_output);
    let warnings = Mutex::new(Vec::new());
    let setup = |path: &Path| -> Result<MakeOptions, Vec<Diagnostic>> {
        let mut project = Project::of(path)?;
        if let (Some(warning), Ok(mut warnings)) = (project.warning.take(), warnings.lock()) {
            warnings.push(warning);
        }
        let setup = args.bounds.clone().setup(project, path);
        Ok(Box::new(move || setup.options()))
    };
    let mut printed = Ok(());
    let mut print = |text: &str| {
        if printed.is_ok() {
            printed = console.output.out(text);
        }
    };
    let progress = ProgressLine::new("testing", None, console.owns_process);
    let begin = |file: &Path, test: &str| progress.step(&format!("{} > {test}", file.display()));
    let show_file = |file: &FileResult| progress.above(|| print(&report.file(file)));
    let (summary, mut coverage) = testing::run(&files, &selection, mode, &setup, &begin, show_file);
    drop(progress);
    let found_none = summary == Summary::default();
    let mut notices = abandoned_snapshots(&args.paths, mode.snapshots);
    if counts_lines {
        notices.extend(count_unimported(&args.paths, &setup, &mut coverage));
    }
    notices.extend(warnings.into_inner().unwrap_or_default());
    if !found_none || args.format != TestFormat::Text {
        print(&report.end(&summary));
    }
    if args.coverage.is_some() && args.format == TestFormat::Text && !found_none {
        print(&format!("\n{}", coverage.summary()));
    }
    show_once(notices, args, console);
    let mut code = i32::from(!summary.is_success());
    if found_none {
        code = refuse(no_tests(args));
    }
    if let Err(error) = write_coverage(args, &coverage) {
        console.output.err(&error);
        code = 1;
    }
    stdout::exit_code(stdout::forgive(printed), code)
}

/// Shows warnings, each once.
fn show_once(warnings: Vec<Diagnostic>, args: &TestArgs, console: &Console) {
    let mut seen = HashSet::new();
    let warnings: Vec<Diagnostic> =
        warnings.into_iter().filter(|warning| seen.insert((warning.code, warning.message.clone()))).collect();
    show(&*console.output, &warnings, args.format.of_diagnostics());
}

fn no_tests(args: &TestArgs) -> Diagnostic {
    let paths: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
    let found = Diagnostic::new(TestCode::None, format!("no tests found in {}", paths.join(", ")));
    if args.filter.is_empty() {
        found.help(
            "tests are functions with `@test` and `test \"name\" { … }` blocks, in files such as `name_test.harn`",
        )
    } else {
        found.help(format!("no test has a name that contains {}", args.filter.join(" or ")))
    }
}

/// Returns how to treat snapshots that differ. On a CI system, none is proposed, since no one reviews it there.
fn snapshot_mode(update: bool) -> SnapshotMode {
    let on_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    match (update, on_ci) {
        (true, _) => SnapshotMode::Update,
        (false, true) => SnapshotMode::Compare,
        (false, false) => SnapshotMode::Propose,
    }
}

fn write_coverage(args: &TestArgs, coverage: &Coverage) -> Result<(), String> {
    let lcov = args.coverage.iter().flatten().map(|file| (file, coverage.lcov()));
    let html = args.coverage_html.iter().map(|file| (file, coverage.html()));
    for (file, text) in lcov.chain(html) {
        write_whole(file, &text)
            .map_err(|error| format!("error: cannot write {}: {error}\n", visible(&file.display().to_string())))?;
    }
    Ok(())
}

/// Shows each text that waits for a review, and does what the person wants.
fn review(args: &TestArgs, console: &Console) -> i32 {
    let pending = match pending_snapshots(&args.paths) {
        Ok(pending) => pending,
        Err(found) => {
            show(&*console.output, &[found], args.format.of_diagnostics());
            return 1;
        }
    };
    let all = pending.len();
    if all == 0 {
        return stdout::exit_code(stdout::print("no snapshots wait for a review\n"), 0);
    }
    let mut lines = std::io::stdin().lock().lines();
    let mut left = 0;
    for (number, one) in pending.iter().enumerate() {
        let mut out = std::io::stdout().lock();
        let shown =
            format!("\n{} of {all}: {}\n{}", number + 1, visible(&one.path.display().to_string()), changes_of(one));
        if let Err(error) = out.write_all(shown.as_bytes()) {
            return stdout::exit_code(stdout::forgive(Err(error)), 1);
        }
        loop {
            let _ = out.write_all(b"accept, reject, skip, quit [a/r/s/q]? ").and_then(|()| out.flush());
            let answer = match lines.next() {
                Some(Ok(line)) => line.trim().to_lowercase(),
                _ => "q".to_owned(),
            };
            if !std::io::stdin().is_terminal() {
                let _ = writeln!(out);
            }
            let done = match answer.as_str() {
                "a" | "accept" => one.accept(),
                "r" | "reject" => one.reject(),
                "s" | "skip" => {
                    left += 1;
                    Ok(())
                }
                "q" | "quit" => return i32::from(left + all - number > 0),
                _ => continue,
            };
            if let Err(error) = done {
                eprintln!("error: cannot write {}: {error}", visible(&one.path.display().to_string()));
                return 1;
            }
            break;
        }
    }
    i32::from(left > 0)
}

/// Returns the difference between a snapshot and what would take its place. A new and an unused one differ from no text.
fn changes_of(pending: &PendingSnapshot) -> String {
    let (before, after) = (pending.expected.as_deref(), pending.actual.as_deref());
    let text = difference(before.unwrap_or_default(), after.unwrap_or_default());
    let title = if after.is_none() { "  no test uses this snapshot; accept removes it\n" } else { "" };
    title.to_owned() + text.lines().map(|line| format!("  {}\n", visible(line))).collect::<String>().as_str()
}
