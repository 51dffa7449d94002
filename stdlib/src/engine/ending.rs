//! The end of a run: its exit code, its log, its recording, and errors that were not seen.

use super::Engine;
use crate::failed_loop::{self, Told};
use crate::interrupt::CutShort;
use crate::world::exit_code_of;
use eventlog::Ticket;
use lang::diagnostic::{Diagnostic, Severity};
use lang::source::Span;
use lang::value::{Value, brief};
use lang::vm::{Raise, RunCode, Why};
use std::collections::HashMap;
use std::task::{Poll, Waker};

/// The exit code of a run that used up its fuel, memory or time.
const USED_UP: i32 = 3;

/// Returns the exit code of a run that ended with these errors. The time ends with an error that a script can catch, or that fails
/// a loop.
fn failed_with(errors: &[Diagnostic]) -> i32 {
    if errors.iter().any(|error| error.code == RunCode::Time) { USED_UP } else { 1 }
}

/// The result of a run.
pub struct RunResult {
    /// The exit code: the pipeline's int, 1 after an error or a failed loop that was not
    /// handled, [`USED_UP`] if a limit ended the run, else 0.
    pub exit_code: i32,
    /// The errors that kept it from running or ended it, and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The loops that were cut short, if the run was interrupted. The exit code is then that of the
    /// signal.
    pub interrupted: Option<Vec<CutShort>>,
}

impl Engine {
    /// A script that cannot run.
    pub(super) fn unfit(&self, diagnostics: Vec<Diagnostic>) -> RunResult {
        self.end_activity(false);
        self.world.services.routes.discard();
        RunResult { exit_code: 1, diagnostics, interrupted: None }
    }

    /// Returns the result of a run that has ended.
    pub(super) fn finish(&self, result: Result<Value, Box<Raise>>, mut diagnostics: Vec<Diagnostic>) -> RunResult {
        match &result {
            // Nothing is left to clean up with, or no recorded answer.
            Err(raise) if raise.why == Why::Exhausted => self.isolate.abandon_tasks(),
            _ if self.world.services.routes.is_stopped() => self.isolate.abandon_tasks(),
            _ => self.close(),
        }
        let broken = self.world.services.routes.broken();
        if broken.is_none() {
            diagnostics.extend(self.unseen());
        }
        let mut exit_code = match result {
            Ok(value) => {
                let failed = failed_loop::returned(&value, Told::SameReader);
                let code = if failed.is_some() { failed_with(failed.as_slice()) } else { self.exit_code(&value) };
                diagnostics.extend(failed);
                code
            }
            Err(raise) => match raise.why {
                Why::Exit(code) => {
                    diagnostics.extend(raise.clean_up.map(|raise| raise.to_diagnostic()));
                    code
                }
                // An interrupt is not an error of the script, and its exit code is determined
                // below.
                Why::Cancelled | Why::Abandoned
                    if self.world.is_interrupted() || self.world.console.has_unwritten() =>
                {
                    diagnostics.extend(raise.clean_up.map(|raise| raise.to_diagnostic()));
                    1
                }
                why => {
                    let found = failed_loop::last_words(&raise);
                    let code = if why == Why::Exhausted { USED_UP } else { failed_with(std::slice::from_ref(&found)) };
                    diagnostics.push(found);
                    code
                }
            },
        };
        let unhandled = self.world.stop.failures.take(Told::SameReader);
        if !unhandled.is_empty() && !self.world.is_interrupted() {
            exit_code = exit_code.max(failed_with(&unhandled));
            diagnostics.extend(unhandled);
        }
        if let Some(error) = self.world.console.take_unwritten() {
            let is_gone = error.kind() == std::io::ErrorKind::BrokenPipe;
            exit_code = exit_code_of(&error);
            // A reader that closed the pipe has ended the run; there is nothing to report.
            if is_gone {
                diagnostics.clear();
            } else {
                diagnostics
                    .push(Diagnostic::new(RunCode::Outside, format!("cannot write to standard output: {error}")));
            }
        }
        self.end_activity(exit_code == 0);
        if let Some(unwritten) = self.settle_log() {
            exit_code = exit_code.max(1);
            diagnostics.push(unwritten);
        }
        let interrupted = self.interrupted();
        if let (Some(_), Some(interrupt)) = (&interrupted, &self.world.stop.interrupt) {
            exit_code = interrupt.exit_code().unwrap_or(exit_code);
        }
        let of_tape = match broken {
            Some(broken) => vec![broken],
            None => self.world.services.routes.finish(exit_code),
        };
        if of_tape.iter().any(|found| found.severity == Severity::Error) {
            exit_code = exit_code.max(1);
        }
        diagnostics.extend(of_tape);
        RunResult { exit_code, diagnostics, interrupted }
    }

    /// Returns the loops that were cut short, if the run was interrupted.
    pub(super) fn interrupted(&self) -> Option<Vec<CutShort>> {
        self.world.is_interrupted().then(|| self.world.stop.cut_short.take())
    }

    /// Waits until the log would survive, however the run has ended; what it lacks, where it cannot.
    pub(super) fn settle_log(&self) -> Option<Diagnostic> {
        let mut durable = self.world.observers.log.durable(Ticket::ALL);
        let settled = match durable.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())) {
            Poll::Ready(settled) => settled,
            Poll::Pending => self.block_on(durable)?,
        };
        settled.err().map(|fault| crate::fault::to_raise(&fault).to_diagnostic())
    }

    /// An int is the exit code; `Err(m)` prints m and is 1.
    fn exit_code(&self, value: &Value) -> i32 {
        match (value, value.as_result()) {
            // A number out of range must not become success by accident.
            (Value::Int(code), _) => i32::try_from(*code).ok().filter(|c| (0..=255).contains(c)).unwrap_or(255),
            (_, Some(Err(error))) => {
                self.world.console.output.err(&format!("{}\n", brief(error)));
                1
            }
            _ => 0,
        }
    }

    /// Returns the errors of tasks that were not awaited. Equal errors of one place, as of tasks that were started in
    /// a loop, are one warning.
    pub(super) fn unseen(&self) -> impl Iterator<Item = Diagnostic> {
        let mut found: Vec<(Diagnostic, u64)> = Vec::new();
        let mut place_of: HashMap<(String, Option<Span>, String), usize> = HashMap::new();
        for raise in self.isolate.unseen_failures() {
            let mut d = raise.to_diagnostic();
            let label = d.labels.first();
            let source = label.map(|label| label.source.name().to_owned()).unwrap_or_default();
            let key = (source, label.map(|label| label.span), d.message.clone());
            let place = *place_of.entry(key).or_insert(found.len());
            if let Some((_, times)) = found.get_mut(place) {
                *times += 1;
                continue;
            }
            d.severity = Severity::Warning;
            d.code = RunCode::Unseen.into();
            d.message = format!("a task failed and was not awaited: {}", d.message);
            found.push((d, 1));
        }
        let tasks = found.into_iter().map(|(mut d, times)| {
            if times > 1 {
                d.notes.push(format!("{times} tasks failed in this way"));
            }
            d
        });
        tasks.chain(crate::workers::unseen(&self.world))
    }
}

/// Returns the errors that keep a script from running. Warnings are for `check`.
pub(super) fn errors(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.into_iter().filter(|d| d.severity == Severity::Error).collect()
}
