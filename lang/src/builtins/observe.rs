//! Rows that the compiler calls in a run for tests. Scripts cannot name them.

use super::core::failed;
use crate::declaration::{Builtin, arity};
use crate::value::{Value, inspect};
use crate::vm::native::BuiltinRun;
use crate::vm::{Cx, Raise};

/// Counts a line.
pub(crate) static COVER: Builtin = row("cover", "cover(counter: int) -> nil", BuiltinRun::Plain(cover));

/// `assert`, with the values of the parts of its condition after the message.
pub(crate) static ASSERT_PARTS: Builtin =
    row("assert", "assert(condition: any, message: any, ...parts) -> nil", BuiltinRun::Plain(assert_parts));

const fn row(name: &'static str, sig: &'static str, run: BuiltinRun) -> Builtin {
    Builtin {
        module: "",
        name,
        sig,
        doc: "",
        caps: &[],
        pure: false,
        property: false,
        arity: arity(sig),
        run,
        lint: None,
        typed_by: &[],
    }
}

fn cover(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if let Some(counter) = args.first().and_then(Value::as_int).and_then(|n| usize::try_from(n).ok()) {
        cx.isolate.coverage().hit(counter);
    }
    Ok(Value::Nil)
}

/// Characters of a value that are shown beside the source.
const LONGEST: usize = 120;

fn assert_parts(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let [condition, message, parts @ ..] = args else { return Ok(Value::Nil) };
    if condition.truthy() {
        return Ok(Value::Nil);
    }
    let mut raise = failed(message, "assertion failed".to_owned()).about(0, format!("this is {}", inspect(condition)));
    for (i, part) in parts.iter().enumerate().filter(|(_, part)| !matches!(part, Value::Unbound)) {
        raise.parts.push((2 + i, shortened(inspect(part))));
    }
    Err(raise)
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}
