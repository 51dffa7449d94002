//! The catalogue rows: each code's meaning, a script that triggers it and the same script mended.

use super::Severity;

/// One row of a catalogue. Each crate that makes diagnostics has a table of these; `stdlib` joins them.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// `HARN-XXX-NNN`.
    pub code: &'static str,
    /// How bad it usually is.
    pub severity: Severity,
    /// One terse phrase.
    pub title: &'static str,
    /// What it means and what to do: a short paragraph.
    pub meaning: &'static str,
    /// A script that triggers it.
    pub fails: &'static str,
    /// The same script mended.
    pub mended: &'static str,
}
