//! `match`: variants that no arm takes, arms that can never be chosen, and alternatives that bind different names.

use super::CheckCode;
use super::cover::{self, Pat};
use super::members::listed;
use crate::ast::*;
use crate::declaration::{EnumDecl, TypeDecl};
use crate::diagnostic::Diagnostic;
use crate::resolve::Resolution;
use crate::source::{SourceRef, Span};
use smol_str::SmolStr;
use std::rc::Rc;

/// Missing values that are named.
const NAMED: usize = 4;

/// Checks what the arms of a `match` and the alternatives of a pattern cover and bind.
pub(super) struct Matches<'c> {
    source: &'c SourceRef,
    names: &'c Resolution,
    pub(super) found: Vec<Diagnostic>,
    /// Steps that are left for questions about what arms cover.
    left: usize,
}

impl<'c> Matches<'c> {
    pub(super) fn new(source: &'c SourceRef, names: &'c Resolution) -> Self {
        Self { source, names, found: Vec::new(), left: cover::STEPS_OF_FILE }
    }

    /// Checks an expression, without its parts.
    #[inline]
    pub(super) fn expr(&mut self, e: &Expr) {
        if let ExprKind::Match { value, arms } = &e.kind {
            self.arms(e, value, arms);
        }
    }

    /// Checks a pattern, without its parts.
    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        if let PatternKind::Or(alternatives) = &pattern.kind {
            self.alternatives(alternatives);
        }
    }

    fn arms(&mut self, e: &Expr, value: &Expr, arms: &[Arm]) {
        let mut rows: Vec<Vec<Pat>> = Vec::new();
        let mut taken: Vec<&Arm> = Vec::new();
        for arm in arms {
            let row = vec![cover::pat(&arm.pattern, self.names)];
            if cover::useful(&rows, &row, &mut self.left) == Some(false) {
                let left = &mut self.left;
                let by = (1..=rows.len()).find(|n| cover::useful(&rows[..*n], &row, left) == Some(false));
                self.unreachable(arm, by.and_then(|n| taken.get(n - 1)).copied());
            } else if arm.guard.is_none() {
                rows.push(row);
                taken.push(arm);
            }
        }
        if let Some(missing) = cover::missing(&rows, NAMED, &mut self.left).filter(|m| !m.is_empty()) {
            self.not_covered(e, value, &missing);
        }
    }

    fn not_covered(&mut self, e: &Expr, value: &Expr, missing: &[String]) {
        let more = missing.len() > NAMED;
        let named = &missing[..missing.len().min(NAMED)];
        let list = if more {
            let named: Vec<String> = named.iter().map(|n| format!("`{n}`")).collect();
            format!("{} and others", named.join(", "))
        } else {
            listed(named.iter().map(String::as_str), "and")
        };
        // A parenthesis may stand before the keyword.
        let before = self.source.slice(Span::new(e.span.start, value.span.start)).find("match").unwrap_or(0);
        let start = e.span.start + u32::try_from(before).unwrap_or(0);
        let first = named.first().map_or("_", String::as_str);
        let d = Diagnostic::new(CheckCode::NotCovered, format!("`match` has no arm for {list}"))
            .label(self.source, Span::new(start, start + 5), "not all variants are covered")
            .help(format!("add `{first} -> …`, or `_ -> …` for all other values"));
        let site = self.enum_of(first).and_then(|def| {
            let variant = first.split_once('.').map_or("", |(_, rest)| rest);
            let name = variant.split(['(', ' ']).next().unwrap_or("");
            let at = def.position(name)?;
            Some((def.site.as_ref()?.source.clone(), def.variants[at].span))
        });
        let d = match site {
            Some((source, span)) => d.label(&source, span, "declared here"),
            None => d,
        };
        self.found.push(d);
    }

    /// The enum of a pattern that was shown.
    fn enum_of(&self, shown: &str) -> Option<Rc<EnumDecl>> {
        let (name, _) = shown.split_once('.')?;
        self.names.bindings.iter().find_map(|b| match b.def.as_ref().map(TypeDecl::resolved) {
            Some(TypeDecl::Enum(def)) if def.name.as_str() == name => Some(def),
            _ => None,
        })
    }

    fn unreachable(&mut self, arm: &Arm, by: Option<&Arm>) {
        let mut d = Diagnostic::new(CheckCode::Unreachable, "unreachable arm").label(
            self.source,
            arm.pattern.span,
            "never chosen",
        );
        if let Some(by) = by {
            d = d.label(self.source, by.pattern.span, "this arm matches the same values first");
            if let PatternKind::Bind(name) = &by.pattern.kind
                && let Some(owner) = self.owner_of_variant(name)
            {
                d = d.note(format!("write `{owner}.{name}` for the variant: `{name}` alone binds a new name"));
            }
        }
        self.found.push(d.help("put it before the more general arm, or remove it"));
    }

    fn owner_of_variant(&self, name: &str) -> Option<SmolStr> {
        self.names.bindings.iter().find_map(|b| match b.def.as_ref().map(TypeDecl::resolved) {
            Some(TypeDecl::Enum(def)) if def.position(name).is_some() => Some(b.name.clone()),
            _ => None,
        })
    }

    fn alternatives(&mut self, alternatives: &[Pattern]) {
        let names: Vec<Vec<(&SmolStr, Span)>> = alternatives.iter().map(bound).collect();
        for (at, own) in names.iter().enumerate() {
            for (i, (name, span)) in own.iter().enumerate() {
                if let Some(lacks) = names.iter().position(|others| !others.iter().any(|(n, _)| n == name)) {
                    let message = format!("`{name}` is not bound in all alternatives");
                    self.found.push(
                        Diagnostic::new(CheckCode::Alternatives, message)
                            .label(self.source, alternatives[lacks].span, format!("`{name}` is not bound here"))
                            .label(self.source, *span, "bound here")
                            .help("bind the same names in all alternatives, or use separate arms"),
                    );
                    return;
                }
                // In the first alternative the resolver has reported it.
                if at > 0
                    && let Some((_, first)) = own[..i].iter().find(|(n, _)| n == name)
                {
                    self.found.push(
                        Diagnostic::new(
                            CheckCode::Alternatives,
                            format!("`{name}` is bound twice in the same alternative"),
                        )
                        .label(self.source, *span, "bound again here")
                        .label(self.source, *first, "first bound here")
                        .help("choose another name"),
                    );
                    return;
                }
            }
        }
    }
}

fn bound(pattern: &Pattern) -> Vec<(&SmolStr, Span)> {
    let mut found = Vec::new();
    pattern.names(&mut |name, at| found.push((name, at.span)));
    found
}
