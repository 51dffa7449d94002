//! The events that handlers and providers receive. Payloads are typed and borrow: native code reads fields by name
//! ([`HookEvent::get`]), and a dict is built only if a script listens ([`HookEvent::to_data`]).

use std::sync::Arc;

use base::data::{Data, Entries};
use base::words::words;

use crate::events::{EventKind, IterationStep};
use crate::loop_status::{LoopStatus, StopReason};
use crate::message::ToolCall;
use crate::model::Delta;
use crate::reminder::bridge::Seam;

mod results;
pub mod table;

pub use results::{ToolResult, ToolResults, ToolRow};

words! {
    /// The answer to a tool that asked for a permission.
    pub enum PermissionAnswer {
        /// The call may run.
        Allow = "allow",
        /// The call must not run.
        Deny = "deny",
    }
}

/// An event with its payload.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // the fields are the payload fields that scripts see under the same names
pub enum HookEvent<'a> {
    /// A loop begins.
    SessionStart { task: &'a Arc<str>, system: Option<&'a Arc<str>>, max_iterations: u32 },
    /// A loop has ended.
    SessionEnd { final_status: LoopStatus, stop_reason: StopReason, iterations: u32 },
    /// A prompt was submitted.
    UserPromptSubmit { prompt: &'a Arc<str>, system: Option<&'a Arc<str>> },
    /// A turn is over.
    PostTurn { iteration: u32, has_tool_calls: bool, tool_results: &'a ToolResults, text: &'a Arc<str> },
    /// The model's turn and its tools are done.
    PostAgentTurn { iteration: u32, has_tool_calls: bool, tool_results: &'a ToolResults, text: &'a Arc<str> },
    /// The usage of a turn is known. `tokens_used` is the live context: the tokens of the last request and its answer.
    OnBudgetThreshold {
        persona: &'a Arc<str>,
        iteration: u32,
        tokens_used: u64,
        context_window: Option<u64>,
        task: &'a Arc<str>,
    },
    /// Before a step of an iteration.
    PreStep { persona: &'a Arc<str>, step: IterationStep, iteration: u32 },
    /// After a step. `text` is the model's text, `tool_results` the results of the tools.
    PostStep {
        persona: &'a Arc<str>,
        step: IterationStep,
        iteration: u32,
        ok: bool,
        text: Option<&'a Arc<str>>,
        tool_results: Option<&'a ToolResults>,
    },
    /// Before a tool is called.
    PreToolUse { call: &'a ToolCall, iteration: u32 },
    /// After a tool was called.
    PostToolUse { call: &'a ToolCall, result: &'a ToolResult, iteration: u32 },
    /// A tool needs a permission.
    PermissionAsked { call: &'a ToolCall, reason: &'a Arc<str> },
    /// A permission was granted or denied.
    PermissionReplied { call: &'a ToolCall, reason: &'a Arc<str>, decision: PermissionAnswer },
    /// An approval is requested: the same moment as [`HookEvent::PermissionAsked`], for the persona's handlers.
    OnApprovalRequested { persona: &'a Arc<str>, iteration: u32, call: &'a ToolCall, reason: &'a Arc<str> },
    /// A file changed.
    FileEdited { path: &'a Arc<str>, metadata: &'a Data },
    /// A loop failed.
    SessionError { error: &'a Data },
    /// A daemon has nothing to do.
    SessionIdle { iteration: u32, wake_interval_ms: u64 },
    /// A piece of an answer has arrived.
    ModelDelta { iteration: u32, delta: Delta<'a> },
    /// A seam is passed.
    LoopCheckpoint { session_id: &'a Arc<str>, iteration: u32, kind: Seam, delivered: usize, dispatch_skipped: bool },
    /// Any event with a payload from a script or a host.
    Raw { kind: EventKind, payload: &'a Data },
}

/// A callback that receives the fields of a payload by name; unused values are not built.
type FieldSink<'a> = &'a mut dyn FnMut(&str, &dyn Fn() -> Data);

impl<'a> HookEvent<'a> {
    /// Returns the event's kind.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            HookEvent::SessionStart { .. } => EventKind::SessionStart,
            HookEvent::SessionEnd { .. } => EventKind::SessionEnd,
            HookEvent::UserPromptSubmit { .. } => EventKind::UserPromptSubmit,
            HookEvent::PostTurn { .. } => EventKind::PostTurn,
            HookEvent::PostAgentTurn { .. } => EventKind::PostAgentTurn,
            HookEvent::OnBudgetThreshold { .. } => EventKind::OnBudgetThreshold,
            HookEvent::PreStep { .. } => EventKind::PreStep,
            HookEvent::PostStep { .. } => EventKind::PostStep,
            HookEvent::OnApprovalRequested { .. } => EventKind::OnApprovalRequested,
            HookEvent::PreToolUse { .. } => EventKind::PreToolUse,
            HookEvent::PostToolUse { .. } => EventKind::PostToolUse,
            HookEvent::PermissionAsked { .. } => EventKind::PermissionAsked,
            HookEvent::PermissionReplied { .. } => EventKind::PermissionReplied,
            HookEvent::FileEdited { .. } => EventKind::FileEdited,
            HookEvent::SessionError { .. } => EventKind::SessionError,
            HookEvent::SessionIdle { .. } => EventKind::SessionIdle,
            HookEvent::ModelDelta { .. } => EventKind::ModelDelta,
            HookEvent::LoopCheckpoint { .. } => EventKind::LoopCheckpoint,
            HookEvent::Raw { kind, .. } => *kind,
        }
    }

    /// Converts the payload to a dict, with `event` in PascalCase and `session: {id}`.
    #[must_use]
    pub fn to_data(&self, session_id: &Arc<str>) -> Data {
        let mut entries = Entries::new();
        self.each_field(&mut |name, value| {
            entries.insert(name.into(), value());
        });
        if !entries.contains_key("session") {
            entries.insert("session".into(), Data::dict([("id", Data::from(session_id))]));
        }
        Data::from(entries)
    }

    /// Calls `put` for each field of [`HookEvent::to_data`], for other representations: each field once, in no order,
    /// and `session` only if the payload has one of its own.
    pub fn each_field(&self, put: &mut dyn FnMut(&str, &dyn Fn() -> Data)) {
        self.fields(&mut |name, value| {
            if name != "event" {
                put(name, value);
            }
        });
        put("event", &|| self.kind().pascal().into());
    }

    /// Returns the rows of `tool_results`, if the loop provides them.
    #[must_use]
    pub fn tool_rows(&self) -> Option<&'a [ToolRow]> {
        match self {
            HookEvent::PostStep { tool_results, .. } => tool_results.map(ToolResults::rows),
            HookEvent::PostTurn { tool_results, .. } | HookEvent::PostAgentTurn { tool_results, .. } => {
                Some(tool_results.rows())
            }
            _ => None,
        }
    }

    /// Returns the payload field at a dotted path; nil if it is missing. Builds no intermediate dict.
    #[must_use]
    pub fn get(&self, path: &str) -> Data {
        if let HookEvent::Raw { payload, .. } = self {
            return payload.at(path).clone();
        }
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let mut found = Data::Nil;
        self.fields(&mut |name, value| {
            if name == first {
                let value = value();
                found = rest.map_or_else(|| value.clone(), |rest| value.at(rest).clone());
            }
        });
        found
    }

    /// Returns the 1-based iteration that the event belongs to, if it has one.
    #[must_use]
    pub fn iteration(&self) -> Option<u32> {
        ["iteration", "turn"]
            .iter()
            .find_map(|field| self.get(field).as_int())
            .and_then(|turn| u32::try_from(turn).ok())
    }

    fn fields(&self, put: FieldSink<'_>) {
        let tool = |call: &ToolCall| {
            Data::dict([
                ("name", Data::from(&call.name)),
                ("args", call.arguments.clone()),
                ("tool_call_id", (&call.id).into()),
            ])
        };
        match self {
            HookEvent::SessionStart { task, system, max_iterations } => {
                put("task", &|| (*task).into());
                put("system", &|| system.cloned().into());
                put("max_iterations", &|| (*max_iterations).into());
            }
            HookEvent::SessionEnd { final_status, stop_reason, iterations } => {
                put("final_status", &|| final_status.as_str().into());
                put("stop_reason", &|| stop_reason.as_str().into());
                put("iterations", &|| (*iterations).into());
            }
            HookEvent::UserPromptSubmit { prompt, system } => {
                put("prompt", &|| (*prompt).into());
                put("system", &|| system.cloned().into());
            }
            HookEvent::PostTurn { iteration, has_tool_calls, tool_results, text }
            | HookEvent::PostAgentTurn { iteration, has_tool_calls, tool_results, text } => {
                put("iteration", &|| (*iteration).into());
                put("has_tool_calls", &|| (*has_tool_calls).into());
                put("tool_results", &|| tool_results.to_data());
                put("text", &|| (*text).into());
            }
            HookEvent::OnBudgetThreshold { persona, iteration, tokens_used, context_window, task } => {
                put("persona", &|| (*persona).into());
                put("step", &|| IterationStep::Model.as_str().into());
                put("iteration", &|| (*iteration).into());
                put("tokens_used", &|| (*tokens_used).into());
                put("context_window", &|| (*context_window).into());
                put("task", &|| (*task).into());
            }
            HookEvent::PreStep { persona, step, iteration } => {
                put("persona", &|| (*persona).into());
                put("step", &|| step.as_str().into());
                put("iteration", &|| (*iteration).into());
            }
            HookEvent::PostStep { persona, step, iteration, ok, text, tool_results } => {
                put("persona", &|| (*persona).into());
                put("step", &|| step.as_str().into());
                put("iteration", &|| (*iteration).into());
                put("ok", &|| (*ok).into());
                put("text", &|| text.cloned().into());
                put("tool_results", &|| tool_results.map(ToolResults::to_data).unwrap_or_default());
            }
            HookEvent::OnApprovalRequested { persona, iteration, call, reason } => {
                put("persona", &|| (*persona).into());
                put("step", &|| IterationStep::Tools.as_str().into());
                put("iteration", &|| (*iteration).into());
                put("tool", &|| tool(call));
                put("reason", &|| (*reason).into());
            }
            HookEvent::PreToolUse { call, iteration } => {
                put("tool", &|| tool(call));
                put("tool_name", &|| (&call.name).into());
                put("iteration", &|| (*iteration).into());
            }
            HookEvent::PostToolUse { call, result, iteration } => {
                put("tool", &|| tool(call));
                put("tool_name", &|| (&call.name).into());
                put("result", &|| result.to_data());
                put("truncated", &|| result.truncated.into());
                put("iteration", &|| (*iteration).into());
            }
            HookEvent::PermissionAsked { call, reason } => {
                put("tool", &|| tool(call));
                put("reason", &|| (*reason).into());
            }
            HookEvent::PermissionReplied { call, reason, decision } => {
                put("tool", &|| tool(call));
                put("reason", &|| (*reason).into());
                put("decision", &|| decision.as_str().into());
            }
            HookEvent::FileEdited { path, metadata } => {
                put("path", &|| (*path).into());
                put("metadata", &|| (*metadata).clone());
            }
            HookEvent::SessionError { error } => put("error", &|| (*error).clone()),
            HookEvent::SessionIdle { iteration, wake_interval_ms } => {
                put("iteration", &|| (*iteration).into());
                put("wake_interval_ms", &|| (*wake_interval_ms).into());
            }
            HookEvent::ModelDelta { iteration, delta } => {
                put("iteration", &|| (*iteration).into());
                piece_fields(*delta, put);
            }
            HookEvent::LoopCheckpoint { session_id, iteration, kind, delivered, dispatch_skipped } => {
                put("session_id", &|| (*session_id).into());
                put("iteration", &|| (*iteration).into());
                put("kind", &|| kind.as_str().into());
                put("delivered", &|| (*delivered).into());
                put("dispatch_skipped", &|| (*dispatch_skipped).into());
            }
            HookEvent::Raw { payload, .. } => {
                for (name, value) in payload.as_dict().into_iter().flatten() {
                    put(name, &|| value.clone());
                }
            }
        }
    }
}

/// Returns the fields of a piece of an answer.
fn piece_fields(delta: Delta<'_>, put: FieldSink<'_>) {
    let place = |index: usize| Data::from(i64::try_from(index).unwrap_or(i64::MAX));
    match delta {
        Delta::Text(text) => {
            put("kind", &|| "text".into());
            put("text", &|| text.into());
        }
        Delta::Reasoning(text) => {
            put("kind", &|| "reasoning".into());
            put("text", &|| text.into());
        }
        Delta::ToolCallStart { index, id, name } => {
            put("kind", &|| "tool_call_start".into());
            put("index", &|| place(index));
            put("id", &|| id.into());
            put("name", &|| name.into());
        }
        Delta::ToolCallArguments { index, json } => {
            put("kind", &|| "tool_call_arguments".into());
            put("index", &|| place(index));
            put("json", &|| json.into());
        }
        Delta::Restart { .. } => put("kind", &|| "restart".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_payload_reads_like_the_dict_it_makes() {
        let call = ToolCall::new("c1", "read", Data::dict([("path", Data::from("a"))]));
        let result = ToolResult { text: "x".into(), truncated: true, ok: true, value: Data::Nil };
        let event = HookEvent::PostToolUse { call: &call, result: &result, iteration: 2 };
        let dict = event.to_data(&"s1".into());
        for path in ["tool.name", "tool.args.path", "result.truncated", "result.text", "iteration", "nothing.here"] {
            assert_eq!(&event.get(path), dict.at(path), "{path}");
        }
        assert_eq!(dict.get("event").as_str(), Some("PostToolUse"));
        assert_eq!(dict.at("session.id").as_str(), Some("s1"));
    }
}
