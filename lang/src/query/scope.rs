//! The bindings that a position can use.

use crate::ast::*;
use crate::resolve::{BindingId, Resolution};
use crate::source::Span;
use smol_str::SmolStr;
use std::collections::HashSet;

/// Returns the bindings that a position can use, inner ones first. An inner binding hides outer ones of its name.
#[must_use]
pub fn visible(module: &Module, names: &Resolution, at: u32) -> Vec<BindingId> {
    let mut scopes = ScopeVisit { names, at, found: Vec::new() };
    scopes.stmts(&module.body);
    let inner = std::mem::take(&mut scopes.found).into_iter().rev();
    // What imports without a list bring belongs to no node, and earlier pieces of a session to no text.
    let outer = (0u32..).zip(&names.bindings).filter(|(_, b)| b.top && (b.imported() || b.slot.is_some()));
    let mut seen: HashSet<&SmolStr> = HashSet::new();
    let all = inner.chain(outer.map(|(id, _)| id)).collect::<Vec<_>>();
    all.into_iter().filter(|id| seen.insert(&names.binding(*id).name)).collect()
}

struct ScopeVisit<'a> {
    names: &'a Resolution,
    at: u32,
    /// From the outermost scope to the innermost.
    found: Vec<BindingId>,
}

impl ScopeVisit<'_> {
    fn holds(&self, span: Span) -> bool {
        span.start <= self.at && self.at <= span.end
    }

    fn add(&mut self, id: NodeId) {
        self.found.extend(self.names.made(id));
    }

    fn add_pattern(&mut self, pattern: &Pattern) {
        let mut bound = Vec::new();
        pattern.names(&mut |_, at| bound.push(at.id));
        bound.into_iter().for_each(|id| self.add(id));
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { pattern, .. } if stmt.span.end <= self.at => self.add_pattern(pattern),
                StmtKind::Item(item) => self.declared(item),
                _ => {}
            }
        }
        for stmt in stmts {
            self.part(Part::Stmt(stmt));
        }
    }

    fn declared(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } | ItemKind::Pipeline { decl, .. } => {
                self.add(decl.name.id);
            }
            ItemKind::Struct { name, .. }
            | ItemKind::Enum { name, .. }
            | ItemKind::Interface { name, .. }
            | ItemKind::TypeAlias { name, .. } => self.add(name.id),
            ItemKind::Import { names, .. } => {
                for (name, alias) in names.iter().flatten() {
                    self.add(alias.as_ref().unwrap_or(name).id);
                }
            }
            ItemKind::Test(_) | ItemKind::Override(_) | ItemKind::Impl { .. } => {}
        }
    }

    fn params(&mut self, params: &[Param]) {
        for param in params {
            if param.span.end <= self.at {
                self.add_pattern(&param.pattern);
            }
        }
    }

    /// Goes on below a node that holds the position.
    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Block(block) => {
                if self.holds(block.span) {
                    self.stmts(&block.stmts);
                }
            }
            Part::Closure(closure) => {
                // Its parameters may be before the braces.
                let start = closure.params.first().map_or(closure.body.span, |param| param.span);
                if self.holds(closure.body.span) || self.holds(start.to(closure.body.span)) {
                    self.params(&closure.params);
                    closure.parts(|part| self.part(part));
                }
            }
            Part::Item(item) => {
                if self.holds(item.span) {
                    self.item(item);
                }
            }
            Part::Stmt(stmt) => {
                if !self.holds(stmt.span) {
                    return;
                }
                if let StmtKind::For { pattern, body, .. } = &stmt.kind
                    && self.holds(body.span)
                {
                    self.add_pattern(pattern);
                }
                stmt.parts(|part| self.part(part));
            }
            Part::Expr(e) => {
                if self.holds(e.span) {
                    self.bound_by(e);
                    e.parts(|part| self.part(part));
                }
            }
            Part::Param(param) => param.parts(|part| self.part(part)),
            Part::Pattern(_) | Part::Type(_) => {}
        }
    }

    fn item(&mut self, item: &Item) {
        if let ItemKind::Fn(decl)
        | ItemKind::Test(decl)
        | ItemKind::Override(decl)
        | ItemKind::Tool { decl, .. }
        | ItemKind::Pipeline { decl, .. } = &item.kind
        {
            self.params(&decl.params);
        }
        item.parts(|part| self.part(part));
    }

    /// Adds what an expression binds for a part of it that holds the position.
    fn bound_by(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Match { arms, .. } => {
                for arm in arms {
                    if self.holds(arm.span) && arm.pattern.span.end < self.at {
                        self.add_pattern(&arm.pattern);
                    }
                }
            }
            ExprKind::TryBlock(block) => {
                if let Some(catch) = block.catch.as_ref().filter(|catch| self.holds(catch.body.span))
                    && let Some(name) = &catch.name
                {
                    self.add(name.id);
                }
            }
            ExprKind::Select(arms) => {
                for arm in arms {
                    if let SelectArm::Receive { name, body, .. } = arm
                        && self.holds(body.span)
                    {
                        self.add(name.id);
                    }
                }
            }
            _ => {}
        }
    }
}
