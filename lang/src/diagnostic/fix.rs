//! Fixes: edits of the source that a tool can make.
//!
//! A [`Fix`] belongs to a diagnostic and changes the source of its first label. [`apply`] makes the edits of several fixes at
//! once; what overlaps waits for the next pass.

use crate::source::Span;

/// The certainty that a fix is what the author meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// The script was invalid, and this is the one thing that was meant; or the script does the same as before.
    Safe,
    /// A guess, or a change of what the script does. Review it.
    Unsafe,
}

impl Applicability {
    /// Returns that of another name for a misspelt one. Two short names are easily similar by chance.
    #[must_use]
    pub fn of_name(written: &str) -> Self {
        if written.chars().count() > 2 { Self::Safe } else { Self::Unsafe }
    }

    /// Returns the word that tools read.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        }
    }
}

/// A replacement of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace; empty for an insertion.
    pub span: Span,
    /// The text that replaces them; empty for a removal.
    pub replacement: String,
}

impl Edit {
    /// Replaces the bytes of a span.
    pub fn new(span: Span, replacement: impl Into<String>) -> Self {
        Self { span, replacement: replacement.into() }
    }

    /// Inserts text at a position.
    pub fn insert(at: u32, text: impl Into<String>) -> Self {
        Self::new(Span::new(at, at), text)
    }

    /// Returns whether the two change the same bytes, or insert at the same position.
    fn collides(&self, other: &Self) -> bool {
        self.span.start < other.span.end && other.span.start < self.span.end || self.span.start == other.span.start
    }
}

/// Edits that fix a diagnostic together. They are made all or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Whether the fix can be applied without a review.
    pub applicability: Applicability,
    /// The edits, in the source of the first label of the diagnostic. They do not overlap.
    pub edits: Vec<Edit>,
}

impl Fix {
    fn collides(&self, other: &Self) -> bool {
        self.edits.iter().any(|edit| other.edits.iter().any(|kept| edit.collides(kept)))
    }
}

/// Applies fixes to a text: those that do not overlap with an earlier one of the list. Returns the new text, and the places in
/// the list of the applied fixes.
#[must_use]
pub fn apply(text: &str, fixes: &[&Fix]) -> (String, Vec<usize>) {
    let mut taken: Vec<usize> = Vec::new();
    for (place, fix) in fixes.iter().enumerate() {
        let fits = |edit: &Edit| text.get(edit.span.range()).is_some();
        if fix.edits.iter().all(fits) && taken.iter().all(|kept| !fix.collides(fixes[*kept])) {
            taken.push(place);
        }
    }
    let mut edits: Vec<&Edit> = taken.iter().flat_map(|place| &fixes[*place].edits).collect();
    edits.sort_by_key(|edit| edit.span);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        let Some(between) = text.get(at..edit.span.range().start) else { continue };
        out.push_str(between);
        out.push_str(&edit.replacement);
        at = edit.span.range().end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    (out, taken)
}

/// Returns the edit that gives a key of a dict or pattern another name. `{name}` means the key and the variable, which keeps its
/// name: `{key: name}`.
#[must_use]
pub fn rename_key(text: &str, key: Span, name: &str) -> Edit {
    let written = text.get(key.range()).unwrap_or("");
    let after = text.get(key.range().end..).unwrap_or("").trim_start();
    let shorthand = after.starts_with([',', '}']) && written.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    Edit::new(key, if shorthand { format!("{name}: {written}") } else { name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fix(edits: &[(u32, u32, &str)]) -> Fix {
        let edits = edits.iter().map(|(start, end, text)| Edit::new(Span::new(*start, *end), *text)).collect();
        Fix { applicability: Applicability::Safe, edits }
    }

    #[test]
    fn edits_of_one_pass_do_not_overlap() {
        let (first, second) = (fix(&[(0, 1, "A"), (4, 4, "!")]), fix(&[(2, 3, "C")]));
        assert_eq!(apply("abcd", &[&first, &second]), ("AbCd!".to_owned(), vec![0, 1]));
        let over = fix(&[(0, 2, "x")]);
        assert_eq!(apply("abcd", &[&first, &over]), ("Abcd!".to_owned(), vec![0]));
        let same_place = fix(&[(4, 4, "?")]);
        assert_eq!(apply("abcd", &[&first, &same_place]), ("Abcd!".to_owned(), vec![0]));
    }

    #[test]
    fn an_edit_that_does_not_fit_the_text_is_not_made() {
        for edits in [&[(3, 9, "x")][..], &[(1, 2, "x")], &[(0, 2, "x"), (90, 90, "")]] {
            assert_eq!(apply("é?", &[&fix(edits)]), ("é?".to_owned(), vec![]), "{edits:?}");
        }
    }

    #[test]
    fn a_key_that_is_also_a_variable_keeps_the_variable() {
        assert_eq!(rename_key("{a: 1}", Span::new(1, 2), "b").replacement, "b");
        assert_eq!(rename_key("{a, c}", Span::new(1, 2), "b").replacement, "b: a");
        assert_eq!(rename_key("{\"a\": 1}", Span::new(1, 4), "b").replacement, "b");
    }
}
