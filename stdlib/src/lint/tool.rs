//! The description of a tool, and the types of its parameters, in literals.

use super::literal;
use crate::codes::SchemaCode;
use crate::convert::to_value;
use crate::schema::{is_schema, unknown_type};
use lang::check::{CallView, CheckCode, DictView};
use lang::diagnostic::Diagnostic;

/// `tool_define(registry, name, description, definition)`
pub(crate) fn tool_define(view: &CallView<'_>, found: &mut Vec<Diagnostic>) {
    if let Some(description) = view.arg(2)
        && view.text(description).is_some_and(|text| text.trim().is_empty())
    {
        found.push(
            Diagnostic::new(CheckCode::Undescribed, "the description of the tool is empty")
                .label(view.source(), description.span, "a model cannot know when to call it")
                .help("say in a sentence what the tool does, and when to call it"),
        );
    }
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
