//! The one place that prints diagnostics: as pictures for people, as JSON for tools.

use crate::stdout;
use clap::ValueEnum;
use std::io::{IsTerminal, Write};
use stdlib::{Diagnostic, draw, shown, to_json};

/// How diagnostics are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Pictures
    Text,
    /// One JSON object per line
    Json,
}

/// Prints diagnostics to standard error, where they do not mix with what a script prints.
pub(crate) fn show(diagnostics: &[Diagnostic], format: Format) {
    // Errors of writing have nobody left to be told to.
    let _ = std::io::stdout().flush();
    let error = std::io::stderr();
    let color = wants_color(&error);
    let _ = write(&mut error.lock(), diagnostics, format, color);
}

/// Prints them to standard output: for a command whose result they are.
///
/// # Errors
/// The system refuses it, unless the reader has gone away.
pub(crate) fn show_as_result(diagnostics: &[Diagnostic], format: Format) -> std::io::Result<()> {
    let output = std::io::stdout();
    let color = wants_color(&output);
    stdout::forgive(write(&mut output.lock(), diagnostics, format, color))
}

fn write(to: &mut dyn Write, diagnostics: &[Diagnostic], format: Format, color: bool) -> std::io::Result<()> {
    for diagnostic in diagnostics {
        match format {
            Format::Text => to.write_all(draw(diagnostic, color).as_bytes())?,
            Format::Json => writeln!(to, "{}", to_json(diagnostic))?,
        }
    }
    to.flush()
}

/// A text of the user as a terminal may show it: control characters become visible signs.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter_map(shown).collect()
}

/// Colour is for terminals whose owner did not switch it off (<https://no-color.org>).
pub(crate) fn wants_color(to: &impl IsTerminal) -> bool {
    to.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
