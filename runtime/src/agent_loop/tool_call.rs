//! One tool call: handlers before, the call, the cut, handlers after, providers.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use base::call::{CallError, CallErrorKind, Outcome};
use base::data::Data;
use eventlog::Ticket;
use tracing::Instrument as _;

use crate::hooks::event::ToolResult;
use crate::hooks::{HookEvent, PostToolUse, PreToolUse, ToolCallAction, ToolHook, ToolResultAction};
use crate::listeners::fire::{ask, fire_for};
use crate::message::ToolCall;
use crate::scope::Scope;
use crate::seam::{Output, Preview, Tool, Turn};
use crate::stop::{GRACE_MS, until_stopped};

use super::observe::LoopEvent;
use super::permission::PermissionGate;
use super::tools::not_run;
use super::{LoopState, RunningLoop};

/// Default limit of a tool's output that the model sees, in characters: some 50,000 tokens.
const MOST_OUTPUT_CHARS: usize = 200_000;

/// A call that may run: its handlers and permissions agree, and its arguments fit.
pub(super) struct ReadyCall {
    hooks: Vec<ToolHook>,
    tool: Rc<dyn Tool>,
    call: ToolCall,
    /// The reason to ask the approver first, if it must be asked.
    question: Option<Arc<str>>,
    /// Preview of what the call is about to replace, as the approver has seen it.
    preview: OnceCell<Preview>,
}

impl RunningLoop<'_> {
    /// Runs everything before the call that keeps the order of the calls: handlers, the tool and its arguments, the
    /// script's permission ruling. Returns the answer to a call that must not run. Fails only if the loop must stop.
    pub(super) async fn prepare(
        &self,
        scope: &Scope,
        state: &LoopState,
        call: &ToolCall,
    ) -> Outcome<Result<ReadyCall, ToolResult>> {
        let turn = Turn { scope, ..self.turn() };
        let event = HookEvent::PreToolUse { call, iteration: state.iteration };
        let registered = self.parts.hooks.tool();
        let hooks: Vec<ToolHook> = registered.iter().filter(|hook| hook.pattern.matches(&event)).cloned().collect();
        let call = match self.before(turn, &hooks, call, state).await? {
            Ok(call) => call,
            Err(reason) => return Ok(Err(not_run(&reason))),
        };
        let tool = match self.offer().tools.find(&call) {
            Ok(tool) => tool,
            Err(reason) => return Ok(Err(not_run(&reason))),
        };
        let question = match self.gate(turn, state, tool.spec(), &call).await? {
            PermissionGate::Open => None,
            PermissionGate::Refused(reason) => return Ok(Err(not_run(&reason))),
            PermissionGate::Question(reason) => Some(reason),
        };
        Ok(Ok(ReadyCall { hooks, tool, call, question, preview: OnceCell::new() }))
    }

    /// Asks the approver if that is required. Returns the answer to a call that must not run.
    pub(super) async fn permitted(&self, scope: &Scope, ready: &ReadyCall) -> Outcome<Option<ToolResult>> {
        let Some(reason) = &ready.question else { return Ok(None) };
        let turn = Turn { scope, ..self.turn() };
        let preview = ready.tool.preview(&ready.call);
        let preview = preview.map(|found| found.map(|preview| ready.preview.get_or_init(|| preview)));
        // Boxed: most calls need no approval, and loops nest.
        let refused = Box::pin(self.approval(turn, ready.tool.spec(), &ready.call, preview, reason.clone())).await?;
        Ok(refused.map(|why| not_run(&why)))
    }

    /// Runs the call itself.
    pub(super) async fn run(&self, scope: &Scope, iteration: u32, ready: &ReadyCall) -> Outcome<Output> {
        let turn = Turn { scope, ..self.turn() };
        if let Some(activity) = &scope.activity {
            activity.tool_began(turn, &ready.call);
        }
        self.let_see(iteration, LoopEvent::ToolBegan(&ready.call));
        let span = tracing::info_span!("tool_call", tool = &*ready.call.name, call_id = &*ready.call.id);
        let work = async {
            let output = self.run_tool(turn, ready).await;
            tracing::debug!(ok = output.as_ref().is_ok_and(|output| output.ok), "tool ended");
            output
        };
        let output = work.instrument(span).await;
        self.let_see(iteration, LoopEvent::ToolEnded(&ready.call));
        output
    }

    /// Runs everything after the call: the cut, handlers, providers.
    pub(super) async fn conclude(
        &self,
        scope: &Scope,
        state: &LoopState,
        ready: &ReadyCall,
        output: Output,
    ) -> Outcome<ToolResult> {
        let turn = Turn { scope, ..self.turn() };
        let result = self.after(turn, &ready.hooks, &ready.call, self.cut(ready, output), state).await?;
        let event = HookEvent::PostToolUse { call: &ready.call, result: &result, iteration: state.iteration };
        self.evaluate_in(turn, &event).await?;
        Ok(result)
    }

    /// Cuts an output to the smaller of the handlers' and the loop's limits.
    pub(super) fn cut(&self, ready: &ReadyCall, output: Output) -> ToolResult {
        let own = self.options.limits.max_tool_output_chars.unwrap_or(MOST_OUTPUT_CHARS);
        let limit = ready.hooks.iter().filter_map(|hook| hook.max_output).fold(own, usize::min);
        cut(output, limit)
    }

    /// Calls the handlers before the call, each with the arguments as the previous one left them.
    async fn before(
        &self,
        turn: Turn<'_>,
        hooks: &[ToolHook],
        call: &ToolCall,
        state: &LoopState,
    ) -> Outcome<Result<ToolCall, Arc<str>>> {
        let mut call = call.clone();
        for hook in hooks {
            if let Some(reason) = &hook.deny {
                return Ok(Err(reason.clone()));
            }
            let Some(pre) = &hook.pre else { continue };
            let event = HookEvent::PreToolUse { call: &call, iteration: state.iteration };
            match ask::<PreToolUse>(pre.as_ref(), turn, &event, self.strict()).await? {
                ToolCallAction::Run => {}
                ToolCallAction::Refuse { reason } => return Ok(Err(reason)),
                ToolCallAction::ReplaceArguments(arguments) => call.arguments = arguments,
            }
        }
        let event = HookEvent::PreToolUse { call: &call, iteration: state.iteration };
        match fire_for::<PreToolUse>(&self.parts.hooks, turn, &event, self.strict()).await? {
            ToolCallAction::Refuse { reason } => Ok(Err(reason)),
            ToolCallAction::Run | ToolCallAction::ReplaceArguments(_) => {
                if call.arguments.is_nil() {
                    call.arguments = Data::empty_dict();
                }
                Ok(Ok(call))
            }
        }
    }

    async fn run_tool(&self, turn: Turn<'_>, ready: &ReadyCall) -> Outcome<Output> {
        // A tool's effects must not exist while the records that led to them could still be lost.
        self.scope.log.durable(Ticket::ALL).await?;
        let Some(limit_ms) = timeout_ms(ready.tool.as_ref()) else { return Ok(stoppable(turn, ready).await) };
        let own = turn.scope.clock.now_ms().saturating_add(limit_ms);
        let scope = Scope {
            cancel: turn.scope.cancel.child(),
            deadline_ms: Some(turn.scope.deadline_ms.map_or(own, |around| around.min(own))),
            ..turn.scope.clone()
        };
        let output = Box::pin(stoppable(Turn { scope: &scope, ..turn }, ready)).await;
        let is_timeout = scope.check().is_err() && turn.scope.check().is_ok();
        if is_timeout && !output.ok {
            return Ok(Output::error(format!("stopped: `{}` timed out after {limit_ms} ms", ready.call.name)));
        }
        Ok(output)
    }

    /// Notifies the handlers after the call; a result returned by one replaces it.
    async fn after(
        &self,
        turn: Turn<'_>,
        hooks: &[ToolHook],
        call: &ToolCall,
        mut result: ToolResult,
        state: &LoopState,
    ) -> Outcome<ToolResult> {
        for post in hooks.iter().filter_map(|hook| hook.post.as_ref()) {
            let event = HookEvent::PostToolUse { call, result: &result, iteration: state.iteration };
            let action = ask::<PostToolUse>(post.as_ref(), turn, &event, self.strict()).await?;
            if let ToolResultAction::Replace(changed) = action {
                let text = if changed.get("text").is_nil() { changed.to_text() } else { changed.get("text").to_text() };
                result = ToolResult { text, value: changed, ..result };
            }
        }
        Ok(result)
    }
}

/// Returns a tool's time limit from its annotations: `{timeout_ms: …}`.
fn timeout_ms(tool: &dyn Tool) -> Option<u64> {
    tool.spec().annotations.get("timeout_ms").as_int().and_then(|ms| u64::try_from(ms).ok())
}

/// Calls the tool until it answers or is stopped.
async fn stoppable(turn: Turn<'_>, ready: &ReadyCall) -> Output {
    let answer = match ready.preview.get() {
        Some(preview) => ready.tool.call_previewed(turn, &ready.call, preview),
        None => ready.tool.call(turn, &ready.call),
    };
    match until_stopped(turn.scope, GRACE_MS, answer.get()).await {
        Ok(Ok(output)) => output,
        Ok(Err(thrown)) => failed(turn.scope, thrown.as_ref()),
        Err(stopped) => Output::error(format!("stopped: {stopped}")),
    }
}

fn failed(scope: &Scope, thrown: &dyn CallError) -> Output {
    match thrown.kind() {
        CallErrorKind::Cancelled | CallErrorKind::Deadline if scope.check().is_err() => {
            Output::error(format!("stopped: {thrown}"))
        }
        _ => Output::error(format!("error: {thrown}")),
    }
}

/// Cuts an output to at most `limit` characters, at a character boundary.
fn cut(output: Output, limit: usize) -> ToolResult {
    let Output { text, value, ok, truncated } = output;
    // No text has more characters than bytes.
    let end = if text.len() <= limit { None } else { text.char_indices().nth(limit).map(|(end, _)| end) };
    let Some(end) = end else { return ToolResult { text, truncated, ok, value } };
    let left = text[end..].chars().count();
    let text: Arc<str> = format!("{}\n[output truncated: {left} more characters]", &text[..end]).into();
    ToolResult { value: Data::from(&text), text, truncated: true, ok }
}
