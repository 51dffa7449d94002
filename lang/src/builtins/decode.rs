//! `Type.from(data)`: values of a type from data.

use super::{Native, Step, args, no_item};
use crate::value::Value;
use crate::vm::{Cx, DecodeOptions, Decoded, Raise, RunCode, TypeValue};
use std::rc::Rc;

crate::builtins! { "<type>" =>
    /// Makes a value of the type from data, such as parsed JSON: `Ok(value)`, or an `Err` whose `message` and `path` name the
    /// place that does not fit. With `strict` an unknown key is an error, and so is a float where an int is expected.
    native "from(self: any, data: any, options: DecodeOptions = nil) -> Result" FROM;
}

static FROM: &Native = &Native { enter, resume, item: no_item, slots: SLOTS };

/// Registers of a decoding that computes defaults, after the type, the data and the options.
pub(super) const SLOTS: u8 = 3;
/// A list of the functions that are still to be called.
const FUNCTIONS: usize = 3;
/// A list of what the others have returned.
const VALUES: usize = 4;
/// The function that is being called.
const CALLEE: usize = 5;

/// Outcome of a step of decoding.
pub(super) enum DecodeStep {
    /// The value, or why there is none.
    Done(Result<Value, Box<Raise>>),
    /// A default must be computed: the function in the register of that number is called without arguments.
    Call(usize),
}

fn enter(cx: &mut Cx<'_>, window: &mut [Value]) -> Result<Step, Box<Raise>> {
    let step = begin(cx, window, is_strict(window, 2)?);
    outcome(window, step)
}

fn resume(cx: &mut Cx<'_>, window: &mut [Value], answer: Value) -> Result<Step, Box<Raise>> {
    let step = go_on(cx, window, is_strict(window, 2)?, answer);
    outcome(window, step)
}

/// Returns a mismatch as a result; an error that ends the run stays one.
fn outcome(_: &mut [Value], step: DecodeStep) -> Result<Step, Box<Raise>> {
    match step {
        DecodeStep::Call(callee) => Ok(Step::Call { callee, args: callee, argc: 0 }),
        DecodeStep::Done(Ok(value)) => Ok(Step::Return(Value::ok(value))),
        DecodeStep::Done(Err(raise)) if raise.code == RunCode::Decode => Ok(Step::Return(Value::err(raise.to_value()))),
        DecodeStep::Done(Err(raise)) => Err(raise),
    }
}

/// The option `strict` of the options in an argument.
pub(super) fn is_strict(args: &[Value], at: usize) -> Result<bool, Box<Raise>> {
    match args::opt_dict(args, at)?.and_then(|options| options.get_str("strict")) {
        None | Some(Value::Nil) => Ok(false),
        Some(Value::Bool(strict)) => Ok(*strict),
        Some(other) => {
            let message = format!("`strict` must be a bool, found {}", crate::value::article(other.type_name()));
            Err(Raise::error(RunCode::Type, message).about(at, "invalid `strict`"))
        }
    }
}

/// Begins to decode the data in the second register as the type in the first.
pub(super) fn begin(cx: &Cx<'_>, window: &mut [Value], strict: bool) -> DecodeStep {
    let Some(ty) = window[0].as_host::<TypeValue>() else {
        return DecodeStep::Done(Err(args::mismatch(window, 0, "a type")));
    };
    match ty.decode(&window[1], DecodeOptions { strict, defaults: &[] }) {
        Err(raise) => DecodeStep::Done(Err(raise)),
        Ok(Decoded::Value(value)) => DecodeStep::Done(Ok(value)),
        Ok(Decoded::Defaults(functions)) => {
            let closures: Option<Vec<Value>> = {
                let function = |number: &u32| TypeValue::default_function(cx.isolate, *number);
                functions.iter().rev().map(function).collect()
            };
            let Some(closures) = closures else { return DecodeStep::Done(Err(no_default())) };
            window[FUNCTIONS] = Value::list(closures);
            window[VALUES] = Value::list(Vec::new());
            next(window)
        }
    }
}

/// Goes on with the value of a default.
pub(super) fn go_on(_: &Cx<'_>, window: &mut [Value], strict: bool, answer: Value) -> DecodeStep {
    if let Value::List(values) = &mut window[VALUES] {
        Rc::make_mut(values).items.push(answer);
    }
    if let step @ DecodeStep::Call(_) = next(window) {
        return step;
    }
    let Some(ty) = window[0].as_host::<TypeValue>() else { return DecodeStep::Done(Err(no_default())) };
    let defaults = window[VALUES].as_list().unwrap_or_default();
    DecodeStep::Done(match ty.decode(&window[1], DecodeOptions { strict, defaults }) {
        Ok(Decoded::Value(value)) => Ok(value),
        // The same data asks for the same defaults.
        Ok(Decoded::Defaults(_)) => Err(no_default()),
        Err(raise) => Err(raise),
    })
}

/// Takes the function that is called next.
fn next(window: &mut [Value]) -> DecodeStep {
    let function = match &mut window[FUNCTIONS] {
        Value::List(functions) => Rc::make_mut(functions).items.pop(),
        _ => None,
    };
    match function {
        Some(function) => {
            window[CALLEE] = function;
            DecodeStep::Call(CALLEE)
        }
        None => DecodeStep::Done(Ok(Value::Nil)),
    }
}

fn no_default() -> Box<Raise> {
    Raise::error(RunCode::Decode, "cannot compute the default of a field")
}
