//! Rows of the catalogue as text and as JSON. The diagnostic on a page is made by really checking or running the script.

#[cfg(feature = "repl")]
use super::catalogue;
use super::notes;
use serde_json::{Value, json};
use std::path::Path;
use std::rc::Rc;
use stdlib::limits::RunLimits;
use stdlib::output::Captured;
use stdlib::{Capability, Code, CodeRef, Diagnostic, Engine, Files, RunOptions, Source, draw};

/// Returns rows as a list.
pub(super) fn rows(rows: &[&'static Code], json: bool) -> String {
    if json { pretty(&Value::Array(rows.iter().copied().map(summary).collect())) } else { list_of(rows) }
}

/// Returns the pages of rows. A single row in JSON is an object, several are a list.
pub(super) fn pages(rows: &[&'static Code], json: bool, color: bool) -> String {
    match rows {
        [row] if json => pretty(&whole(row)),
        _ if json => pretty(&Value::Array(rows.iter().copied().map(whole).collect())),
        _ => rows.iter().map(|row| page(row, color)).collect::<Vec<_>>().join("\n"),
    }
}

/// Returns the list of all codes.
#[cfg(feature = "repl")]
pub(crate) fn list() -> String {
    list_of(&catalogue())
}

fn list_of(rows: &[&'static Code]) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(&format!("{}  {:<7}  {}\n", row.code, row.severity.word(), row.title));
    }
    text.push_str("\n`harn explain CODE` shows the details.\n");
    text
}

/// Returns the page of one code.
pub(crate) fn page(row: &'static Code, color: bool) -> String {
    let (bold, plain) = if color { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
    let mut text = format!("{bold}{} ({}): {}{plain}\n\n", row.code, row.severity.word(), row.title);
    text.push_str(&wrap(&notes::meaning(row), 96));
    if let Some(example) = notes::example(row) {
        text.push_str(&format!("\n{bold}Fails{plain}\n\n{}\n", indent(example.fails)));
        text.push_str(&picture(row, example.fails, color));
        text.push_str(&format!("\n{bold}Fixed{plain}\n\n{}", indent(example.mended)));
    }
    text
}

fn summary(row: &Code) -> Value {
    json!({ "code": row.code, "severity": row.severity.word(), "title": row.title, "meaning": notes::meaning(row) })
}

/// Returns all of a row as JSON.
pub(super) fn whole(row: &'static Code) -> Value {
    let mut value = summary(row);
    if let Some(example) = notes::example(row) {
        value["fails"] = json!(example.fails);
        value["picture"] = json!(picture(row, example.fails, false));
        value["mended"] = json!(example.mended);
    }
    value
}

/// Returns indented JSON with a line break at its end.
pub(super) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Returns the rendered diagnostics of a row's failing script.
fn picture(row: &'static Code, fails: &str, color: bool) -> String {
    found(row, fails).iter().map(|diagnostic| draw(diagnostic, color)).collect()
}

/// Checks the script; what only a run finds, a run finds. The run is harmless: no processes, no network, and no script of the
/// catalogue writes a file. The run has the file capabilities; without them it would report a different error.
fn found(row: &'static Code, fails: &str) -> Vec<Diagnostic> {
    let source = Source::new("script.harn", fails);
    let engine = || {
        Engine::new(RunOptions {
            seed: Some(1),
            denied: vec![Capability::Process, Capability::Net],
            limits: RunLimits { fuel: Some(50_000_000), ..RunLimits::default() },
            output: Rc::new(Captured::default()),
            loader: Rc::new(Files::of(Path::new("explain.harn"))),
            ..RunOptions::default()
        })
    };
    let of_row = |diagnostics: Vec<Diagnostic>| -> Vec<Diagnostic> {
        diagnostics.into_iter().filter(|diagnostic| diagnostic.code == CodeRef::new(row)).collect()
    };
    let checked = of_row(engine().check(&source));
    if checked.is_empty() { of_row(engine().run(&source).diagnostics) } else { checked }
}

fn indent(script: &str) -> String {
    script.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

/// Breaks a paragraph into lines of at most `width` characters.
fn wrap(paragraph: &str, width: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if used > 0 {
            let fits = used + 1 + length <= width;
            text.push(if fits { ' ' } else { '\n' });
            used = if fits { used + 1 } else { 0 };
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_none_is_lost() {
        assert_eq!(wrap("one two  three\nfour", 9), "one two\nthree\nfour\n");
    }
}
