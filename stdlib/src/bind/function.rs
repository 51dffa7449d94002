//! A script's function as the core sees it: called in a turn, answering at once or later.

use super::condition::to_reminder_data;
use super::halting::Halting;
use crate::call_context::CallContext;
use crate::codes::AgentCode;
use crate::convert::to_data;
use crate::decode::decode_args;
use crate::fault::{Thrown, of_reminder};
use base::call::{Answer, CallError, Outcome, call_error};
use base::data::Data;
use lang::builtins::args;
use lang::source::{SourceRef, Span};
use lang::value::Value;
use lang::vm::{Called, Cx, Function, Halt, Raise, Why, end_run};
use runtime::receipt::AuditLog;
use runtime::reminder::ReminderError;
use runtime::scope::Stopped;
use runtime::seam::Turn;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

/// A script's function.
#[derive(Clone)]
pub(crate) struct ScriptFn {
    function: Function,
}

impl ScriptFn {
    /// The function in an argument.
    pub(crate) fn read(cx: &Cx<'_>, args: &[Value], i: usize) -> Result<Self, Box<Raise>> {
        args::function(args, i)?;
        Self::of(cx, &args[i]).ok_or_else(|| args::mismatch(args, i, "a function"))
    }

    /// A value that can be called.
    pub(crate) fn of(cx: &Cx<'_>, value: &Value) -> Option<Self> {
        Function::new(cx.isolate, cx.context, value.clone()).map(|function| Self { function })
    }

    /// Calls it in a turn and reads its result.
    pub(crate) fn call<'a, T: 'a>(
        &'a self,
        turn: Turn<'a>,
        args: impl IntoIterator<Item = Value>,
        read: impl FnOnce(Value) -> Outcome<T> + 'a,
    ) -> Answer<'a, Outcome<T>> {
        Self::call_by(self, turn, args, move |_, value| read(value))
    }

    /// Calls a function like [`Self::call`] that only the call keeps.
    pub(crate) fn call_shared<'a, T: 'a>(
        function: Rc<Self>,
        turn: Turn<'a>,
        args: impl IntoIterator<Item = Value>,
        read: impl FnOnce(&Self, Value) -> Outcome<T> + 'a,
    ) -> Answer<'a, Outcome<T>> {
        Self::call_by(function, turn, args, read)
    }

    fn call_by<'a, T: 'a>(
        function: impl Deref<Target = Self> + 'a,
        turn: Turn<'a>,
        args: impl IntoIterator<Item = Value>,
        read: impl FnOnce(&Self, Value) -> Outcome<T> + 'a,
    ) -> Answer<'a, Outcome<T>> {
        let halt = Halt::default();
        let context = CallContext::context(function.function.context(), turn, halt.clone());
        let called = function.function.call_in(context, args);
        let outcome = move |outcome: lang::vm::Outcome| match outcome {
            Ok(value) => read(&function, value),
            Err(raise) => Err(function.thrown(turn, raise)),
        };
        match called {
            Called::Now(done) => Answer::Now(outcome(done)),
            Called::Later(wait) => Answer::later(async move {
                match Halting::new(turn.scope, halt, wait.into_local()).await {
                    // What the deadline of the loop ended was not cancelled by anybody.
                    (Err(raise), Some(Stopped::Deadline)) if matches!(raise.why, Why::Cancelled | Why::Abandoned) => {
                        Err(call_error(Stopped::Deadline))
                    }
                    (done, _) => outcome(done),
                }
            }),
        }
    }

    /// Makes values of their types of arguments that are data.
    pub(super) async fn decode(
        &self,
        args: &mut [Value],
        types: &[(usize, Value)],
        names: &[Arc<str>],
    ) -> Result<(), Box<Raise>> {
        let (isolate, context) = (self.function.isolate(), self.function.context());
        decode_args(args, types, |at| names.get(at).map(|name| &**name), isolate, context).await
    }

    /// Wraps a raise as a fault. `exit` and a reached limit end the run and the current loop; they
    /// are not failures of a tool or a handler.
    pub(super) fn thrown(&self, turn: Turn<'_>, raise: Box<Raise>) -> Rc<dyn CallError> {
        if let Why::Exit(_) | Why::Exhausted = raise.why {
            turn.scope.cancel.cancel(raise.message.as_str());
            end_run(self.function.isolate(), &raise);
        }
        Thrown::fault(raise)
    }

    /// The error of a reminder that it returned, at the place where it was written.
    pub(crate) fn blame(&self, error: &ReminderError) -> Rc<dyn CallError> {
        let raise = of_reminder(error);
        Thrown::fault(match self.place() {
            Some((source, span)) => raise.at(&source, span),
            None => raise,
        })
    }

    /// Returns the fault for an answer that cannot be used.
    pub(crate) fn unusable(&self, why: &str) -> Rc<dyn CallError> {
        let raise = Raise::error(AgentCode::Unusable, why).labelled("returned from this function");
        Thrown::fault(match self.place() {
            Some((source, span)) => raise.at(&source, span),
            None => raise,
        })
    }

    /// Returns the fault for a function that timed out.
    pub(crate) fn late(&self, who: &str, ms: u64) -> Rc<dyn CallError> {
        let message = format!("{who} timed out after {ms} ms");
        let raise = Raise::error(AgentCode::Late, message).labelled("this function").help(
            "make it faster, or raise the timeout with the loop option `hook_timeout_ms` or `timeout_ms` under \
                `[hooks]` in harn.toml",
        );
        Thrown::fault(match self.place() {
            Some((source, span)) => raise.at(&source, span),
            None => raise,
        })
    }

    /// A result with reminders as data: a function under `when` or `until` becomes a condition of the run.
    pub(crate) fn reminders_in(&self, value: &Value) -> Outcome<Data> {
        to_reminder_data(value, self.function.isolate(), self.function.context()).map_err(Thrown::fault)
    }

    /// Returns the location of the function; `None` for a builtin.
    fn place(&self) -> Option<(SourceRef, Span)> {
        match self.function.value() {
            Value::Closure(closure) => Some((closure.proto.source.clone()?, closure.proto.span)),
            Value::Host(host) => host.object().callable()?.place(),
            _ => None,
        }
    }

    /// Calls it where receipts of tool calls are filed; the call, and the place for them.
    pub(crate) fn with_audit(&self) -> (Called, Rc<AuditLog>) {
        let (context, audit) = CallContext::with_audit(self.function.context());
        (self.function.call_in(context, []), audit)
    }

    /// Calls the function where it was passed.
    pub(crate) fn call_plain(&self) -> Called {
        self.function.call([])
    }

    /// Calls the function where it was passed, with arguments.
    pub(crate) fn call_with(&self, args: impl IntoIterator<Item = Value>) -> Called {
        self.function.call(args)
    }

    /// Calls the function so that the mock model answers from a script.
    pub(crate) fn with_script(&self, script: u64) -> Called {
        self.function.call_in(CallContext::with_script(self.function.context(), script), [])
    }
}

impl From<Function> for ScriptFn {
    fn from(function: Function) -> Self {
        Self { function }
    }
}

/// A function's result as data.
pub(crate) fn data_of(value: &Value) -> Outcome<Data> {
    to_data(value).map_err(Thrown::fault)
}
