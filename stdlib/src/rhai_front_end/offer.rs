//! The table of builtins as functions of Rhai: a namespace is a static module, global rows are global functions.

use super::RhaiFrontEnd;
use super::convert::{ConversionContext, to_dynamic, to_value};
use super::errors::to_rhai;
use lang::builtins::{Arity, Builtin};
use lang::value::Value;
use lang::vm::call;
use rhai::{Dynamic, EvalAltResult, FuncRegistration, Module, NativeCallContext, Position, RhaiFunc};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// A function of Rhai has a fixed number of parameters; a row with `...rest` is offered with up to so many.
const MOST_OF_REST: u8 = 12;

/// Returns the name of a row in Rhai: with an underscore if Rhai reserves the word.
pub(crate) fn name_in_rhai(name: &str) -> String {
    if rhai::is_valid_function_name(name) { name.to_owned() } else { format!("{name}_") }
}

/// Namespaces by their names, the global one empty.
pub(super) fn modules(rows: &[&'static Builtin]) -> BTreeMap<&'static str, Module> {
    let mut modules: BTreeMap<&'static str, Module> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.is_method() && !is_own(row)) {
        let module = modules.entry(row.module).or_default();
        for count in arities(row.arity) {
            let row = *row;
            add(module, &name_in_rhai(row.name), &vec![TypeId::of::<Dynamic>(); count], row.sig, row.summary(), {
                move |context, args| run(context, row, args.iter_mut().map(|arg| std::mem::take(*arg)))
            });
        }
    }
    modules
}

/// Rows in whose place Rhai has something of its own: words of its syntax.
pub(crate) fn is_own(row: &Builtin) -> bool {
    row.module.is_empty() && row.name == "type_of"
}

/// Returns the numbers of arguments that a row is offered with.
pub(super) fn arities(arity: Arity) -> RangeInclusive<usize> {
    let most = if arity.rest { arity.max.max(MOST_OF_REST) } else { arity.max };
    usize::from(arity.min)..=usize::from(most)
}

/// Adds a function to a module.
pub(super) fn add(
    module: &mut Module,
    name: &str,
    types: &[TypeId],
    signature: &str,
    doc: &str,
    function: impl Fn(&NativeCallContext<'_>, &mut [&mut Dynamic]) -> Result<Dynamic, Box<EvalAltResult>> + 'static,
) {
    let of_method = types.first().is_some_and(|first| *first != TypeId::of::<Dynamic>());
    let func = Rc::new(move |context: Option<NativeCallContext<'_>>, args: &mut [&mut Dynamic]| match &context {
        Some(context) => function(context, args),
        None => Err(EvalAltResult::ErrorSystem("a builtin".into(), "called without a context".into()).into()),
    });
    let (has_context, is_pure, is_volatile) = (true, true, true);
    let func = if of_method {
        RhaiFunc::Method { func, has_context, is_pure, is_volatile }
    } else {
        RhaiFunc::Pure { func, has_context, is_pure, is_volatile }
    };
    let comments = std::iter::once(format!("/// `{signature}`"))
        .chain(std::iter::once("///".to_owned()))
        .chain(doc.lines().map(|line| format!("///{line}")));
    FuncRegistration::new(name)
        .in_internal_namespace()
        .with_comments(comments)
        .set_into_module_raw(module, types, func);
}

/// Calls a row with arguments of Rhai.
pub(super) fn run(
    context: &NativeCallContext<'_>,
    row: &'static Builtin,
    args: impl Iterator<Item = Dynamic>,
) -> Result<Dynamic, Box<EvalAltResult>> {
    let Some(front_end) = RhaiFrontEnd::of(context) else {
        return Err(EvalAltResult::ErrorFunctionNotFound(row.full_name(), Position::NONE).into());
    };
    let from = ConversionContext { front_end: &front_end, context };
    let args = args.map(|arg| to_value(arg, from)).collect::<Result<Vec<_>, _>>().map_err(to_rhai)?;
    call(Value::Builtin(row), args).map(|value| to_dynamic(value, &front_end)).map_err(|raise| {
        let mut error = to_rhai(raise);
        // Rhai itself adds it to calls without a namespace only.
        error.set_position(context.call_position());
        error
    })
}
