//! A loop in which everything waits: model, tools, handlers, providers, compaction, a sub-agent, a daemon's nap, and a
//! host that injects items meanwhile.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use base::call::{Answer, Outcome};
use base::clock::ManualClock;
use base::data::Data;
use eventlog::MemoryLog;
use runtime::agent_loop::snapshot::{Recipe, SnapshotStorage, WorkerMode};
use runtime::agent_loop::{DaemonOptions, LoopOptions, LoopParts};
use runtime::compaction::{AutoCompact, Threshold};
use runtime::conditions::NoConditions;
use runtime::events::{EventKind, EventSet};
use runtime::hooks::{Hook, HookEvent, Hooks, Pattern, SessionHook, ToolHook, Verdict};
use runtime::lifecycle::archive::{CompactOptions, Strategy, Summary};
use runtime::message::{Message, ToolCall, ToolSpec};
use runtime::model::{Delta, ModelReply, Request};
use runtime::reminder::bridge::{DeliveryMode, MessagePayload, RemindPayload, Seam};
use runtime::reminder::{Propagate, ReminderSource, ReminderSpec};
use runtime::reminder_providers::{ReminderProvider, ReminderProviders};
use runtime::scope::Scope;
use runtime::seam::{Compactor, Model, Output, Tool, Turn};
use runtime::session::{Session, Sessions};
use runtime::usage::Usage;
use runtime::workers::propagation::hand_over;
use runtime::workers::worker::WorkerIdentity;
use runtime::workers::{Worker, begin, work};

/// A session with its environment, ready for the loop.
pub(crate) struct Scene {
    pub(crate) log: MemoryLog,
    pub(crate) clock: ManualClock,
    pub(crate) scope: Scope,
    pub(crate) sessions: Rc<Sessions>,
    pub(crate) session: Rc<Session>,
    pub(crate) parts: LoopParts,
    pub(crate) options: LoopOptions,
    /// Number of reported ends: `loop_exit`, `session_end`.
    pub(crate) ends: Rc<[Cell<u32>; 2]>,
}

/// Yields once, which adds a poll at which the loop can be stopped.
async fn come_back() {
    let mut came = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut came, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn reminder(body: &str, ttl: u32) -> ReminderSpec {
    ReminderSpec { ttl_turns: Some(ttl), propagate: Propagate::All, ..ReminderSpec::new(body) }
}

fn spec(name: &str) -> ToolSpec {
    let parameters = Data::dict([("type", Data::from("object")), ("properties", Data::empty_dict())]);
    ToolSpec::new(name, "A tool.", parameters)
}

impl Scene {
    pub(crate) fn new() -> Scene {
        let (log, clock, sessions) = (MemoryLog::new(), ManualClock::new(1_000), Rc::new(Sessions::new(7)));
        let scope = Scope::new(Rc::new(clock.clone()), Rc::new(log.clone()));
        let session = sessions.open(Some("main"), 1_000);
        session.inject_reminder(&scope, reminder("from before", 2), ReminderSource::InPipeline, None);
        let ends: Rc<[Cell<u32>; 2]> = Rc::default();
        let parts = LoopParts {
            model: Rc::new(Slow::default()),
            source: None,
            tools: vec![Rc::new(Look(spec("look"))), Rc::new(Delegate(spec("delegate"), sessions.clone()))],
            hooks: Rc::new(hooks(&ends)),
            providers: Rc::new(ReminderProviders::new(vec![Rc::new(Provides)])),
            conditions: Rc::new(NoConditions),
            judge: None,
            files: None,
            slots: Rc::default(),
            post_turn: None,
            live: Rc::new(|_| {}),
        };
        let mut options = LoopOptions::new("Do it.");
        options.limits.max_iterations = 9;
        options.daemon = Some(DaemonOptions { wake_interval_ms: 1_000, watch: None, consolidate: None });
        options.compaction = Some(AutoCompact {
            options: CompactOptions {
                strategy: Strategy::Custom,
                keep_last: Some(2),
                ..AutoCompact::default().options
            },
            threshold: Threshold::Tokens(1_000),
            compactor: Some(Rc::new(SumsUp)),
            ..AutoCompact::default()
        });
        Scene { log, clock, scope, sessions, session, parts, options, ends }
    }

    /// Returns every session.
    pub(crate) fn all(&self) -> Vec<Rc<Session>> {
        self.sessions.list().iter().map(|id| self.sessions.get(id).unwrap()).collect()
    }
}

/// Returns handlers that wait. One of them injects an item into an idle daemon, once.
fn hooks(ends: &Rc<[Cell<u32>; 2]>) -> Hooks {
    let hooks = Hooks::new();
    for kind in [EventKind::UserPromptSubmit, EventKind::SessionStart, EventKind::PostTurn, EventKind::PreCompact] {
        hooks.add_session(SessionHook::new(kind, Rc::new(Waits { says: kind == EventKind::PostTurn })));
    }
    let guard: Rc<dyn Hook> = Rc::new(Waits { says: true });
    let tool =
        ToolHook { pattern: Pattern::all(), pre: Some(guard.clone()), post: Some(guard), deny: None, max_output: None };
    hooks.add_tool(tool);
    hooks.add_session(SessionHook::new(EventKind::SessionIdle, Rc::new(Wakes(Cell::new(false)))));
    for kind in [EventKind::LoopCheckpoint, EventKind::SessionEnd] {
        hooks.add_session(SessionHook::new(kind, Rc::new(Counts(ends.clone()))));
    }
    hooks
}

/// A handler that waits, and may add a reminder.
struct Waits {
    says: bool,
}

impl Hook for Waits {
    fn on<'a>(&'a self, turn: Turn<'a>, _: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>> {
        Answer::later(async move {
            come_back().await;
            // A script's handler is unwound when its task is cancelled.
            turn.scope.check().map_err(base::call::call_error)?;
            let mut verdict = Verdict::allow();
            verdict.effects.extend(self.says.then(|| reminder("a handler's", 1)));
            Ok(verdict)
        })
    }
}

/// Injects an item into a sleeping daemon, once.
struct Wakes(Cell<bool>);

impl Hook for Wakes {
    fn on<'a>(&'a self, turn: Turn<'a>, _: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>> {
        if turn.session.id().as_ref() == "main" && !self.0.replace(true) {
            let message = Arc::new(Message::user("One more thing."));
            let payload = MessagePayload { message, mode: DeliveryMode::FinishStep, meta: Data::Nil };
            turn.session.accept_message(turn.scope, payload).unwrap();
        }
        Answer::Now(Ok(Verdict::allow()))
    }
}

/// Counts the reported ends of the main loop.
struct Counts(Rc<[Cell<u32>; 2]>);

impl Hook for Counts {
    fn on<'a>(&'a self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>> {
        if turn.session.id().as_ref() == "main" {
            let exit = matches!(event, HookEvent::LoopCheckpoint { kind: Seam::LoopExit, .. });
            let end = matches!(event, HookEvent::SessionEnd { .. });
            self.0[0].set(self.0[0].get() + u32::from(exit));
            self.0[1].set(self.0[1].get() + u32::from(end));
        }
        Answer::Now(Ok(Verdict::allow()))
    }
}

/// A provider that waits, then adds a reminder.
struct Provides;

impl ReminderProvider for Provides {
    fn id(&self) -> &'static str {
        "provides"
    }

    fn subscribes_to(&self) -> EventSet {
        EventSet::of(&[EventKind::PostAgentTurn, EventKind::PostToolUse])
    }

    fn evaluate<'a>(
        &'a self,
        _: Turn<'a>,
        _: &'a HookEvent<'a>,
        _: &'a Data,
    ) -> Answer<'a, Outcome<Vec<ReminderSpec>>> {
        Answer::later(async {
            come_back().await;
            let key = Some("provided".into());
            Ok(vec![ReminderSpec { dedupe_key: key, ..reminder("a provider's", 3) }])
        })
    }
}

/// A slow model. A host injects an item while it runs.
#[derive(Default)]
struct Slow(Cell<usize>);

impl Model for Slow {
    fn call<'a>(&'a self, turn: Turn<'a>, _: &'a Request, _: &'a dyn Fn(Delta<'_>)) -> Answer<'a, Outcome<ModelReply>> {
        Answer::later(async move {
            let nth = self.0.replace(self.0.get() + 1);
            come_back().await;
            let mode = [
                DeliveryMode::FinishStep,
                DeliveryMode::AuditOnly,
                DeliveryMode::InterruptImmediate,
                DeliveryMode::FinishStep,
            ][nth % 4];
            let key = nth.is_multiple_of(2).then(|| "host".into());
            let spec = ReminderSpec { dedupe_key: key, ..reminder("a host's", 2) };
            if nth < 5 {
                turn.session.accept_reminder(turn.scope, RemindPayload { spec, mode, meta: Data::Nil }).unwrap();
            }
            turn.scope.clock.sleep_until(turn.scope.clock.now_ms() + 100).await;
            // The context is too large once, after the second answer.
            let input_tokens = if nth == 1 { 2_000 } else { 10 };
            let usage = Usage { input_tokens, output_tokens: 5, ..Usage::default() };
            let call = |n: usize, name: &str| ToolCall::new(format!("call_{nth}_{n}"), name, Data::empty_dict());
            let tool_calls = match nth {
                0 => vec![call(0, "look"), call(1, "delegate"), call(2, "look")],
                1..=3 => vec![call(0, "look"), call(1, "nobody"), call(2, "look")],
                _ => Vec::new(),
            };
            Ok(ModelReply { text: "So.".into(), tool_calls, usage, ..ModelReply::default() })
        })
    }
}

/// A model that calls a tool once, then answers.
#[derive(Default)]
struct Brief(Cell<usize>);

impl Model for Brief {
    fn call<'a>(&'a self, _: Turn<'a>, _: &'a Request, _: &'a dyn Fn(Delta<'_>)) -> Answer<'a, Outcome<ModelReply>> {
        Answer::later(async move {
            come_back().await;
            let first = self.0.replace(self.0.get() + 1) == 0;
            let tool_calls = first.then(|| ToolCall::new("inner", "look", Data::empty_dict())).into_iter().collect();
            Ok(ModelReply { text: "Found.".into(), tool_calls, ..ModelReply::default() })
        })
    }
}

/// A tool that sleeps.
struct Look(ToolSpec);

impl Tool for Look {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, turn: Turn<'a>, _: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::later(async move {
            come_back().await;
            turn.scope.clock.sleep_until(turn.scope.clock.now_ms() + 50).await;
            Ok(Output::of("Nothing.".into()))
        })
    }
}

/// A tool that runs a sub-agent.
struct Delegate(ToolSpec, Rc<Sessions>);

impl Tool for Delegate {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, turn: Turn<'a>, _: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::later(async move {
            let (child, id) = self.1.open_child(Some(turn.session), None, turn.scope.clock.now_ms());
            let made = WorkerIdentity {
                id,
                name: "scout".into(),
                mode: WorkerMode::SubAgent,
                handed: hand_over(turn.session),
                recipe: Recipe::default(),
                storage: SnapshotStorage::default(),
            };
            let parts = LoopParts {
                model: Rc::new(Brief::default()),
                source: None,
                tools: vec![Rc::new(Look(spec("look")))],
                hooks: Rc::new(hooks(&Rc::default())),
                providers: Rc::default(),
                conditions: Rc::new(NoConditions),
                judge: None,
                files: None,
                slots: Rc::default(),
                post_turn: None,
                live: Rc::new(|_| {}),
            };
            let worker = Worker::new(made, child, parts, LoopOptions::new("Look into it."));
            begin(&worker, turn.scope).await?;
            work(&worker, turn.scope).await?;
            Ok(Output::of(worker.status().as_str().into()))
        })
    }
}

/// A slow summariser.
struct SumsUp;

impl Compactor for SumsUp {
    fn compact<'a>(
        &'a self,
        _: Turn<'a>,
        _: &'a [Arc<Message>],
        _: &'a [Arc<runtime::reminder::Reminder>],
    ) -> Answer<'a, Outcome<Summary>> {
        Answer::later(async {
            come_back().await;
            Ok(Summary::Text("They looked around.".into()))
        })
    }
}
