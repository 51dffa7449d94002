//! The one place that prints diagnostics: as pictures for people, as JSON for tools.

use clap::ValueEnum;
use std::io::IsTerminal;
use std::rc::Rc;
use stdlib::{Diagnostic, Output, shown, to_json};

/// The format of printed diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Readable text with source excerpts
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

impl Format {
    /// Returns the output of a run that prints its diagnostics in this format while it runs.
    pub(crate) fn of_run(self, to: &Rc<dyn Output>) -> Rc<dyn Output> {
        match self {
            Self::Text => to.clone(),
            Self::Json => Rc::new(JsonDiagnostics(to.clone())),
        }
    }
}

/// An output whose diagnostics are lines of JSON.
struct JsonDiagnostics(Rc<dyn Output>);

impl Output for JsonDiagnostics {
    fn out(&self, text: &str) -> std::io::Result<()> {
        self.0.out(text)
    }

    fn err(&self, text: &str) {
        self.0.err(text);
    }

    fn diagnostic(&self, diagnostic: &Diagnostic) {
        self.0.err(&format!("{}\n", to_json(diagnostic)));
    }
}

/// Prints diagnostics to standard error, where they do not mix with what a script prints.
pub(crate) fn show(to: &dyn Output, diagnostics: &[Diagnostic], format: Format) {
    for diagnostic in diagnostics {
        match format {
            Format::Text => to.diagnostic(diagnostic),
            Format::Json => to.err(&format!("{}\n", to_json(diagnostic))),
        }
    }
}

/// A text of the user as a terminal may show it: control characters become visible signs.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter_map(shown).collect()
}

/// Colour is for terminals whose owner did not switch it off (<https://no-color.org>).
pub(crate) fn wants_color(to: &impl IsTerminal) -> bool {
    to.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
