//! Properties that hold of any text. The fuzz targets check them with mutated scripts, the tests
//! with every script of the repository.

use lang::diagnostic::draw::draw;
use lang::diagnostic::json::to_json;
use lang::diagnostic::{Diagnostic, Label, Severity};
use lang::source::{Source, SourceRef, Span};
use std::fmt::Debug;
use std::rc::Rc;
use std::time::{Duration, Instant};
use stdlib::limits::RunLimits;
use stdlib::output::Captured;
use stdlib::{Capability, Engine, RunOptions};

/// The lexer: its tokens lie in the text one behind the other, and what they leave out is nothing that counts.
pub fn lex(bytes: &[u8]) {
    let Some(source) = source(bytes) else { return };
    let lexed = lang::lex::lex(&source);
    assert_sound(&lexed.diagnostics);
    let mut end = 0;
    for (token, span) in &lexed.tokens {
        assert_inside(&source, *span);
        assert!(end <= span.start, "{token:?} at {span:?} begins before {end}");
        // What was reported may be left out as well.
        if lexed.diagnostics.is_empty() {
            let gap = &source.text()[end as usize..span.start as usize];
            assert!(is_trivia(gap), "{gap:?} before {token:?} at {span:?} got lost");
        }
        end = span.end;
    }
    if lexed.diagnostics.is_empty() {
        let gap = &source.text()[end as usize..];
        assert!(is_trivia(gap), "{gap:?} at the end got lost");
    }
}

/// The parser: a tree and findings that lie in the text.
pub fn parse(bytes: &[u8]) {
    let Some(source) = source(bytes) else { return };
    let parsed = lang::parse::parse(&source);
    assert_sound(&parsed.diagnostics);
    assert_spans_inside(&source, &parsed.module);
}

/// Checks everything before a run: resolving, checking, compiling.
pub fn check(bytes: &[u8]) {
    let Some(source) = source(bytes) else { return };
    assert_sound(&Engine::new(RunOptions::default()).check(&source));
}

/// A mutant, whose name says in which language it is: it is checked, and runs to an end where nothing was found. Whether it
/// ran.
pub fn mutant(name: &str, bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let source = Source::new(name, text);
    let found = Engine::new(RunOptions::default()).check(&source);
    assert_sound(&found);
    let runs = found.iter().all(|d| d.severity != Severity::Error);
    let seen = run_once(&source);
    // A panic in the engine of the other language is caught, and is an error of the script.
    let is_internal = |text: &String| text.contains("internal error");
    assert!(!seen.messages.iter().chain([&seen.stdout, &seen.stderr]).any(is_internal), "{seen:?}");
    runs
}

/// A run with little fuel, small values, little time and no rights ends, and says the same when it is repeated, unless its time
/// was up: how far it gets by then can differ.
pub fn run(bytes: &[u8]) {
    let Some(source) = source(bytes) else { return };
    let (one, other) = (run_once(&source), run_once(&source));
    if !one.is_out_of_time && !other.is_out_of_time {
        assert_eq!(one, other);
    }
}

/// Time of a run: a script can wait for what never comes, such as a message of a hub.
const TIME: Duration = Duration::from_secs(5);

/// A run, by what can be seen of it.
#[derive(Debug, PartialEq)]
struct Seen {
    exit_code: i32,
    stdout: String,
    stderr: String,
    messages: Vec<String>,
    is_out_of_time: bool,
}

fn run_once(source: &SourceRef) -> Seen {
    let output = Rc::new(Captured::default());
    let began = Instant::now();
    let ran = Engine::new(RunOptions {
        seed: Some(1),
        task: Some("Try everything.".to_owned()),
        denied: Capability::ALL.to_vec(),
        limits: RunLimits {
            fuel: Some(20_000),
            value: Some(1 << 16),
            memory: Some(1 << 28),
            time: Some(TIME),
            ..RunLimits::default()
        },
        output: output.clone(),
        ..RunOptions::default()
    })
    .run(source);
    // The script may have caught the error that says so.
    let is_out_of_time = began.elapsed() >= TIME;
    assert_sound(&ran.diagnostics);
    Seen {
        exit_code: ran.exit_code,
        stdout: output.stdout(),
        stderr: output.stderr(),
        messages: ran.diagnostics.into_iter().map(|d| format!("{} {}", d.code, d.message)).collect(),
        is_out_of_time,
    }
}

/// Returns the bytes as a source, or `None` if they are not UTF-8, which the loader rejects.
fn source(bytes: &[u8]) -> Option<SourceRef> {
    std::str::from_utf8(bytes).ok().map(|text| Source::new("input.harn", text))
}

/// Asserts that a span is within the text and on character boundaries.
fn assert_inside(source: &SourceRef, span: Span) {
    let text = source.text();
    let inside = span.start <= span.end && text.get(span.range()).is_some();
    assert!(inside, "{span:?} does not lie in a text of {} bytes", text.len());
}

/// Each diagnostic says something, points into its source, and can be drawn and written as JSON.
fn assert_sound(diagnostics: &[Diagnostic]) {
    for (number, diagnostic) in diagnostics.iter().enumerate() {
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
        for Label { source, span, .. } in &diagnostic.labels {
            assert_inside(source, *span);
        }
        if let Some(first) = diagnostic.labels.first() {
            let edits = diagnostic.fixes.iter().flat_map(|fix| &fix.edits);
            edits.for_each(|edit| assert_inside(&first.source, edit.span));
        }
        for (source, span) in diagnostic.trace.iter().filter_map(|frame| frame.at.as_ref()) {
            assert_inside(source, *span);
        }
        // Pictures are slow, and the hundredth is like the tenth.
        if number < 10 {
            assert!(draw(diagnostic, number % 2 == 0).contains(diagnostic.code.as_str()));
            assert!(to_json(diagnostic).to_string().contains(diagnostic.code.as_str()));
        }
    }
}

/// Asserts that every span in a tree is within the text. The spans are read from the tree's debug
/// form, outside of quotes, so that no node is missed.
fn assert_spans_inside(source: &SourceRef, tree: &impl Debug) {
    let shown = format!("{tree:?}");
    let mut rest = shown.as_str();
    while let Some(at) = rest.find(['"', '.']) {
        let (before, after) = rest.split_at(at);
        if let Some(inside) = after.strip_prefix('"') {
            rest = behind_string(inside);
            continue;
        }
        let digits_before = &before[before.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
        let number_after = after.strip_prefix("..").unwrap_or("");
        let length = number_after.bytes().take_while(u8::is_ascii_digit).count();
        if let (Ok(start), Ok(end)) = (digits_before.parse(), number_after[..length].parse()) {
            assert_inside(source, Span::new(start, end));
        }
        rest = &after[1..];
    }
}

/// Returns the text after the closing quote of a string in debug form.
fn behind_string(text: &str) -> &str {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return &text[at + 1..],
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    ""
}

/// The text is nothing but what a lexer may leave out: blanks, line breaks, comments, joined lines, a second separator.
fn is_trivia(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', '\x0c', '\u{feff}', '\\', ';']);
        rest = if rest.starts_with("//") || rest.starts_with("#!") {
            &rest[rest.find('\n').unwrap_or(rest.len())..]
        } else if rest.starts_with("/*") {
            behind_comment(rest)
        } else {
            return rest.is_empty();
        };
    }
}

/// Returns the text after a comment; comments nest.
fn behind_comment(text: &str) -> &str {
    let (mut depth, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return &text[at + 2..],
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "1..9 does not lie")]
    fn a_span_outside_is_found() {
        let source = source(b"abc").unwrap();
        assert_spans_inside(&source, &("\" 5..77 \\", 0..2, 1.5, [Span::new(1, 9)]));
    }

    #[test]
    fn strings_and_spans_inside_are_passed_over() {
        assert_spans_inside(&source(b"abc").unwrap(), &("\" 5..77 \\", 0..2, 1.5, "..", Span::new(1, 3)));
    }

    #[test]
    fn trivia_is_what_no_token_needs() {
        assert!(is_trivia(" \t// a\n/* b /* c */ */ \\\n#! d"));
        assert!(!is_trivia("/* a */ b"));
        assert!(!is_trivia("/* a */ */"));
    }
}
