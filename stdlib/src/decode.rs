//! Data as values of the types that a script declares.

use lang::value::Value;
use lang::vm::{Called, Context, DecodeOptions, Decoded, Function, Isolate, Raise, RunCode, TypeValue};
use std::rc::Rc;

/// Makes a value of a type from data. Defaults that are expressions are computed.
pub(crate) async fn decode_as(
    ty: &Value,
    data: Value,
    isolate: &Rc<Isolate>,
    context: &Rc<Context>,
) -> Result<Value, Box<Raise>> {
    let Some(ty) = ty.as_host::<TypeValue>() else { return Ok(data) };
    let functions = match ty.decode(&data, DecodeOptions::default())? {
        Decoded::Value(value) => return Ok(value),
        Decoded::Defaults(functions) => functions,
    };
    let mut defaults = Vec::with_capacity(functions.len());
    for number in functions {
        let function = TypeValue::default_function(isolate, number);
        let function = function.and_then(|value| Function::new(isolate, context, value));
        let Some(function) = function else { return Err(no_default()) };
        defaults.push(match function.call([]) {
            Called::Now(done) => done?,
            Called::Later(wait) => wait.into_local().await?,
        });
    }
    match ty.decode(&data, DecodeOptions { defaults: &defaults, ..DecodeOptions::default() })? {
        Decoded::Value(value) => Ok(value),
        Decoded::Defaults(_) => Err(no_default()),
    }
}

/// Makes values of their types of the arguments that a host has as data. An argument that was left out stays nil.
pub(crate) async fn decode_args<'n>(
    args: &mut [Value],
    types: &[(usize, Value)],
    name: impl Fn(usize) -> Option<&'n str>,
    isolate: &Rc<Isolate>,
    context: &Rc<Context>,
) -> Result<(), Box<Raise>> {
    for (at, ty) in types {
        let Some(arg) = args.get_mut(*at).filter(|arg| !arg.is_nil()) else { continue };
        *arg = decode_as(ty, std::mem::take(arg), isolate, context).await.map_err(|mut raise| {
            if raise.code == RunCode::Decode {
                let name = name(*at).unwrap_or_default();
                raise.message = format!("invalid argument `{name}`: {}", raise.message);
            }
            raise
        })?;
    }
    Ok(())
}

fn no_default() -> Box<Raise> {
    Raise::error(RunCode::Decode, "cannot compute the default of a field")
}
