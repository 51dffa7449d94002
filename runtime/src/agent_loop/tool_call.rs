//! One tool call: handlers before, the call, the cut, handlers after, providers.

use std::rc::Rc;
use std::sync::Arc;

use crate::data::Data;
use crate::event_log::Ticket;
use crate::hooks::event::ToolResult;
use crate::hooks::fire::ask;
use crate::hooks::{Decision, HookEvent, ToolHook};
use crate::message::ToolCall;
use crate::seam::{Fault, Outcome, Output, Scope, Sort, Tool, Turn};

use super::tools::not_run;
use super::watch::Seen;
use super::{GRACE_MS, LoopState, Run, until_stopped};

impl Run<'_> {
    /// Answers one call. Only what stops the loop is a failure; all else is an answer for the model.
    pub(super) async fn call_tool(&self, scope: &Scope, state: &mut LoopState, call: &ToolCall) -> Outcome<ToolResult> {
        let turn = Turn { scope, ..self.turn() };
        let event = HookEvent::PreToolUse { call, iteration: state.iteration };
        let registered = self.parts.hooks.tool();
        let hooks: Vec<ToolHook> = registered.iter().filter(|hook| hook.pattern.matches(&event)).cloned().collect();
        let call = match self.before(turn, &hooks, call, state).await? {
            Ok(call) => call,
            Err(reason) => {
                state.tools.rejected += 1;
                return Ok(not_run(&reason));
            }
        };
        let tool = match self.tools.find(&call) {
            Ok(tool) => tool,
            Err(reason) => {
                state.tools.rejected += 1;
                return Ok(not_run(&reason));
            }
        };
        if let Some(reason) = self.refused(turn, state, &call).await? {
            state.tools.rejected += 1;
            return Ok(not_run(&reason));
        }
        self.let_see(state.iteration, Seen::ToolBegan(&call));
        let output = self.run_tool(turn, &tool, &call).await;
        self.let_see(state.iteration, Seen::ToolEnded(&call));
        let output = output?;
        if output.ok {
            state.tools.successful += 1;
        }
        let limit = hooks.iter().filter_map(|hook| hook.max_output).chain(self.options.max_tool_output_chars).min();
        let result = self.after(turn, &hooks, &call, cut(output, limit), state).await?;
        let event = HookEvent::PostToolUse { call: &call, result: &result, iteration: state.iteration };
        self.evaluate_in(turn, &event).await?;
        Ok(result)
    }

    /// Asks the handlers before the call, each with the arguments as the one before left them.
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
            match ask(pre.as_ref(), turn, &event, self.strict()).await? {
                Decision::Allow => {}
                Decision::Block { reason } => return Ok(Err(reason)),
                Decision::Modify(changed) => {
                    // `{args}` gives the arguments themselves, `{modify}` may give the payload that holds them.
                    let inner = [changed.at("tool.args"), changed.get("args")].into_iter().find(|args| !args.is_nil());
                    call.arguments = inner.cloned().unwrap_or(changed);
                }
            }
        }
        let event = HookEvent::PreToolUse { call: &call, iteration: state.iteration };
        match crate::hooks::fire::fire(&self.parts.hooks, turn, &event, self.strict()).await? {
            Decision::Block { reason } => Ok(Err(reason)),
            _ => {
                if call.arguments.is_nil() {
                    call.arguments = Data::empty_dict();
                }
                Ok(Ok(call))
            }
        }
    }

    async fn run_tool(&self, turn: Turn<'_>, tool: &Rc<dyn Tool>, call: &ToolCall) -> Outcome<Output> {
        // What a tool does must not be there while what led to it is lost.
        self.scope.log.durable(Ticket::ALL).await?;
        match until_stopped(turn.scope, GRACE_MS, tool.call(turn, call).get()).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(thrown)) => Ok(failed(turn.scope, thrown.as_ref())),
            Err(stopped) => Ok(Output::error(format!("stopped: {stopped}"))),
        }
    }

    /// Tells the handlers after the call; one that returns a result puts it in place.
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
            if let Decision::Modify(changed) = ask(post.as_ref(), turn, &event, self.strict()).await? {
                let text = if changed.get("text").is_nil() { changed.to_text() } else { changed.get("text").to_text() };
                result = ToolResult { text, value: changed, ..result };
            }
        }
        Ok(result)
    }
}

fn failed(scope: &Scope, thrown: &dyn Fault) -> Output {
    match thrown.sort() {
        Sort::Cancelled | Sort::Deadline if scope.check().is_err() => Output::error(format!("stopped: {thrown}")),
        _ => Output::error(format!("error: {thrown}")),
    }
}

/// Cuts an output to so many characters, at a character's border.
fn cut(output: Output, limit: Option<usize>) -> ToolResult {
    let Output { text, value, ok, truncated } = output;
    let end = limit.and_then(|limit| text.char_indices().nth(limit).map(|(end, _)| end));
    let Some(end) = end else { return ToolResult { text, truncated, ok, value } };
    let left = text[end..].chars().count();
    let text: Arc<str> = format!("{}\n[output truncated: {left} more characters]", &text[..end]).into();
    ToolResult { value: Data::from(&text), text, truncated: true, ok }
}
