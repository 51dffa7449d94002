//! The job without a script: model, tool and hook as Rust, for the share that the core has in it.

use crate::marks::Marks;
use base::call::{Answer, LocalFuture, Outcome};
use base::clock::Clock;
use base::data::Data;
use base::ids::IdStream;
use eventlog::MemoryLog;
use runtime::agent_loop::{LoopOptions, LoopParts, agent_loop};
use runtime::conditions::NoConditions;
use runtime::events::EventKind;
use runtime::hooks::{Hook, HookEvent, Hooks, SessionHook, Verdict};
use runtime::loop_status::LoopStatus;
use runtime::message::{ToolCall, ToolSpec};
use runtime::model::{Delta, ModelReply, Request};
use runtime::reminder::ReminderSpec;
use runtime::reminder_providers::ReminderProviders;
use runtime::scope::Scope;
use runtime::seam::{Model, Tool, Turn};
use runtime::session::Session;
use runtime::usage::Usage;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{SystemTime, UNIX_EPOCH};

/// Turns before the first that counts.
const WARM_UP: usize = 20;

/// Runs the loop; how it came out where it did not do its job.
pub(crate) fn run(turns: usize) -> Result<Marks, String> {
    let marks = Rc::new(RefCell::new(Marks::new()));
    one_loop(WARM_UP, &marks)?;
    marks.borrow_mut().begin();
    one_loop(turns, &marks)?;
    Ok(marks.replace(Marks::new()))
}

fn one_loop(turns: usize, marks: &Rc<RefCell<Marks>>) -> Result<(), String> {
    let facts = Rc::new(providers::fact::Facts::new(Some(PathBuf::from("no-facts"))));
    let hooks = Hooks::new();
    hooks.add_session(SessionHook::new(EventKind::PostTurn, Rc::new(RemindingHook)));
    let parts = LoopParts {
        model: Rc::new(AskingModel { left: Cell::new(turns), asked: RefCell::default() }),
        source: None,
        tools: vec![Rc::new(StepTool { spec: step(), marks: marks.clone() })],
        hooks: Rc::new(hooks),
        providers: Rc::new(ReminderProviders::new(providers::reminder::canonical(Some(facts)))),
        conditions: Rc::new(NoConditions),
        judge: None,
        files: None,
        slots: Rc::default(),
        post_turn: None,
        live: Rc::new(|_| {}),
    };
    let scope = Scope::new(Rc::new(SystemClock), Rc::new(MemoryLog::new()));
    let session = Session::new("bench", IdStream::new(7, "bench"), scope.clock.now_ms());
    let mut options = LoopOptions::new("Do the steps.");
    options.limits.max_iterations = u32::try_from(turns + 1).unwrap_or(u32::MAX);
    let mut looping = pin!(agent_loop(&session, &scope, &parts, options));
    let mut cx = Context::from_waker(Waker::noop());
    let result = loop {
        if let Poll::Ready(result) = looping.as_mut().poll(&mut cx) {
            break result.map_err(|thrown| thrown.to_string())?;
        }
    };
    match (result.status, result.tools.successful.len() == turns) {
        (LoopStatus::Done, true) => Ok(()),
        (status, _) => Err(format!("it ended with {status} after {} calls", result.tools.successful.len())),
    }
}

fn step() -> ToolSpec {
    let n = Data::dict([("type", Data::from("integer"))]);
    let parameters = Data::dict([
        ("type", Data::from("object")),
        ("properties", Data::dict([("n", n)])),
        ("required", Data::list(["n".into()])),
    ]);
    ToolSpec::new("step", "Does one step.", parameters)
}

/// Asks for the tool so many times, then is done. Keeps what it was asked, as the mock does.
struct AskingModel {
    left: Cell<usize>,
    asked: RefCell<Vec<Request>>,
}

impl Model for AskingModel {
    fn call<'a>(
        &'a self,
        _: Turn<'a>,
        request: &'a Request,
        _: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>> {
        self.asked.borrow_mut().push(request.clone());
        let usage = Usage { input_tokens: 100, output_tokens: 5, ..Usage::default() };
        let Some(left) = self.left.get().checked_sub(1) else {
            return Answer::Now(Ok(ModelReply { text: "done".into(), usage, ..ModelReply::default() }));
        };
        self.left.set(left);
        let call = ToolCall::new(format!("call_{left}"), "step", Data::dict([("n", Data::from(left))]));
        Answer::Now(Ok(ModelReply { tool_calls: vec![call], usage, ..ModelReply::default() }))
    }
}

/// Does one step.
struct StepTool {
    spec: ToolSpec,
    marks: Rc<RefCell<Marks>>,
}

impl Tool for StepTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: Turn<'a>, _: &'a ToolCall) -> Answer<'a, Outcome<runtime::seam::Output>> {
        self.marks.borrow_mut().mark();
        Answer::Now(Ok(runtime::seam::Output::of("ok".into())))
    }
}

/// Reminds of something that is in one prompt and gone.
struct RemindingHook;

impl Hook for RemindingHook {
    fn on<'a>(&'a self, turn: Turn<'a>, _: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>> {
        let body = format!("Turn {} is over; keep the goal in mind.", turn.number);
        let spec = ReminderSpec { ttl_turns: Some(1), ..ReminderSpec::new(Arc::<str>::from(body)) };
        let mut verdict = Verdict::allow();
        verdict.effects.push(spec);
        Answer::Now(Ok(verdict))
    }
}

/// The system's clock; sleeps are not needed here.
struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep_until(&self, _: u64) -> LocalFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}
