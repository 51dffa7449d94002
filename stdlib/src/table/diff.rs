//! Differences of texts.

use crate::options::{DiffOptions, OptionSet};
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise};
use similar::TextDiff;
use std::time::Duration;

lang::builtins! { "" =>
    /// Returns the lines that differ as a unified diff, empty if the texts are equal. `context` is the number of equal lines around
    /// a change, `old_name` and `new_name` are the names in the head.
    ///
    /// ```harn
    /// diff("a\nb\n", "a\nc\n", {old_name: "old", new_name: "new"}) // => "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    /// diff("a", "a") // => ""
    /// ```
    plain "diff(old: string, changed: string, options: DiffOptions = nil) -> string" diff;
}

/// The time after which a diff of large texts becomes coarse: it is still correct.
const PRECISE: Duration = Duration::from_millis(500);

fn diff(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (a, b) = (args::str(args, 0)?, args::str(args, 1)?);
    let DiffOptions { context, old_name, new_name } = DiffOptions::read(cx, args, 2)?;
    if a.as_str() == b.as_str() {
        return Ok(Value::str(""));
    }
    let bytes = a.len().saturating_add(b.len());
    cx.charge(bytes, 2);
    // Each line takes some memory of its own.
    let lines = a.matches('\n').count() + b.matches('\n').count();
    cx.check_size(bytes.checked_add(lines.saturating_mul(64)))?;
    let diff = TextDiff::configure().timeout(PRECISE).diff_lines(a.as_str(), b.as_str());
    // Contexts of a million lines are those of all lines.
    let text = diff.unified_diff().context_radius(context.min(1 << 20)).header(&old_name, &new_name).to_string();
    Ok(Value::from(text))
}
