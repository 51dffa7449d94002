//! A worker's work from the first step to the last.

use std::rc::Rc;

use base::call::{Answer, CallError, CallErrorKind, Outcome, call_error};
use base::codes::CodeRef;
use base::data::Data;

use crate::agent_loop::{Continuity, LoopOptions, LoopParts, LoopResult, NestingTooDeep, agent_loop, error_of};
use crate::cancel::Cancel;
use crate::events::EventKind;
use crate::hooks::{Hook, HookEvent, Verdict};
use crate::loop_status::LoopStatus;
use crate::reminder::ReminderError;
use crate::scope::Scope;
use crate::seam::Turn;

use super::propagation::{seed, to_data};
use super::{Worker, WorkerStatus};

/// Seeds a worker's session with inherited reminders, and emits the spawn event. If that fails the worker has failed.
pub async fn begin(worker: &Rc<Worker>, scope: &Scope) -> Outcome<()> {
    let begun = async {
        if scope.caller.depth >= Scope::MAX_DEPTH {
            return Err(call_error(NestingTooDeep));
        }
        let first = worker.begins();
        let handed = if first { worker.handed.as_slice() } else { &[] };
        seed(&worker.session, scope, handed);
        let mut fields = Data::dict([("reminder_propagation", to_data(handed)), ("again", (!first).into())]);
        fields.set("parent_id", worker.session.with(|state| state.parent_id.clone()).into());
        worker.tell(scope, EventKind::WorkerSpawned, fields).await
    };
    let begun = begun.await;
    if let Err(thrown) = &begun {
        worker.settle(None, describe(thrown.as_ref()));
        worker.become_for_certain(WorkerStatus::Failed);
        worker.rest();
        // The caller gets the error.
        worker.see();
    }
    begun
}

/// Works until its loop ends or is suspended. The loop's result is stored in the worker; the outcome only reports
/// errors of the events' observers.
pub async fn work(worker: &Rc<Worker>, scope: &Scope) -> Outcome<()> {
    let inner = worker.parts.post_turn.clone();
    let progress = Rc::new(TurnProgress { worker: worker.clone(), inner });
    let parts = LoopParts { post_turn: Some(progress), ..worker.parts.clone() };
    let from = worker.take_left();
    let task = worker.take_task();
    let continuity = Continuity { parking: Some(worker.parking.clone()), from, ..worker.options.continuity.clone() };
    let options = LoopOptions { task, continuity, ..worker.options.clone() };
    let ended = agent_loop(&worker.session, scope, &parts, options).await;
    // The cancellation that stopped the worker must not stop the observers of its events.
    let scope = Scope { cancel: Cancel::new(), deadline_ms: None, ..scope.clone() };
    match ended {
        Ok(result) => settle(worker, &scope, result).await,
        Err(thrown) => {
            let error = describe(thrown.as_ref());
            let status = match thrown.kind() {
                CallErrorKind::Cancelled | CallErrorKind::Deadline => WorkerStatus::Cancelled,
                _ => WorkerStatus::Failed,
            };
            worker.settle(None, error.clone());
            end(worker, &scope, status, Data::dict([("error", error)])).await
        }
    }
}

async fn settle(worker: &Rc<Worker>, scope: &Scope, mut result: LoopResult) -> Outcome<()> {
    use LoopStatus as L;
    let error = error_of(&result, &worker.options);
    let fields = Data::dict_of_present([
        ("error", error.clone()),
        ("stop_reason", result.stop_reason.as_str().into()),
        ("text", (&result.visible_text).into()),
        ("iteration", result.iterations.into()),
    ]);
    let left = result.left.take();
    let status = match result.status {
        L::Suspended if left.is_some() => WorkerStatus::Suspended,
        L::Done => WorkerStatus::Completed,
        L::Cancelled => WorkerStatus::Cancelled,
        _ => WorkerStatus::Failed,
    };
    let ran_out = matches!(result.status, L::BudgetExhausted | L::Stuck | L::CutOff | L::Blocked);
    worker.settle(Some(result), error);
    match left {
        Some(left) => worker.suspend(scope, left).await,
        None if ran_out => tell_end(worker, scope, status, EventKind::WorkerStopped, fields).await,
        None => end(worker, scope, status, fields).await,
    }
}

async fn end(worker: &Rc<Worker>, scope: &Scope, status: WorkerStatus, fields: Data) -> Outcome<()> {
    let kind = match status {
        WorkerStatus::Completed => EventKind::WorkerCompleted,
        WorkerStatus::Cancelled => EventKind::WorkerCancelled,
        _ => EventKind::WorkerFailed,
    };
    tell_end(worker, scope, status, kind, fields).await
}

/// Notifies observers of the new state before the tasks that wait for the worker continue.
async fn tell_end(
    worker: &Rc<Worker>,
    scope: &Scope,
    status: WorkerStatus,
    kind: EventKind,
    fields: Data,
) -> Outcome<()> {
    worker.parking.clear();
    worker.become_for_certain(status);
    let told = worker.tell(scope, kind, fields).await;
    worker.rest();
    told
}

/// Converts a fault to the value that scripts see.
fn describe(thrown: &dyn CallError) -> Data {
    Data::dict_of_present([
        ("category", Data::from(thrown.kind().as_str())),
        ("message", thrown.to_string().into()),
        ("code", thrown.code().map(CodeRef::as_str).into()),
    ])
}

/// Emits an event for each turn that a worker has finished, then calls the loop's own callback.
struct TurnProgress {
    worker: Rc<Worker>,
    inner: Option<Rc<dyn Hook>>,
}

impl Hook for TurnProgress {
    fn on<'a>(&'a self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>> {
        Answer::later(async move {
            let fields = Data::dict([
                ("iteration", event.get("iteration")),
                ("text", event.get("text")),
                ("has_tool_calls", event.get("has_tool_calls")),
            ]);
            if let Err(thrown) = self.worker.tell(turn.scope, EventKind::WorkerProgressed, fields).await {
                self.worker.keep_fault(thrown);
            }
            match &self.inner {
                Some(inner) => inner.on(turn, event).get().await,
                None => Ok(Verdict::allow()),
            }
        })
    }

    fn malformed(&self, error: &ReminderError) -> Rc<dyn CallError> {
        match &self.inner {
            Some(inner) => inner.malformed(error),
            None => call_error(error.clone()),
        }
    }

    fn name(&self) -> &str {
        self.inner.as_ref().map_or("worker_progressed", |inner| inner.name())
    }
}
