//! [`Activity`]: the activity of a run, as records of the event log: begin and end of each loop, model call, attempt,
//! tool call and hook, and of the reminder providers that wait or act. An exporter of traces reads them, while the run
//! goes on or long after it.
//!
//! Each of them is a span with a number. A [`Scope`] carries the activity of the span that it belongs to, so that spans
//! inside of it name it.
//!
//! [`TraceContext`] is the position of a span in its trace, for messages to other processes.
//!
//! Records hold no content (prompts, answers, arguments, results) unless it is enabled.

use std::sync::{Arc, LazyLock};

use base::call::CallError;
use base::data::Data;
use base::words::words;
use eventlog::NewRecord;

use crate::event_log::Topic;
use crate::events::EventKind;
use crate::hooks::event::ToolResult;
use crate::loop_status::{LoopStatus, StopReason};
use crate::message::ToolCall;
use crate::model::{ModelReply, Request};
use crate::scope::{Caller, Scope};
use crate::seam::Turn;
use crate::spans::{Activity, TraceContext, trace_id_of};
use crate::usage::Usage;

/// Maximum size of the prompt in a record, in bytes as [`Data::weight`] counts them.
const MOST_PROMPT: usize = 1 << 20;

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
        /// A request of a model call is sent.
        AttemptBegan = "attempt_began",
        /// A request was answered or failed.
        AttemptEnded = "attempt_ended",
        /// A tool is called.
        ToolBegan = "tool_began",
        /// A tool call has its result.
        ToolEnded = "tool_ended",
        /// A hook is called.
        HookBegan = "hook_began",
        /// A hook has returned or failed.
        HookEnded = "hook_ended",
        /// A reminder provider waits.
        ProviderBegan = "provider_began",
        /// A reminder provider has waited, added reminders or failed.
        ProviderEnded = "provider_ended",
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

impl Activity {
    /// Records that a run begins. `run` is a unique id of the run.
    pub fn run_began(&self, scope: &Scope, run: &str, name: &str, protocol: &str, task_id: Option<&str>) {
        self.begin(trace_id_of(run));
        let fields = [("run", run), ("name", name), ("protocol", protocol)].map(|(key, text)| (key, Data::from(text)));
        put(scope, ActivityKind::RunBegan, fields.into_iter().chain([("task_id", task_id.into())]));
    }

    /// Records that a run has ended.
    pub fn run_ended(&self, scope: &Scope, run: &str, ok: bool) {
        put(scope, ActivityKind::RunEnded, [("run", Data::from(run)), ("ok", ok.into())]);
    }

    /// Records that a loop begins.
    pub(crate) fn loop_began(&self, turn: Turn<'_>) {
        let Caller { task_id, agent_id, persona, .. } = &turn.scope.caller;
        let (parent_id, cause) = turn.session.with(|state| (state.parent_id.clone(), state.cause));
        let fields = [
            ("agent", Data::from(agent_id.as_ref().or(persona.as_ref()))),
            ("parent_id", parent_id.as_ref().into()),
            ("within_call", task_id.as_ref().into()),
            ("cause_trace_id", cause.as_ref().map(TraceContext::trace_hex).into()),
            ("cause_span_id", cause.as_ref().map(TraceContext::span_hex).into()),
        ];
        self.put_in(turn, ActivityKind::LoopBegan, fields);
    }

    /// Records that a loop has ended.
    pub(crate) fn loop_ended(
        &self,
        turn: Turn<'_>,
        (status, stop_reason): (LoopStatus, StopReason),
        error: &Data,
        iterations: u32,
        used: Usage,
    ) {
        let ok = !matches!(status, LoopStatus::ProviderError | LoopStatus::Error | LoopStatus::Refused);
        let fields = [
            ("ok", Data::from(ok)),
            ("status", status.as_str().into()),
            ("stop_reason", stop_reason.as_str().into()),
            ("error", error.get("category").clone()),
            ("iterations", iterations.into()),
        ];
        self.put_in(turn, ActivityKind::LoopEnded, fields.into_iter().chain(usage(used)));
    }

    /// Records that a model is called.
    pub fn model_began(&self, turn: Turn<'_>, request: &Request) {
        let prompt = if self.records_content() { prompt(request) } else { Vec::new() };
        self.put_in(turn, ActivityKind::ModelBegan, prompt);
    }

    /// Records the outcome of a model call: its reply, or the kind of its failure.
    pub fn model_ended(&self, turn: Turn<'_>, outcome: Result<&ModelReply, &'static str>) {
        let mut fields = Vec::with_capacity(10);
        match outcome {
            Ok(reply) => {
                fields.extend([
                    ("ok", Data::from(true)),
                    ("provider", (&reply.provider).into()),
                    ("model", (&reply.model).into()),
                    ("stop_reason", reply.stop_reason.as_ref().into()),
                    ("end", reply.end().as_str().into()),
                ]);
                fields.extend(usage(reply.usage));
                if self.records_content() {
                    fields.push(("output", reply.to_message().to_data()));
                }
            }
            Err(kind) => fields.extend([("ok", Data::from(false)), ("error", kind.into())]),
        }
        self.put_in(turn, ActivityKind::ModelEnded, fields);
    }

    /// Records that a request of a model call is sent; `attempt` counts from 1.
    pub fn attempt_began(&self, turn: Turn<'_>, attempt: u32) {
        self.put_in(turn, ActivityKind::AttemptBegan, [("attempt", Data::from(attempt))]);
    }

    /// Records the outcome of such a request: the kind of its failure, if it failed.
    pub fn attempt_ended(&self, turn: Turn<'_>, attempt: u32, error: Option<&str>) {
        let fields = [("attempt", Data::from(attempt)), ("ok", error.is_none().into()), ("error", error.into())];
        self.put_in(turn, ActivityKind::AttemptEnded, fields);
    }

    /// Records that a tool is called.
    pub(crate) fn tool_began(&self, turn: Turn<'_>, call: &ToolCall) {
        let fields = [("call_id", Data::from(&call.id)), ("tool", (&call.name).into())];
        self.put_in(turn, ActivityKind::ToolBegan, fields);
    }

    /// Records the result of a tool call.
    pub(crate) fn tool_ended(&self, turn: Turn<'_>, call: &ToolCall, result: &ToolResult) {
        let mut fields =
            vec![("call_id", Data::from(&call.id)), ("tool", (&call.name).into()), ("ok", result.ok.into())];
        if self.records_content() {
            fields.push(("arguments", call.arguments.clone()));
            fields.push(("result", (&result.text).into()));
        }
        self.put_in(turn, ActivityKind::ToolEnded, fields);
    }

    /// Records that a hook is called.
    pub(crate) fn hook_began(&self, turn: Turn<'_>, event: EventKind, hook: &str) {
        self.put_in(turn, ActivityKind::HookBegan, [("event", Data::from(event.as_str())), ("hook", hook.into())]);
    }

    /// Records that a hook has returned or failed.
    pub(crate) fn hook_ended(&self, turn: Turn<'_>, event: EventKind, hook: &str, error: Option<&dyn CallError>) {
        let fields = [("event", Data::from(event.as_str())), ("hook", hook.into())];
        self.put_in(turn, ActivityKind::HookEnded, fields.into_iter().chain(failure(error)));
    }

    /// Records that a reminder provider waits.
    pub(crate) fn provider_began(&self, turn: Turn<'_>, event: EventKind, provider: &Arc<str>) {
        let fields = [("event", Data::from(event.as_str())), ("provider", provider.into())];
        self.put_in(turn, ActivityKind::ProviderBegan, fields);
    }

    /// Records the outcome of a reminder provider: the number of reminders it added, or its failure.
    pub(crate) fn provider_ended(
        &self,
        turn: Turn<'_>,
        event: EventKind,
        provider: &Arc<str>,
        outcome: Result<usize, &dyn CallError>,
    ) {
        let fields = [
            ("event", Data::from(event.as_str())),
            ("provider", provider.into()),
            ("reminders", outcome.map_or(Data::Nil, Data::from)),
        ];
        self.put_in(turn, ActivityKind::ProviderEnded, fields.into_iter().chain(failure(outcome.err())));
    }

    fn put_in(&self, turn: Turn<'_>, kind: ActivityKind, fields: impl IntoIterator<Item = (&'static str, Data)>) {
        let (number, within) = self.numbers();
        let of_span = [
            ("session_id", Data::from(turn.session.id())),
            ("turn", turn.number.into()),
            ("span", number.into()),
            ("within", if within == 0 { Data::Nil } else { within.into() }),
        ];
        put(turn.scope, kind, of_span.into_iter().chain(fields));
    }
}

/// Returns the prompt as the model sees it, with the reminders in their places. If it is too long, the oldest parts are
/// left out and counted; the system text counts as the oldest.
fn prompt(request: &Request) -> Vec<(&'static str, Data)> {
    let (mut messages, mut omitted, mut room) = (Vec::new(), 0_usize, MOST_PROMPT);
    let mut fits = |data: &Data| {
        let rest = room.checked_sub(data.weight()).filter(|_| omitted == 0);
        match rest {
            Some(rest) => room = rest,
            None => omitted += 1,
        }
        rest.is_some()
    };
    for message in request.conversation().iter().rev() {
        let message = message.to_data();
        if fits(&message) {
            messages.push(message);
        }
    }
    let system = request.system_text().map_or(Data::Nil, Data::from);
    let system = if system.is_nil() || fits(&system) { system } else { Data::Nil };
    messages.reverse();
    let omitted = if omitted == 0 { Data::Nil } else { omitted.into() };
    vec![("system", system), ("input", Data::list(messages)), ("input_omitted", omitted)]
}

fn failure(error: Option<&dyn CallError>) -> [(&'static str, Data); 2] {
    [("ok", error.is_none().into()), ("error", error.map(|thrown| thrown.kind().as_str()).into())]
}

fn usage(usage: Usage) -> [(&'static str, Data); 5] {
    [
        ("input_tokens", usage.input_tokens.into()),
        ("output_tokens", usage.output_tokens.into()),
        ("cache_read_tokens", usage.cache_read_tokens.into()),
        ("cache_write_tokens", usage.cache_write_tokens.into()),
        ("cost_usd", usage.cost_usd().into()),
    ]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;
    use crate::model::System;

    fn shown(messages: &[String], system: &str) -> (usize, bool, Data) {
        let system = System { primary: Some(system.into()), ..System::default() }.into();
        let messages = messages.iter().map(|text| Arc::new(Message::user(text.as_str()))).collect();
        let prompt = prompt(&Request { system, messages, ..Request::default() });
        let field = |name: &str| prompt.iter().find(|(key, _)| *key == name).unwrap().1.clone();
        (field("input").as_list().unwrap().len(), !field("system").is_nil(), field("input_omitted"))
    }

    #[test]
    fn the_oldest_parts_of_a_long_prompt_are_omitted_and_counted() {
        let large = |count: usize| vec!["x".repeat(MOST_PROMPT / 4); count];
        assert_eq!(shown(&large(2), "be brief"), (2, true, Data::Nil));
        assert_eq!(shown(&large(9), "be brief"), (3, false, Data::from(7_i64)));
        assert_eq!(shown(&["x".repeat(MOST_PROMPT)], "be brief"), (0, false, Data::from(2_i64)));
        assert_eq!(shown(&["short".to_owned()], &"x".repeat(MOST_PROMPT)), (1, false, Data::from(1_i64)));
    }
}
