//! [`Activity`]: what agent loops do, as records of the event log: when each loop, model call and tool call began and ended. An
//! exporter of traces reads them, while the run goes on or long after it.
//!
//! Records hold no content (answers, arguments, results) unless it is asked for.

use std::sync::Arc;

use crate::agent_loop::{LoopResult, LoopStatus, Seen, Sight};
use crate::data::{Data, shared};
use crate::event_log::NewRecord;
use crate::model::{Reply, Usage};
use crate::seam::{Caller, Scope, Turn};

/// The topic of all records of what runs and loops do.
pub const ACTIVITY_TOPIC: &str = "session.activity";

/// Writes down what the loops of a run do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Whether answers, arguments and results are written down too.
    pub content: bool,
}

/// The outcome of a model call.
pub enum Called<'a> {
    /// With an answer.
    Answered(&'a Reply),
    /// Without one; the kind of the failure, if it is known.
    Failed(Option<&'a str>),
}

impl Activity {
    /// Writes down that a run begins. `run` is an id that no other run has.
    pub fn run_began(&self, scope: &Scope, run: &str, name: &str, protocol: &str, task_id: Option<&str>) {
        let fields = [("run", run), ("name", name), ("protocol", protocol)].map(|(key, text)| (key, Data::from(text)));
        put(scope, shared!("session.activity.run_began"), fields.into_iter().chain([("task_id", task_id.into())]));
    }

    /// Writes down that a run has ended.
    pub fn run_ended(&self, scope: &Scope, run: &str, ok: bool) {
        put(scope, shared!("session.activity.run_ended"), [("run", Data::from(run)), ("ok", ok.into())]);
    }

    /// Writes down what is seen of a loop.
    pub fn see(&self, sight: &Sight<'_>) {
        let turn = sight.turn;
        match sight.seen {
            Seen::Began => began(turn),
            Seen::Asked => asked(turn),
            Seen::Answered { reply, .. } => self.called(turn, &Called::Answered(reply)),
            Seen::Unanswered => self.called(turn, &Called::Failed(None)),
            Seen::ToolBegan(call) => {
                let fields = [("call_id", Data::from(&call.id)), ("tool", (&call.name).into())];
                put_in(turn, shared!("session.activity.tool_began"), fields);
            }
            Seen::ToolAnswered { call, result } => {
                let mut fields =
                    vec![("call_id", Data::from(&call.id)), ("tool", (&call.name).into()), ("ok", result.ok.into())];
                if self.content {
                    fields.push(("arguments", call.arguments.clone()));
                    fields.push(("result", (&result.text).into()));
                }
                put_in(turn, shared!("session.activity.tool_ended"), fields);
            }
            Seen::Ended(result) => ended(turn, result),
            _ => {}
        }
    }

    /// Writes down that a model is asked, outside of a loop.
    pub fn asked(&self, turn: Turn<'_>) {
        asked(turn);
    }

    /// Writes down how a model call ended.
    pub fn called(&self, turn: Turn<'_>, called: &Called<'_>) {
        let mut fields = Vec::with_capacity(10);
        match called {
            Called::Answered(reply) => {
                fields.extend([
                    ("ok", Data::from(true)),
                    ("provider", (&reply.provider).into()),
                    ("model", (&reply.model).into()),
                    ("stop_reason", reply.stop_reason.as_ref().into()),
                ]);
                fields.extend(usage(reply.usage));
                if self.content {
                    fields.push(("output", reply.to_message().to_data()));
                }
            }
            Called::Failed(kind) => fields.extend([("ok", Data::from(false)), ("error", (*kind).into())]),
        }
        put_in(turn, shared!("session.activity.model_ended"), fields);
    }
}

fn began(turn: Turn<'_>) {
    let Caller { task_id, agent_id, persona, .. } = &turn.scope.caller;
    let parent_id = turn.session.with(|state| state.parent_id.clone());
    let fields = [
        ("agent", Data::from(agent_id.as_ref().or(persona.as_ref()))),
        ("parent_id", parent_id.as_ref().into()),
        ("within_call", task_id.as_ref().into()),
    ];
    put_in(turn, shared!("session.activity.loop_began"), fields);
}

fn asked(turn: Turn<'_>) {
    put_in(turn, shared!("session.activity.model_began"), []);
}

fn ended(turn: Turn<'_>, result: &LoopResult) {
    let ok = !matches!(result.status, LoopStatus::ProviderError | LoopStatus::Error);
    let fields = [
        ("ok", Data::from(ok)),
        ("status", result.status.as_str().into()),
        ("stop_reason", result.stop_reason.as_str().into()),
        ("error", result.error.get("category").clone()),
        ("iterations", result.iterations.into()),
    ];
    put_in(turn, shared!("session.activity.loop_ended"), fields.into_iter().chain(usage(result.usage)));
}

fn usage(usage: Usage) -> [(&'static str, Data); 4] {
    [
        ("input_tokens", usage.input_tokens.into()),
        ("output_tokens", usage.output_tokens.into()),
        ("cache_read_tokens", usage.cache_read_tokens.into()),
        ("cache_write_tokens", usage.cache_write_tokens.into()),
    ]
}

fn put_in(turn: Turn<'_>, kind: Arc<str>, fields: impl IntoIterator<Item = (&'static str, Data)>) {
    let of_turn = [("session_id", Data::from(turn.session.id())), ("turn", turn.number.into())];
    put(turn.scope, kind, of_turn.into_iter().chain(fields));
}

fn put(scope: &Scope, kind: Arc<str>, fields: impl IntoIterator<Item = (&'static str, Data)>) {
    scope.log.append(NewRecord {
        topic: shared!(ACTIVITY_TOPIC),
        kind,
        payload: Data::dict_of_present(fields).into(),
        headers: Data::Nil,
        occurred_at_ms: scope.clock.now_ms(),
    });
}
