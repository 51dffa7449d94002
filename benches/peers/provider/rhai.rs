//! The provider in Rhai, as a syntax tree and as the bytecode of Grain.

use super::{Context, GivenReminder, Provider};
use rhai::grain::{Compiler, Vm};
use rhai::{
    AST, Array, Dynamic, Engine, FnPtr, GlobalRuntimeState, ImmutableString, Map, NativeCallContext, Position, Scope,
};
use std::cell::RefCell;
use std::rc::Rc;

pub(super) struct Ast {
    engine: Engine,
    ast: AST,
    evaluate: FnPtr,
    argument: Map,
}

impl Ast {
    pub(super) fn new(context: &Context) -> Result<Self, String> {
        let engine = Engine::new();
        let ast = engine.compile(super::RHAI).map_err(|e| e.to_string())?;
        let evaluate = engine.eval_ast::<FnPtr>(&ast).map_err(|e| e.to_string())?;
        Ok(Self { engine, ast, evaluate, argument: argument(context) })
    }
}

impl Provider for Ast {
    fn name(&self) -> &'static str {
        "rhai (AST)"
    }

    fn evaluate(&self) -> Result<Option<GivenReminder>, String> {
        let args = (self.argument.clone(),);
        let answer: Dynamic = self.evaluate.call(&self.engine, &self.ast, args).map_err(|e| e.to_string())?;
        Ok(given(answer))
    }
}

pub(super) struct Grain {
    engine: Engine,
    evaluate: FnPtr,
    /// The functions of the program that the closure is one of.
    global: GlobalRuntimeState,
    argument: Map,
}

impl Grain {
    pub(super) fn new(context: &Context) -> Result<Self, String> {
        let mut engine = Engine::new();
        let kept: Rc<RefCell<Option<(FnPtr, GlobalRuntimeState)>>> = Rc::default();
        let slot = kept.clone();
        // The functions of a program are known while it runs.
        engine.register_fn("keep", move |context: NativeCallContext<'_>, evaluate: FnPtr| {
            slot.replace(Some((evaluate, context.global_runtime_state().clone())));
        });
        let ast = engine.compile(format!("keep(\n{})", super::RHAI)).map_err(|e| e.to_string())?;
        let program = Compiler::new().compile(&ast).into_shared();
        let ran: Result<Dynamic, _> = Vm::new(&engine).eval_with_callbacks(&mut Scope::new(), &program);
        let _ = ran.map_err(|e| e.to_string())?;
        let (evaluate, mut global) = kept.take().ok_or("it gives no closure")?;
        global.level = 0;
        Ok(Self { engine, evaluate, global, argument: argument(context) })
    }
}

impl Provider for Grain {
    fn name(&self) -> &'static str {
        "rhai (Grain)"
    }

    fn evaluate(&self) -> Result<Option<GivenReminder>, String> {
        let name = self.evaluate.fn_name();
        let context = NativeCallContext::new_with_all_fields(&self.engine, name, None, &self.global, Position::NONE);
        let args = [Dynamic::from_map(self.argument.clone())];
        let answer = self.evaluate.call_raw(&context, None, args).map_err(|e| e.to_string())?;
        Ok(given(answer))
    }
}

fn argument(context: &Context) -> Map {
    let tool = |(name, calls): &(&str, i64)| {
        Dynamic::from_map(Map::from([("name".into(), (*name).into()), ("calls".into(), (*calls).into())]))
    };
    let tools: Array = context.tools.iter().map(tool).collect();
    Map::from([
        ("session_id".into(), context.session_id.into()),
        ("turn".into(), context.turn.into()),
        ("tokens".into(), context.tokens.into()),
        ("window".into(), context.window.into()),
        ("tools".into(), tools.into()),
    ])
}

fn given(answer: Dynamic) -> Option<GivenReminder> {
    let spec: Map = answer.try_cast::<Array>()?.into_iter().next()?.try_cast()?;
    let text = |value: &Dynamic| value.clone().try_cast::<ImmutableString>().unwrap_or_default().to_string();
    let of = |key: &str| spec.get(key).map(text).unwrap_or_default();
    let tags = spec.get("tags").and_then(|tags| tags.read_lock::<Array>().map(|tags| tags.iter().map(text).collect()));
    Some(GivenReminder {
        body: of("body"),
        tags: tags.unwrap_or_default(),
        ttl_turns: spec.get("ttl_turns").and_then(|ttl| ttl.as_int().ok()).unwrap_or_default(),
        dedupe_key: of("dedupe_key"),
    })
}
