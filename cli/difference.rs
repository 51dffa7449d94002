//! The difference between two texts.

use crate::report::visible;
use similar::TextDiff;
use std::io::IsTerminal;

/// Returns the difference in the form that `patch` reads. On a terminal, control characters are shown as signs.
pub(crate) fn difference(name: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(name, name).to_string();
    if std::io::stdout().is_terminal() { diff.lines().map(|line| visible(line) + "\n").collect() } else { diff }
}
