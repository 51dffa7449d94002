//! Applies the fixes of diagnostics to a text, in passes until nothing more can be fixed.
//!
//! The text is checked again after each pass. A fix that makes a new error is not kept.

use crate::diagnostic::code::CodeRef;
use crate::diagnostic::fix::{Applicability, Fix, apply};
use crate::diagnostic::{Diagnostic, Severity};
use crate::lex::LexCode;
use crate::parse::ParseCode;
use crate::source::{Source, SourceRef};
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
    let hopeful = passes(&original, level, &mut check, |before, after| fewer(&before.found, &after.found));
    if !makes_errors(&original.found, &hopeful.found) {
        return hopeful;
    }
    passes(&original, level, &mut check, |before, after| !makes_errors(&before.found, &after.found))
}

/// The identity of a fix after the text around it has changed.
type FixKey = (CodeRef, String, Vec<(String, String)>);

fn passes(
    original: &Repaired,
    level: Applicability,
    check: &mut impl FnMut(&SourceRef) -> Vec<Diagnostic>,
    accepts: impl Fn(&Repaired, &Repaired) -> bool,
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
                let source = Source::new(state.source.name(), text);
                let found = check(&source);
                let next = Repaired { source, applied: state.applied + applied.len(), found };
                if accepts(&state, &next) {
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

/// Whether `after` has no more errors than `before`. While the syntax has errors, only those count.
fn fewer(before: &[Diagnostic], after: &[Diagnostic]) -> bool {
    let syntax = |found| errors(found).filter(|d| is_syntax(d.code)).count();
    match (syntax(before), syntax(after)) {
        (0, 0) => errors(after).count() <= errors(before).count(),
        (before, after) => after <= before,
    }
}

/// Whether `after` has errors that are not in `before`. Errors that syntax errors may have hidden are not new.
fn makes_errors(before: &[Diagnostic], after: &[Diagnostic]) -> bool {
    let mut known: HashMap<(CodeRef, &str), usize> = HashMap::new();
    for error in errors(before) {
        *known.entry((error.code, &error.message)).or_default() += 1;
    }
    let hidden = errors(before).any(|d| is_syntax(d.code));
    errors(after).any(|error| {
        let count = known.entry((error.code, &error.message)).or_default();
        if *count > 0 {
            *count -= 1;
            return false;
        }
        !hidden || is_syntax(error.code)
    })
}
