//! The formats of diagnostics that tools read.

use super::sarif;
use crate::report::visible;
use clap::ValueEnum;
use std::fmt::Write as _;
use stdlib::{Diagnostic, Severity, to_json};

/// The format of printed diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CheckFormat {
    /// Readable text with source excerpts
    Text,
    /// One line for each diagnostic: FILE:LINE:COLUMN: SEVERITY[CODE]: MESSAGE
    Short,
    /// One JSON object per line
    Json,
    /// One SARIF 2.1.0 log, for code scanning
    Sarif,
    /// Commands of GitHub workflows, which annotate the lines of a pull request
    Github,
}

/// Returns the text of all diagnostics.
pub(super) fn text(found: &[Diagnostic], format: CheckFormat) -> String {
    let line: fn(&Diagnostic) -> String = match format {
        CheckFormat::Sarif => return format!("{:#}\n", sarif::log(found)),
        CheckFormat::Json => |diagnostic| to_json(diagnostic).to_string(),
        CheckFormat::Github => github,
        CheckFormat::Text | CheckFormat::Short => short,
    };
    found.iter().fold(String::new(), |mut lines, diagnostic| {
        // Writing into a string cannot fail.
        let _ = writeln!(lines, "{}", line(diagnostic));
        lines
    })
}

fn short(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.labels.first().map_or(String::new(), |label| {
        let at = label.source.position(label.span.start);
        format!("{}:{}:{}: ", visible(label.source.name()), at.line, at.column)
    });
    let message = visible(&diagnostic.message.replace('\n', " "));
    format!("{place}{}[{}]: {message}", diagnostic.severity.word(), diagnostic.code)
}

/// `::error file=…,line=…::…`. Columns are only for places on one line.
fn github(diagnostic: &Diagnostic) -> String {
    let command = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let mut properties = String::new();
    if let Some(label) = diagnostic.labels.first() {
        let (start, end) = (label.source.position(label.span.start), label.source.position(label.span.end));
        let _ = write!(properties, "file={},line={},endLine={},", property(label.source.name()), start.line, end.line);
        if start.line == end.line {
            let _ = write!(properties, "col={},endColumn={},", start.column, end.column);
        }
    }
    let help = diagnostic.help.iter().map(|help| format!("\nhelp: {help}"));
    let message: String = std::iter::once(diagnostic.message.clone()).chain(help).collect();
    format!("::{command} {properties}title={}::{}", property(diagnostic.code.as_str()), data(&message))
}

/// A message as a workflow command takes it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which ends at a comma, and its name at a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdlib::{CodeRef, Source};

    fn diagnostic() -> Diagnostic {
        let code = CodeRef::new(lang::parse::ParseCode::rows().first().unwrap_or_else(|| panic!("no rows")));
        let source = Source::new("a,b:c%.harn", "let a = 1\nlet b\n");
        Diagnostic::new(code, "100% wrong\nhere")
            .label(&source, lang::source::Span::new(14, 15), "")
            .help("fix, it: now")
    }

    #[test]
    fn commands_of_workflows_are_escaped() {
        let code = diagnostic().code.to_string();
        assert_eq!(
            text(&[diagnostic()], CheckFormat::Github),
            format!(
                "::error file=a%2Cb%3Ac%25.harn,line=2,endLine=2,col=5,endColumn=6,title={code}::\
                 100%25 wrong%0Ahere%0Ahelp: fix, it: now\n"
            )
        );
    }

    #[test]
    fn a_short_diagnostic_is_one_line() {
        let code = diagnostic().code.to_string();
        assert_eq!(
            text(&[diagnostic()], CheckFormat::Short),
            format!("a,b:c%.harn:2:5: error[{code}]: 100% wrong here\n")
        );
    }
}
