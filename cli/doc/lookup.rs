//! The documentation of one builtin, or of one named type.

use crate::report::visible;
use lang::builtins::{OptionRow, OptionTable};
use lang::diagnostic::nearest;
use std::fmt::Write as _;
use stdlib::{Builtin, builtins, registry};

/// Returns the signatures and texts of the builtins of a name: `NAME`, `NAMESPACE.NAME`, `TYPE.METHOD`, or a method alone. After a
/// dot that follows anything else, the name is that of a method. The name of a type of options or results returns its keys.
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
        if let Some(table) = registry().table(name) {
            return Ok(of_table(table));
        }
        let names: Vec<String> = builtins().map(Builtin::full_name).collect();
        let types = registry().tables().map(|table| table.name);
        let near = nearest(name, names.iter().map(String::as_str).chain(types));
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

/// Returns the keys of a type with their types, defaults and texts.
fn of_table(table: &OptionTable) -> String {
    let mut text = format!("{}\n  {}\n", table.name, table.doc);
    for row in table.all() {
        let _ = write!(text, "\n  {}\n      {}\n", head(row), row.doc);
    }
    if table.open {
        text.push_str("\n  Further keys are possible.\n");
    }
    text
}

/// Returns a key with its type and default.
pub(super) fn head(row: &OptionRow) -> String {
    let optional = if row.required { "" } else { "?" };
    let default = if row.default.is_empty() { String::new() } else { format!(" = {}", row.default) };
    format!("{}{optional}: {}{default}", row.key, row.ty)
}
