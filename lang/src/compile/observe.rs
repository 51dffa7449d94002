//! Observation in a run for tests: the lines that run, and the values of the parts of an `assert`.

use super::Compiler;
use crate::ast::*;
use crate::builtins::{ASSERT_PARTS, COVER};
use crate::declaration::Builtin;
use crate::resolve::Target;
use crate::source::Span;
use crate::value::Value;
use crate::vm::{Op, op::Reg};

/// Parts of one `assert` that are shown; more would hide each other.
const MOST_PARTS: usize = 12;

/// A part of a condition whose value is kept.
pub(super) struct KeptPart {
    expr: NodeId,
    reg: Reg,
}

impl<'a> Compiler<'a> {
    /// Counts the line on which a statement or an arm begins.
    pub(super) fn cover(&mut self, span: Span) {
        if !self.mode.coverage {
            return;
        }
        let line = self.source.position(span.start).line;
        let counter = self.isolate.coverage().counter(self.source, line);
        let (Ok(value), base) = (i32::try_from(counter), self.temp()) else { return };
        self.emit(Op::Int { dst: base, value }, span);
        let builtin = self.builtin_site(&COVER, span);
        self.note_call(None, vec![span]);
        self.emit(Op::CallBuiltin { argc: 1, dst: base, base, builtin }, span);
        self.free_to(base);
    }

    /// Compiles `assert(condition, message)` so that its failure shows the values of the parts of the condition. Returns
    /// false if this is another call.
    pub(super) fn observed_assert(&mut self, row: &Builtin, args: &'a [ListItem], dst: Reg, span: Span) -> bool {
        let is_assert = self.mode.tests && row.module.is_empty() && row.name == "assert";
        let (true, [condition, rest @ ..]) = (is_assert, args) else { return false };
        if rest.len() > 1 || args.iter().any(|arg| arg.spread) {
            return false;
        }
        let mut parts = Vec::new();
        self.parts_of(&condition.value, true, &mut parts);
        parts.truncate(MOST_PARTS);
        let count = u8::try_from(parts.len()).unwrap_or(0);
        let base = self.temps(2 + u16::from(count));
        for (reg, part) in (base + 2..).zip(&parts) {
            // A part that is not evaluated stays like this.
            self.load(Value::Unbound, reg, part.span);
        }
        let kept = (base + 2..).zip(&parts).map(|(reg, part)| KeptPart { expr: part.id, reg }).collect();
        let outer = std::mem::replace(&mut self.fn_mut().kept_parts, kept);
        self.expr(&condition.value, base);
        self.fn_mut().kept_parts = outer;
        match rest.first() {
            Some(message) => self.expr(&message.value, base + 1),
            None => {
                self.emit(Op::Nil { dst: base + 1 }, span);
            }
        }
        let builtin = self.builtin_site(&ASSERT_PARTS, span);
        let message = rest.first().map_or(condition.value.span, |message| message.value.span);
        let mut spans = vec![condition.value.span, message];
        spans.extend(parts.iter().map(|part| part.span));
        self.note_call(None, spans);
        self.emit(Op::CallBuiltin { argc: 2 + count, dst, base, builtin }, span);
        true
    }

    /// Keeps the value of an expression, if it is a part of the `assert` that is being compiled.
    pub(super) fn keep_part(&mut self, e: &Expr, src: Reg) {
        let kept = self.fn_ref().kept_parts.iter().find(|part| part.expr == e.id).map(|part| part.reg);
        if let Some(dst) = kept {
            self.emit(Op::Move { dst, src }, e.span);
            self.shares(dst);
        }
    }

    /// Collects the parts of a condition whose values explain it: variables, what is read from them, calls, operations.
    fn parts_of<'e>(&self, e: &'e Expr, is_whole: bool, parts: &mut Vec<&'e Expr>) {
        let shown = match &e.kind {
            ExprKind::Name(_) => {
                // A function explains nothing.
                if let Some(Target::Binding(id)) = self.names.used(e.id)
                    && !self.functions.contains_key(&id)
                {
                    parts.push(e);
                }
                return;
            }
            ExprKind::Field { name, .. } => {
                if self.names.namespaced.contains_key(&name.id) || self.static_member(name).is_some() {
                    return;
                }
                true
            }
            ExprKind::Call { callee, args } => {
                if !is_whole {
                    parts.push(e);
                }
                if let ExprKind::Field { object, name, .. } = &callee.kind
                    && !self.names.namespaced.contains_key(&name.id)
                    && self.static_member(name).is_none()
                {
                    self.parts_of(object, false, parts);
                }
                args.iter().for_each(|arg| self.parts_of(&arg.value, false, parts));
                return;
            }
            ExprKind::Index { .. } | ExprKind::Slice { .. } | ExprKind::Binary(..) | ExprKind::Logic(..) => true,
            ExprKind::Unary(..) | ExprKind::Try(_) | ExprKind::TryStar(_) => false,
            _ => return,
        };
        if shown && !is_whole {
            parts.push(e);
        }
        e.children(|child| self.parts_of(child, false, parts));
    }
}
