//! Assignments: to a name, in place where that is possible, and to a path.

use super::Compiler;
use super::expression::may_assign;
use super::function::in_a_row;
use super::statement::small_int;
use crate::ast::*;
use crate::resolve::Target;
use crate::source::Span;
use crate::vm::{Op, PathSite, Place, op::Reg};

impl<'a> Compiler<'a> {
    pub(super) fn assignment(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        match &target.kind {
            ExprKind::Name(_) => self.assign_name(target, op, value, span),
            ExprKind::Field { .. } | ExprKind::Index { .. } => self.assign_path(target, op, value, span),
            _ => self.nonsense(
                target.span,
                "invalid assignment target",
                "bind the value to a variable first: `var x = …`",
            ),
        }
    }

    pub(super) fn assign_name(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        let Some(Target::Binding(id)) = self.names.used(target.id) else { return };
        let place = self.place_of(id);
        if let Some(op) = op {
            return self.compound(place, op, target, value, span);
        }
        if self.method_in_place(place, id, value) {
            return;
        }
        match place {
            // Written once, at the end: what it reads of the variable is read before.
            Place::Register(reg) if writes_once(value) => self.expr(value, reg),
            _ => {
                let src = self.temp();
                self.expr(value, src);
                self.store(place, src, span);
            }
        }
    }

    pub(super) fn compound(&mut self, place: Place, op: BinaryOp, target: &'a Expr, value: &'a Expr, span: Span) {
        if let Place::Register(reg) = place {
            if let Some(imm) = small_int(value) {
                let fused = match op {
                    BinaryOp::Add => Some(Op::AddInt { dst: reg, a: reg, imm }),
                    BinaryOp::Sub => Some(Op::SubInt { dst: reg, a: reg, imm }),
                    BinaryOp::Mul => Some(Op::MulInt { dst: reg, a: reg, imm }),
                    BinaryOp::Rem => Some(Op::RemInt { dst: reg, a: reg, imm }),
                    _ => None,
                };
                if let Some(op) = fused {
                    self.emit(op, span);
                    return;
                }
            }
            if may_assign(value) {
                // The old value counts, whatever the right side does to the variable.
                let a = self.copy(reg, target.span);
                let b = self.operand(value);
                self.emit(Self::binary_op(op, reg, a, b), span);
                return;
            }
            let b = self.operand(value);
            let b = if b == reg { self.copy(b, value.span) } else { b };
            self.emit(Self::binary_op(op, reg, reg, b), span);
            return;
        }
        // A path without keys: read, changed and written back in its place.
        let base = self.temp();
        self.expr(value, base);
        let site = PathSite::new(place, 0, Some(op), vec![target.span.to(value.span)]);
        self.path(site, base, span);
    }

    pub(super) fn copy(&mut self, src: Reg, span: Span) -> Reg {
        let dst = self.temp();
        self.emit(Op::Move { dst, src }, span);
        self.shares(dst);
        dst
    }

    /// `p.x = v` where `p` lives in a register. False when it lives elsewhere.
    fn assign_field(&mut self, target: &'a Expr, value: &'a Expr) -> bool {
        let ExprKind::Field { object, name, optional: false } = &target.kind else { return false };
        let ExprKind::Name(_) = &object.kind else { return false };
        let Some(Target::Binding(id)) = self.names.used(object.id) else { return false };
        let Place::Register(object) = self.place_of(id) else { return false };
        let src = self.temp();
        self.expr(value, src);
        let field = self.field_site(&name.text, name.span);
        self.emit(Op::SetField { object, src, field }, name.span);
        true
    }

    pub(super) fn assign_path(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        if op.is_none() && self.assign_field(target, value) {
            return;
        }
        let mut keys = Vec::new();
        let mut at = target;
        let root = loop {
            match &at.kind {
                ExprKind::Field { object, name, optional: false } => {
                    keys.push((None, Some(name), name.span));
                    at = object;
                }
                ExprKind::Index { object, index, optional: false } => {
                    keys.push((Some(&**index), None, object.span));
                    at = object;
                }
                ExprKind::Name(_) => break at,
                _ => {
                    return self.nonsense(
                        at.span,
                        "assignment path must start at a variable",
                        "bind this part with `var x = …`, change it, and assign it back",
                    );
                }
            }
        };
        keys.reverse();
        let Some(Target::Binding(id)) = self.names.used(root.id) else { return };
        let count = self.index(keys.len(), span, "keys in one path");
        let base = self.temps(count.saturating_add(1));
        for (reg, (index, name, key_span)) in in_a_row(base, count).zip(&keys) {
            match (index, name) {
                (Some(index), _) => self.expr(index, reg),
                (None, Some(name)) => {
                    let k = self.string_constant(&name.text);
                    self.emit(Op::Const { dst: reg, k }, *key_span);
                }
                (None, None) => {}
            }
        }
        self.expr(value, base.saturating_add(count));
        let mut spans: Vec<Span> = keys.iter().map(|(_, _, span)| *span).collect();
        spans.push(target.span);
        let root = self.place_of(id);
        self.path(PathSite::new(root, count, op, spans), base, span);
    }

    pub(super) fn path(&mut self, site: PathSite, base: Reg, span: Span) {
        let paths = &mut self.fn_mut().proto.paths;
        paths.push(site);
        let i = paths.len() - 1;
        let path = self.index(i, span, "assigned paths");
        self.emit(Op::AssignPath { base, path }, span);
    }
}

/// Whether an expression writes its target only when everything in it has been read.
fn writes_once(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Nil
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::Name(_)
        | ExprKind::Closure(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Call { .. }
        | ExprKind::Field { .. }
        | ExprKind::Index { .. }
        | ExprKind::Slice { .. }
        | ExprKind::Range { .. }
        | ExprKind::Struct { .. }
        | ExprKind::Pair(..) => true,
        ExprKind::List(items) => items.iter().all(|i| !i.spread),
        ExprKind::Dict(items) => items.iter().all(|i| matches!(i, DictItem::Entry { .. })),
        _ => false,
    }
}
