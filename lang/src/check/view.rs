//! A call as the lints of a builtin's row see it.

use super::calls::{Call, Calls};
use crate::ast::*;
use crate::declaration::Right;
use crate::diagnostic::Diagnostic;
use crate::later::{CheckTypes, ThisCrate};
use crate::source::{SourceRef, Span};
use std::collections::HashSet;

/// A dict literal is read up to this many entries, and through this many spreads in each other.
const MOST_ENTRIES: usize = 4_000;
const MOST_SPREADS: usize = 8;

impl CheckTypes for ThisCrate {
    type Lint = fn(&CallView<'_>, &mut Vec<Diagnostic>);
    type Exported = super::ExportedTypes;
}

/// A call of a builtin in its file.
pub struct CallView<'a> {
    source: &'a SourceRef,
    call: &'a Call<'a>,
    calls: &'a Calls<'a>,
    denied: &'a [Right],
}

/// A dict literal, spreads of literals followed.
pub struct DictView<'a> {
    /// Its entries, later ones first.
    entries: Vec<(&'a Name, &'a Expr)>,
    /// Nothing in it is hidden behind a spread or a computed key.
    pub complete: bool,
    /// The literal.
    pub span: Span,
}

impl<'a> CallView<'a> {
    pub(super) fn new(source: &'a SourceRef, call: &'a Call<'a>, calls: &'a Calls<'a>, denied: &'a [Right]) -> Self {
        Self { source, call, calls, denied }
    }

    /// Returns whether the script will not have a capability. What it may not read, its check does not read either.
    #[must_use]
    pub fn is_denied(&self, right: impl Into<Right>) -> bool {
        self.denied.contains(&right.into())
    }

    /// The file.
    #[must_use]
    pub fn source(&self) -> &'a SourceRef {
        self.source
    }

    /// The whole call.
    #[must_use]
    pub fn span(&self) -> Span {
        self.call.span
    }

    /// An argument: itself, or the literal that a `let` bound to it. Nothing behind a spread.
    #[must_use]
    pub fn arg(&self, i: usize) -> Option<&'a Expr> {
        if self.call.args.iter().take(i + 1).any(|a| a.spread) {
            return None;
        }
        self.call.args.get(i).map(|a| self.calls.follow(&a.value))
    }

    /// Returns the expression that a name means, if that is certain.
    #[must_use]
    pub fn follow(&self, e: &'a Expr) -> &'a Expr {
        self.calls.follow(e)
    }

    /// An expression as a dict literal.
    #[must_use]
    pub fn dict(&self, e: &'a Expr) -> Option<DictView<'a>> {
        let e = self.follow(e);
        let ExprKind::Dict(items) = &e.kind else { return None };
        let mut view = DictView { entries: Vec::new(), complete: true, span: e.span };
        self.read(items, MOST_SPREADS, &mut view);
        view.entries.reverse();
        Some(view)
    }

    fn read(&self, items: &'a [DictItem], spreads: usize, view: &mut DictView<'a>) {
        for item in items {
            if view.entries.len() > MOST_ENTRIES {
                view.complete = false;
                return;
            }
            match item {
                DictItem::Entry { key, value } => view.entries.push((key, value)),
                DictItem::Computed { .. } => view.complete = false,
                DictItem::Spread(e) => match &self.follow(e).kind {
                    ExprKind::Dict(inner) if spreads > 0 => self.read(inner, spreads - 1, view),
                    _ => view.complete = false,
                },
            }
        }
    }

    /// A string literal without interpolation.
    #[must_use]
    pub fn text(&self, e: &'a Expr) -> Option<&'a str> {
        match &self.follow(e).kind {
            ExprKind::Str(parts) => match parts.as_slice() {
                [] => Some(""),
                [StrPart::Text(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The other calls of a builtin in this file.
    pub fn calls_of(&self, module: &'a str, name: &'a str) -> impl Iterator<Item = CallView<'a>> {
        self.calls.of(module, name).map(|call| CallView { call, ..*self })
    }
}

impl<'a> DictView<'a> {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a Expr> {
        self.entries.iter().find(|(name, _)| name.text == key).map(|(_, value)| *value)
    }

    /// The entries, later ones first, each key once.
    pub fn entries(&self) -> impl Iterator<Item = (&'a Name, &'a Expr)> + '_ {
        let mut seen = HashSet::new();
        self.entries.iter().filter(move |(name, _)| seen.insert(name.text.as_str())).copied()
    }

    /// Returns the span of a key.
    #[must_use]
    pub fn key_span(&self, key: &str) -> Option<Span> {
        self.entries.iter().find(|(name, _)| name.text == key).map(|(name, _)| name.span)
    }
}

/// Possible results of a closure: the operands of its `return`s and its last expression.
#[must_use]
pub fn returned(closure: &ClosureExpr) -> Vec<&Expr> {
    let mut found = Vec::new();
    block(&closure.body, true, &mut found);
    found
}

fn block<'a>(body: &'a Block, last: bool, found: &mut Vec<&'a Expr>) {
    for (i, stmt) in body.stmts.iter().enumerate() {
        let is_last = last && i + 1 == body.stmts.len();
        match &stmt.kind {
            StmtKind::Expr(e) => expr(e, is_last, found),
            StmtKind::While { body, .. } | StmtKind::For { body, .. } | StmtKind::Defer(body) => {
                block(body, false, found);
            }
            StmtKind::Guard { otherwise, .. } => block(otherwise, false, found),
            _ => {}
        }
    }
}

fn expr<'a>(e: &'a Expr, last: bool, found: &mut Vec<&'a Expr>) {
    match &e.kind {
        ExprKind::Return(Some(value)) => found.push(value),
        ExprKind::If { then, otherwise, .. } => {
            block(then, last, found);
            otherwise.iter().for_each(|o| expr(o, last, found));
        }
        ExprKind::Match { arms, .. } => arms.iter().for_each(|arm| expr(&arm.body, last, found)),
        ExprKind::Ternary(_, a, b) if last => {
            expr(a, true, found);
            expr(b, true, found);
        }
        ExprKind::Block(b) => block(b, last, found),
        ExprKind::TryBlock(t) => {
            block(&t.body, last, found);
            t.catch.iter().for_each(|c| block(&c.body, last, found));
        }
        _ if last => found.push(e),
        _ => {}
    }
}
