//! The loop with a model and tools that live in this file.
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use base::call::Answer;
use base::clock::ManualClock;
use base::ids::IdStream;
use eventlog::{EventLog, MemoryLog, RecordFilter};

use crate::conditions::NoConditions;
use crate::events::{EventKind, EventSet};
use crate::hooks::{Pattern, SessionHook, ToolHook, Verdict};
use crate::message::{Message, Role, ToolCall};
use crate::model::{Delta, ModelError, ModelErrorKind, ModelReply, Request};
use crate::reminder::bridge::{DeliveryMode, Seam};
use crate::reminder::{ReminderError, ReminderSource, ReminderSpec};
use crate::reminder_providers::{ReminderOptions, fire};
use crate::seam::{Output, PermissionOutcome, PermissionRuling};
use crate::testing::block_on;
use crate::usage::Usage;

use super::*;

mod bridge;
mod durable;
mod endings;
mod hooked;
mod permitted;
mod provided;

/// A callback that gets the number of the answer.
type Meanwhile = Box<dyn Fn(usize)>;

/// A model that plays its script and records the requests it received.
#[derive(Default)]
struct FakeModel {
    replies: RefCell<VecDeque<Result<ModelReply, ModelError>>>,
    asked: RefCell<Vec<Request>>,
    /// Called while the model "thinks".
    meanwhile: RefCell<Option<Meanwhile>>,
}

impl Model for FakeModel {
    fn call<'a>(
        &'a self,
        _: Turn<'a>,
        request: &'a Request,
        _: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>> {
        self.asked.borrow_mut().push(request.clone());
        let count = self.asked.borrow().len();
        if let Some(meanwhile) = self.meanwhile.borrow().as_ref() {
            meanwhile(count);
        }
        let next = self.replies.borrow_mut().pop_front();
        Answer::Now(next.unwrap_or_else(|| Ok(says("done"))).map_err(call_error))
    }
}

/// Returns the names in a result.
fn names(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

fn says(text: &str) -> ModelReply {
    let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
    ModelReply { text: text.into(), usage, ..ModelReply::default() }
}

fn calls(names: &[&str]) -> ModelReply {
    let call = |(n, name): (usize, &&str)| ToolCall::new(format!("c{n}"), *name, Data::empty_dict());
    ModelReply { tool_calls: names.iter().enumerate().map(call).collect(), ..says("") }
}

/// A tool that answers with a closure, after one pending poll if `waits`.
struct FakeTool<F>(crate::message::ToolSpec, F);

impl<F: Fn(Turn<'_>, &ToolCall) -> Outcome<Output>> Tool for FakeTool<F> {
    fn spec(&self) -> &crate::message::ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::later(async move { (self.1)(turn, call) })
    }
}

fn tool(name: &str, run: impl Fn(Turn<'_>, &ToolCall) -> Outcome<Output> + 'static) -> Rc<dyn Tool> {
    let parameters = Data::from_json(r#"{"type":"object","properties":{}}"#).unwrap();
    Rc::new(FakeTool(crate::message::ToolSpec::new(name, "a tool", parameters), run))
}

/// A handler built from a closure.
struct Handler<F>(F);

impl<F: Fn(Turn<'_>, &HookEvent<'_>) -> Outcome<Verdict>> Hook for Handler<F> {
    fn on<'a>(&'a self, turn: Turn<'a>, event: &'a HookEvent<'a>) -> Answer<'a, Outcome<Verdict>> {
        Answer::Now((self.0)(turn, event))
    }
}

fn handler(run: impl Fn(Turn<'_>, &HookEvent<'_>) -> Outcome<Verdict> + 'static) -> Rc<dyn Hook> {
    Rc::new(Handler(run))
}

/// A session with everything around it.
struct LoopBench {
    session: Rc<Session>,
    scope: Scope,
    log: MemoryLog,
    model: Rc<FakeModel>,
    parts: LoopParts,
    options: LoopOptions,
}

impl LoopBench {
    fn new(replies: impl IntoIterator<Item = ModelReply>) -> LoopBench {
        let log = MemoryLog::new();
        let scope = Scope::new(Rc::new(ManualClock::new(1_000)), Rc::new(log.clone()));
        let model = Rc::new(FakeModel::default());
        model.replies.borrow_mut().extend(replies.into_iter().map(Ok));
        let parts = LoopParts {
            model: model.clone(),
            source: None,
            tools: vec![tool("echo", |_, _| Ok(Output::of("echoed".into())))],
            hooks: Rc::default(),
            providers: Rc::default(),
            conditions: Rc::new(NoConditions),
            judge: None,
            files: None,
            slots: Rc::default(),
            post_turn: None,
            live: Rc::new(|_| ()),
        };
        let session = Session::new("s", IdStream::new(1, "s"), 1_000);
        LoopBench { session, scope, log, model, parts, options: LoopOptions::new("do it") }
    }

    fn run(&self) -> LoopResult {
        self.try_run().unwrap()
    }

    fn try_run(&self) -> Outcome<LoopResult> {
        block_on(agent_loop(&self.session, &self.scope, &self.parts, self.options.clone()))
    }

    fn push(&self, spec: ReminderSpec, mode: DeliveryMode) {
        self.session.queue().lock().unwrap().push_reminder(spec, mode, 1_000).unwrap();
    }

    fn on(&self, event: EventKind, run: impl Fn(Turn<'_>, &HookEvent<'_>) -> Outcome<Verdict> + 'static) {
        self.parts.hooks.add_session(SessionHook::new(event, handler(run)));
    }

    fn on_tool(&self, pre: Option<Rc<dyn Hook>>, post: Option<Rc<dyn Hook>>) {
        self.parts.hooks.add_tool(ToolHook { pattern: Pattern::all(), pre, post, deny: None, max_output: None });
    }

    /// Returns the system text of each request.
    fn systems(&self) -> Vec<String> {
        self.model.asked.borrow().iter().map(|request| request.system_text().unwrap_or_default()).collect()
    }

    /// Returns the kind (its last word) and one field of each lifecycle record.
    fn records(&self, field: &str) -> Vec<(String, String)> {
        let all = self.log.read(&RecordFilter::topic(crate::event_log::Topic::Reminder), usize::MAX).unwrap();
        let word = |kind: &str| kind.rsplit('.').next().unwrap_or_default().to_owned();
        all.iter().map(|r| (word(&r.kind), r.payload.get(field).to_text().to_string())).collect()
    }

    fn roles(&self) -> Vec<Role> {
        self.session.transcript().messages().iter().map(|message| message.role).collect()
    }
}

fn spec(body: &str) -> ReminderSpec {
    ReminderSpec::new(body)
}

fn short(body: &str) -> ReminderSpec {
    ReminderSpec { ttl_turns: Some(1), ..spec(body) }
}
