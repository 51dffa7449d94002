//! The documentation of one builtin.

use crate::report::visible;
use lang::diagnostic::nearest;
use stdlib::{Builtin, builtins};

/// Returns the signatures and texts of the builtins of a name: `NAME`, `NAMESPACE.NAME`, `TYPE.METHOD`, or a method alone. After a
/// dot that follows anything else, the name is that of a method.
///
/// # Errors
/// Returns the message for an unknown name.
pub(crate) fn lookup(name: &str) -> Result<String, String> {
    let method = name.rsplit('.').next().unwrap_or(name);
    let named = |name: &str, alone: &str| -> Vec<&Builtin> {
        builtins().filter(|row| row.full_name() == name || row.is_method() && row.name == alone).collect()
    };
    let rows = match named(name, name) {
        rows if rows.is_empty() && name != method => named(name, method),
        rows => rows,
    };
    if rows.is_empty() {
        let names: Vec<String> = builtins().map(Builtin::full_name).collect();
        let near = nearest(name, names.iter().map(String::as_str));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        return Err(format!("unknown builtin `{}`{near}", visible(name)));
    }
    let one = |row: &&Builtin| {
        let of = match row.module.trim_matches(['<', '>']) {
            "" => String::new(),
            of => format!("{of}."),
        };
        let summary = row.summary().split_whitespace().collect::<Vec<_>>().join(" ");
        let example: String = row.example().into_iter().flatten().map(|line| format!("    {line}\n")).collect();
        let between = if example.is_empty() { "" } else { "\n" };
        format!("{of}{}\n  {summary}\n{between}{example}", row.sig)
    };
    Ok(rows.iter().map(one).collect())
}
