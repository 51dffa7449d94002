//! Printing, types, conversions, assertions.

use super::args;
use crate::value::{Value, brief, display, equal, inspect};
use crate::vm::{Cx, Meter, Raise, RaisePayload, RunCode, Stopped};
use std::any::Any;
use std::borrow::Cow;
use std::rc::Rc;

crate::builtins! { "" =>
    /// Prints the text of a value.
    plain "print(...values) -> nil" print;
    /// Prints the text of the values, separated by spaces, and a newline.
    plain "println(...values) -> nil" println;
    /// Does what `println` does, but writes to standard error.
    plain "eprintln(...values) -> nil" eprintln;
    /// Prints `[harn] ` and the text of the values.
    plain "log(...values) -> nil" log;
    /// Returns the number of elements, entries or characters.
    ///
    /// ```harn
    /// [len([1, 2]), len({a: 1}), len("hé")] // => [2, 1, 2]
    /// ```
    plain "len(value: any) -> int" len;
    /// Returns the name of a value's type.
    ///
    /// ```harn
    /// type_of([1]) // => "list"
    /// ```
    plain "type_of(value: any) -> string" type_of;
    /// Returns the text of a value, as `println` shows it.
    ///
    /// ```harn
    /// to_string([1, "a"]) // => "[1, a]"
    /// ```
    plain "to_string(value: any) -> string" to_string;
    /// Does what `to_string` does.
    plain "str(value: any) -> string" to_string;
    /// Converts a number or text to an int: a fraction is cut off, and text that is not an int becomes nil.
    ///
    /// ```harn
    /// [to_int("42"), to_int(2.9), to_int("x")] // => [42, 2, nil]
    /// ```
    plain "to_int(value: any) -> int | nil" to_int;
    /// Converts a number or text to a float; text that is not a number becomes nil.
    ///
    /// ```harn
    /// [to_float("2.5"), to_float(2), to_float("x")] // => [2.5, 2.0, nil]
    /// ```
    plain "to_float(value: any) -> float | nil" to_float;
    /// Makes the pair `(first, second)`.
    ///
    /// ```harn
    /// pair(1, "a") // => (1, "a")
    /// ```
    plain "pair(first: A, second: B) -> pair<A, B>" pair;
    /// Raises unless the condition holds.
    plain "assert(condition: any, message: any = nil) -> nil" assert;
    /// Raises unless both values are equal.
    plain "assert_eq(actual: any, expected: any, message: any = nil) -> nil" assert_eq;
    /// Raises unless both values differ.
    plain "assert_ne(actual: any, other: any, message: any = nil) -> nil" assert_ne;
    /// Raises: this place is never reached.
    plain "unreachable(message: any = nil) -> never" unreachable;
    /// Ends the run with an exit code.
    plain "exit(code: int = 0) -> never" exit;
}

/// The texts of the arguments, separated by spaces; nothing is shown of what could not be written whole.
fn joined(args: &[Value]) -> Result<String, Box<Raise>> {
    let mut text = String::new();
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            text.push(' ');
        }
        let shown = match arg {
            Value::Str(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(display(other)),
        };
        if Meter::is_stopped() {
            return Err(Stopped.raise());
        }
        if shown.len() >= Meter::TEXT_STEP {
            let mut meter = Meter::start();
            meter.text(shown.len()).and_then(|()| meter.room(text.len() + shown.len())).map_err(Stopped::raise)?;
            // With room for a line break: to grow by that alone would double a large text.
            text.reserve(shown.len() + 1);
        }
        text.push_str(&shown);
    }
    Ok(text)
}

fn print(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.isolate.host().print(&joined(args)?)?;
    Ok(Value::Nil)
}

fn println(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut text = joined(args)?;
    text.push('\n');
    cx.isolate.host().print(&text)?;
    Ok(Value::Nil)
}

fn eprintln(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut text = joined(args)?;
    text.push('\n');
    cx.isolate.host().eprint(&text);
    Ok(Value::Nil)
}

fn log(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.isolate.host().print(&format!("[harn] {}\n", joined(args)?))?;
    Ok(Value::Nil)
}

fn len(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let n = match &args[0] {
        Value::Str(s) => Some(s.char_count()),
        Value::Bytes(b) => Some(b.len()),
        Value::List(l) => Some(l.items.len()),
        Value::Dict(d) => Some(d.dict.len()),
        Value::Set(s) => Some(s.len()),
        Value::Range(r) => Some(r.len()),
        Value::Host(h) => h.object().size(),
        _ => None,
    };
    n.map(Value::from).ok_or_else(|| args::mismatch(args, 0, "a string, list, dict, set or range"))
}

fn type_of(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::str(args[0].type_name()))
}

fn to_string(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if let Value::Str(_) = &args[0] {
        return Ok(std::mem::take(&mut args[0]));
    }
    let text = display(&args[0]);
    cx.check_size(Some(text.len()))?;
    Ok(Value::from(text))
}

#[allow(clippy::cast_possible_truncation)]
fn to_int(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(match &args[0] {
        Value::Int(i) => Value::Int(*i),
        Value::Float(f) if f.is_finite() && f.abs() < 9.2e18 => Value::Int(f.trunc() as i64),
        Value::Bool(b) => Value::Int(i64::from(*b)),
        Value::Str(s) => s.trim().parse::<i64>().ok().into(),
        _ => Value::Nil,
    })
}

fn to_float(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(match &args[0] {
        Value::Str(s) => s.trim().parse::<f64>().ok().into(),
        other => other.as_number().into(),
    })
}

fn pair(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::pair(std::mem::take(&mut args[0]), std::mem::take(&mut args[1])))
}

pub(super) fn failed(message: &Value, default: String) -> Box<Raise> {
    let text = if message.is_nil() { default } else { format!("{}: {default}", brief(message)) };
    Raise::error(RunCode::Require, text)
}

/// The values of an `assert_eq` that failed, for a host that shows how they differ.
pub struct Unequal {
    /// The value that was found.
    pub actual: Value,
    /// The value that was expected.
    pub expected: Value,
}

impl RaisePayload for Unequal {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn assert(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if args[0].truthy() {
        return Ok(Value::Nil);
    }
    Err(failed(&args[1], "assertion failed".to_owned()).about(0, format!("this is {}", inspect(&args[0]))))
}

fn assert_eq(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if equal(&args[0], &args[1]) {
        return Ok(Value::Nil);
    }
    let text = format!("expected {}, found {}", inspect(&args[1]), inspect(&args[0]));
    let mut raise = failed(&args[2], text).about(0, "not equal");
    raise.payload = Some(Rc::new(Unequal { actual: args[0].clone(), expected: args[1].clone() }));
    Err(raise)
}

fn assert_ne(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if !equal(&args[0], &args[1]) {
        return Ok(Value::Nil);
    }
    Err(failed(&args[2], format!("both values are {}", inspect(&args[0]))).about(0, "equal"))
}

fn unreachable(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Err(failed(&args[0], "unreachable code was reached".to_owned()))
}

fn exit(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let code = args::opt_int(args, 0)?.unwrap_or(0);
    Err(Raise::exit(i32::try_from(code & 0xff).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::super::parse_json;
    use super::*;

    #[test]
    fn text_of_json_is_what_println_shows() {
        let value = parse_json("{\"b\": [1, 2.0, null], \"a\": \"x\"}").unwrap();
        assert_eq!(display(&value), "{a: x, b: [1, 2.0, nil]}");
    }
}
