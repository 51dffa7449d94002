//! Methods of bytes.

use super::args;
use super::items::room;
use crate::value::Value;
use crate::vm::{Cx, Raise, RunCode};

crate::builtins! { "<bytes>" =>
    /// Returns the number of bytes.
    plain "count(self: bytes) -> int" [pure, property] count;
    /// Whether there are none.
    plain "empty(self: bytes) -> bool" [pure, property] empty;
    /// The bytes as ints from 0 to 255.
    plain "to_list(self: bytes) -> list<int>" [pure] to_list;
    /// The text that the bytes are in UTF-8.
    plain "to_string(self: bytes) -> string" [pure] to_string;
}

/// Bytes, or the bytes of a string in UTF-8.
pub(super) fn read(args: &[Value], i: usize) -> Result<&[u8], Box<Raise>> {
    match args.get(i) {
        Some(Value::Bytes(b)) => Ok(b),
        Some(Value::Str(s)) => Ok(s.as_bytes()),
        _ => Err(args::mismatch(args, i, "a string or bytes")),
    }
}

fn count(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(read(args, 0)?.len()))
}

fn empty(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(read(args, 0)?.is_empty()))
}

fn to_list(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let bytes = read(args, 0)?;
    room(cx, bytes.len())?;
    cx.charge(bytes.len(), 1);
    Ok(Value::list(bytes.iter().map(|b| Value::Int(i64::from(*b))).collect()))
}

pub(super) fn to_string(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    match std::str::from_utf8(read(args, 0)?) {
        Ok(text) => {
            cx.check_copy(text.len())?;
            Ok(Value::str(text))
        }
        Err(e) => {
            let message = format!("invalid UTF-8 at byte {}", e.valid_up_to());
            Err(Raise::error(RunCode::Value, message).about(0, "not UTF-8"))
        }
    }
}
