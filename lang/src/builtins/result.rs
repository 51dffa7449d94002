//! `Ok(v)`, `Err(e)`, and what is done with them.

use super::under::under;
use super::{Builtin, args};
use crate::value::{Value, brief};
use crate::vm::{Cx, Raise, RunCode};

crate::builtins! { "" =>
    /// The value in an `Ok`; raises for an `Err`, and for nil.
    plain "unwrap(result: Result<T, E> | dict | nil) -> T" unwrap;
    /// The value in an `Ok`, or the fallback for an `Err` and for nil.
    plain "unwrap_or(result: Result<T, E> | dict | nil, fallback: U) -> T | U" unwrap_or;
    /// The error in an `Err`; raises for an `Ok`.
    plain "unwrap_err(result: Result<T, E> | dict | nil) -> E" unwrap_err;
    /// Whether the value is an `Ok`.
    plain "is_ok(result: any) -> bool" is_ok;
    /// Whether the value is an `Err`.
    plain "is_err(result: any) -> bool" is_err;
    /// The result of something that went well.
    plain "Ok(value: T = nil) -> Result<T, never>" ok;
    /// The result of something that failed.
    plain "Err(error: E = nil) -> Result<never, E>" err;
}

/// Rows that are also methods of results: all but the last two.
const METHOD_ROWS: usize = TABLE.len() - 2;

/// The methods of results.
pub(super) static METHODS: &[Builtin] = &under::<METHOD_ROWS>("<variant>", TABLE);

fn ok(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::ok(std::mem::take(&mut args[0])))
}

fn err(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::err(std::mem::take(&mut args[0])))
}

fn no_result(args: &[Value]) -> Box<Raise> {
    args::mismatch(args, 0, "a result").help("create a Result with `Ok(…)`, `Err(…)` or `try { … }`")
}

fn unwrap(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    match args[0].as_result() {
        Some(Ok(value)) => Ok(value.clone()),
        Some(Err(error)) => {
            let text = error.as_dict().and_then(|d| d.get_str("message")).map_or_else(|| brief(error), brief);
            Err(Raise::error(RunCode::Value, format!("`unwrap` of an `Err`: {text}"))
                .about(0, "this is an `Err`")
                .field("error", error.clone())
                .help("check `is_ok` first, use `unwrap_or`, or return the error with `result?`"))
        }
        None if args[0].is_nil() => Err(Raise::error(RunCode::Value, "`unwrap` of nil")
            .about(0, "this is nil")
            .help("use a default: `value ?? …`")),
        None => match cx.isolate.host().outcome(&args[0]) {
            Some(outcome) => outcome.map(|()| std::mem::take(&mut args[0])),
            None => Err(no_result(args)),
        },
    }
}

fn unwrap_or(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    match args[0].as_result() {
        Some(Ok(value)) => Ok(value.clone()),
        Some(Err(_)) => Ok(std::mem::take(&mut args[1])),
        None if args[0].is_nil() => Ok(std::mem::take(&mut args[1])),
        None => match cx.isolate.host().outcome(&args[0]) {
            Some(Ok(())) => Ok(std::mem::take(&mut args[0])),
            Some(Err(_)) => Ok(std::mem::take(&mut args[1])),
            None => Err(no_result(args)),
        },
    }
}

fn unwrap_err(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    match args[0].as_result() {
        Some(Err(error)) => Ok(error.clone()),
        Some(Ok(value)) => {
            let message = format!("`unwrap_err` of an `Ok`: {}", brief(value));
            Err(Raise::error(RunCode::Value, message).about(0, "this is an `Ok`").help("check `is_err` first"))
        }
        None => Err(no_result(args)),
    }
}

fn is_ok(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(matches!(args[0].as_result(), Some(Ok(_)))))
}

fn is_err(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(matches!(args[0].as_result(), Some(Err(_)))))
}
