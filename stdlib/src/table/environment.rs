//! The process around the run.

use crate::capability::Capability;
use crate::convert::to_value;
use crate::here;
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise};

lang::builtins! { "" =>
    /// Returns the value of an environment variable, or the default.
    ///
    /// ```harn
    /// env("HARN_EXAMPLE_THAT_IS_NOT_SET", "none") // => "none"
    /// ```
    plain "env(name: string, default: any = nil) -> any" [caps = &[Capability::Env.right()]] env;
    /// Returns the value of an environment variable, or the fallback if it is not set or empty.
    ///
    /// ```harn
    /// env_or("HARN_EXAMPLE_THAT_IS_NOT_SET", "none") // => "none"
    /// ```
    plain "env_or(name: string, fallback: T) -> string | T" [caps = &[Capability::Env.right()]] env_or;
    /// Returns the arguments after `--`.
    ///
    /// ```harn
    /// args() // => []
    /// ```
    plain "args() -> list<string>" argv;
    /// Returns the arguments; as `args`.
    ///
    /// ```harn
    /// argv() // => []
    /// ```
    plain "argv() -> list<string>" argv;
}

fn env(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let name = args::str(args, 0)?.clone();
    Ok(match std::env::var(name.as_str()) {
        Ok(text) => Value::from(text),
        Err(_) => std::mem::take(&mut args[1]),
    })
}

fn env_or(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let name = args::str(args, 0)?.clone();
    Ok(match std::env::var(name.as_str()) {
        Ok(text) if !text.is_empty() => Value::from(text),
        _ => std::mem::take(&mut args[1]),
    })
}

fn argv(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(to_value(&here::world(cx)?.args_data()))
}
