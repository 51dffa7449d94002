//! Fixes that rename a key: a dict, struct or pattern must not get a key that it has already.

use crate::ast::visit::{Visit, walk_expr, walk_module, walk_pattern};
use crate::ast::{DictItem, Expr, ExprKind, Module, Name, Pattern, PatternKind};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::fix::Fix;
use crate::source::{SourceRef, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Removes the fixes that would give a key the name of another key of the same literal or pattern. Two fixes for the same name
/// are alike: the second one is removed.
pub(super) fn keep_unique(source: &SourceRef, module: &Module, found: &mut [Diagnostic]) {
    let is_here = |d: &Diagnostic| d.labels.first().is_some_and(|label| Arc::ptr_eq(&label.source, source));
    let edited = found.iter().filter(|d| is_here(d)).flat_map(|d| &d.fixes).flat_map(|fix| &fix.edits);
    let mut keys = EditedKeys { of: edited.map(|edit| (edit.span, None)).collect(), names: HashMap::new() };
    if keys.of.is_empty() {
        return;
    }
    walk_module(&mut keys, module);
    let EditedKeys { of, mut names } = keys;
    for d in found.iter_mut().filter(|d| is_here(d)) {
        let before = d.fixes.len();
        let mut taken = None;
        d.fixes.retain(|fix| {
            let Some((literal, name)) = renamed(fix, &of) else { return true };
            // The name that a fix gives is there for the next one.
            if names.entry(literal).or_default().insert(name.clone()) {
                return true;
            }
            taken = Some(name);
            false
        });
        if let (true, Some(name)) = (d.fixes.len() < before, taken) {
            d.notes.push(format!("`{name}` is set here as well: remove one of the two"));
        }
    }
}

/// Returns the literal in which a fix renames a key, and the new name: `name`, `"name"`, or `name: variable`.
fn renamed(fix: &Fix, literals: &HashMap<Span, Option<Span>>) -> Option<(Span, String)> {
    let [edit] = fix.edits.as_slice() else { return None };
    let literal = (*literals.get(&edit.span)?)?;
    let name = edit.replacement.split(':').next()?.trim().trim_matches('"');
    (!name.is_empty()).then(|| (literal, name.to_owned()))
}

/// The keys that are edited.
struct EditedKeys {
    /// The literal or pattern of each key, by their spans.
    of: HashMap<Span, Option<Span>>,
    /// The names of all keys of these literals.
    names: HashMap<Span, HashSet<String>>,
}

impl EditedKeys {
    fn literal<'n>(&mut self, literal: Span, keys: &(impl Iterator<Item = &'n Name> + Clone)) {
        let mut is_edited = false;
        for key in keys.clone() {
            if let Some(of) = self.of.get_mut(&key.span) {
                *of = Some(literal);
                is_edited = true;
            }
        }
        if is_edited {
            self.names.insert(literal, keys.clone().map(|key| key.text.to_string()).collect());
        }
    }
}

impl<'a> Visit<'a> for EditedKeys {
    fn expr(&mut self, e: &'a Expr) {
        if let ExprKind::Dict(items) | ExprKind::Struct { items, .. } = &e.kind {
            let key = |item: &'a DictItem| if let DictItem::Entry { key, .. } = item { Some(key) } else { None };
            self.literal(e.span, &items.iter().filter_map(key));
        }
        walk_expr(self, e);
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        if let PatternKind::Dict { fields, .. } = &pattern.kind {
            self.literal(pattern.span, &fields.iter().map(|field| &field.key));
        }
        walk_pattern(self, pattern);
    }
}
