//! [`FailedLoop`]: the result of an agent loop that ended with an error. It reads like the dict that other loops return, and
//! notes whether the script looked at the failure, so that a run that ignores it does not end as a success.

use crate::convert::to_value;
use crate::fault::AgentCode;
use crate::values::TranscriptValue;
use lang::diagnostic::Diagnostic;
use lang::diagnostic::code::CodeRef;
use lang::source::{SourceRef, Span};
use lang::value::{Dict, HostBox, HostObject, Str, Value};
use lang::vm::{Raise, RunCode};
use runtime::agent_loop::LoopStatus;
use runtime::data::Data;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The keys that say that the loop failed.
const TELLING: [&str; 3] = ["status", "error", "stop_reason"];

/// The failures that one run keeps until its end; later ones are counted.
const KEPT: usize = 256;

/// The result of an agent loop that ended with an error.
pub(crate) struct FailedLoop {
    /// The dict that it reads like.
    result: Value,
    failure: Rc<Failure>,
}

/// A failure of a loop, and whether the script has read it.
struct Failure {
    code: CodeRef,
    message: String,
    /// The call of `agent_loop`.
    place: Option<(SourceRef, Span)>,
    is_read: Cell<bool>,
}

/// The failures of loops that a run has not read yet.
#[derive(Default)]
pub(crate) struct UnreadFailures {
    kept: RefCell<Vec<Rc<Failure>>>,
    /// Failures beyond those.
    more: Cell<usize>,
}

impl FailedLoop {
    /// Returns `result` as a value that notes when it is read.
    pub(crate) fn value(
        result: Value,
        status: LoopStatus,
        error: &Data,
        place: Option<(SourceRef, Span)>,
        unread: &UnreadFailures,
    ) -> Value {
        let (code, message) = (code_of(status, error), message_of(status, error));
        let failure = Rc::new(Failure { code, message, place, is_read: Cell::new(false) });
        unread.keep(failure.clone());
        HostBox::value(Self { result, failure })
    }

    fn dict(&self) -> Option<&Dict> {
        self.result.as_dict()
    }
}

impl UnreadFailures {
    fn keep(&self, failure: Rc<Failure>) {
        let mut kept = self.kept.borrow_mut();
        kept.retain(|failure| !failure.is_read.get());
        if kept.len() < KEPT {
            kept.push(failure);
        } else {
            self.more.set(self.more.get() + 1);
        }
    }

    /// Takes the failures that the script has not read, as diagnostics: one for each call that failed in one way.
    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        let mut found: Vec<(Rc<Failure>, usize)> = Vec::new();
        for failure in self.kept.take().into_iter().filter(|failure| !failure.is_read.get()) {
            match found.iter_mut().find(|(known, _)| known.is_like(&failure)) {
                Some((_, times)) => *times += 1,
                None => found.push((failure, 1)),
            }
        }
        let more = self.more.take();
        let last = found.len().saturating_sub(1);
        let drawn = found.iter().enumerate().map(|(i, (failure, times))| {
            let mut diagnostic =
                failure.to_diagnostic("this agent loop failed, and the script did not check its result");
            if *times > 1 {
                diagnostic.notes.push(format!("this happened {times} times"));
            }
            if i == last && more > 0 {
                diagnostic.notes.push(format!("{more} more agent loops failed and were not checked"));
            }
            diagnostic
        });
        drawn.collect()
    }
}

impl Failure {
    fn is_like(&self, other: &Failure) -> bool {
        let place = |failure: &Failure| failure.place.as_ref().map(|(source, span)| (source.name().to_owned(), *span));
        self.code == other.code && self.message == other.message && place(self) == place(other)
    }

    fn to_diagnostic(&self, label: &str) -> Diagnostic {
        let raise = raise(self.code, &self.message)
            .labelled(label)
            .help("read `status` or `error` of the result, or write `agent_loop(…)?` to raise the error");
        match &self.place {
            Some((source, span)) => raise.at(source, *span).to_diagnostic(),
            None => raise.to_diagnostic(),
        }
    }
}

/// The failure of a loop whose result a pipeline returns.
pub(crate) fn returned(value: &Value) -> Option<Diagnostic> {
    if let Some(failed) = value.as_host::<FailedLoop>() {
        failed.failure.is_read.set(true);
        let label = "this agent loop failed, and the pipeline returned its result";
        return Some(failed.failure.to_diagnostic(label));
    }
    let (status, error) = ended(value).filter(|(status, _)| is_failure(*status))?;
    Some(raise(code_of(status, &error), &message_of(status, &error)).to_diagnostic())
}

/// Returns how a loop ended if the value is its result: `None` for other values, an error if the
/// loop failed. This counts as reading the result.
pub(crate) fn outcome(value: &Value) -> Option<Result<(), Box<Raise>>> {
    if let Some(failed) = value.as_host::<FailedLoop>() {
        failed.failure.is_read.set(true);
        return outcome(&failed.result);
    }
    let (status, error) = ended(value)?;
    if !is_failure(status) {
        return Some(Ok(()));
    }
    let mut raise = raise(code_of(status, &error), &message_of(status, &error));
    raise.value =
        to_value(&error.with("code", raise.code.as_str().into()).with("message", raise.message.as_str().into()));
    Some(Err(raise))
}

/// The status and the error of a loop's result, which holds its transcript; nothing for other values.
pub(crate) fn ended(value: &Value) -> Option<(LoopStatus, Data)> {
    let result = as_dict(value)?;
    result.get_str("transcript")?.as_host::<TranscriptValue>()?;
    let status: LoopStatus = result.get_str("status")?.as_str()?.parse().ok()?;
    let error = result.get_str("error").map(crate::convert::to_data_lossy).unwrap_or_default();
    Some((status, error))
}

/// The entries of a dict, or of a failed loop's result.
pub(crate) fn as_dict(value: &Value) -> Option<&Dict> {
    match value.as_host::<FailedLoop>() {
        Some(failed) => failed.dict(),
        None => value.as_dict(),
    }
}

/// Whether a loop that ended so has failed.
pub(crate) fn is_failure(status: LoopStatus) -> bool {
    matches!(status, LoopStatus::ProviderError | LoopStatus::Error)
}

fn raise(code: CodeRef, message: &str) -> Box<Raise> {
    Raise::error(code, message)
}

/// The code of what failed, where the catalogue has it.
fn code_of(status: LoopStatus, error: &Data) -> CodeRef {
    let known = error.get("code").as_str().and_then(crate::catalogue::find);
    let otherwise = if status == LoopStatus::Error { RunCode::Uncaught.code() } else { AgentCode::Model.code() };
    known.map_or(otherwise, CodeRef::new)
}

fn message_of(status: LoopStatus, error: &Data) -> String {
    let message = error.get("message");
    format!("the agent loop failed: {}", message.as_str().unwrap_or(status.as_str()))
}

impl HostObject for FailedLoop {
    fn type_name(&self) -> &'static str {
        "dict"
    }

    fn get(&self, key: &str) -> Option<Value> {
        if TELLING.contains(&key) {
            self.failure.is_read.set(true);
        }
        self.dict()?.get_str(key).cloned()
    }

    fn size(&self) -> Option<usize> {
        self.dict().map(Dict::len)
    }

    fn keys(&self) -> Vec<Str> {
        self.dict().into_iter().flat_map(Dict::iter).map(|(key, _)| key.clone()).collect()
    }

    /// Returns the whole result: printing, comparing, converting or iterating it shows the failure.
    fn to_value(&self) -> Option<Value> {
        self.failure.is_read.set(true);
        Some(self.result.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
