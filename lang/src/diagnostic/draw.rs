//! Draws a diagnostic for a terminal. Nothing else knows of ariadne.
//!
//! ariadne sees an [`excerpt`] of each source, never the source itself: a line of ten megabytes must not be printed, and
//! a file of that size need not be measured for one label.

mod excerpt;

use super::shown::clean;
use super::{Diagnostic, Label, Severity, TraceFrame};
use crate::source::SourceRef;
use ariadne::{Cache, Color, Config, IndexType, Report, ReportKind};
use excerpt::Excerpt;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

/// Bytes of a message, note or help that are drawn.
const LONGEST: usize = 4096;

/// The picture of a diagnostic, ending in a line break. `color` puts in the escape codes of terminals.
#[must_use]
pub fn draw(diagnostic: &Diagnostic, color: bool) -> String {
    if diagnostic.labels.iter().any(|label| label.source.is_foreign()) {
        let (foreign, own) = diagnostic.labels.iter().cloned().partition::<Vec<_>, _>(|l| l.source.is_foreign());
        let mut drawn = Diagnostic { labels: own, ..diagnostic.clone() };
        drawn.notes.extend(foreign.iter().map(|label| format!("at {}: {}", label.place(), super::OUTSIDE)));
        return draw(&drawn, color);
    }
    let mut out = header(diagnostic, color);
    if !diagnostic.labels.is_empty() {
        out.push_str(&picture(diagnostic, color));
    }
    for note in &diagnostic.notes {
        remark(&mut out, "note", note, color);
    }
    for help in &diagnostic.help {
        remark(&mut out, "help", help, color);
    }
    for frame in &diagnostic.trace {
        trace_line(&mut out, frame);
    }
    out
}

const fn hue(severity: Severity) -> (Color, &'static str) {
    match severity {
        Severity::Error => (Color::Red, "\u{1b}[1;31m"),
        Severity::Warning => (Color::Yellow, "\u{1b}[1;33m"),
        Severity::Info => (Color::Blue, "\u{1b}[1;34m"),
    }
}

fn header(diagnostic: &Diagnostic, color: bool) -> String {
    let head = format!("{}[{}]", diagnostic.severity.word(), diagnostic.code);
    let message = shortened(&diagnostic.message);
    if color {
        format!("{}{head}\u{1b}[0m\u{1b}[1m: {message}\u{1b}[0m\n", hue(diagnostic.severity).1)
    } else {
        format!("{head}: {message}\n")
    }
}

/// Shortens a text to what fits on a screen: a message may quote a value of any size, and any text.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return clean(text);
    }
    format!("{}… ({} bytes in all)", clean(&text[..text.floor_char_boundary(LONGEST)]), text.len()).into()
}

/// `  help: …`, further lines indented under the first.
fn remark(out: &mut String, word: &str, text: &str, color: bool) {
    let text = shortened(text.trim_end()).replace('\n', &format!("\n{:width$}", "", width = word.len() + 4));
    // Writing into a string cannot fail.
    let _ =
        if color { writeln!(out, "  \u{1b}[36m{word}\u{1b}[0m: {text}") } else { writeln!(out, "  {word}: {text}") };
}

fn trace_line(out: &mut String, frame: &TraceFrame) {
    let function = clean(&frame.function);
    let _ = match &frame.at {
        None if function.is_empty() => write!(out, "  in a task"),
        None => write!(out, "  at {function}"),
        Some((source, span)) => {
            let at = source.position(span.start);
            let (file, line, column) = (clean(source.name()), at.line, at.column);
            if function.is_empty() {
                write!(out, "  in a task started at {file}:{line}:{column}")
            } else {
                write!(out, "  at {function} ({file}:{line}:{column})")
            }
        }
    };
    if frame.times > 1 {
        let _ = write!(out, ", {} times", frame.times);
    }
    out.push('\n');
}

/// The excerpts by number.
struct Excerpts(Vec<Excerpt>);

impl Cache<usize> for &Excerpts {
    type Storage = String;

    fn fetch(&mut self, id: &usize) -> Result<&ariadne::Source<String>, impl std::fmt::Debug> {
        self.0.get(*id).map(Excerpt::source).ok_or("no such source")
    }

    fn display<'a>(&self, id: &'a usize) -> Option<impl std::fmt::Display + 'a> {
        self.0.get(*id).map(|e| e.name().to_owned())
    }
}

fn picture(diagnostic: &Diagnostic, color: bool) -> String {
    let mut sources: Vec<SourceRef> = Vec::new();
    for label in &diagnostic.labels {
        if !sources.iter().any(|s| Arc::ptr_eq(s, &label.source)) {
            sources.push(label.source.clone());
        }
    }
    let number = |label: &Label| sources.iter().position(|s| Arc::ptr_eq(s, &label.source)).unwrap_or(0);
    let excerpts = Excerpts(
        sources
            .iter()
            .map(|source| {
                let spans = diagnostic.labels.iter().filter(|l| Arc::ptr_eq(&l.source, source)).map(|l| l.span);
                Excerpt::new(source, &spans.collect::<Vec<_>>())
            })
            .collect(),
    );
    let place = |label: &Label| {
        let id = number(label);
        (id, excerpts.0[id].map(label.span))
    };
    let main = place(&diagnostic.labels[0]);
    let config = Config::default().with_index_type(IndexType::Byte).with_color(color).with_tab_width(4);
    let mut report = Report::build(ReportKind::Custom("", hue(diagnostic.severity).0), main).with_config(config);
    let mut labels: Vec<(usize, &Label)> = diagnostic.labels.iter().enumerate().collect();
    // In the order of the text, or ariadne draws a picture for each.
    labels.sort_by_key(|(_, label)| (number(label), label.span));
    for (index, label) in labels {
        let hue = if index == 0 { hue(diagnostic.severity).0 } else { Color::Cyan };
        // A mark without words would be drawn as an arrow to nothing, or not at all.
        let words = if label.text.is_empty() { "here" } else { &label.text };
        report = report.with_label(ariadne::Label::new(place(label)).with_color(hue).with_message(clean(words)));
    }
    let mut bytes = Vec::new();
    if report.finish().write(&excerpts, &mut bytes).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // The first line is ariadne's header; ours stands already.
    let body = text.split_once('\n').map_or("", |(_, body)| body);
    let trimmed: String = body.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    let trimmed = match excerpts.0.as_slice() {
        [only] if !color => only.correct_lines(trimmed),
        _ => trimmed,
    };
    excerpts.0.iter().fold(trimmed, |body, excerpt| excerpt.correct_column(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::json::to_json;
    use crate::source::{Source, Span};

    crate::codes! {
    enum TestCode {
        Here = "HARN-TST-001", Error { title: "here", meaning: "A code of these tests.", },
        Name = "HARN-NAM-001", Error { title: "name", meaning: "A code of these tests.", },
        File = "HARN-IO-001", Error { title: "file", meaning: "A code of these tests.", },
        Odd = "HARN-TST-002", Warning { title: "odd", meaning: "A code of these tests.", },
    }
    }

    fn drawn(text: &str, span: Span) -> String {
        let source = Source::new("t.harn", text);
        draw(&Diagnostic::new(TestCode::Here, "what happened").label(&source, span, "here"), false)
    }

    #[test]
    fn a_picture() {
        let source = Source::new("t.harn", "let ä = 1\nlet b = ä + c\n");
        let mut diagnostic = Diagnostic::new(TestCode::Name, "`c` is not defined")
            .label(&source, Span::new(24, 25), "not found")
            .label(&source, Span::new(4, 6), "this one is")
            .note("names are looked up from the inside out")
            .help("define it:\nlet c = 1");
        diagnostic.trace.push(TraceFrame::new("main", Some((source, Span::new(19, 21)))));
        diagnostic.trace.push(TraceFrame::new("map", None));
        let want = "\
error[HARN-NAM-001]: `c` is not defined
   ╭─[ t.harn:2:13 ]
   │
 1 │ let ä = 1
   │     ┬
   │     ╰── this one is
 2 │ let b = ä + c
   │             ┬
   │             ╰── not found
───╯
  note: names are looked up from the inside out
  help: define it:
        let c = 1
  at main (t.harn:2:9)
  at map
";
        assert_eq!(draw(&diagnostic, false), want);
        assert!(draw(&diagnostic, true).contains("\u{1b}["));
    }

    #[test]
    fn lines_far_down_have_their_numbers() {
        let text = format!("{}let b = c\n", "\n".repeat(123_456));
        let picture = drawn(&text, Span::new(123_464, 123_465));
        assert!(picture.contains("╭─[ t.harn:123457:9 ]"), "{picture}");
        assert!(picture.contains(" 123457 │ let b = c\n"), "{picture}");
        assert!(picture.contains("\n────────╯\n") || picture.contains("\n───────╯\n"), "{picture}");
    }

    #[test]
    fn characters_that_turn_the_text_are_shown_as_escapes() {
        let picture = drawn("let s = \"a\u{202e}b\" + c", Span::new(17, 18));
        assert!(picture.contains(r#"let s = "a\u{202e}b" + c"#), "{picture}");
        assert!(!picture.contains('\u{202e}'));
    }

    #[test]
    fn without_a_place() {
        let diagnostic = Diagnostic::new(TestCode::File, "`x.harn` does not exist").help("check the path");
        assert_eq!(draw(&diagnostic, false), "error[HARN-IO-001]: `x.harn` does not exist\n  help: check the path\n");
    }

    #[test]
    fn odd_places_do_not_panic() {
        for text in ["", "\n", "a", "a\n", "\tä\r\n\u{2028}b", "日本語\n\n", "\u{1b}[31m"] {
            for start in 0..=text.len() + 2 {
                for end in 0..=text.len() + 2 {
                    let (start, end) = (u32::try_from(start), u32::try_from(end));
                    let picture = drawn(text, Span::new(start.unwrap(), end.unwrap()));
                    assert!(picture.contains("here"), "{text:?} {picture}");
                }
            }
        }
    }

    #[test]
    fn a_long_line_is_cut() {
        let text = format!("{}MARK{}", "x".repeat(5_000_000), "y".repeat(5_000_000));
        let picture = drawn(&text, Span::new(5_000_000, 5_000_004));
        assert!(picture.len() < 2000);
        assert!(picture.contains("t.harn:1:5000001"), "{picture}");
        assert!(drawn(&text, Span::new(0, 10_000_000)).len() < 3000);
    }

    #[test]
    fn a_foreign_source_is_not_quoted() {
        let (own, foreign) =
            (Source::new("a.harn", "import \"b\"\n"), Source::foreign("../b.harn", "\nkey = secret\n"));
        let found = Diagnostic::new(TestCode::Here, "unknown name `secret`")
            .label(&foreign, Span::new(7, 13), "`secret`")
            .label(&own, Span::new(0, 6), "imported here")
            .help("did you mean `secrets`?");
        let place = "  note: at ../b.harn:2:7: the text of a file outside of the project is not shown\n";
        let picture = draw(&found, false);
        assert!(!picture.contains("key =") && picture.contains("import") && picture.contains(place), "{picture}");
        let hidden = found.clone().without_foreign_text();
        let want = "error[HARN-TST-001]: here at ../b.harn:2:7\n  note: the text of a file outside of the project is not shown\n";
        assert_eq!(draw(&hidden, false), want);
        assert!(!to_json(&hidden).to_string().contains("secret"));
        let own = Diagnostic::new(TestCode::Here, "x").label(&own, Span::new(0, 6), "here");
        assert_eq!(draw(&own.clone().without_foreign_text(), false), draw(&own, false));
    }

    #[test]
    fn two_sources() {
        let (a, b) = (Source::new("a.harn", "let x = 1\n"), Source::new("b.harn", "\n\nlet x = 2\n"));
        let diagnostic = Diagnostic::new(TestCode::Odd, "twice").label(&b, Span::new(6, 7), "again").label(
            &a,
            Span::new(4, 5),
            "first",
        );
        let picture = draw(&diagnostic, false);
        assert!(picture.contains("b.harn:3:5") && picture.contains("a.harn:1:5"), "{picture}");
        assert!(picture.starts_with("warning[HARN-TST-002]: twice\n"));
    }
}
