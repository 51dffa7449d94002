//! A script from text to something that runs.

use crate::compile::{Unit, compile};
use crate::diagnostic::{Diagnostic, Severity};
use crate::parse::parse;
use crate::resolve::{Outer, resolve};
use crate::source::SourceRef;
use crate::vm::Isolate;
use std::collections::HashSet;
use std::rc::Rc;

/// What loading gave.
pub struct Loaded {
    /// The compiled module; nothing when there are errors.
    pub unit: Option<Unit>,
    /// Everything found, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// How a text is loaded.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Names of earlier pieces.
    pub outer: &'a [Outer],
    /// Keep the names of this piece for later ones.
    pub keep: bool,
}

/// Parses, resolves, checks and compiles a text.
#[must_use]
pub fn load(isolate: &Rc<Isolate>, source: &SourceRef, options: Options<'_>) -> Loaded {
    let parsed = parse(source);
    let mut diagnostics = parsed.diagnostics;
    let (names, found) = resolve(source, &parsed.module, isolate.registry(), options.outer, options.keep);
    let mut found_later = found;
    crate::check::check(source, &parsed.module, &names, isolate.registry(), &mut found_later);
    // A line that does not parse tells nothing of names and types.
    let broken: Vec<u32> = diagnostics.iter().map(|d| source.position(d.position()).line).collect();
    if !broken.is_empty() {
        let lines: Vec<&str> = source.text().lines().collect();
        let text_of = |line: &u32| lines.get(*line as usize - 1).copied().unwrap_or("");
        // What such a line would have bound is missing further on.
        let words: HashSet<&str> = broken.iter().flat_map(|l| text_of(l).split(|c: char| !is_word(c))).collect();
        found_later.retain(|d| {
            let named = d.labels.first().map_or("", |l| l.source.slice(l.span));
            !broken.contains(&source.position(d.position()).line) && !words.contains(named)
        });
    }
    diagnostics.extend(found_later);
    let mut unit = None;
    if !has_errors(&diagnostics) {
        match compile(isolate, source, &parsed.module, &names, options.keep) {
            Ok(compiled) => unit = Some(compiled),
            Err(found) => diagnostics.extend(found),
        }
    }
    diagnostics.sort_by_key(Diagnostic::position);
    Loaded { unit, diagnostics }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether any of them is an error.
#[must_use]
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}
