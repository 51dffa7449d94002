//! Results as people and tools read them.
//!
//! - `text`: for people. `json`: a line for each test. `junit`: one document for CI systems.

mod json;
mod junit;
mod text;

use crate::run::{FileResult, Summary};

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// Text for people, with colour if that is wanted.
    Text {
        /// Whether escape codes of terminals are used.
        color: bool,
    },
    /// A JSON object per line.
    Json,
    /// A JUnit document.
    Junit,
}

/// A report in the making.
pub struct Report {
    format: ReportFormat,
    /// Whether the output of tests that passed is shown.
    shows_output: bool,
    /// The files so far, if they can be shown only at the end.
    files: Vec<FileResult>,
}

impl Report {
    /// Begins a report.
    #[must_use]
    pub fn new(format: ReportFormat, shows_output: bool) -> Self {
        Self { format, shows_output, files: Vec::new() }
    }

    /// Takes the result of a file and returns what is to be printed at once.
    pub fn file(&mut self, file: &FileResult) -> String {
        match self.format {
            ReportFormat::Text { color } => {
                if file.has_failures() {
                    self.files.push(file.clone());
                }
                text::file(file, self.shows_output, color)
            }
            ReportFormat::Json => json::file(file),
            ReportFormat::Junit => {
                self.files.push(file.clone());
                String::new()
            }
        }
    }

    /// Ends the report and returns what is left to be printed.
    #[must_use]
    pub fn end(&self, summary: &Summary) -> String {
        match self.format {
            ReportFormat::Text { color } => text::end(&self.files, summary, color),
            ReportFormat::Json => json::end(summary),
            ReportFormat::Junit => junit::document(&self.files),
        }
    }
}
