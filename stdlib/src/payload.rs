//! The payload of a handler, as the dict that it sees.

use crate::convert::{key, to_value};
use lang::value::{Dict, Value};
use runtime::hooks::HookEvent;
use runtime::hooks::event::ToolRow;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The session of the last payload as its handler saw it: a loop reports the same one
    /// repeatedly.
    static SESSION: RefCell<Option<(Arc<str>, Value)>> = const { RefCell::new(None) };
}

/// The payload of an event; made field by field, without a [`base::data::Data`] of the whole in between.
pub(crate) fn payload(event: &HookEvent<'_>, session_id: &Arc<str>) -> Value {
    let mut entries = Dict::with_capacity(8);
    event.each_field(&mut |name, value| {
        let value = match event.tool_rows() {
            Some(rows) if name == "tool_results" => Value::list(rows.iter().map(tool_row).collect()),
            _ => to_value(&value()),
        };
        entries.insert(key(name), value);
    });
    let session = key("session");
    if !entries.contains(&session) {
        entries.insert(session, of_session(session_id));
    }
    Value::dict(entries)
}

fn of_session(id: &Arc<str>) -> Value {
    SESSION.with_borrow_mut(|last| match last {
        Some((known, value)) if Arc::ptr_eq(known, id) => value.clone(),
        _ => {
            let mut entries = Dict::with_capacity(1);
            entries.insert(key("id"), Value::str(id));
            last.insert((id.clone(), Value::dict(entries))).1.clone()
        }
    })
}

/// Returns the row as [`ToolRow::to_data`] has it.
pub(crate) fn tool_row(row: &ToolRow) -> Value {
    let fields = [
        ("name", Value::str(&row.name)),
        ("ok", Value::Bool(row.result.ok)),
        ("text", Value::str(&row.result.text)),
        ("tool_call_id", Value::str(&row.tool_call_id)),
        ("truncated", Value::Bool(row.result.truncated)),
    ];
    Value::dict(fields.into_iter().map(|(name, value)| (key(name), value)).collect::<Dict>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::data::Data;
    use runtime::hooks::event::ToolResult;
    use runtime::message::ToolCall;

    #[test]
    fn a_row_reads_as_its_data_does() {
        let call = ToolCall::new("c1", "look", Data::Nil);
        let result = ToolResult { text: "x".into(), truncated: true, ok: false, value: Data::Nil };
        let result = ToolRow::new(&call, result);
        assert_eq!(lang::value::display(&tool_row(&result)), lang::value::display(&to_value(&result.to_data())));
    }
}
