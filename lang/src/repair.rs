//! Applies the fixes of diagnostics to a text, in passes until nothing more can be fixed.
//!
//! The text is checked again after each pass. A fix that makes a new error is not kept.

use crate::diagnostic::code::CodeRef;
use crate::diagnostic::fix::{Applicability, Fix, apply};
use crate::diagnostic::{Diagnostic, Severity};
use crate::lex::LexCode;
use crate::parse::ParseCode;
use crate::source::{Source, SourceRef, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Texts that are checked at most. A name that is misspelt in ten places takes ten passes.
const MOST_CHECKS: usize = 256;

/// A text after its fixes.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The text, under the name of the original.
    pub source: SourceRef,
    /// Number of applied fixes.
    pub applied: usize,
    /// The diagnostics of this text.
    pub found: Vec<Diagnostic>,
}

/// Applies all fixes up to an applicability. `check` returns the diagnostics of a text; those whose first label is in another
/// text are left alone.
pub fn repair(
    source: &SourceRef,
    level: Applicability,
    mut check: impl FnMut(&SourceRef) -> Vec<Diagnostic>,
) -> Repaired {
    let original = Repaired { source: source.clone(), applied: 0, found: check(source) };
    // A fix may uncover another error that the next pass fixes, so errors are compared at the end. If some are left that were
    // not there before, each pass is compared with the one before it.
    let mut parsed = original.found.clone();
    let mut made: Vec<Diagnostic> = Vec::new();
    let hopeful = passes(&original, level, &mut check, |before, after, inserted| {
        let accepted = fewer(before, after);
        if accepted {
            if syntax_errors(after) < syntax_errors(&parsed) {
                parsed = after.to_vec();
            }
            made.extend(failing(inserted, before, after).cloned());
        }
        accepted
    });
    let is_left = |d: &Diagnostic| errors(&hopeful.found).any(|left| is_same(left, d));
    let fails = makes_errors(&original.found, &hopeful.found)
        || makes_errors(&parsed, &hopeful.found)
        || made.iter().any(is_left);
    if !fails {
        return hopeful;
    }
    passes(&original, level, &mut check, |before, after, inserted| {
        !makes_errors(before, after) && failing(inserted, before, after).next().is_none()
    })
}

/// The identity of a fix after the text around it has changed.
type FixKey = (CodeRef, String, Vec<(String, String)>);

/// Returns the text after its fixes. `accepts` judges the diagnostics before and after a pass, and the spans of inserted texts.
fn passes(
    original: &Repaired,
    level: Applicability,
    check: &mut impl FnMut(&SourceRef) -> Vec<Diagnostic>,
    mut accepts: impl FnMut(&[Diagnostic], &[Diagnostic], &[Span]) -> bool,
) -> Repaired {
    let mut state = original.clone();
    let mut refused: HashSet<FixKey> = HashSet::new();
    let mut seen = HashSet::from([original.source.text().to_owned()]);
    let mut checks = 0;
    while checks < MOST_CHECKS {
        let batch = candidates(&state, level, &refused);
        let mut size = batch.len();
        // The largest part of the batch that is accepted.
        let next = loop {
            if size == 0 || checks >= MOST_CHECKS {
                break None;
            }
            checks += 1;
            let fixes: Vec<&Fix> = batch[..size].iter().map(|(fix, _)| *fix).collect();
            let (text, applied) = apply(state.source.text(), &fixes);
            if !applied.is_empty() && !seen.contains(&text) {
                let inserted = inserted(applied.iter().map(|place| fixes[*place]));
                let source = Source::new(state.source.name(), text);
                let found = check(&source);
                let next = Repaired { source, applied: state.applied + applied.len(), found };
                if accepts(&state.found, &next.found, &inserted) {
                    break Some(next);
                }
            }
            if size == 1 {
                break None;
            }
            size /= 2;
        };
        match next {
            Some(next) => {
                seen.insert(next.source.text().to_owned());
                state = next;
            }
            None => match batch.into_iter().next() {
                Some((_, key)) => _ = refused.insert(key),
                None => break,
            },
        }
    }
    state
}

/// Returns the spans of the texts that fixes insert, in the text after them.
fn inserted<'f>(fixes: impl Iterator<Item = &'f Fix>) -> Vec<Span> {
    let mut edits: Vec<_> = fixes.flat_map(|fix| &fix.edits).collect();
    edits.sort_by_key(|edit| edit.span);
    let mut moved = 0i64;
    let mut spans = Vec::with_capacity(edits.len());
    for edit in edits {
        let length = i64::try_from(edit.replacement.len()).unwrap_or(0);
        let start = i64::from(edit.span.start) + moved;
        moved += length - i64::from(edit.span.end - edit.span.start);
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(start + length)) {
            spans.push(Span::new(start, end));
        }
    }
    spans
}

/// Returns the new errors whose place is an inserted text. A text that did not parse could not have them before.
fn failing<'d>(
    inserted: &'d [Span],
    before: &'d [Diagnostic],
    after: &'d [Diagnostic],
) -> impl Iterator<Item = &'d Diagnostic> {
    let is_known = |d: &Diagnostic| errors(before).any(|known| is_same(known, d));
    let is_in = |label: Span| inserted.iter().any(|at| at.start <= label.start && label.end <= at.end);
    errors(after).filter(move |d| !is_known(d) && d.labels.first().is_some_and(|label| is_in(label.span)))
}

fn is_same(a: &Diagnostic, b: &Diagnostic) -> bool {
    a.code == b.code && a.message == b.message
}

/// The fixes of the next pass: those of syntax errors first, since everything else depends on them, then those of other errors,
/// then the rest.
fn candidates<'a>(state: &'a Repaired, level: Applicability, refused: &HashSet<FixKey>) -> Vec<(&'a Fix, FixKey)> {
    let rank = |d: &Diagnostic| match d.severity {
        Severity::Error if is_syntax(d.code) => 0,
        Severity::Error => 1,
        _ => 2,
    };
    let of_text = |d: &&Diagnostic| d.labels.first().is_some_and(|label| Arc::ptr_eq(&label.source, &state.source));
    let mut all: Vec<(u8, &Fix, FixKey)> = Vec::new();
    for d in state.found.iter().filter(of_text) {
        let Some(fix) = d.fixes.iter().find(|fix| fix.applicability <= level) else { continue };
        let edit =
            |edit: &crate::diagnostic::fix::Edit| (state.source.slice(edit.span).to_owned(), edit.replacement.clone());
        let key = (d.code, d.message.clone(), fix.edits.iter().map(edit).collect());
        if !refused.contains(&key) {
            all.push((rank(d), fix, key));
        }
    }
    let first = all.iter().map(|(rank, ..)| *rank).min();
    all.into_iter().filter(|(rank, ..)| Some(*rank) == first).map(|(_, fix, key)| (fix, key)).collect()
}

/// Whether an error is one of the syntax. A text with such an error may have others that are not reported yet.
fn is_syntax(code: CodeRef) -> bool {
    LexCode::ALL.iter().any(|known| code == *known) || ParseCode::ALL.iter().any(|known| code == *known)
}

fn errors(found: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    found.iter().filter(|d| d.severity == Severity::Error)
}

fn syntax_errors(found: &[Diagnostic]) -> usize {
    errors(found).filter(|d| is_syntax(d.code)).count()
}

/// Whether `after` has no more errors than `before`. If it has fewer syntax errors, only those count.
fn fewer(before: &[Diagnostic], after: &[Diagnostic]) -> bool {
    match (syntax_errors(before), syntax_errors(after)) {
        (before_count, after_count) if before_count == after_count => errors(after).count() <= errors(before).count(),
        (before_count, after_count) => after_count <= before_count,
    }
}

/// Whether `after` has errors that are not in `before`. Errors that are shown because a syntax error is fixed are not new.
fn makes_errors(before: &[Diagnostic], after: &[Diagnostic]) -> bool {
    let mut known: HashMap<(CodeRef, &str), usize> = HashMap::new();
    for error in errors(before) {
        *known.entry((error.code, &error.message)).or_default() += 1;
    }
    let hidden = syntax_errors(after) < syntax_errors(before);
    errors(after).any(|error| {
        let count = known.entry((error.code, &error.message)).or_default();
        if *count > 0 {
            *count -= 1;
            return false;
        }
        !hidden || is_syntax(error.code)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CheckCode;
    use crate::resolve::ResolveCode;

    /// Reports `?` as a syntax error that has no fix, `;;` as one that has, `b` as an unknown name that could be `c`, and `c`
    /// and `d` as other errors.
    fn check(source: &SourceRef) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (at, c) in source.text().char_indices() {
            let at = u32::try_from(at).unwrap_or(0);
            let span = Span::new(at, at + 1);
            let found_here = |code: CodeRef, message: &str| Diagnostic::new(code, message).label(source, span, "");
            found.extend(match c {
                '?' => Some(found_here(ParseCode::Unexpected.into(), "unexpected")),
                ';' => Some(found_here(ParseCode::StatementEnd.into(), "semicolon").fix(span, "")),
                ':' => Some(found_here(ParseCode::NoBody.into(), "colon").fix(span, "d")),
                'b' => Some(found_here(ResolveCode::Undefined.into(), "unknown").fix(span, "c")),
                'c' => Some(found_here(CheckCode::Arity.into(), "arguments")),
                'd' => Some(found_here(CheckCode::Type.into(), "type")),
                _ => None,
            });
        }
        found
    }

    fn repaired(text: &str) -> String {
        let source = Source::new("test", text);
        repair(&source, Applicability::Safe, check).source.text().to_owned()
    }

    #[test]
    fn a_fix_that_makes_an_error_is_dropped() {
        assert_eq!(repaired("a b"), "a b");
    }

    #[test]
    fn it_is_dropped_beside_other_syntax_errors_too() {
        assert_eq!(repaired("? b"), "? b");
        assert_eq!(repaired("; b"), " b");
        assert_eq!(repaired("? ; b"), "?  b");
    }

    #[test]
    fn an_error_in_the_text_that_a_fix_inserts_was_not_there_before() {
        assert_eq!(repaired("? :"), "? :");
    }

    #[test]
    fn what_a_syntax_error_hid_does_not_drop_its_fix() {
        let hides = |source: &SourceRef| {
            let found = check(source);
            let is_hidden = found.iter().any(|d| is_syntax(d.code));
            found.into_iter().filter(|d| !is_hidden || is_syntax(d.code)).collect()
        };
        let source = Source::new("test", "; d");
        assert_eq!(repair(&source, Applicability::Safe, hides).source.text(), " d");
    }
}
