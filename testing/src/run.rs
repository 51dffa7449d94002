//! Runs the tests of files: the files side by side, the tests of a file one after the other, each in an engine of its own.

use crate::coverage::Coverage;
use crate::discover::TestFile;
use crate::output::TestOutput;
use crate::snapshot::{FileSnapshots, SnapshotMode};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use stdlib::{
    Diagnostic, Difference, Engine, RunOptions, RunRecording, SourceRef, TestCase, TestCode, TestOutcome, read_source,
};

/// The tests that run.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// A test runs if its name, or its file and name with ` > ` between them, contains one of these; all run if there are none.
    pub names: Vec<String>,
    /// No test begins after one has failed.
    pub fail_fast: bool,
}

impl Selection {
    fn takes(&self, file: &str, name: &str) -> bool {
        let whole = format!("{file} > {name}");
        self.names.is_empty() || self.names.iter().any(|wanted| whole.contains(wanted.as_str()))
    }
}

/// The work beside the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunMode {
    /// Whether lines are counted.
    pub coverage: bool,
    /// The treatment of texts that are not those of their snapshots.
    pub snapshots: SnapshotMode,
    /// Whether recordings that do not exist are made.
    pub record: bool,
}

/// The end of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It used up its fuel, memory or time.
    UsedUp,
    /// It did not run, because another one had failed.
    NotRun,
}

/// The result of a test.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// Its name.
    pub name: String,
    /// The line of its name, from 1.
    pub line: u32,
    /// Its end.
    pub status: Status,
    /// Its duration.
    pub duration: Duration,
    /// The error that it failed with, and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The difference that made it fail.
    pub difference: Option<Difference>,
    /// Its output.
    pub output: String,
}

/// The results of a file.
#[derive(Clone, Debug, Default)]
pub struct FileResult {
    /// Its path.
    pub file: String,
    /// The results of its tests, in the order of the text.
    pub tests: Vec<TestResult>,
    /// The errors that keep its tests from running, and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether its tests could not run.
    pub broken: bool,
    coverage: Coverage,
}

impl FileResult {
    /// Returns whether a test failed, or its tests could not run.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.broken || self.tests.iter().any(|test| matches!(test.status, Status::Failed | Status::UsedUp))
    }
}

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files with tests that ran, or that could not run.
    pub files: usize,
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed, or used up what they may use.
    pub failed: usize,
    /// Tests that did not run.
    pub not_run: usize,
    /// Files whose tests could not run.
    pub broken: usize,
}

impl Summary {
    /// Returns whether tests ran, and all passed.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.passed > 0 && self.failed == 0 && self.broken == 0 && self.not_run == 0
    }

    fn add(&mut self, file: &FileResult) {
        if file.broken || !file.tests.is_empty() {
            self.files += 1;
        }
        self.broken += usize::from(file.broken);
        for test in &file.tests {
            match test.status {
                Status::Passed => self.passed += 1,
                Status::Failed | Status::UsedUp => self.failed += 1,
                Status::NotRun => self.not_run += 1,
            }
        }
    }
}

/// Makes the options of each run of a file's tests.
pub type MakeOptions = Box<dyn Fn() -> RunOptions>;

/// Stack of a thread that runs or compiles tests. A tree may be a thousand levels deep.
pub(crate) const STACK: usize = 64 << 20;

/// Returns what makes the options of the runs of a file.
pub type Setup<'s> = dyn Fn(&Path) -> Result<MakeOptions, Vec<Diagnostic>> + Sync + 's;

/// Runs the tests of files. `begin` gets the file and the name of each test that begins; `show` gets the result of each file,
/// in the order of the files.
pub fn run(
    files: &[TestFile],
    selection: &Selection,
    mode: RunMode,
    setup: &Setup<'_>,
    begin: &(dyn Fn(&Path, &str) + Sync),
    mut show: impl FnMut(&FileResult),
) -> (Summary, Coverage) {
    let work = Work { files, selection, mode, setup, begin, next: AtomicUsize::new(0), stop: AtomicBool::new(false) };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(files.len());
    let (mut summary, mut coverage) = (Summary::default(), Coverage::default());
    let (sender, results) = channel();
    thread::scope(|scope| {
        let mut started = 0;
        for _ in 0..threads {
            let (work, sender) = (&work, sender.clone());
            let builder = thread::Builder::new().stack_size(STACK);
            started += usize::from(builder.spawn_scoped(scope, move || work.all(&sender)).is_ok());
        }
        if started == 0 {
            work.all(&sender);
        }
        drop(sender);
        // Files end in any order and are shown in theirs.
        let (mut waiting, mut shown) = (BTreeMap::new(), 0);
        for (number, result) in results {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&shown) {
                shown += 1;
                summary.add(&result);
                show(&result);
                coverage.merge(result.coverage);
            }
        }
    });
    (summary, coverage)
}

/// The work that threads share.
struct Work<'w> {
    files: &'w [TestFile],
    selection: &'w Selection,
    mode: RunMode,
    setup: &'w Setup<'w>,
    begin: &'w (dyn Fn(&Path, &str) + Sync),
    /// Number of the file that is next.
    next: AtomicUsize,
    stop: AtomicBool,
}

impl Work<'_> {
    fn all(&self, sender: &Sender<(usize, FileResult)>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(number) else { return };
            if sender.send((number, self.file(file))).is_err() {
                return;
            }
        }
    }

    fn file(&self, file: &TestFile) -> FileResult {
        let mut result = FileResult { file: file.path.display().to_string(), ..FileResult::default() };
        let found = self.tests_of(file);
        let (source, options, tests) = match found {
            Ok(found) => found,
            Err(diagnostics) => {
                result.broken = true;
                self.failed();
                return FileResult { diagnostics, ..result };
            }
        };
        if tests.is_empty() && file.must_have_tests {
            let message = format!("no tests in `{}`", result.file);
            result.diagnostics.push(
                Diagnostic::new(TestCode::None, message)
                    .help("add `test \"name\" { … }` or a function with `@test`, or name another file"),
            );
            result.broken = true;
            self.failed();
            return result;
        }
        let count = tests.len();
        let snapshots = Rc::new(FileSnapshots::of(&file.path, self.mode.snapshots));
        for test in tests {
            if !self.selection.takes(&result.file, &test.name) {
                continue;
            }
            snapshots.begin(&test.name);
            let one = self.test(file, &source, &options, &test, &snapshots, &mut result.coverage);
            if !matches!(one.status, Status::Passed | Status::NotRun) {
                self.failed();
            }
            result.tests.push(one);
        }
        // A test that was skipped or that failed may use more snapshots.
        if result.tests.iter().filter(|test| test.status == Status::Passed).count() == count {
            result.diagnostics.extend(snapshots.unused());
        }
        result
    }

    /// Notes a failure.
    fn failed(&self) {
        if self.selection.fail_fast {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn tests_of(&self, file: &TestFile) -> Result<(SourceRef, MakeOptions, Vec<TestCase>), Vec<Diagnostic>> {
        let source = read_source(&file.path).map_err(|diagnostic| {
            let may_be_name = !file.path.exists() && file.path.extension().is_none_or(|end| end != "harn");
            let help = |name| format!("to run the tests whose names contain `{name}`, use `--filter {name}`");
            vec![if may_be_name { diagnostic.help(help(file.path.display())) } else { diagnostic }]
        })?;
        let options = (self.setup)(&file.path)?;
        let engine = Engine::new(RunOptions { output: Rc::new(TestOutput::default()), ..options() });
        let tests = engine.find_tests(&source)?;
        Ok((source, options, tests))
    }

    fn test(
        &self,
        file: &TestFile,
        source: &SourceRef,
        options: &MakeOptions,
        test: &TestCase,
        snapshots: &Rc<FileSnapshots>,
        coverage: &mut Coverage,
    ) -> TestResult {
        let mut result = TestResult {
            name: test.name.clone(),
            line: test.line,
            status: Status::NotRun,
            duration: Duration::ZERO,
            diagnostics: Vec::new(),
            difference: None,
            output: String::new(),
        };
        if self.stop.load(Ordering::Relaxed) {
            return result;
        }
        (self.begin)(&file.path, &test.name);
        let began = Instant::now();
        let output = Rc::new(TestOutput::default());
        let mut options = RunOptions { output: output.clone(), ..options() };
        if let Some(folder) = &test.recording {
            let folder = file.path.parent().unwrap_or(Path::new("")).join(folder);
            match self.recording(&folder, source, &mut options) {
                Ok(recording) => options.recording = Some(recording),
                Err(diagnostic) => {
                    return TestResult { status: Status::Failed, diagnostics: vec![*diagnostic], ..result };
                }
            }
        }
        let outcome = Engine::new(options).run_test(source, test, snapshots.clone(), self.mode.coverage);
        let TestOutcome { passed, used_up, mut diagnostics, difference, lines } = outcome;
        diagnostics.extend(output.take_noted());
        coverage.add(&lines);
        result.status = match (passed, used_up) {
            (true, _) => Status::Passed,
            (false, true) => Status::UsedUp,
            (false, false) => Status::Failed,
        };
        let duration = began.elapsed();
        TestResult { duration, diagnostics, difference, output: output.text(), ..result }
    }

    /// Returns the recording of a test: made if that is wanted and there is none, else replayed.
    fn recording(
        &self,
        folder: &Path,
        source: &SourceRef,
        options: &mut RunOptions,
    ) -> Result<RunRecording, Box<Diagnostic>> {
        let is_there = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        if self.mode.record && !is_there {
            // Servers are asked, and they take their time.
            options.seed = None;
            RunRecording::record(folder, source, options)
        } else {
            RunRecording::replay(folder, source, options)
        }
    }
}
