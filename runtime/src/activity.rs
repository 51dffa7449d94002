//! [`Activity`]: the activity of agent loops, as records of the event log: begin and end of each loop, model call and
//! tool call. An exporter of traces reads them, while the run goes on or long after it.
//!
//! Records hold no content (answers, arguments, results) unless it is enabled.

use std::sync::{Arc, LazyLock};

use crate::agent_loop::{LoopEvent, LoopObservation, LoopResult, LoopStatus};
use crate::data::Data;
use crate::event_log::{NewRecord, Topic};
use crate::model::{ModelReply, Usage};
use crate::seam::{Caller, Scope, Turn};
use crate::words::words;

words! {
    /// A record of activity, by the last word of its kind.
    pub enum ActivityKind {
        /// A run begins.
        RunBegan = "run_began",
        /// A run has ended.
        RunEnded = "run_ended",
        /// A loop begins.
        LoopBegan = "loop_began",
        /// A loop has ended.
        LoopEnded = "loop_ended",
        /// A model is called.
        ModelBegan = "model_began",
        /// A model has answered or failed.
        ModelEnded = "model_ended",
        /// A tool is called.
        ToolBegan = "tool_began",
        /// A tool call has its result.
        ToolEnded = "tool_ended",
    }
}

impl ActivityKind {
    /// Returns the kind of its records.
    #[must_use]
    pub fn kind(self) -> &'static Arc<str> {
        static KINDS: LazyLock<[Arc<str>; ActivityKind::ALL.len()]> =
            LazyLock::new(|| std::array::from_fn(|index| Topic::Activity.kind(ActivityKind::WORDS[index]).into()));
        &KINDS[self as usize]
    }

    /// Returns the activity with a word; `None` for a word of a later version.
    #[must_use]
    pub fn named(word: &str) -> Option<ActivityKind> {
        ActivityKind::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }
}

/// A writer of the activity of a run's loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Whether answers, arguments and results are recorded too.
    pub content: bool,
}

/// The outcome of a model call.
pub enum ModelCallOutcome<'a> {
    /// With an answer.
    Answered(&'a ModelReply),
    /// Without a reply; the kind of the failure.
    Failed(&'static str),
}

impl Activity {
    /// Records that a run begins. `run` is a unique id of the run.
    pub fn run_began(&self, scope: &Scope, run: &str, name: &str, protocol: &str, task_id: Option<&str>) {
        let fields = [("run", run), ("name", name), ("protocol", protocol)].map(|(key, text)| (key, Data::from(text)));
        put(scope, ActivityKind::RunBegan, fields.into_iter().chain([("task_id", task_id.into())]));
    }

    /// Records that a run has ended.
    pub fn run_ended(&self, scope: &Scope, run: &str, ok: bool) {
        put(scope, ActivityKind::RunEnded, [("run", Data::from(run)), ("ok", ok.into())]);
    }

    /// Records an observed event of a loop.
    pub fn see(&self, sight: &LoopObservation<'_>) {
        let turn = sight.turn;
        match sight.seen {
            LoopEvent::Began => began(turn),
            LoopEvent::Asked => asked(turn),
            LoopEvent::Answered { reply, .. } => self.called(turn, &ModelCallOutcome::Answered(reply)),
            LoopEvent::Unanswered { error_kind } => self.called(turn, &ModelCallOutcome::Failed(error_kind)),
            LoopEvent::ToolBegan(call) => {
                let fields = [("call_id", Data::from(&call.id)), ("tool", (&call.name).into())];
                put_in(turn, ActivityKind::ToolBegan, fields);
            }
            LoopEvent::ToolAnswered { call, result } => {
                let mut fields =
                    vec![("call_id", Data::from(&call.id)), ("tool", (&call.name).into()), ("ok", result.ok.into())];
                if self.content {
                    fields.push(("arguments", call.arguments.clone()));
                    fields.push(("result", (&result.text).into()));
                }
                put_in(turn, ActivityKind::ToolEnded, fields);
            }
            LoopEvent::Ended(result) => ended(turn, result),
            _ => {}
        }
    }

    /// Records that a model is called outside of a loop.
    pub fn asked(&self, turn: Turn<'_>) {
        asked(turn);
    }

    /// Records the outcome of a model call.
    pub fn called(&self, turn: Turn<'_>, called: &ModelCallOutcome<'_>) {
        let mut fields = Vec::with_capacity(10);
        match called {
            ModelCallOutcome::Answered(reply) => {
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
            ModelCallOutcome::Failed(kind) => fields.extend([("ok", Data::from(false)), ("error", (*kind).into())]),
        }
        put_in(turn, ActivityKind::ModelEnded, fields);
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
    put_in(turn, ActivityKind::LoopBegan, fields);
}

fn asked(turn: Turn<'_>) {
    put_in(turn, ActivityKind::ModelBegan, []);
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
    put_in(turn, ActivityKind::LoopEnded, fields.into_iter().chain(usage(result.usage)));
}

fn usage(usage: Usage) -> [(&'static str, Data); 4] {
    [
        ("input_tokens", usage.input_tokens.into()),
        ("output_tokens", usage.output_tokens.into()),
        ("cache_read_tokens", usage.cache_read_tokens.into()),
        ("cache_write_tokens", usage.cache_write_tokens.into()),
    ]
}

fn put_in(turn: Turn<'_>, kind: ActivityKind, fields: impl IntoIterator<Item = (&'static str, Data)>) {
    let of_turn = [("session_id", Data::from(turn.session.id())), ("turn", turn.number.into())];
    put(turn.scope, kind, of_turn.into_iter().chain(fields));
}

fn put(scope: &Scope, kind: ActivityKind, fields: impl IntoIterator<Item = (&'static str, Data)>) {
    scope.log.append(NewRecord {
        topic: Topic::Activity.into(),
        kind: kind.kind().clone(),
        payload: Data::dict_of_present(fields).into(),
        headers: Data::Nil,
        occurred_at_ms: scope.clock.now_ms(),
    });
}
