//! The provider in Harn.

use super::{Context, GivenReminder, Provider};
use lang::builtins::{Builtin, Registry, TABLES};
use lang::script::{Options, load};
use lang::source::Source;
use lang::value::{Closure, Dict, Value};
use lang::vm::{Exit, Fiber, Isolate, Limits, NoHost};
use std::rc::Rc;

static GROUPS: &[&[&[Builtin]]] = &[TABLES];

pub(super) struct HarnProvider {
    isolate: Rc<Isolate>,
    context: Rc<lang::vm::Context>,
    evaluate: Value,
    argument: Value,
}

impl HarnProvider {
    pub(super) fn new(context: &Context) -> Result<Self, String> {
        let isolate = Isolate::new(Registry::new(GROUPS), Rc::new(NoHost), Limits::default(), Vec::new());
        let loaded = load(&isolate, &Source::new("evaluate.harn", super::HARN), Options::default());
        let unit = loaded.unit.ok_or_else(|| format!("{:?}", loaded.diagnostics))?;
        let mut harn = Self { isolate, context: Rc::default(), evaluate: Value::Nil, argument: argument(context) };
        let main = Value::Closure(Rc::new(Closure { proto: unit.main, captures: Vec::new() }));
        harn.evaluate = harn.call(main, Vec::new())?;
        Ok(harn)
    }

    fn call(&self, function: Value, args: Vec<Value>) -> Result<Value, String> {
        let mut fiber = Fiber::new(&self.isolate, &self.context, function, args).map_err(|raise| raise.message)?;
        match fiber.run() {
            Exit::Done(value) => Ok(value),
            Exit::Raised(raise) => Err(raise.message),
            _ => Err("it waits".to_owned()),
        }
    }
}

impl Provider for HarnProvider {
    fn name(&self) -> &'static str {
        "harn"
    }

    fn evaluate(&self) -> Result<Option<GivenReminder>, String> {
        let answer = self.call(self.evaluate.clone(), vec![self.argument.clone()])?;
        let Some(spec) = answer.as_list().and_then(|specs| specs.first()?.as_dict()) else { return Ok(None) };
        Ok(Some(given(spec)))
    }
}

fn argument(context: &Context) -> Value {
    let tools = context
        .tools
        .iter()
        .map(|(name, calls)| Value::record([("name", Value::str(name)), ("calls", Value::Int(*calls))]));
    Value::record([
        ("session_id", Value::str(context.session_id)),
        ("turn", Value::Int(context.turn)),
        ("tokens", Value::Int(context.tokens)),
        ("window", Value::Int(context.window)),
        ("tools", Value::list(tools.collect())),
    ])
}

fn given(spec: &Dict) -> GivenReminder {
    let text = |key: &str| spec.get_str(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let tags = spec.get_str("tags").and_then(Value::as_list).into_iter().flatten();
    GivenReminder {
        body: text("body"),
        tags: tags.filter_map(Value::as_str).map(str::to_owned).collect(),
        ttl_turns: spec.get_str("ttl_turns").and_then(Value::as_int).unwrap_or_default(),
        dedupe_key: text("dedupe_key"),
    }
}
