//! Running workers as tasks of the run.

use crate::fault::to_raise;
use crate::world::World;
use base::call::Outcome;
use lang::diagnostic::{Diagnostic, Severity};
use lang::value::Value;
use lang::vm::{Context, Cx, Isolate, Raise, RunCode, Wait, spawn_work};
use runtime::scope::Scope;
use runtime::workers::{Worker, work};
use std::rc::Rc;

/// The context in which workers are started: that of a builtin, kept for later.
#[derive(Clone)]
pub(crate) struct WorkerContext {
    isolate: Rc<Isolate>,
    context: Rc<Context>,
    world: Rc<World>,
}

impl WorkerContext {
    /// Returns the context for workers of the caller of the builtin.
    pub(crate) fn of(cx: &Cx<'_>, world: &Rc<World>) -> Self {
        Self { isolate: cx.isolate.clone(), context: cx.context.clone(), world: world.clone() }
    }

    /// Creates the context for workers of another caller.
    pub(crate) fn new(isolate: Rc<Isolate>, context: Rc<Context>, world: Rc<World>) -> Self {
        Self { isolate, context, world }
    }

    /// Lets a worker work beside everything else. It is cancelled with the task that starts it, and when the run ends.
    pub(crate) fn start(&self, worker: &Rc<Worker>, scope: Scope) -> Result<(), Box<Raise>> {
        worker.set_scope(scope.clone());
        let (left_alone, started) = (Abandoned(worker.clone()), worker.clone());
        let (world, worker, stop) = (self.world.clone(), worker.clone(), scope.cancel.clone());
        let cycle = Wait::new(async move {
            let _left_alone = left_alone;
            if let Err(thrown) = one_cycle(&world, &worker, &scope).await {
                worker.keep_fault(thrown);
            }
            Ok(Value::Nil)
        });
        let cx = Cx { isolate: &self.isolate, context: &self.context };
        let task = spawn_work(&cx, cycle.stopped_by(move |reason| stop.cancel(reason)))?;
        let isolate = Rc::downgrade(&self.isolate);
        started.set_stopper(Rc::new(move |reason: &str| {
            if let Some(isolate) = isolate.upgrade() {
                task.cancel(&isolate, reason);
            }
        }));
        Ok(())
    }
}

/// Works until the worker stops, and shows what was noted meanwhile.
pub(crate) async fn one_cycle(world: &World, worker: &Rc<Worker>, scope: &Scope) -> Outcome<()> {
    let told = work(worker, scope).await;
    let notes = scope.notes.take();
    for note in &notes {
        world.console.show(note);
    }
    told?;
    worker.take_fault().map_or(Ok(()), Err)
}

/// A worker whose work is dropped half way has ended all the same.
pub(crate) struct Abandoned(pub(crate) Rc<Worker>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Returns the error that an observer threw, for callers that wait for the worker.
pub(crate) fn thrown_by_observer(worker: &Worker) -> Option<Box<Raise>> {
    worker.take_fault().map(|thrown| to_raise(&thrown))
}

/// Returns the diagnostics of failed workers, and of errors thrown by observers, that were not
/// seen.
pub(crate) fn unseen(world: &World) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for worker in world.agents.workers.list() {
        if let Some(error) = worker.unseen_failure() {
            let message =
                format!("the worker `{}` failed and was not awaited: {}", worker.name, error.get("message").to_text());
            found.push(Diagnostic::new(RunCode::Unseen, message).help("wait for it: `wait_agent(worker)`"));
        }
        if let Some(raise) = thrown_by_observer(&worker) {
            let mut d = raise.to_diagnostic();
            d.severity = Severity::Warning;
            d.message = format!("{} (reported for the worker `{}`)", d.message, worker.name);
            found.push(d);
        }
    }
    found
}
