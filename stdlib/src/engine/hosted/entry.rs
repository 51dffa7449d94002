//! The entry points of a script: its top level, and the function that answers a prompt.

use super::super::{Engine, closure, entry};
use super::{Hosted, whole};
use crate::hosting::ServedCode;
use crate::rhai_front_end::is_rhai;
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
        pipeline: Rc<Proto>,
        params: Vec<String>,
    },
    /// A script in Rhai; the parameters of its `main`.
    Rhai { source: SourceRef, params: Vec<String> },
}

/// Returns the entry points of a Harn script; `None` if it has no pipeline.
pub(super) fn of_unit(engine: &Engine, unit: Unit) -> Option<Main> {
    let entry = entry(&unit.pipelines)?;
    let params = entry.params.iter().map(ToString::to_string).collect();
    let pipeline = engine.isolate.function(entry.function)?;
    Some(Main::Harn { before: unit.before, top: unit.main, pipeline, params })
}

/// Returns the entry points of a Rhai script; `None` if it has no `main`.
pub(super) fn of_rhai(engine: &Engine, source: &SourceRef) -> Result<Option<Main>, Vec<Diagnostic>> {
    let params = engine.front_end().parse(source)?.main();
    Ok(params.map(|params| Main::Rhai { source: source.clone(), params }))
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
            Main::Harn { pipeline, params, .. } => {
                let arg = |name: &String| match name.as_str() {
                    "task" => task.clone(),
                    "context" => context.clone(),
                    _ => Value::Nil,
                };
                hosted.call(closure(pipeline), params.iter().map(arg).collect()).await
            }
            Main::Rhai { source, params } => {
                let engine = &hosted.engine;
                let constants = vec![("task", task.clone()), ("context", context.clone())];
                let call = engine.front_end().call_main(engine.session(), source, params, constants);
                hosted.call(call, Vec::new()).await
            }
        }
    }
}

/// It was read before, so this does not happen.
fn unread_again(found: &[Diagnostic]) -> Box<Raise> {
    let message = found.first().map_or("the script cannot be read", |found| found.message.as_str());
    Raise::error(ServedCode::Unservable, message)
}
