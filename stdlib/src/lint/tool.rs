//! The types of a tool's parameters in a literal.

use super::literal;
use crate::convert::to_value;
use crate::schema::{SchemaCode, is_schema, unknown_type};
use lang::check::{CallView, DictView};
use lang::diagnostic::Diagnostic;

/// `tool_define(registry, name, description, definition)`
pub(crate) fn tool_define(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    let Some(definition) = view.arg(3).and_then(|arg| view.dict(arg)) else { return };
    let Some(written) = definition.get("parameters") else { return };
    let (Some(data), Some(dict)) = (literal::data(view, written), view.dict(written)) else { return };
    // A schema is checked as a whole, when the tool is defined.
    if to_value(&data).as_dict().is_none_or(is_schema) {
        return;
    }
    types(view, &dict, found);
}

fn types<'a>(view: &CallView<'a>, dict: &DictView<'a>, found: &mut Vec<Diagnostic>) {
    for (name, value) in dict.entries() {
        let Some(unknown) = view.text(value).and_then(|text| unknown_type(&name.text, text)) else { continue };
        let d = Diagnostic::new(SchemaCode::Schema, unknown.message)
            .label(view.source(), value.span, "unknown type")
            .help(unknown.help);
        found.push(match unknown.meant {
            Some(meant) => d.fix(value.span, format!("{meant:?}")),
            None => d,
        });
    }
}
