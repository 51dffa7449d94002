//! Types that bindings certainly have because of what is written. Inference knows those of the file; these may be of other files.

use crate::ast::visit::{Visit, walk_expr, walk_item, walk_module, walk_stmt};
use crate::ast::*;
use crate::declaration::TypeDecl;
use crate::resolve::{BindingId, Resolution, Target};
use std::collections::HashMap;

/// The declared types of bindings, by the bindings of their names.
pub(super) struct NamedTypes<'a> {
    names: &'a Resolution,
    known: HashMap<BindingId, BindingId>,
}

impl<'a> NamedTypes<'a> {
    /// Reads the annotations and struct literals of a module.
    pub(super) fn of(module: &Module, names: &'a Resolution) -> Self {
        let mut types = Self { names, known: HashMap::new() };
        walk_module(&mut types, module);
        types
    }

    /// Returns the binding of the type of an expression.
    pub(super) fn get(&self, e: &Expr) -> Option<BindingId> {
        match &e.kind {
            ExprKind::Struct { name, .. } => self.named(name.id),
            ExprKind::Field { name, .. } => self.names.members.get(&name.id).copied().filter(|id| {
                let def = self.names.binding(*id).def.as_ref().map(TypeDecl::resolved);
                matches!(def, Some(TypeDecl::Enum(def)) if def.position(&name.text).is_some())
            }),
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Field { .. } => self.get(callee),
                _ => None,
            },
            _ => self.known.get(&self.named(e.id)?).copied(),
        }
    }

    fn named(&self, name: NodeId) -> Option<BindingId> {
        match self.names.used(name)? {
            Target::Binding(id) => Some(id),
            Target::Builtin(_) => None,
        }
    }

    fn note(&mut self, pattern: &Pattern, ty: Option<&TypeExpr>, value: Option<&Expr>) {
        let (PatternKind::Bind(_), Some(id)) = (&pattern.kind, self.names.made(pattern.id)) else { return };
        let named = match ty {
            Some(ty) => self.named_by(ty),
            None => value.and_then(|value| self.get(value)),
        };
        self.known.extend(named.map(|of| (id, of)));
    }

    fn named_by(&self, ty: &TypeExpr) -> Option<BindingId> {
        match &ty.kind {
            TypeKind::Name { .. } => self.named(ty.id),
            TypeKind::Optional(inner) => self.named_by(inner),
            _ => None,
        }
    }

    fn params(&mut self, params: &[Param]) {
        params.iter().for_each(|param| self.note(&param.pattern, param.ty.as_deref(), None));
    }
}

impl<'t> Visit<'t> for NamedTypes<'_> {
    fn stmt(&mut self, stmt: &'t Stmt) {
        if let StmtKind::Let { pattern, ty, value, .. } = &stmt.kind {
            self.note(pattern, ty.as_deref(), value.as_ref());
        }
        walk_stmt(self, stmt);
    }

    fn item(&mut self, item: &'t Item) {
        if let Some(decl) = super::declaration::function(item) {
            self.params(&decl.params);
        }
        walk_item(self, item);
    }

    fn expr(&mut self, e: &'t Expr) {
        if let ExprKind::Closure(closure) = &e.kind {
            self.params(&closure.params);
        }
        walk_expr(self, e);
    }
}
