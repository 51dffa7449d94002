//! Functions of Rhai's arrays that compare items: Rhai's own ones ignore what a comparer fails with, also a limit of the
//! run. These end with its error and leave the array as it was.

use super::errors::to_rhai;
use super::offer::add;
use lang::vm::tick;
use rhai::{Array, Dynamic, EvalAltResult, FnPtr, ImmutableString, Module, NativeCallContext, Position};
use std::any::TypeId;
use std::cmp::Ordering;

type Failure = Box<EvalAltResult>;

/// Adds them.
pub(super) fn add_sorting(module: &mut Module) {
    let array = TypeId::of::<Array>();
    // A comparer can be named, too.
    let (function, name) = (TypeId::of::<FnPtr>(), TypeId::of::<ImmutableString>());
    for (name, comparer) in [("sort", function), ("sort", name), ("sort_by", function)] {
        let signature = format!("array.{name}(comparer)");
        add(module, name, &[array, comparer], &signature, " Sorts it by a comparer.", |context, args| {
            let sorted = sorted(context, args)?;
            if let Some(mut array) = args[0].write_lock::<Array>() {
                *array = sorted;
            }
            Ok(Dynamic::UNIT)
        });
    }
    for name in ["order", "order_by"] {
        let signature = format!("array.{name}(comparer)");
        let doc = " Returns the items, sorted by a comparer.";
        add(module, name, &[array, function], &signature, doc, |context, args| Ok(sorted(context, args)?.into()));
    }
    let doc = " Removes items that equal the one before.";
    add(module, "dedup", &[array], "array.dedup()", doc, |context, args| {
        dedup(args[0], |one, other| match context.call_native_fn_raw("==", true, &mut [one, other]) {
            // Items that cannot be compared differ.
            Err(error) if matches!(*error, EvalAltResult::ErrorFunctionNotFound(..)) => Ok(Dynamic::FALSE),
            compared => compared,
        })
    });
    let doc = " Removes items for which a comparer of the one before and the item returns true.";
    for comparer in [function, name] {
        add(module, "dedup", &[array, comparer], "array.dedup(comparer)", doc, |context, args| {
            let comparer = function_of(args[1])?;
            dedup(args[0], |one, other| comparer.call_raw(context, None, [one.clone(), other.clone()]))
        });
    }
}

fn function_of(value: &mut Dynamic) -> Result<FnPtr, Failure> {
    match std::mem::take(value).try_cast_result::<FnPtr>() {
        Ok(function) => Ok(function),
        Err(name) => FnPtr::new(name.into_immutable_string().unwrap_or_default()),
    }
}

fn failure(message: String) -> Failure {
    EvalAltResult::ErrorRuntime(message.into(), Position::NONE).into()
}

/// Returns the items of an array, sorted. The sort is stable.
fn sorted(context: &NativeCallContext<'_>, args: &mut [&mut Dynamic]) -> Result<Array, Failure> {
    let comparer = function_of(args[1])?;
    let Some(array) = args[0].read_lock::<Array>() else { return Ok(Array::new()) };
    let order = order_of(array.len(), |one, other| {
        let result = comparer.call_raw(context, None, [array[one].clone(), array[other].clone()])?;
        is_less(&result)
    })?;
    Ok(order.into_iter().map(|place| array[place].clone()).collect())
}

/// Reads the result of a comparer: whether the first item is less.
fn is_less(result: &Dynamic) -> Result<bool, Failure> {
    let found = result.as_int().map(|number| number.cmp(&0) == Ordering::Less).or_else(|_| result.as_bool());
    found.map_err(|found| failure(format!("a comparer must return an integer or a bool, found {found}")))
}

/// Returns the places of items in their order, by a merge sort. It fails with the comparer.
fn order_of(len: usize, mut is_less: impl FnMut(usize, usize) -> Result<bool, Failure>) -> Result<Vec<usize>, Failure> {
    let mut from: Vec<usize> = (0..len).collect();
    let mut to = from.clone();
    let mut width = 1;
    while width < len {
        for begin in (0..len).step_by(2 * width) {
            let (middle, end) = ((begin + width).min(len), (begin + 2 * width).min(len));
            let (mut left, mut right) = (begin, middle);
            for place in &mut to[begin..end] {
                let takes_right = right < end && (left == middle || is_less(from[right], from[left])?);
                let taken = if takes_right { &mut right } else { &mut left };
                *place = from[*taken];
                *taken += 1;
            }
        }
        std::mem::swap(&mut from, &mut to);
        width *= 2;
    }
    Ok(from)
}

/// Removes the items that equal the one before them.
fn dedup(
    array: &mut Dynamic,
    mut equals: impl FnMut(&mut Dynamic, &mut Dynamic) -> Result<Dynamic, Failure>,
) -> Result<Dynamic, Failure> {
    let Some(mut array) = array.write_lock::<Array>() else { return Ok(Dynamic::UNIT) };
    let mut kept = Vec::with_capacity(array.len());
    let mut last = 0;
    for place in 0..array.len() {
        tick().map_err(to_rhai)?;
        let is_repeated = place > 0 && {
            let (before, after) = array.split_at_mut(place);
            equals(&mut before[last], &mut after[0])?.as_bool().unwrap_or(false)
        };
        if !is_repeated {
            last = place;
        }
        kept.push(!is_repeated);
    }
    let mut kept = kept.into_iter();
    array.retain(|_| kept.next().unwrap_or(true));
    Ok(Dynamic::UNIT)
}
