//! The tests of a file: found, and run one by one, each in an engine of its own.

use super::{Engine, closure, errors};
use crate::codes::TestCode;
use crate::rhai_front_end::is_rhai;
use crate::testing::{Difference, Snapshots, TestContext, lives, pending_note};
use lang::builtins::Unequal;
use lang::compile::{CompileMode, TestEntry, Unit};
use lang::diagnostic::{Diagnostic, Severity};
use lang::script::Options;
use lang::source::SourceRef;
use lang::value::{Value, inspect};
use lang::vm::{LineCount, Raise, Why};
use std::cell::Cell;
use std::rc::Rc;

/// A test of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// Its name: that of the function or block, and the case.
    pub name: String,
    /// The line of its name, from 1.
    pub line: u32,
    /// The folder of the recording that answers its model calls, relative to that of the file.
    pub recording: Option<String>,
    /// Its number among the tests of the file.
    entry: usize,
    /// Its number among the cases of the test.
    case: Option<usize>,
}

/// The result of a test.
#[derive(Debug)]
pub struct TestOutcome {
    /// Whether it passed.
    pub passed: bool,
    /// Whether it used up its fuel, memory or time.
    pub used_up: bool,
    /// The error that it failed with, and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The difference that made it fail, if it is more than a message can show.
    pub difference: Option<Difference>,
    /// The lines that have run, if they were counted.
    pub lines: Vec<LineCount>,
}

/// Characters of a case in the name of its test.
const CASE: usize = 60;
/// Cases of one test.
const MOST_CASES: usize = 10_000;

impl Engine {
    /// Returns the tests of a file. The top level runs only if a test has cases, which its names depend on.
    ///
    /// # Errors
    /// Returns the errors in the file, or the one that evaluating the cases raised.
    pub fn find_tests(&self, source: &SourceRef) -> Result<Vec<TestCase>, Vec<Diagnostic>> {
        if is_rhai(source) {
            return Ok(Vec::new());
        }
        let unit = self.load_tests(source, false)?;
        let mut found = Vec::new();
        let mut begun = false;
        for (number, entry) in unit.tests.all.iter().enumerate() {
            let line = source.position(entry.span.start).line;
            let case = |name: String, case: Option<usize>| TestCase {
                name,
                line,
                recording: entry.recording.clone(),
                entry: number,
                case,
            };
            let Some(cases) = entry.cases else {
                found.push(case(entry.name.to_string(), None));
                continue;
            };
            if !std::mem::replace(&mut begun, true) {
                self.start_packs(source)?;
                self.top_level(&unit).map_err(|raise| vec![raise.to_diagnostic()])?;
            }
            let values = self.cases(source, entry, cases).map_err(|raise| vec![raise.to_diagnostic()])?;
            for (i, value) in values.iter().enumerate() {
                found.push(case(format!("{} [{}: {}]", entry.name, i + 1, short(value)), Some(i)));
            }
        }
        Ok(found)
    }

    /// Runs one test: the top level of the file, the functions before it, the test, the functions after it.
    #[must_use]
    pub fn run_test(
        &self,
        source: &SourceRef,
        test: &TestCase,
        snapshots: Rc<dyn Snapshots>,
        coverage: bool,
    ) -> TestOutcome {
        let unfit = |diagnostics| TestOutcome {
            passed: false,
            used_up: false,
            diagnostics,
            difference: None,
            lines: Vec::new(),
        };
        let unit = match self.load_tests(source, coverage) {
            Ok(unit) => unit,
            Err(found) => return unfit(found),
        };
        let Some(entry) = unit.tests.all.get(test.entry) else { return unfit(Vec::new()) };
        if let Err(found) = self.start_packs(source) {
            return unfit(found);
        }
        // A test is set once: each engine runs one.
        let _ = self.world.test.set(TestContext { name: test.name.clone(), snapshots, unnamed: Cell::new(0) });
        let ran = self.execute_test(source, &unit, entry, test.case);
        // A log that cannot be read is reported by `finish`.
        let read = ran.is_err().then(|| lives(&self.world.observers.log.reader()).ok()).flatten();
        let pending = read.as_ref().and_then(pending_note);
        let (difference, raised) = match &ran {
            Ok(()) => (None, false),
            Err(raise) => (difference(raise), true),
        };
        let ended = ran.as_ref().err().and_then(|raise| ended(source, entry, raise));
        let result = self.finish(if ended.is_some() { Ok(Value::Nil) } else { ran.map(|()| Value::Nil) }, Vec::new());
        let mut diagnostics = result.diagnostics;
        diagnostics.extend(ended);
        if let (Some(note), Some(error)) =
            (pending, diagnostics.iter_mut().find(|found| found.severity == Severity::Error))
        {
            error.notes.push(note);
        }
        TestOutcome {
            passed: result.exit_code == 0 && !raised,
            used_up: result.exit_code == 3,
            diagnostics,
            difference,
            lines: self.isolate.coverage().take(),
        }
    }

    /// Returns the lines of a file, and of those that it imports, on which statements begin. Nothing runs.
    ///
    /// # Errors
    /// Returns the errors in the files.
    pub fn lines(&self, source: &SourceRef) -> Result<Vec<LineCount>, Vec<Diagnostic>> {
        self.load_tests(source, true)?;
        Ok(self.isolate.coverage().take())
    }

    fn load_tests(&self, source: &SourceRef, coverage: bool) -> Result<Unit, Vec<Diagnostic>> {
        let mode = CompileMode { tests: true, coverage, public: false };
        let loaded = self.load(source, Options { mode, ..Options::default() });
        loaded.unit.ok_or_else(|| errors(loaded.diagnostics))
    }

    /// Runs the imports and the top level of a file.
    fn top_level(&self, unit: &Unit) -> Result<(), Box<Raise>> {
        self.start_watch();
        self.evaluate_files(&unit.before)?;
        match self.call(closure(&unit.main), Vec::new())? {
            Value::Unbound => Ok(()),
            value => Err(match value.as_result() {
                Some(Err(error)) => Raise::thrown(error.clone()),
                _ => Raise::error(TestCode::Ended, "the top level of the file returned before its tests"),
            }),
        }
    }

    fn execute_test(
        &self,
        source: &SourceRef,
        unit: &Unit,
        entry: &TestEntry,
        case: Option<usize>,
    ) -> Result<(), Box<Raise>> {
        self.top_level(unit)?;
        let args = match (entry.cases, case) {
            (Some(cases), Some(case)) => {
                let value = self.cases(source, entry, cases)?.get(case).cloned().unwrap_or(Value::Nil);
                arguments(source, entry, value)?
            }
            _ => Vec::new(),
        };
        let around = |functions: &[usize]| functions.iter().try_for_each(|number| self.call_test(*number, Vec::new()));
        let ran = around(&unit.tests.before).and_then(|()| self.call_test(entry.function, args));
        match &ran {
            // Nothing is left to clean up with.
            Err(raise) if !matches!(raise.why, Why::Thrown | Why::Error | Why::Exit(_)) => ran,
            // The first error is the one that is reported.
            _ => ran.and(around(&unit.tests.after)),
        }
    }

    /// Calls a function of a file of tests. An `Err` that it returns is a failure.
    fn call_test(&self, number: usize, args: Vec<Value>) -> Result<(), Box<Raise>> {
        let Some(proto) = self.isolate.function(number) else { return Ok(()) };
        let value = self.call(closure(&proto), args)?;
        let Some(Err(error)) = value.as_result() else { return Ok(()) };
        let raise = Raise::thrown(error.clone()).labelled("returned this error");
        Err(match &proto.source {
            Some(source) => raise.at(source, proto.span),
            None => raise,
        })
    }

    fn cases(&self, source: &SourceRef, entry: &TestEntry, function: usize) -> Result<Vec<Value>, Box<Raise>> {
        let Some(proto) = self.isolate.function(function) else { return Ok(Vec::new()) };
        let invalid = |message: &str| Raise::error(TestCode::Cases, message).at(source, proto.span);
        match self.call(closure(&proto), Vec::new())? {
            Value::List(list) if list.items.is_empty() => {
                Err(invalid(&format!("the test `{}` has no cases", entry.name)).labelled("empty"))
            }
            Value::List(list) if list.items.len() > MOST_CASES => {
                Err(invalid(&format!("the test `{}` has more than {MOST_CASES} cases", entry.name)))
            }
            Value::List(list) => Ok(list.items.clone()),
            other => Err(invalid(&format!("`cases` must be a list, found {}", inspect(&other)))),
        }
    }
}

/// Returns the arguments that a case stands for: the value itself, or its items if there are several parameters.
fn arguments(source: &SourceRef, entry: &TestEntry, case: Value) -> Result<Vec<Value>, Box<Raise>> {
    if entry.params < 2 {
        return Ok(vec![case]);
    }
    match &case {
        Value::List(list) if list.items.len() == entry.params => Ok(list.items.clone()),
        _ => Err(Raise::error(
            TestCode::Cases,
            format!("the test has {} parameters, and this case is {}", entry.params, short(&case)),
        )
        .at(source, entry.span)
        .help("write each case as a list with a value for each parameter")),
    }
}

/// Returns the diagnostic of a test that called `exit`.
fn ended(source: &SourceRef, entry: &TestEntry, raise: &Raise) -> Option<Diagnostic> {
    let Why::Exit(code) = raise.why else { return None };
    let mut found = Diagnostic::new(TestCode::Ended, format!("the test called `exit({code})`"));
    found.labels.clone_from(&raise.labels);
    if found.labels.is_empty() {
        found = found.label(source, entry.span, "in this test");
    }
    found.trace.clone_from(&raise.trace);
    Some(found)
}

fn difference(raise: &Raise) -> Option<Difference> {
    let unequal = raise.payload_as::<Unequal>()?;
    Difference::of(&unequal.actual, &unequal.expected)
}

fn short(value: &Value) -> String {
    let text = inspect(value);
    let shown: String = text.chars().take(CASE).collect();
    if shown.len() < text.len() { format!("{shown}…") } else { shown }
}
