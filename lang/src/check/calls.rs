//! Every call of a builtin in a file, and what names are bound to.

use crate::ast::*;
use crate::declaration::Builtin;
use crate::hash::KeyedMap;
use crate::resolve::{BindingId, Resolution, Target};
use crate::source::Span;

/// A call of a builtin.
pub(crate) struct Call<'a> {
    pub(crate) row: &'static Builtin,
    pub(crate) args: &'a [ListItem],
    pub(crate) span: Span,
}

/// All of them.
pub(crate) struct Calls<'a> {
    pub(crate) all: Vec<Call<'a>>,
    /// Their numbers, by namespace and name of the builtin.
    of_row: KeyedMap<(&'static str, &'static str), Vec<usize>>,
    names: &'a Resolution,
    /// Values that `let`s bind, for following names to literals.
    lets: KeyedMap<BindingId, &'a Expr>,
}

impl<'a> Calls<'a> {
    /// The calls of one builtin.
    pub(crate) fn of<'c>(&'c self, module: &'c str, name: &'c str) -> impl Iterator<Item = &'c Call<'a>> {
        let numbers = self.of_row.get(&(module, name)).map_or(&[][..], Vec::as_slice);
        numbers.iter().filter_map(|i| self.all.get(*i))
    }

    /// The expression itself, or what the `let` bound that it names.
    pub(crate) fn follow(&self, e: &'a Expr) -> &'a Expr {
        let mut e = e;
        // A chain of names is short; a cycle cannot be written.
        for _ in 0..8 {
            let ExprKind::Name(_) = &e.kind else { return e };
            let Some(Target::Binding(id)) = self.names.used(e.id) else { return e };
            let Some(value) = self.lets.get(&id) else { return e };
            e = value;
        }
        e
    }
}

impl<'a> Calls<'a> {
    pub(super) fn new(names: &'a Resolution) -> Self {
        Self { all: Vec::new(), of_row: KeyedMap::default(), names, lets: KeyedMap::default() }
    }

    /// Collects what a statement binds, without its parts.
    pub(super) fn stmt(&mut self, stmt: &'a Stmt) {
        if let StmtKind::Let { kind, pattern, value: Some(value), .. } = &stmt.kind
            && *kind != LetKind::Var
            && let PatternKind::Bind(_) = &pattern.kind
            && let Some(id) = self.names.made(pattern.id)
        {
            self.lets.insert(id, value);
        }
    }

    /// Collects a call, without its parts.
    #[inline]
    pub(super) fn expr(&mut self, e: &'a Expr) {
        if let ExprKind::Call { callee, args } = &e.kind {
            self.call(callee, args, e.span);
        }
    }

    /// Collects a call. A function of its own, so that the test before it is inlined.
    #[inline(never)]
    fn call(&mut self, callee: &'a Expr, args: &'a [ListItem], span: Span) {
        let row = match &callee.kind {
            ExprKind::Field { name, .. } => self.names.namespaced.get(&name.id).copied(),
            ExprKind::Name(_) => match self.names.used(callee.id) {
                Some(Target::Builtin(row)) => Some(row),
                _ => None,
            },
            _ => None,
        };
        if let Some(row) = row {
            self.of_row.entry((row.module, row.name)).or_default().push(self.all.len());
            self.all.push(Call { row, args, span });
        }
    }
}
