//! Diagnostics as a log of the Static Analysis Results Interchange Format, version 2.1.0.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use std::path::Path;
use stdlib::{Code, Diagnostic, Edit, Fix, Label, Severity, Source};

/// Returns the log of one run.
pub(super) fn log(found: &[Diagnostic]) -> Value {
    let mut rules: Vec<&'static Code> = Vec::new();
    for diagnostic in found {
        if !rules.iter().any(|rule| rule.code == diagnostic.code.as_str()) {
            rules.push(diagnostic.code.row());
        }
    }
    rules.sort_by_key(|rule| rule.code);
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "harn",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|row| rule(row)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": found.iter().map(|diagnostic| result(diagnostic, &rules)).collect::<Vec<_>>(),
        }],
    })
}

fn rule(row: &Code) -> Value {
    json!({
        "id": row.code,
        "shortDescription": {"text": row.title},
        "fullDescription": {"text": row.meaning},
        "help": {"text": format!("`harn explain {}` shows an example.", row.code)},
        "defaultConfiguration": {"level": level(row.severity)},
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result(diagnostic: &Diagnostic, rules: &[&Code]) -> Value {
    let mut text = diagnostic.message.clone();
    for (word, remarks) in [("note", &diagnostic.notes), ("help", &diagnostic.help)] {
        remarks.iter().for_each(|remark| text.push_str(&format!("\n{word}: {remark}")));
    }
    let mut result = json!({
        "ruleId": diagnostic.code.as_str(),
        "ruleIndex": rules.iter().position(|rule| rule.code == diagnostic.code.as_str()),
        "level": level(diagnostic.severity),
        "message": {"text": text},
    });
    let [first, others @ ..] = diagnostic.labels.as_slice() else { return result };
    result["locations"] = json!([location(first)]);
    if !others.is_empty() {
        result["relatedLocations"] = others.iter().map(location).collect();
    }
    if !diagnostic.fixes.is_empty() {
        let help = diagnostic.help.first();
        result["fixes"] = diagnostic.fixes.iter().map(|f| fix(f, &first.source, help)).collect();
    }
    result
}

fn location(label: &Label) -> Value {
    let region = region(&label.source, label.span.start, label.span.end);
    let mut location = json!({"physicalLocation": {"artifactLocation": artifact(&label.source), "region": region}});
    if !label.text.is_empty() {
        location["message"] = json!({"text": label.text});
    }
    location
}

fn fix(fix: &Fix, source: &Source, help: Option<&String>) -> Value {
    let replacement = |edit: &Edit| {
        json!({
            "deletedRegion": region(source, edit.span.start, edit.span.end),
            "insertedContent": {"text": edit.replacement},
        })
    };
    let replacements: Vec<Value> = fix.edits.iter().map(replacement).collect();
    let mut value = json!({
        "artifactChanges": [{"artifactLocation": artifact(source), "replacements": replacements}],
        "properties": {"applicability": fix.applicability.word()},
    });
    if let Some(help) = help {
        value["description"] = json!({"text": help});
    }
    value
}

fn region(source: &Source, start: u32, end: u32) -> Value {
    let (start, end) = (source.position(start), source.position(end));
    json!({"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column})
}

/// Characters that are encoded in the path of a URI.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn artifact(source: &Source) -> Value {
    let name = source.name().strip_prefix("./").unwrap_or(source.name());
    let encoded = utf8_percent_encode(name, PATH);
    json!({"uri": if Path::new(name).is_absolute() { format!("file://{encoded}") } else { encoded.to_string() }})
}
