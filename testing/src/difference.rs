//! The difference of two texts, line by line.

use similar::{ChangeTag, TextDiff};
use std::fmt::Write;

/// Lines that are the same around a change.
const CONTEXT: usize = 3;
/// Lines of a difference.
const MOST: usize = 200;

/// Returns the lines that differ, `-` before those that were expected and `+` before those that were found, with a few
/// lines around them.
#[must_use]
pub fn difference(expected: &str, actual: &str) -> String {
    let diff = TextDiff::from_lines(expected, actual);
    let mut out = String::new();
    let mut lines = 0usize;
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if number > 0 {
            out.push_str("  …\n");
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            lines += 1;
            if lines > MOST {
                continue;
            }
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let _ = writeln!(out, "{sign} {}", change.value().trim_end_matches(['\n', '\r']));
        }
    }
    if lines > MOST {
        let _ = writeln!(out, "  … {} more lines", lines - MOST);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_a_change_is_shown() {
        let before: String = (0..20).map(|i| format!("line {i}\n")).collect();
        let after = before.replace("line 10\n", "line ten\n");
        let want = "  line 7\n  line 8\n  line 9\n- line 10\n+ line ten\n  line 11\n  line 12\n  line 13\n";
        assert_eq!(difference(&before, &after), want);
        assert_eq!(difference(&before, &before), "");
    }
}
