//! Tools for a model that suspend and resume the workers of its session.

use super::WorkerContext;
use crate::world::World;
use base::call::{Answer, Outcome};
use base::data::Data;
use lang::vm::{Context, Isolate};
use runtime::message::{ToolCall, ToolSpec};
use runtime::scope::Scope;
use runtime::seam::{Output, Tool, Turn};
use runtime::workers::{Resumption, Worker, WorkerStatus, resume};
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// The workers that a model may pause and resume. A value of the script holds it, so it does not hold the run.
#[derive(Clone)]
pub(crate) struct ReachableWorkers {
    pub(crate) isolate: Weak<Isolate>,
    pub(crate) context: Rc<Context>,
    pub(crate) world: Weak<World>,
    /// Ids of workers; nothing means those that work for the model's session.
    pub(crate) subagents: Option<Rc<[Arc<str>]>>,
}

impl ReachableWorkers {
    /// The worker of an id or a name; why there is none.
    fn find(&self, world: &World, turn: Turn<'_>, call: &ToolCall) -> Result<Rc<Worker>, String> {
        let wanted = call.arguments.get("worker").to_text();
        let may = |worker: &Worker| match &self.subagents {
            Some(ids) => ids.contains(&worker.id),
            None => worker.session.with(|state| state.parent_id.as_ref() == Some(turn.session.id())),
        };
        let all: Vec<_> = world.agents.workers.list().into_iter().filter(|w| !w.is_closed() && may(w)).collect();
        let found = all.iter().find(|w| w.id == wanted).or_else(|| all.iter().rev().find(|w| w.name == wanted));
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|worker| worker.name.as_ref()).collect();
            if names.is_empty() {
                format!("unknown worker `{wanted}`; you have no workers")
            } else {
                format!("unknown worker `{wanted}`; your workers: {}", names.join(", "))
            }
        })
    }
}

/// `subagent_pause`
pub(crate) struct PauseTool {
    spec: ToolSpec,
    reach: ReachableWorkers,
}

/// `subagent_resume`
pub(crate) struct ResumeTool {
    spec: ToolSpec,
    reach: ReachableWorkers,
}

impl PauseTool {
    /// The tool over these workers.
    pub(crate) fn new(reach: ReachableWorkers) -> Self {
        let description = "Suspends one of your workers at the end of its turn. Resume it to let it continue.";
        let properties = [
            ("worker", "string", "The name or id of the worker."),
            (
                "reason",
                "string",
                "The reason, which the \
            worker can read.",
            ),
        ];
        Self { spec: spec("subagent_pause", description, &properties, &["worker", "reason"]), reach }
    }
}

impl ResumeTool {
    /// The tool over these workers.
    pub(crate) fn new(reach: ReachableWorkers) -> Self {
        let description = "Resumes one of your suspended workers.";
        let properties = [
            ("worker", "string", "The name or id of the worker."),
            ("input", "string", "Text that the worker reads first."),
            (
                "continue_transcript",
                "boolean",
                "False: the worker starts with a new transcript and gets only a \
                digest. Default: true.",
            ),
        ];
        Self { spec: spec("subagent_resume", description, &properties, &["worker"]), reach }
    }
}

fn spec(name: &str, description: &str, properties: &[(&str, &str, &str)], required: &[&str]) -> ToolSpec {
    let parameters = Data::dict([
        ("type", Data::from("object")),
        ("properties", Data::dict(properties.iter().map(|row| property(*row)))),
        ("required", required.iter().map(|name| Data::from(*name)).collect()),
    ]);
    ToolSpec::new(name, description, parameters)
}

fn property((name, ty, text): (&str, &str, &str)) -> (Arc<str>, Data) {
    (name.into(), Data::dict([("type", Data::from(ty)), ("description", text.into())]))
}

impl Tool for PauseTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::later(async move {
            let Some(world) = self.reach.world.upgrade() else { return Ok(Output::error("the run has ended")) };
            let worker = match self.reach.find(&world, turn, call) {
                Ok(worker) => worker,
                Err(why) => return Ok(Output::error(why)),
            };
            if worker.status() != WorkerStatus::Running {
                return Ok(Output::error(format!("`{}` is {} already", worker.name, worker.status())));
            }
            worker.parking.request(call.arguments.get("reason").to_text(), false);
            worker.stopped().await;
            Ok(Output::of(format!("`{}` is {}", worker.name, worker.status()).into()))
        })
    }
}

impl Tool for ResumeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::later(async move {
            let (Some(world), Some(isolate)) = (self.reach.world.upgrade(), self.reach.isolate.upgrade()) else {
                return Ok(Output::error("the run has ended"));
            };
            let worker = match self.reach.find(&world, turn, call) {
                Ok(worker) => worker,
                Err(why) => return Ok(Output::error(why)),
            };
            let how = Resumption {
                initiator: "parent".into(),
                input: call.arguments.get("input").clone(),
                continue_transcript: call.arguments.get("continue_transcript").as_bool().unwrap_or(true),
            };
            let before = worker.scope().unwrap_or_else(|| turn.scope.clone());
            let scope = Scope { cancel: turn.scope.cancel.child(), notes: Rc::default(), ..before };
            if worker.status() == WorkerStatus::Suspended {
                worker.stopped().await;
            }
            resume(&worker, &scope, &how).await?;
            let crew = WorkerContext::new(isolate, self.reach.context.clone(), world);
            crew.start(&worker, scope).map_err(crate::fault::Thrown::fault)?;
            Ok(Output::of(format!("`{}` is running again", worker.name).into()))
        })
    }
}
