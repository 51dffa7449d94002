//! A failure of a loop, and those of a run.

use crate::codes::AgentCode;
use crate::output::Output;
use base::call::CallErrorKind;
use base::data::Data;
use lang::diagnostic::code::CodeRef;
use lang::diagnostic::{Diagnostic, Severity};
use lang::source::{SourceRef, Span};
use lang::vm::{Raise, RaisePayload, RunCode};
use runtime::loop_status::{LoopStatus, StopReason};
use runtime::model::ModelErrorKind;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// The failures that one run keeps until its end. Further ones are reported at once and counted.
const KEPT: usize = 256;

/// The help for a failure that is not handled.
const HOW_TO_HANDLE: &str = "write `(…)?` around the call to raise the error, or read `error` of the result";

/// The maximum length of a reason, in bytes: the message of an error that a script threw may have any.
const REASON: usize = 2_000;

/// The kind of work that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FailureSubject {
    /// A loop of `agent_loop`.
    Loop,
    /// A worker: its id and its name.
    Worker {
        /// Its id.
        id: Arc<str>,
        /// Its name.
        name: Arc<str>,
    },
}

/// Whether a person who reads a diagnostic has read what was reported before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// On the same terminal: a reason is not repeated.
    SameReader,
    /// The diagnostic goes to somebody else, such as the client of a server.
    OtherReader,
}

/// A failure of a loop. Its reason is printed once: by the diagnostic that ends the run, else when the script handles it, or when
/// the run waits for something else.
pub(crate) struct LoopFailure {
    subject: FailureSubject,
    code: CodeRef,
    message: String,
    /// The failure as the error that `?` raises.
    error: Data,
    /// The call that returned the result.
    place: Option<(SourceRef, Span)>,
    is_handled: Cell<bool>,
    is_reported: Cell<bool>,
    /// Whether it is one of those that are only counted.
    is_counted: Cell<bool>,
    run: Weak<LoopFailures>,
}

impl LoopFailure {
    /// Marks it as handled by the script, and reports it.
    pub(super) fn handle(&self) {
        self.mark_handled();
        self.report();
    }

    fn mark_handled(&self) {
        if !self.is_handled.replace(true)
            && self.is_counted.get()
            && let Some(run) = self.run.upgrade()
        {
            run.counted.set(run.counted.get().saturating_sub(1));
        }
    }

    /// Returns it as an error. The code that handles the error reports it.
    pub(super) fn to_raise(self: &Rc<Self>) -> Box<Raise> {
        self.mark_handled();
        let mut raise = raise_of(self.code, &self.message, &self.error);
        raise.payload = Some(Rc::new(RaisedFailure(self.clone())));
        raise
    }

    /// Returns it as the diagnostic of the pipeline that returned it.
    pub(super) fn to_returned(&self, told: Told) -> Diagnostic {
        self.mark_handled();
        self.to_diagnostic("its result is returned by the pipeline", told)
    }

    /// Prints the reason, once.
    fn report(&self) {
        if self.is_reported.replace(true) {
            return;
        }
        let Some(run) = self.run.upgrade() else { return };
        let mut diagnostic = Diagnostic::new(self.code, self.message.clone()).with_severity(Severity::Warning);
        if let Some((source, span)) = &self.place {
            let at = source.position(span.start);
            diagnostic = diagnostic.note(format!("the call is at {}:{}:{}", source.name(), at.line, at.column));
        }
        run.output.diagnostic(&diagnostic);
    }

    fn is_like(&self, other: &Self) -> bool {
        let place = |failure: &Self| failure.place.as_ref().map(|(source, span)| (source.name().to_owned(), *span));
        self.code == other.code && self.message == other.message && place(self) == place(other)
    }

    /// Returns the diagnostic that ends a run; `what` continues a sentence about the failed loop.
    fn to_diagnostic(&self, what: &str, told: Told) -> Diagnostic {
        let before = self.is_reported.replace(true);
        let message = if before && told == Told::SameReader { repeated(&self.subject) } else { self.message.clone() };
        let raise = Raise::error(self.code, message)
            .labelled(format!("this {} failed, and {what}", noun(&self.subject)))
            .help(HOW_TO_HANDLE);
        match &self.place {
            Some((source, span)) => raise.at(source, *span).to_diagnostic(),
            None => raise.to_diagnostic(),
        }
    }
}

/// An error that was made of a failure. When the last part of the run that could report it drops it, it is reported as handled.
struct RaisedFailure(Rc<LoopFailure>);

impl RaisePayload for RaisedFailure {
    fn caught(&self) {
        self.0.report();
    }

    fn reported(&self) {
        self.0.is_reported.set(true);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for RaisedFailure {
    fn drop(&mut self) {
        self.0.report();
    }
}

/// Returns the diagnostic of an error that ends a run. If it is a failure whose reason was printed before, it says so instead of
/// repeating it.
pub(crate) fn last_words(raise: &Raise) -> Diagnostic {
    let failure = raise.payload_as::<RaisedFailure>().map(|raised| &raised.0);
    let before = failure.filter(|failure| failure.is_reported.get()).cloned();
    let mut diagnostic = raise.to_diagnostic();
    if let Some(failure) = before {
        diagnostic.message = repeated(&failure.subject);
    }
    diagnostic
}

/// The failures that the script of a run has not handled.
pub(crate) struct LoopFailures {
    output: Rc<dyn Output>,
    kept: RefCell<Vec<Rc<LoopFailure>>>,
    /// The number of failures beyond those that are not handled.
    counted: Cell<usize>,
    /// The code of the last failure beyond those.
    last_counted: Cell<Option<CodeRef>>,
    /// Whether some may not have been reported.
    is_pending: Cell<bool>,
}

impl LoopFailures {
    /// Creates the failures of a run that has none yet. They are reported to its output.
    pub(crate) fn new(output: Rc<dyn Output>) -> Rc<LoopFailures> {
        let (kept, counted, last_counted, is_pending) = Default::default();
        Rc::new(LoopFailures { output, kept, counted, last_counted, is_pending })
    }

    /// Notes that a loop or worker has failed. An end that its options or a handler asked for is reported at once, and is not a
    /// failure of the run.
    pub(crate) fn add(
        self: &Rc<Self>,
        subject: FailureSubject,
        error: &Data,
        place: Option<(SourceRef, Span)>,
    ) -> Option<Rc<LoopFailure>> {
        let failure = Rc::new(LoopFailure {
            code: code_of(error),
            message: message_of(&subject, error),
            subject,
            error: error.clone(),
            place,
            is_handled: Cell::new(false),
            is_reported: Cell::new(false),
            is_counted: Cell::new(false),
            run: Rc::downgrade(self),
        });
        if ended_early(error) || failure.subject != FailureSubject::Loop && lacked_budget(error) {
            failure.handle();
            return None;
        }
        let mut kept = self.kept.borrow_mut();
        kept.retain(|failure| !failure.is_handled.get());
        if kept.len() < KEPT {
            kept.push(failure.clone());
            self.is_pending.set(true);
        } else {
            self.counted.set(self.counted.get() + 1);
            self.last_counted.set(Some(failure.code));
            failure.is_counted.set(true);
            failure.report();
        }
        Some(failure)
    }

    /// Returns the failure of a worker that is not handled.
    pub(crate) fn of_worker(&self, id: &str) -> Option<Rc<LoopFailure>> {
        let is_its = |failure: &&Rc<LoopFailure>| match &failure.subject {
            FailureSubject::Worker { id: other, .. } => **other == *id && !failure.is_handled.get(),
            FailureSubject::Loop => false,
        };
        self.kept.borrow().iter().find(is_its).cloned()
    }

    /// Reports what nothing has reported yet: the run waits, and the script may go on for hours.
    pub(crate) fn report_pending(&self) {
        if self.is_pending.replace(false) {
            let kept = self.kept.borrow().clone();
            kept.iter().filter(|failure| !failure.is_handled.get()).for_each(|failure| failure.report());
        }
    }

    /// Takes the failures that the script has not handled, as diagnostics: one for each call that failed in one way.
    pub(crate) fn take(&self, told: Told) -> Vec<Diagnostic> {
        let mut found: Vec<(Rc<LoopFailure>, usize)> = Vec::new();
        for failure in self.kept.take().into_iter().filter(|failure| !failure.is_handled.get()) {
            match found.iter_mut().find(|(known, _)| known.is_like(&failure)) {
                Some((_, times)) => *times += 1,
                None => found.push((failure, 1)),
            }
        }
        let (more, last) = (self.counted.take(), found.len().saturating_sub(1));
        if let (true, Some(code)) = (found.is_empty() && more > 0, self.last_counted.get()) {
            let message =
                format!("{more} agent loops failed, and the script did not handle them; the reasons are above");
            return vec![Diagnostic::new(code, message).help(HOW_TO_HANDLE)];
        }
        let drawn = found.iter().enumerate().map(|(i, (failure, times))| {
            let mut diagnostic = failure.to_diagnostic("the script did not handle it", told);
            if *times > 1 {
                diagnostic.notes.push(format!("this happened {times} times"));
            }
            if i == last && more > 0 {
                diagnostic.notes.push(format!("{more} more agent loops failed and were not handled"));
            }
            diagnostic
        });
        drawn.collect()
    }
}

/// The error of a failure: a dict of its fields, its code and its message.
pub(super) fn raise_of(code: CodeRef, message: &str, error: &Data) -> Box<Raise> {
    let error = if error.is_nil() { Data::empty_dict() } else { error.clone() };
    let mut raise = Raise::error(code, message);
    raise.value = crate::convert::to_value(&error.with("code", code.as_str().into()).with("message", message.into()));
    raise
}

/// Whether a limit or a handler ended a worker, as its options and its script want.
pub(super) fn ended_early(error: &Data) -> bool {
    let category = error.get("category").as_str().and_then(|category| category.parse().ok());
    matches!(category, Some(LoopStatus::BudgetExhausted | LoopStatus::Stuck | LoopStatus::CutOff | LoopStatus::Blocked))
}

/// Whether a budget did not cover another request. A loop has then failed; a sub-agent has reached a limit, often that of its
/// parent, which sees the same.
pub(super) fn lacked_budget(error: &Data) -> bool {
    error.get("category").as_str() == Some(StopReason::Budget.as_str())
}

/// The code of what failed: that of the error, where the catalogue has it, else that of its category.
pub(super) fn code_of(error: &Data) -> CodeRef {
    if let Some(known) = error.get("code").as_str().and_then(crate::catalogue::find) {
        return CodeRef::new(known);
    }
    let category = error.get("category");
    let category = category.as_str().unwrap_or_default();
    let has_no_answer = [StopReason::OutputSchema.as_str(), LoopStatus::Refused.as_str()].contains(&category);
    if ended_early(error) || has_no_answer {
        AgentCode::Incomplete.code()
    } else if category.parse::<ModelErrorKind>().is_ok() || category == CallErrorKind::Model.as_str() {
        AgentCode::Model.code()
    } else {
        RunCode::Uncaught.code()
    }
}

pub(super) fn message_of(subject: &FailureSubject, error: &Data) -> String {
    let message = error.get("message");
    let reason = message.as_str().unwrap_or("unknown reason");
    let (end, rest) = (reason.floor_char_boundary(REASON), if reason.len() > REASON { "…" } else { "" });
    let reason = &reason[..end];
    let ended = if ended_early(error) || lacked_budget(error) { "ended early" } else { "failed" };
    match subject {
        FailureSubject::Loop => format!("the agent loop {ended}: {reason}{rest}"),
        FailureSubject::Worker { name, .. } => format!("the sub-agent `{name}` {ended}: {reason}{rest}"),
    }
}

/// The headline of a failure whose reason was printed before.
fn repeated(subject: &FailureSubject) -> String {
    match subject {
        FailureSubject::Loop => "the agent loop failed; the reason is above".to_owned(),
        FailureSubject::Worker { name, .. } => format!("the sub-agent `{name}` failed; the reason is above"),
    }
}

fn noun(subject: &FailureSubject) -> &'static str {
    match subject {
        FailureSubject::Loop => "agent loop",
        FailureSubject::Worker { .. } => "sub-agent",
    }
}
