//! The methods of the table of builtins as methods in Rhai. Rhai's own of the same name win.

use super::RhaiFrontEnd;
use super::convert::{ConversionContext, to_dynamic, to_value};
use super::errors::to_rhai;
use super::offer::{add, arities, name_in_rhai, run};
use super::value::Opaque;
use lang::builtins::Builtin;
use lang::value::{Str, Tag, Value};
use lang::vm::{call, inside, method_of, missing_method, read};
use rhai::{Array, Blob, Dynamic, EvalAltResult, ImmutableString, Map, Module, NativeCallContext, Position};
use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

/// Adds the methods of all rows: one of its type for what Rhai has a type for, one for all of a name for the rest.
pub(super) fn add_methods(rows: &[&'static Builtin], module: &mut Module) {
    let mut names: BTreeMap<&'static str, (BTreeSet<usize>, &'static Builtin)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_method() && !is_hidden(row)) {
        names.entry(row.name).or_insert_with(|| (BTreeSet::new(), row)).0.extend(arities(row.arity));
        for of in types_in_rhai(row.module) {
            for count in arities(row.arity) {
                let row = *row;
                add(
                    module,
                    &name_in_rhai(row.name),
                    &types(of, count),
                    row.sig,
                    row.summary(),
                    move |context, args| run(context, row, receiver_and_rest(args)),
                );
            }
        }
    }
    for (name, (counts, row)) in names {
        for count in counts {
            add(module, &name_in_rhai(name), &types(TypeId::of::<Opaque>(), count), row.sig, row.summary(), {
                move |context, args| of_opaque(context, name, args)
            });
        }
    }
}

/// Rows that belong to the syntax of the language, and the way to print values of Rhai, which has its own.
pub(super) fn is_hidden(row: &Builtin) -> bool {
    row.module == "<control>" || row.name == "to_string"
}

fn types(receiver: TypeId, count: usize) -> Vec<TypeId> {
    let mut types = vec![TypeId::of::<Dynamic>(); count.max(1)];
    types[0] = receiver;
    types
}

/// The types in Rhai of the receivers of a namespace of methods.
pub(super) fn types_in_rhai(module: &str) -> impl Iterator<Item = TypeId> {
    let tags = [
        (Tag::List, TypeId::of::<Array>()),
        (Tag::Dict, TypeId::of::<Map>()),
        (Tag::Str, TypeId::of::<ImmutableString>()),
        (Tag::Int, TypeId::of::<i64>()),
        (Tag::Float, TypeId::of::<f64>()),
        (Tag::Bool, TypeId::of::<bool>()),
        (Tag::Bytes, TypeId::of::<Blob>()),
        (Tag::Range, TypeId::of::<std::ops::Range<i64>>()),
        (Tag::Range, TypeId::of::<std::ops::RangeInclusive<i64>>()),
    ];
    tags.into_iter().filter(move |(tag, _)| tag.module() == module).map(|(_, of)| of)
}

/// The receiver stays where it is, the others are given away.
fn receiver_and_rest<'a>(args: &'a mut [&mut Dynamic]) -> impl Iterator<Item = Dynamic> + 'a {
    args.iter_mut().enumerate().map(|(i, arg)| if i == 0 { arg.clone() } else { std::mem::take(*arg) })
}

/// A method of a value that Rhai has no type for: which one is meant is known when it is called.
fn of_opaque(
    context: &NativeCallContext<'_>,
    name: &'static str,
    args: &mut [&mut Dynamic],
) -> Result<Dynamic, Box<EvalAltResult>> {
    let Some(front_end) = RhaiFrontEnd::of(context) else {
        return Err(EvalAltResult::ErrorFunctionNotFound(name.to_owned(), Position::NONE).into());
    };
    let from = ConversionContext { front_end: &front_end, context };
    let mut args =
        receiver_and_rest(args).map(|arg| to_value(arg, from)).collect::<Result<Vec<_>, _>>().map_err(to_rhai)?;
    let receiver = args.first().cloned().unwrap_or_default();
    let found = inside(|cx| {
        // What the value itself holds under that name comes first.
        if let Ok(own) = read(cx, &receiver, &Value::Str(Str::new(name)))
            && own.is_callable()
        {
            args.remove(0);
            return Ok(own);
        }
        // A method of some type hides the function of the same name: Rhai calls both alike.
        let function = || cx.isolate.registry().find("", name);
        match method_of(cx, &receiver, name).or_else(function).filter(|row| front_end.offers(row)) {
            Some(row) => Ok(Value::Builtin(row)),
            None => Err(missing_method(cx, &receiver, name)),
        }
    });
    let Some(found) = found else {
        return Err(EvalAltResult::ErrorFunctionNotFound(name.to_owned(), Position::NONE).into());
    };
    let function = found.map_err(to_rhai)?;
    call(function, args).map(|value| to_dynamic(value, &front_end)).map_err(to_rhai)
}
