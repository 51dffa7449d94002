//! Tools.

use super::ScriptFn;
use super::function::data_of;
use crate::convert::to_value;
use base::call::{Answer, Outcome};
use lang::value::Value;
use lang::vm::RunCode;
use runtime::message::{ToolCall, ToolSpec};
use runtime::seam::{Output, Tool, Turn};
use std::rc::Rc;
use std::sync::Arc;

/// A tool whose handler is written in the language.
pub(crate) struct ScriptTool {
    pub(crate) spec: ToolSpec,
    pub(crate) handler: ScriptFn,
    /// A declared tool takes its parameters one by one; a defined one takes a dict.
    pub(crate) positional: Option<Vec<Arc<str>>>,
    /// The types of its parameters that data is made values of, by their numbers.
    pub(crate) types: Vec<(usize, Value)>,
}

impl Tool for ScriptTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        let mut args: Vec<Value> = match &self.positional {
            Some(names) => names.iter().map(|name| to_value(call.arguments.get(name))).collect(),
            None => vec![to_value(&call.arguments)],
        };
        if self.types.is_empty() {
            return self.handler.call(turn, args, |value| result(&value));
        }
        Answer::later(async move {
            match self.handler.decode(&mut args, &self.types, self.positional.as_deref().unwrap_or_default()).await {
                Ok(()) => {}
                Err(raise) if raise.code == RunCode::Decode => return Ok(Output::error(raise.message)),
                Err(raise) => return Err(self.handler.thrown(turn, raise)),
            }
            self.handler.call(turn, args, |value| result(&value)).get().await
        })
    }
}

/// The output of a handler's result.
fn result(value: &Value) -> Outcome<Output> {
    match value.as_result() {
        Some(Err(error)) => Ok(Output::error(lang::value::brief(error))),
        Some(Ok(inner)) => output(inner),
        None => output(value),
    }
}

/// A tool that is offered to the model and does not run.
struct SilentTool {
    spec: ToolSpec,
}

/// Returns the tools for a preview: those that `runs` does not name do not run.
pub(crate) fn silent_tools(tools: Vec<Rc<dyn Tool>>, runs: impl Fn(&str) -> bool) -> Vec<Rc<dyn Tool>> {
    let silent = |tool: Rc<dyn Tool>| match runs(&tool.spec().name) {
        true => tool,
        false => Rc::new(SilentTool { spec: tool.spec().clone() }) as Rc<dyn Tool>,
    };
    tools.into_iter().map(silent).collect()
}

impl Tool for SilentTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::Now(Ok(Output::of(format!("(`{}` was not run: this is a preview)", call.name).into())))
    }
}

fn output(value: &Value) -> Outcome<Output> {
    Ok(Output::of(data_of(value)?))
}
