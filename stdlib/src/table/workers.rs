//! Sub-agents and workers.

use crate::fault::to_raise;
use crate::here;
use crate::lint;
use crate::options::Reader;
use crate::workers::{Making, envelope, make, task_of};
use crate::world::World;
use lang::builtins::Capability;
use lang::value::Value;
use lang::vm::{Cx, Raise, Wait, codes};
use runtime::seam::{Outcome, Scope};
use runtime::workers::{Worker, WorkerMode, begin, work};
use std::rc::Rc;

lang::builtins! { "" =>
    /// Lets a sub-agent do a task in a session of its own and waits for it: `{ok, summary, text, artifacts, tokens_used,
    /// budget_exceeded, data?, error?, session_id, transcript}`. It inherits reminders from the session at hand.
    waits "sub_agent_run(task: any, options: SubAgentOptions = nil) -> dict" [caps = &[Capability::Llm], lint = lint::sub_agent] sub_agent_run;
}

fn sub_agent_run(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let options = Reader::sub_agent(args, 1)?;
    if options.flag("background")? == Some(true) {
        return Err(Raise::error(codes::VALUE, "`background: true` is not supported yet").about(1, ""));
    }
    let Making { worker, scope } = make(cx, &world, &options, task_of(&args[0]), WorkerMode::SubAgent)?;
    let cancel = scope.cancel.clone();
    Ok(Wait::new(async move {
        begin(&worker, &scope).await.map_err(|e| to_raise(&e))?;
        one_cycle(&world, &worker, &scope).await.map_err(|e| to_raise(&e))?;
        Ok(envelope(&worker))
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}

/// Works until the worker stops, and shows what was noted meanwhile.
async fn one_cycle(world: &World, worker: &Rc<Worker>, scope: &Scope) -> Outcome<()> {
    let told = work(worker, scope).await;
    for note in scope.notes.borrow_mut().drain(..) {
        world.show(&note);
    }
    told?;
    worker.take_fault().map_or(Ok(()), Err)
}
