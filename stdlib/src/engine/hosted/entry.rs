//! The entry points of a script: its top level, and the function that answers a prompt.

use super::super::{Engine, closure, entry};
use super::{Hosted, ServedCall, whole};
use crate::codes::ServedCode;
use crate::convert::to_value;
use crate::decode::decode_args;
use crate::rhai_front_end::is_rhai;
use base::data::Data;
use lang::compile::{Imported, Unit};
use lang::diagnostic::Diagnostic;
use lang::source::SourceRef;
use lang::value::Value;
use lang::vm::{Outcome, Proto, Raise};
use std::rc::Rc;

/// The entry points of a script.
pub(super) enum Main {
    /// A script in Harn.
    Harn {
        /// The files that it imports.
        before: Vec<Imported>,
        top: Rc<Proto>,
        /// The pipeline, with its parameters.
        pipeline: Option<(Rc<Proto>, Vec<String>)>,
        /// The public functions.
        public: Vec<PublicFunction>,
    },
    /// A script in Rhai.
    Rhai {
        source: SourceRef,
        /// The parameters of its `main`.
        params: Option<Vec<String>>,
        /// The public functions: names and parameters.
        public: Vec<(String, Vec<String>)>,
    },
}

/// A public function of a script in Harn.
pub(super) struct PublicFunction {
    function: Rc<Proto>,
    params: Vec<String>,
    /// The types of the parameters that values are made of from data, by their numbers.
    types: Vec<(usize, Value)>,
}

/// Returns the entry points of a Harn script; `None` if it has none: a pipeline, or public functions if those are served.
pub(super) fn of_unit(engine: &Engine, unit: Unit, serves_entries: bool) -> Option<Main> {
    let pipeline = entry(&unit.pipelines)
        .and_then(|entry| Some((engine.isolate.function(entry.function)?, names_of(&entry.params))));
    let public: Option<Vec<_>> = unit
        .public
        .iter()
        .map(|entry| {
            let (function, params) = (engine.isolate.function(entry.function)?, names_of(&entry.params));
            Some(PublicFunction { function, params, types: entry.types.clone() })
        })
        .collect();
    let is_served = if serves_entries { public.is_some() } else { pipeline.is_some() };
    is_served.then(|| Main::Harn { before: unit.before, top: unit.main, pipeline, public: public.unwrap_or_default() })
}

/// Returns names as text.
fn names_of(names: &[impl ToString]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Returns the entry points of a Rhai script; `None` if it has none: a `main`, or public functions if those are served.
pub(super) fn of_rhai(
    engine: &Engine,
    source: &SourceRef,
    serves_entries: bool,
) -> Result<Option<Main>, Vec<Diagnostic>> {
    let script = engine.front_end().parse(source)?;
    let params = script.main();
    let public = match serves_entries {
        true => script.public_entries()?.into_iter().map(|entry| (entry.function, entry.params)).collect(),
        false => Vec::new(),
    };
    let is_served = serves_entries || params.is_some();
    Ok(is_served.then(|| Main::Rhai { source: source.clone(), params, public }))
}

/// Whether the pipeline of a script in Harn may run again; nothing where it has none.
pub(super) fn resumable_unit(unit: &Unit) -> Option<bool> {
    entry(&unit.pipelines).map(|entry| entry.resumable)
}

/// Whether the `main` of a script in Rhai may run again; nothing where it has none.
pub(super) fn resumable_rhai(engine: &Engine, source: &SourceRef) -> Result<Option<bool>, Vec<Diagnostic>> {
    let script = engine.front_end().parse(source)?;
    script.main().map(|_| script.is_resumable()).transpose()
}

/// It has none.
pub(super) fn missing(source: &SourceRef) -> Diagnostic {
    let (what, help) = if is_rhai(source) {
        ("`fn main`", "add one: `fn main(task) { … }`")
    } else {
        ("pipeline", "add one: `pipeline default(task) { … }`")
    };
    let message = format!("`{}` has no {what}, so it accepts no prompts", source.name());
    Diagnostic::new(ServedCode::Unservable, message).help(help)
}

impl Main {
    /// The top level; `Unbound` where it came to its end.
    pub(super) async fn start(&self, hosted: &Hosted) -> Outcome {
        match self {
            Main::Harn { before, top, .. } => {
                for (i, file) in before.iter().enumerate() {
                    let value = hosted.call(closure(&file.main), Vec::new()).await;
                    let evaluated = value.and_then(|value| whole(file, &value));
                    evaluated.map_err(|raise| hosted.engine.unevaluated(&before[i..], raise))?;
                }
                hosted.call(closure(top), Vec::new()).await
            }
            Main::Rhai { source, .. } => {
                let engine = &hosted.engine;
                let top = engine.front_end().piece(engine.session(), source);
                let top = top.map_err(|unread| unread_again(&unread.diagnostics))?;
                hosted.call(top, Vec::new()).await.map(|_| Value::Unbound)
            }
        }
    }

    /// The pipeline.
    pub(super) async fn prompt(&self, hosted: &Hosted, task: &Value, context: &Value) -> Outcome {
        match self {
            Main::Harn { pipeline, .. } => {
                let Some((pipeline, params)) = pipeline else { return Err(not_there()) };
                let arg = |name: &String| match name.as_str() {
                    "task" => task.clone(),
                    "context" => context.clone(),
                    _ => Value::Nil,
                };
                hosted.call(closure(pipeline), params.iter().map(arg).collect()).await
            }
            Main::Rhai { source, params, .. } => {
                let Some(params) = params else { return Err(not_there()) };
                let engine = &hosted.engine;
                let constants = vec![("task", task.clone()), ("context", context.clone())];
                let call = engine.front_end().call_main(engine.session(), source, params, constants);
                hosted.call(call, Vec::new()).await
            }
        }
    }
}

impl Main {
    /// Calls a public function.
    pub(super) async fn call(&self, hosted: &Hosted, call: &ServedCall, context: &Value) -> Outcome {
        let arg = |name: &String| match call.arguments.get(name) {
            Data::Nil if name == "context" => context.clone(),
            value => to_value(value),
        };
        match self {
            Main::Harn { public, .. } => {
                let Some(PublicFunction { function, params, types }) = public.get(call.entry) else {
                    return Err(not_there());
                };
                let mut args: Vec<Value> = params.iter().map(arg).collect();
                let (isolate, run) = (&hosted.engine.isolate, hosted.engine.context());
                decode_args(&mut args, types, |at| params.get(at).map(String::as_str), isolate, &run).await?;
                hosted.call(closure(function), args).await
            }
            Main::Rhai { source, public, .. } => {
                let Some((function, params)) = public.get(call.entry) else { return Err(not_there()) };
                let engine = &hosted.engine;
                let args = params.iter().map(arg).collect();
                let call = engine.front_end().call_function(engine.session(), source, function, args);
                hosted.call(call, Vec::new()).await
            }
        }
    }
}

/// The host asks only for what the script has, so this does not happen.
fn not_there() -> Box<Raise> {
    Raise::error(ServedCode::Unservable, "the script has no such function")
}

/// It was read before, so this does not happen.
fn unread_again(found: &[Diagnostic]) -> Box<Raise> {
    let message = found.first().map_or("the script cannot be read", |found| found.message.as_str());
    Raise::error(ServedCode::Unservable, message)
}
