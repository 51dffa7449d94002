//! Diagnostics for tools: the facts of the picture as JSON.

use super::fix::{Edit, Fix};
use super::{Diagnostic, Label, TraceFrame};
use crate::source::SourceRef;
use serde_json::{Value, json};

/// One diagnostic as a JSON object. Offsets count bytes from 0; lines and columns count from 1, columns in characters.
#[must_use]
pub fn to_json(diagnostic: &Diagnostic) -> Value {
    json!({
        "code": diagnostic.code.as_str(),
        "severity": diagnostic.severity.word(),
        "message": diagnostic.message,
        "labels": diagnostic.labels.iter().map(label).collect::<Vec<_>>(),
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "fixes": diagnostic.fixes.iter().map(|f| fix(f, diagnostic.labels.first())).collect::<Vec<_>>(),
        "trace": diagnostic.trace.iter().map(frame).collect::<Vec<_>>(),
    })
}

fn label(label: &Label) -> Value {
    let start = label.source.position(label.span.start);
    let end = label.source.position(label.span.end);
    json!({
        "file": label.source.name(),
        "start": label.span.start,
        "end": label.span.end,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "text": label.text,
    })
}

/// The edits are in the file of the first label.
fn fix(fix: &Fix, first: Option<&Label>) -> Value {
    let edits = first.map(|label| fix.edits.iter().map(|e| edit(e, &label.source)).collect::<Vec<_>>());
    json!({ "applicability": fix.applicability.word(), "edits": edits.unwrap_or_default() })
}

fn edit(edit: &Edit, source: &SourceRef) -> Value {
    let start = source.position(edit.span.start);
    let end = source.position(edit.span.end);
    json!({
        "file": source.name(),
        "start": edit.span.start,
        "end": edit.span.end,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "replacement": edit.replacement,
    })
}

fn frame(frame: &TraceFrame) -> Value {
    let mut facts = match &frame.at {
        None => json!({ "function": frame.function }),
        Some((source, span)) => {
            let at = source.position(span.start);
            if frame.function.is_empty() {
                return json!({ "task": true, "file": source.name(), "line": at.line, "column": at.column });
            }
            json!({ "function": frame.function, "file": source.name(), "line": at.line, "column": at.column })
        }
    };
    if frame.times > 1 {
        facts["times"] = json!(frame.times);
    }
    facts
}
