//! `while` and `for`.

use super::Compiler;
use super::function::Loop;
use super::statement::small_int;
use crate::ast::*;
use crate::source::Span;
use crate::vm::Op;

impl<'a> Compiler<'a> {
    pub(super) fn while_loop(&mut self, cond: &'a Expr, body: &'a Block, span: Span) {
        let (next, floor) = (self.fn_ref().next, self.fn_ref().floor);
        self.bound_before(cond);
        let start = self.here();
        let scratch = self.fn_ref().next;
        let done = self.condition(cond, false);
        self.free_to(scratch);
        self.fn_mut().bound = None;
        let exits = self.fn_ref().exits.len();
        self.fn_mut().loops.push(Loop { start, breaks: Vec::new(), exits });
        self.block(body, None);
        self.jump_back(start, span);
        self.patch_here(&done);
        if let Some(finished) = self.fn_mut().loops.pop() {
            self.patch_here(&finished.breaks);
        }
        self.free_to(next);
        self.fn_mut().floor = floor;
    }

    /// Loads the number with which a loop compares before the loop, if it does not fit into the comparison.
    fn bound_before(&mut self, cond: &'a Expr) {
        let ExprKind::Binary(op, _, _, bound) = &cond.kind else { return };
        let compares = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
        if !compares || small_int(bound).is_some() || !matches!(bound.kind, ExprKind::Int(_) | ExprKind::Float(_)) {
            return;
        }
        let reg = self.temp();
        self.expr(bound, reg);
        self.raise_floor();
        self.fn_mut().bound = Some((bound.id, reg));
    }

    pub(super) fn for_loop(&mut self, pattern: &'a Pattern, iter: &'a Expr, body: &'a Block, span: Span) {
        let floor = self.fn_ref().floor;
        let base = self.temps(2);
        self.expr(iter, base);
        self.emit(Op::ForPrep { base }, iter.span);
        let item = self.temp();
        let next = self.fn_ref().next;
        self.fn_mut().floor = next;
        let start = self.here();
        let done = self.emit(Op::ForNext { base, dst: item, by: 0 }, iter.span);
        match &pattern.kind {
            PatternKind::Bind(_) => self.adopt(pattern.at(), item),
            _ => self.destructure(pattern, item),
        }
        let inner = self.fn_ref().next;
        self.fn_mut().floor = inner;
        let exits = self.fn_ref().exits.len();
        self.fn_mut().loops.push(Loop { start, breaks: Vec::new(), exits });
        self.block(body, None);
        self.jump_back(start, span);
        self.patch_here(&[done]);
        if let Some(finished) = self.fn_mut().loops.pop() {
            self.patch_here(&finished.breaks);
        }
        // What was walked is let go, so that it can be changed in place again.
        self.emit(Op::Clear { from: base, count: next - base }, span);
        self.fn_mut().floor = floor;
    }
}
