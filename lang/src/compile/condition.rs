//! Conditions: jumps instead of values.

use super::Compiler;
use super::call::has_optional_link;
use super::statement::small_int;
use crate::ast::{BinaryOp, Expr, ExprKind, LogicOp, UnaryOp};
use crate::vm::{Op, op::Reg};

impl<'a> Compiler<'a> {
    /// Compiles `e` so that it jumps when its truth is `when`, and falls through otherwise; the jumps to patch.
    pub(super) fn condition(&mut self, e: &'a Expr, when: bool) -> Vec<usize> {
        let next = self.fn_ref().next;
        let jumps = self.condition_jumps(e, when);
        self.free_to(next);
        jumps
    }

    fn condition_jumps(&mut self, e: &'a Expr, when: bool) -> Vec<usize> {
        match &e.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.condition(inner, !when),
            ExprKind::Logic(op @ (LogicOp::And | LogicOp::Or), a, b) => {
                // `a && b` is decided by a false `a`, `a || b` by a true one.
                let decides = *op == LogicOp::Or;
                if when == decides {
                    let mut jumps = self.condition(a, when);
                    jumps.extend(self.condition(b, when));
                    return jumps;
                }
                let decided = self.condition(a, decides);
                let jumps = self.condition(b, when);
                self.patch_here(&decided);
                jumps
            }
            ExprKind::Bool(value) => {
                if *value == when {
                    vec![self.jump(e.span)]
                } else {
                    Vec::new()
                }
            }
            ExprKind::Binary(op, _, a, b) if !when => match self.fused(*op, a, b, e) {
                Some(jump) => vec![jump],
                None => self.tested(e, when),
            },
            _ => self.tested(e, when),
        }
    }

    fn tested(&mut self, e: &'a Expr, when: bool) -> Vec<usize> {
        if let ExprKind::Index { object, index, optional: false } = &e.kind
            && !has_optional_link(object)
            && self.fn_ref().kept_parts.is_empty()
        {
            let by = 0;
            let span = object.span;
            let (object, index) = self.item_operands(object, index, false, &mut Vec::new());
            let op = if when { Op::JumpIfItem { object, index, by } } else { Op::JumpUnlessItem { object, index, by } };
            return vec![self.emit(op, span)];
        }
        let a = self.operand(e);
        let op = if when { Op::JumpIf { a, by: 0 } } else { Op::JumpUnless { a, by: 0 } };
        vec![self.emit(op, e.span)]
    }

    /// A comparison and a jump in one instruction.
    fn fused(&mut self, op: BinaryOp, a: &'a Expr, b: &'a Expr, e: &Expr) -> Option<usize> {
        let by = 0;
        if let (BinaryOp::Eq | BinaryOp::Ne, ExprKind::Nil) = (op, &b.kind) {
            let a = self.operand(a);
            let jump = if op == BinaryOp::Eq { Op::JumpIfNotNil { a, by: 0 } } else { Op::JumpIfNil { a, by: 0 } };
            return Some(self.emit(jump, e.span));
        }
        if let Some(imm) = small_int(b) {
            let make = |a: Reg| {
                Some(match op {
                    BinaryOp::Lt => Op::UnlessLtInt { a, imm, by },
                    BinaryOp::Le => Op::UnlessLeInt { a, imm, by },
                    BinaryOp::Gt => Op::UnlessGtInt { a, imm, by },
                    BinaryOp::Ge => Op::UnlessGeInt { a, imm, by },
                    BinaryOp::Eq => Op::UnlessEqInt { a, imm, by },
                    BinaryOp::Ne => Op::UnlessNeInt { a, imm, by },
                    _ => return None,
                })
            };
            make(0)?;
            let a = self.operand(a);
            return make(a).map(|op| self.emit(op, e.span));
        }
        let make = |a: Reg, b: Reg| {
            Some(match op {
                BinaryOp::Lt => Op::UnlessLt { a, b, by },
                BinaryOp::Le => Op::UnlessLe { a, b, by },
                BinaryOp::Gt => Op::UnlessGt { a, b, by },
                BinaryOp::Ge => Op::UnlessGe { a, b, by },
                BinaryOp::Eq => Op::UnlessEq { a, b, by },
                BinaryOp::Ne => Op::UnlessNe { a, b, by },
                _ => return None,
            })
        };
        make(0, 0)?;
        let (a, b) = self.two_operands(a, b);
        make(a, b).map(|op| self.emit(op, e.span))
    }
}
