//! `match`: variants that no arm takes, arms that can never be chosen, and alternatives that bind different names.

use super::cover::{self, Pat};
use super::messages;
use crate::ast::*;
use crate::declaration::{EnumDecl, TypeDecl};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::fix::Edit;
use crate::resolve::Resolution;
use crate::source::{SourceRef, Span};
use smol_str::SmolStr;
use std::rc::Rc;

/// Missing values that are named.
const NAMED: usize = 4;
/// Arms that a fix adds at most; of more, `_` takes all.
const ADDED: usize = 32;

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
            let added = self.added(&rows, &missing).zip(arms.last());
            let added =
                added.and_then(|(patterns, last)| messages::added_arms(self.source.text(), last.span, &patterns));
            self.not_covered(e, value, &missing, added);
        }
    }

    /// Returns the patterns of the arms to add, if their enums have the names of their declarations here.
    fn added(&mut self, rows: &[Vec<Pat>], missing: &[String]) -> Option<Vec<String>> {
        let all = match missing.len() {
            0..=NAMED => missing.to_vec(),
            _ => cover::missing(rows, ADDED, &mut self.left).filter(|all| all.len() <= ADDED).unwrap_or_default(),
        };
        let is_known = |pattern: &String| match pattern.split_once('.') {
            Some((name, _)) => self.names.bindings.iter().any(|b| b.def.is_some() && b.name == name),
            None => true,
        };
        let all = if all.is_empty() { vec!["_".to_owned()] } else { all };
        all.iter().all(is_known).then_some(all)
    }

    fn not_covered(&mut self, e: &Expr, value: &Expr, missing: &[String], added: Option<Vec<Edit>>) {
        let more = missing.len() > NAMED;
        let named = &missing[..missing.len().min(NAMED)];
        // A parenthesis may stand before the keyword.
        let before = self.source.slice(Span::new(e.span.start, value.span.start)).find("match").unwrap_or(0);
        let start = e.span.start + u32::try_from(before).unwrap_or(0);
        let first = named.first().map_or("_", String::as_str);
        let site = self.enum_of(first).and_then(|def| {
            let variant = first.split_once('.').map_or("", |(_, rest)| rest);
            let name = variant.split(['(', ' ']).next().unwrap_or("");
            let at = def.position(name)?;
            Some((def.site.as_ref()?.source.clone(), def.variants[at].span))
        });
        let keyword = Span::new(start, start + 5);
        self.found.push(messages::not_covered(self.source, keyword, named, more, site, added));
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
        let variant = by.and_then(|by| match &by.pattern.kind {
            PatternKind::Bind(name) => self.owner_of_variant(name).map(|owner| (owner, name)),
            _ => None,
        });
        let variant = variant.as_ref().map(|(owner, name)| (owner.as_str(), name.as_str()));
        self.found.push(messages::unreachable_arm(self.source, arm, by, variant));
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
                    let others = names[lacks].iter().filter(|(n, _)| !own.iter().any(|(known, _)| known == n));
                    let instead = match others.collect::<Vec<_>>().as_slice() {
                        [(_, only)] => Some(*only),
                        _ => None,
                    };
                    let lacks = alternatives[lacks].span;
                    self.found.push(messages::not_in_all_alternatives(self.source, name, *span, lacks, instead));
                    return;
                }
                // In the first alternative the resolver has reported it.
                if at > 0
                    && let Some((_, first)) = own[..i].iter().find(|(n, _)| n == name)
                {
                    self.found.push(messages::twice_in_alternative(self.source, name, *span, *first));
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
